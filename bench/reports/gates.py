"""Gates in words: their conditions, their values before and now, the failed ones.

Values and limits are stated as a gate judges them and its file has them: totals are not per run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..comparison.certainty import EQUAL
from ..comparison.gates import LOST, with_way
from ..comparison.prices import PRICES
from ..comparison.reasons import example_in_words
from ..comparison.rules import TABLE
from ..comparison.wording import quantity
from ..model.base import grouped
from ..model.compared import Compared, GateResult
from ..text.wording import count, counted, listed, sentence_case
from .reading import Reading


def judged_alike(gates: Sequence[GateResult]) -> list[list[GateResult]]:
    """The gates in order, those together that could not be judged for the same reason."""
    reasons = (
        (gate.outcome, gate.reason) if gate.reason and gate.value is None else at
        for at, gate in enumerate(gates)
    )
    return [*grouped(zip(reasons, gates, strict=True)).values()]


def metrics_of(reading: Reading, gates: Iterable[GateResult]) -> str:
    """The short names of the metrics of some gates; "baseline" where a gate has no metric."""
    return listed([*dict.fromkeys(reading.label(it.rule.metric) or "baseline" for it in gates)], 3)


def failed_sentence(reading: Reading) -> tuple[str, str]:
    """How many gates did not pass; the first of them, and what its strategy saves in return, if
    that is more than counts as equal."""
    first, *_ = alike = judged_alike(reading.failed_gates)[0]
    head = not_passed(reading.failed_gates, len(reading.judged_gates))
    words, saved = f"{sentence_case(gate_in_words(reading, alike))}.", ""
    price = PRICES[reading.advice.unit][0]
    move = reading.move(first.strategy, price)
    before, after = (move.before or 0.0, move.after or 0.0) if move else (0.0, 0.0)
    is_lost = first.outcome == "fail" and first.value is not None and first.rule.metric != price
    if is_lost and before - after > EQUAL * before:
        was, now = (reading.stated(it, price, reading.shared_runs) for it in (before, after))
        saved = f" In return, the {reading.label(price)} fell from {was} to {now} a run."
    return head, words + saved


def not_passed(gates: Sequence[GateResult], many: int) -> str:
    """A sentence with the number of gates, out of `many`, that failed or could not decide; a change
    of the scenario is no gate, and says itself what it is.

    >>> from bench.model import GateRule
    >>> rule = GateRule(metric="cost.usd")
    >>> failed, undecided = (GateResult(rule=rule, strategy="a", outcome=it) for it in ("fail", "undecided"))
    >>> not_passed([failed, undecided], 9), not_passed([undecided], 1)
    ('Do not merge: 1 of 9 gates failed, 1 could not decide.', 'Do not merge yet: 1 of 1 gate could not decide.')
    >>> not_passed([GateResult(rule=GateRule(metric=""), strategy="", outcome="fail")], 9)
    'Do not merge.'
    """
    failed = sum(gate.outcome == "fail" for gate in gates if gate.rule.metric)
    undecided = sum(gate.outcome == "undecided" for gate in gates)
    if not failed:
        if any(gate.outcome == "fail" for gate in gates):
            return "Do not merge."
        return f"Do not merge yet: {count(undecided)} of {counted(many, 'gate')} could not decide."
    more = f", {count(undecided)} could not decide" if undecided else ""
    return f"Do not merge: {count(failed)} of {counted(many, 'gate')} failed{more}."


def gates_in_words(compared: Compared, *outcomes: str) -> list[str]:
    """The gates of a comparison with one of some outcomes, in words."""
    reading = Reading(compared)
    return [
        f"{outcome}: {gate_in_words(reading, gates)}"
        for outcome in outcomes
        for gates in judged_alike([gate for gate in compared.gates if gate.outcome == outcome])
    ]


def damaged_in_words(compared: Compared, option: str = "") -> str:
    """How many recordings are damaged, the first of them and why, and what to do; "" for none. An
    `option` would pass with them."""
    if not compared.damaged:
        return ""
    first, *others = compared.damaged
    verb, it = ("are", "them") if others else ("is", "it")
    head = f"{counted(len(compared.damaged), 'recording')} {verb} damaged"
    example = f"{'first ' if others else ''}{first.path}: {first.reason.partition(' — ')[0]}"
    if any(gate.reason.startswith(LOST) for gate in compared.gates):  # which says what to do
        return f"{head} ({example})"
    run = f", or run with {option}" if option else ""
    return f"{head} ({example}): delete or re-record {it}{run}"


def not_accepted(compared: Compared) -> str:
    """What nobody has accepted, and that this can be an error, as a sentence; "" for nothing, and
    where it is one."""
    failed = {gate.reason for gate in compared.gates if gate.outcome == "fail"}
    skipped = {gate.reason: None for gate in compared.gates if gate.outcome == "skipped"}
    parts = (reason.partition(" — ") for reason in skipped if reason not in failed)
    of_way = grouped((way, what) for what, _, way in parts)
    reasons = "; ".join(with_way("; ".join(whats), way) for way, whats in of_way.items())
    return f"Not accepted yet: {reasons} (an error with --require-baseline)." if reasons else ""


def gate_in_words(reading: Reading, gates: Sequence[GateResult]) -> str:
    """The outcome of a gate as a clause: its values, their basis, the limit, the worst run; or of
    several that could not be judged for the same reason."""
    gate, metric = gates[0], gates[0].rule.metric
    if not metric:
        return gate.reason
    names = listed([*dict.fromkeys(f"`{it.strategy}`" for it in gates)], 3)
    about = f"{names}: {metrics_of(reading, gates)}"
    if of_baseline(reading, gate):
        about += " (gate of the baseline)"
    if gate.value is None:
        return f"{about} could not be judged: {gate.reason or 'not measured'}"
    before, now = (quantity(value, reading.unit(metric)) for value in (gate.before, gate.value))
    moved = f": {now}"
    if gate.before is not None and gate.before != gate.value:
        verb = "rose" if gate.value > gate.before else "fell"
        moved = f" {verb} from {before} in the baseline to {now}"
    limit = limit_of_gate(reading, gate)
    rest = [limit and f"the gate allows {limit}", worst_run(reading, gate), gate.reason]
    basis = gate.basis and f" ({gate.basis})"
    return "; ".join([f"{about}{moved}{basis}{_example(reading, gate)}", *filter(None, rest)])


def _example(reading: Reading, gate: GateResult) -> str:
    """A clause with the first text that failed a gate; "" for a gate that counts no texts."""
    item, metric = reading.advice.item(gate.strategy), gate.rule.metric
    rule = next((entry.rule for entry in TABLE if entry.counted == (metric,)), "")
    result = item.result(rule) if item and gate.outcome == "fail" else None
    return example_in_words(result) if result else ""


def of_baseline(reading: Reading, gate: GateResult) -> bool:
    """True for a gate that the baseline has and the scenario has no more."""
    return bool(gate.rule.metric) and gate.rule not in reading.compared.rules


def worst_run(reading: Reading, gate: GateResult) -> str:
    """The run that did most to fail a gate, with its value, and how many are worse than in the
    baseline; "" for none."""
    run = next((run for run in reading.runs if run.id == gate.run), None)
    if run is None:
        return ""
    move = reading.move(gate.strategy, gate.rule.metric)
    shared = counted(reading.shared_runs, "run")
    worse = f"worse in {count(move.regressed_runs)} of {shared}; " if move else ""
    value = reading.at(run, gate.strategy, gate.rule.metric)
    there = "" if value is None else f" ({quantity(value, reading.unit(gate.rule.metric))})"
    return f"{worse}worst: {reading.name(run.id)}{there}"


def limit_of_gate(reading: Reading, gate: GateResult) -> str:
    """The last value that a gate allows in words: "at most 5%"; "" where it is not known."""
    if gate.limit is None:
        return ""
    most = "least" if {"min", "max_drop"} & gate.rule.settings.keys() else "most"
    return f"at {most} {quantity(gate.limit, reading.unit(gate.rule.metric))}"
