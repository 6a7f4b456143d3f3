"""Changes: the gates, and everything that moved against the baseline, before → after."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ...model.compared import GateResult, Move
from ..blocks import (
    Block,
    Cell,
    Cells,
    Code,
    Column,
    Figure,
    Figures,
    Fold,
    Gate,
    Gates,
    Heading,
    Line,
    Pair,
    Prose,
    Section,
    Sentence,
    SideBySide,
    Span,
    Table,
    Text,
    Tone,
    code,
    columns,
    number,
    table,
)
from ..charts import Gauge, Shares
from ..gates import bad_side, condition, failed_sentence
from ..labels import label, sentence_case
from ..numbers import change, count, difference, listed, of, quantity
from ..reading import Reading
from ..worse_runs import worse_runs

ORDER = 20
_MOVES = 20


def order(reading: Reading) -> int:
    """First where a gate failed or something moved."""
    return 0 if reading.failed or reading.compared.moves else ORDER


def sections(reading: Reading) -> Iterator[Section]:
    """The gates, the moves, the runs that got worse; nothing without gates and baseline."""
    compared = reading.compared
    if not reading.decided and not compared.against:
        return
    yield Section("gates", "Gates", "" if reading.failed else "Gates", tuple(_gates(reading)))
    if compared.moves:
        yield Section("moved", "Changes", "Everything that moved", tuple(_moved(reading)))
    if worse := worse_runs(reading):
        yield Section("worse", "Runs", "Runs that got worse", tuple(worse))
    if reading.failed:
        yield Section("next", "Next", "Next", (_next(reading),))


# ---------------------------------------------------------------- gates


def _gates(reading: Reading) -> Iterator[Block]:
    failed, passed = reading.failed, [gate for gate in reading.decided if gate.outcome == "pass"]
    if failed:
        head, rest = failed_sentence(reading)
        yield Sentence((Span(head, "bad", strong=True), f" {rest}"))
        yield Figures(tuple(_figures(reading))[:3])
    else:
        yield Prose(tuple(_all_well(reading, len(passed))))
    yield from _changed_lines(reading)
    if failed:
        baseline = any(gate.before is not None for gate in failed)
        yield Heading("Failed gates, baseline → now" if baseline else "Failed gates")
        yield Gates(tuple(_gate(reading, gate) for gate in failed))
    if passed:
        rows = [_passed(reading, gate) for gate in passed]
        heads = columns("strategy", "metric", "gate", number("value"))
        yield Fold("Gates that pass", (table("Gates that pass", heads, rows),))


def _all_well(reading: Reading, passed: int) -> Iterator[str | Span]:
    if passed:
        text = "The gate passes. " if passed == 1 else f"All {of(passed, 'gate')} pass. "
        yield from (Span("✓ ", "good", strong=True), text)
    if reading.compared.against and not reading.compared.moves:
        yield f"Nothing moved against {reading.compared.against}."


def _passed(reading: Reading, gate: GateResult) -> Sequence[Cell | Text]:
    unit = reading.unit(gate.rule.metric)
    value = quantity(gate.value, unit)
    if gate.before is not None:
        value = "unchanged" if gate.before == gate.value else f"{quantity(gate.before, unit)} → {value}"
    return (Span("✓ ", "good", strong=True), gate.strategy), code(gate.rule.metric), condition(gate, unit), value


def _gate(reading: Reading, gate: GateResult) -> Gate:
    unit, metric = reading.unit(gate.rule.metric), gate.rule.metric
    move, gauge = reading.move(gate.strategy, metric), None
    counts = _counts(reading, move) if move else _where(reading, gate)
    if gate.value is not None and math.isfinite(gate.value) and (gate.before is not None or gate.limit is not None):
        values = (("before", gate.before), ("now", gate.value))
        alt = ", ".join(f"{quantity(value, unit)} {name}" for name, value in values if value is not None)
        alt += "" if gate.limit is None else f", limit {quantity(gate.limit, unit)}"
        side = bad_side(reading, gate)
        gauge = Gauge(alt, gate.value, unit, gate.before, gate.limit, side, gate.outcome != "pass")
    else:
        counts = gate.reason or counts
    return Gate(
        sentence_case(label(metric, reading.info(metric))),
        metric,
        f"{condition(gate, unit)}, strategy {gate.strategy}",
        difference(gate.before, gate.value, unit) or quantity(gate.value, unit),
        counts,
        gate.outcome == "pass",
        gauge,
    )


def _where(reading: Reading, gate: GateResult) -> str:
    return ", ".join(filter(None, [gate.basis, f"worst run {reading.name(gate.run)}" if gate.run else ""]))


def _unchanged(reading: Reading, move: Move) -> int:
    return max(0, len(reading.compared.runs) - move.improved_runs - move.regressed_runs)


def _counts(reading: Reading, move: Move) -> str:
    same = count(_unchanged(reading, move))
    return f"{of(move.regressed_runs, 'run')} worse, {count(move.improved_runs)} better, {same} unchanged"


def _figures(reading: Reading) -> Iterator[Figure]:
    """The first failed gate, the runs it moved in, the second, the price, the gates that pass."""
    first, *others = reading.failed
    yield _figure(reading, first)
    if (move := reading.move(first.strategy, first.rule.metric)) is not None:
        line = f"{count(_unchanged(reading, move))} unchanged, {count(move.improved_runs)} better"
        yield Figure("Runs", f"{count(move.regressed_runs)} worse", "bad", line, f"strategy {first.strategy}")
    if others:
        yield _figure(reading, others[0])
    price = reading.move(first.strategy, "cost.usd") or reading.move(first.strategy, "cost.prompt_tokens")
    if price is not None and price.before and price.after is not None:
        unit, name = reading.unit(price.metric), sentence_case(label(price.metric))
        line = f"{quantity(price.before, unit)} → {quantity(price.after, unit)}, {reading.size}"
        value = difference(price.before, price.after, unit)
        yield Figure(name, value, _tone(price.better), line, f"strategy {first.strategy}")
    passed = len(reading.decided) - len(reading.failed)
    yield Figure("Gates that pass", f"{count(passed)} of {count(len(reading.decided))}", "", reading.size)


def _figure(reading: Reading, gate: GateResult) -> Figure:
    unit, metric = reading.unit(gate.rule.metric), gate.rule.metric
    value, before = quantity(gate.value, unit), quantity(gate.before, unit)
    if value.endswith("%"):
        before = before.removesuffix("%")
    text = value if gate.before is None else f"{before} → {value}"
    name = sentence_case(label(metric, reading.info(metric)))
    return Figure(name, text, "bad", condition(gate, unit), f"strategy {gate.strategy}")


def _changed_lines(reading: Reading) -> Iterator[Block]:
    """The lines of the scenario that differ from the baseline's."""
    now, before = reading.compared.specs, reading.compared.specs_before
    lines = []
    for name in dict.fromkeys((*before, *now)) if before else ():
        if before.get(name) != now.get(name):
            lines += [Line("-", "", f'{name} = "{before[name]}"')] if name in before else []
            lines += [Line("+", "", f'{name} = "{now[name]}"')] if name in now else []
    if lines:
        yield from (Heading("The change"), SideBySide("strategies", tuple(lines)))


# ---------------------------------------------------------------- moves


def _moved(reading: Reading) -> Iterator[Block]:
    moves = [*reading.compared.moves]
    names = list(dict.fromkeys(move.strategy for move in moves))
    rest = [reading.title(name) for name in reading.compared.strategies if name not in names]
    better, worse = (count(sum(move.better is side for move in moves)) for side in (True, False))
    text = f"{of(len(moves), 'number')} of {listed(names)} moved: {better} improved, {worse} regressed."
    text += f" {listed(rest)} {'has' if len(rest) == 1 else 'have'} the same values as in the baseline." if rest else ""
    yield Prose(text)
    rank = {False: 0, True: 1, None: 2}
    moves.sort(key=lambda move: (rank[move.better], -move.regressed_runs, names.index(move.strategy)))
    yield _moves(reading, moves[:_MOVES])
    if moves[_MOVES:]:
        yield Fold(f"{of(len(moves) - _MOVES, 'more number')}", (_moves(reading, moves[_MOVES:]),))


def _moves(reading: Reading, moves: Sequence[Move]) -> Table:
    several = len({move.strategy for move in reading.compared.moves}) > 1
    rows: list[Cells] = []
    for move in moves:
        unit, same = reading.unit(move.metric), _unchanged(reading, move)
        alt = f"{of(move.improved_runs, 'run')} better, {count(same)} unchanged, {count(move.regressed_runs)} worse"
        name = sentence_case(label(move.metric, reading.info(move.metric)))
        rows.append(
            (
                Cell(name, move.strategy if several else move.metric),
                quantity(move.before, unit),
                quantity(move.after, unit),
                (Span(difference(move.before, move.after, unit) or "–", _tone(move.better), strong=True),),
                (Span(count(move.improved_runs), "good" if move.improved_runs else ""),),
                (Span(count(move.regressed_runs), "bad" if move.regressed_runs else ""),),
                Cell(alt, chart=Shares(alt, move.improved_runs, same, move.regressed_runs)),
            )
        )
    heads = columns("number", *map(number, ("before", "now", "change", "runs better", "runs worse")))
    return table("Everything that moved", [*heads, Column("better · unchanged · worse", card="-")], rows)


def _tone(better: bool | None) -> Tone:
    return "" if better is None else "good" if better else "bad"


def _next(reading: Reading) -> Pair:
    """The two ways on: keep the gate, or accept the loss."""
    failed = {gate.strategy for gate in reading.failed}
    advised = reading.by_name.get(reading.advice.advised or "")
    keep = "Take the change back, or change the strategy until every gate passes."
    if advised is not None and advised.strategy not in failed:
        price = reading.price(advised)
        cost = f" and costs {change(price.ratio)} against today" if price and price.ratio else ""
        keep = f"Take the change back, or take {advised.strategy}: it passes every gate{cost}."
    accept = (
        Heading("Accept the loss"),
        Prose("Raise the limits in the scenario, then store the new values:"),
        Code("", "bench run SCENARIO --update-baseline"),
    )
    return Pair((Heading("Keep the gate"), Prose(keep)), accept)
