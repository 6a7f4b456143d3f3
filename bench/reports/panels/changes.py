"""Changes: the gates, and everything that moved against the baseline, before → after."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from ...comparison.gate_rules import has_limit
from ...comparison.wording import bases, difference, quantity
from ...model.compared import GateResult, Move
from ...text.wording import count, counted, listed, sentence_case
from ..blocks import (
    Block,
    Cell,
    Cells,
    Fold,
    Prose,
    Section,
    Span,
    Table,
    Tone,
    code,
    headed,
    muted,
    table,
)
from ..gates import (
    damaged_in_words,
    failed_sentence,
    judged_alike,
    limit_of_gate,
    metrics_of,
    not_accepted,
    of_baseline,
    worst_run,
)
from ..reading import Reading

_MOVES, _GATES = 20, 30  # rows of a table
_NAMED = 2  # moves that are named in a sentence
_SIGNS: dict[str, Span] = {
    "pass": Span("✓ ", "good", strong=True),
    "skipped": Span("– not judged: ", "muted"),
    "undecided": Span("? ", "bad", strong=True),
}
_FAILED = Span("✕ ", "bad", strong=True)


def sections(reading: Reading) -> Iterator[Section]:
    """The sections on the gates and the moves; none without gates and baseline."""
    if blocks := tuple(_gates(reading)):
        yield Section("gates", "Gates", blocks)
    if reading.compared.moves:
        yield Section("moved", "Changes", tuple(_moved(reading)))


# ---------------------------------------------------------------- gates


def _gates(reading: Reading) -> Iterator[Block]:
    """Yield the blocks on gates: the failed ones first."""
    failed, compared = reading.failed_gates, reading.compared
    others = [gate for gate in compared.gates if gate.rule.metric and gate not in failed]
    passed = sum(gate.outcome == "pass" for gate in others)
    if failed:
        head, rest = failed_sentence(reading)
        yield Prose((Span(head, "bad", strong=True), f" {rest}"), "lead")
        yield muted(_measured_on(reading))
        yield from _next(reading)
    elif passed:
        yield Prose((_SIGNS["pass"], f"All {counted(passed, 'gate')} passed."))
    if compared.gates and compared.damaged:
        yield Prose((Span(f"{damaged_in_words(compared)}.", "bad", strong=True),))
    if reading.against and not compared.moves and not failed:
        yield Prose(f"No number that is compared moved against `{reading.against}`.")
    if skipped := not_accepted(compared):
        yield Prose((Span(skipped, strong=True),))
    now, before = compared.specs, compared.specs_before
    changed = [
        (name, code(before.get(name, "")), code(now.get(name, "")))
        for name in (dict.fromkeys((*before, *now)) if before else ())
        if before.get(name) != now.get(name)
    ]
    if changed:
        heads = ["strategy", "baseline", "now"]
        yield from headed(table("The change", heads, changed, look="texts"))
    if failed:
        title = "Failed" if any(gate.outcome == "fail" for gate in failed) else "Undecided"
        yield from headed(_gate_table(reading, f"{title} gates", failed))
    if others:
        title = f"{counted(passed, 'gate')} passed" if failed else "Values and limits"
        yield Fold(title, (_gate_table(reading, "Other gates", others),))


def _gate_table(reading: Reading, name: str, gates: Sequence[GateResult]) -> Table:
    """A table of gates, each with its value before, its value now, and its limit."""
    heads = ["gate", "strategy", "baseline", "now", "limit"]
    rows = [_gate_row(reading, same) for same in judged_alike(gates)]
    notes = ["Changes are against the baseline."] * any(map(_has_moved, gates))
    if any(gate.basis.startswith("total") for gate in gates):
        notes.append("Amounts are totals over all runs.")
    return table(name, heads, rows, most=_GATES, noun="gate", note=" ".join(notes))


def _has_moved(gate: GateResult) -> bool:
    return gate.before is not None and gate.before != gate.value


def _measured_on(reading: Reading) -> str:
    """A sentence on the runs behind the gates, and whether the baseline has them too."""
    new = reading.compared.new_runs
    lacks = f", without the {counted(new, 'run')} that the baseline lacks" if new else ""
    exact = f": differences are exact for these recordings{lacks}" if reading.against else ""
    return reading.measured_on(exact)


def _gate_row(reading: Reading, gates: Sequence[GateResult]) -> Cells:
    """The cells of a gate, or of several that could not be judged for the same reason."""
    gate, *others = gates
    unit = reading.unit(gate.rule.metric)
    bad = gate in reading.failed_gates
    moved = difference(gate.before, gate.value, unit) if _has_moved(gate) else ""
    notes = [counted(len(gates), "gate")] if others else []
    notes += [f"{key} = {json.dumps(it)}" for key, it in gate.rule.settings.items() if not others]
    notes += ["gate of the baseline"] if of_baseline(reading, gate) else []
    notes += [worst_run(reading, gate)] if bad else []
    notes += [gate.reason.partition(" — ")[0]]
    before, now = ("–" if it is None else quantity(it, unit) for it in (gate.before, gate.value))
    return (
        Cell(
            (_SIGNS.get(gate.outcome, _FAILED), sentence_case(metrics_of(reading, gates))),
            ", ".join(dict.fromkeys(it.rule.metric for it in gates)),
        ),
        listed([*dict.fromkeys(it.strategy or "–" for it in gates)], 3),
        before,
        Cell(now, moved, "bad" if bad else ""),
        Cell(limit_of_gate(reading, gate), "; ".join(filter(None, notes))),
    )


# ---------------------------------------------------------------- moves


def _ends(reading: Reading, move: Move) -> list[str]:
    """The value of a moved number in the baseline and now, in words."""
    many = reading.shared_runs
    return [reading.stated(value, move.metric, many) for value in (move.before, move.after)]


def moved_in_words(reading: Reading) -> str:
    """What moved most against the baseline, for a screen with other scenarios; "" for nothing."""
    heads = {
        False: "Worse than the baseline",
        True: "Better than the baseline",
        None: "Changed in single runs",
    }
    numbers: dict[str, list[str]] = {}
    for move in reading.compared.moves:
        before, after = _ends(reading, move)
        moved = f"{before} → {after}" if before != after else _difference(reading, move)
        words = f"{reading.label(move.metric)} under `{move.strategy}` ({moved})"
        numbers.setdefault(heads[move.better], []).append(words)
    return " ".join(f"{head}: {listed(some, _NAMED)}." for head, some in numbers.items())


def _difference(reading: Reading, move: Move) -> str:
    return difference(move.before, move.after, reading.unit(move.metric)) or "–"


def _moved(reading: Reading) -> Iterator[Block]:
    """Yield a table with a row for each move."""
    rows = []
    for move in reading.compared.moves:
        row: Cells = (
            Cell(sentence_case(reading.label(move.metric)), move.metric),
            move.strategy,
            *_ends(reading, move),
            (Span(_difference(reading, move), _tone(move.better), strong=True),),
            Cell(count(move.improved_runs), tone="good" if move.improved_runs else ""),
            Cell(count(move.regressed_runs), tone="bad" if move.regressed_runs else ""),
        )
        rows.append(row)
    heads = ["number", "strategy", "baseline", "now", "change", "runs better", "worse"]
    note = bases(reading.advice)
    yield table("Everything that moved", heads, rows, most=_MOVES, noun="number", note=note)


def _tone(better: bool | None) -> Tone:
    return "" if better is None else "good" if better else "bad"


def _next(reading: Reading) -> Iterator[Block]:
    """The ways to go on where a value failed: a line for each. Any other reason has its own."""
    compared, failed = reading.compared, reading.failed_gates
    if all(gate.value is None for gate in failed):
        return
    advised = reading.advice.advised
    if advised and advised not in {gate.strategy for gate in failed}:
        other = f"ship `{advised}`, which passes every gate."
        yield Prose((Span("To pass, ", strong=True), other), "next")
    # The value of a gate that could not decide is within its limit: some texts were not checked.
    unchecked = [gate for gate in failed if gate.outcome == "undecided" and gate.limit is not None]
    if unchecked:
        how = (
            "list it in `says` if it is fixed, or write its data with the keys of the result as "
            "JSON, YAML, XML, `key: value` lines or a table (CSV, Markdown)"
        )
        start = Span("To have a text checked, ", strong=True)
        yield Prose((start, f"{how}."), "next")
    own_gates = [gate for gate in failed if not of_baseline(reading, gate)]  # the others are gone
    beyond = (gate for gate in own_gates if gate.value is not None and gate not in unchecked)
    limits = _metrics(gate for gate in beyond if has_limit(gate.rule))
    unchecked = [gate for gate in unchecked if gate in own_gates]
    where = f"`{compared.file}`" if compared.file else "the scenario"
    steps = [f"change the limit of {limits} in {where}"] if limits else []
    steps += [f"drop the gate on {_metrics(unchecked)} in {where}"] if unchecked else []
    if compared.against and compared.accept:
        steps.append(f"run `{compared.accept}` to store the new values")
    elif compared.against:
        steps.append("merge: the next comparison is with the values of now")
    if steps and not compared.damaged:
        is_loss = any(gate.outcome == "fail" for gate in failed)
        aim = "To accept the loss, " if is_loss else "To pass as it is, "
        yield Prose((Span(aim, strong=True), f"{', then '.join(steps)}."), "next")


def _metrics(gates: Iterable[GateResult]) -> str:
    """The metrics of some gates."""
    return listed([f"`{name}`" for name in dict.fromkeys(gate.rule.metric for gate in gates)])
