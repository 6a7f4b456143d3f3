"""Changes: the gates, and everything that moved against the baseline, before → after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...comparison.wording import less_or_more
from ...model.compared import GateResult, Move
from ..blocks import (
    Block,
    Cell,
    Cells,
    Column,
    Figure,
    Figures,
    Fold,
    Heads,
    Prose,
    Section,
    Span,
    Table,
    Tone,
    code,
    headed,
    number,
    table,
)
from ..charts import Mark, Range, Split
from ..gates import condition, failed_sentence, name_of
from ..numbers import BASES, count, counted, difference, listed, quantity
from ..reading import Reading

_MOVES, _GATES, _WORST = 20, 30, 10
_SIGNS: dict[str, Span] = {
    "pass": Span("✓ ", "good", strong=True),
    "skipped": Span("– not judged: ", "muted"),
}
_FAILED = Span("✕ ", "bad", strong=True)


def sections(reading: Reading) -> Iterator[Section]:
    """The sections on the gates, the moves and the next step; none without gates and baseline."""
    if not reading.compared.gates and not reading.compared.against:
        return
    yield Section("gates", "Gates", "Gates", tuple(_gates(reading)))
    if reading.compared.moves:
        yield Section("moved", "Changes", "Everything that moved", tuple(_moves_blocks(reading)))
    for worst in _worst_runs(reading):
        yield Section("worst", "Runs", worst.name, (worst,))
    if reading.failed_gates:
        yield Section("next", "Next", "Next", tuple(_next(reading)))


# ---------------------------------------------------------------- gates


def _gates(reading: Reading) -> Iterator[Block]:
    """Yield the blocks on gates: the failed ones first."""
    failed = reading.failed_gates
    others = [gate for gate in reading.compared.gates if gate not in failed]
    numbers = [gate for gate in failed if gate.value is not None]
    if failed:
        head, rest = failed_sentence(reading)
        yield Prose((Span(head, "bad", strong=True), f" {rest}"), "lead")
        if numbers:
            yield Figures(tuple(_figures(reading, numbers[0])))
    elif well := tuple(_all_well(reading, len(reading.judged_gates))):
        yield Prose(well)
    yield from _changed_specs(reading)
    if failed:
        yield from headed(_gate_table(reading, "Failed gates", failed))
    if others:
        title = (
            f"{counted(len(others), 'gate')} that did not fail" if failed else "Values and limits"
        )
        yield Fold(title, (_gate_table(reading, "Other gates", others),))


def _all_well(reading: Reading, passed: int) -> Iterator[str | Span]:
    """Yield a sentence on passed gates, and one if no number changed."""
    if passed:
        text = "The gate passes. " if passed == 1 else f"All {counted(passed, 'gate')} pass. "
        yield from (Span("✓ ", "good", strong=True), text)
    if reading.compared.against and not reading.compared.moves:
        yield f"Nothing moved against {reading.compared.against}."


def _figures(reading: Reading, first: GateResult) -> Iterator[Figure]:
    """The figures on the first failed gate: its value, the runs where it moved, the price."""
    unit, metric = reading.unit(first.rule.metric), first.rule.metric
    values = [quantity(value, unit) for value in (first.before, first.value) if value is not None]
    strategy, allowed = f"strategy {first.strategy}", f"allowed: {condition(first, unit)}"
    yield Figure(name_of(reading, metric), " → ".join(values), "bad", allowed, strategy)
    if (move := reading.move(first.strategy, metric)) is not None:
        line = (
            f"{count(_unchanged_runs(reading, move))} unchanged, {count(move.improved_runs)} better"
        )
        yield Figure("Runs", f"{count(move.regressed_runs)} worse", "bad", line, strategy)
    price = reading.move(first.strategy, reading.price_metric)
    if price is not None and price.metric != metric:
        unit = reading.unit(price.metric)
        line = f"{quantity(price.before, unit)} → {quantity(price.after, unit)} for {reading.size}"
        moved = difference(price.before, price.after, unit)
        yield Figure(name_of(reading, price.metric), moved, _tone(price.better), line, strategy)


def _gate_table(reading: Reading, name: str, gates: Sequence[GateResult]) -> Table:
    """A table of gates, each with its value before, its value now, and its limit."""
    gauge = Column("change (limit dotted)", card="-")
    heads: Heads = ["gate", "strategy", number("before"), number("now"), gauge, "limit"]
    rows = [_gate_row(reading, gate) for gate in gates]
    return table(name, heads, rows, most=_GATES, noun="gate")


def _gate_row(reading: Reading, gate: GateResult) -> Cells:
    """The cells of a gate."""
    metric, unit = gate.rule.metric, reading.unit(gate.rule.metric)
    bad = gate in reading.failed_gates
    moved = "" if gate.before == gate.value else difference(gate.before, gate.value, unit)
    limit = quantity(gate.limit, unit)
    asked = condition(gate, unit)
    notes = [f"limit {limit}"] if gate.limit is not None and limit not in asked else []
    notes += [f"worst run: {reading.name(gate.run)}"] if gate.run and bad else []
    notes += [gate.reason.partition(" — ")[0]]
    before, now = ("–" if it is None else quantity(it, unit) for it in (gate.before, gate.value))
    return (
        Cell((_SIGNS.get(gate.outcome, _FAILED), name_of(reading, metric)), metric),
        gate.strategy or "–",
        before,
        Cell(now, moved, "bad" if bad else ""),
        _gauge(gate, "rejected" if bad else "other"),
        Cell(asked, "; ".join(filter(None, notes))),
    )


def _gauge(gate: GateResult, mark: Mark) -> Cell:
    """A cell that draws the way of a value from before to now, and its limit; empty without them."""
    if gate.value is None or gate.limit is None:
        return Cell()
    before = gate.value if gate.before is None else gate.before
    low, high = sorted((before - gate.limit, gate.value - gate.limit))
    room = 0.1 * (max(high, 0.0) - min(low, 0.0)) or 1.0
    scale = min(low, 0.0) - room, max(high, 0.0) + room
    side = "at" if gate.value == gate.limit else "above" if gate.value > gate.limit else "below"
    return Cell(
        chart=Range(f"now {side} the limit", gate.value - gate.limit, (low, high), scale, mark)
    )


def _changed_specs(reading: Reading) -> Iterator[Block]:
    """The strategies of the scenario that differ from the baseline's."""
    now, before = reading.compared.specs, reading.compared.specs_before
    rows = [
        (name, code(before.get(name, ""), "bad"), code(now.get(name, ""), "good"))
        for name in (dict.fromkeys((*before, *now)) if before else ())
        if before.get(name) != now.get(name)
    ]
    if rows:
        yield from headed(table("The change", ["strategy", "before", "now"], rows, look="texts"))


# ---------------------------------------------------------------- moves


def _unchanged_runs(reading: Reading, move: Move) -> int:
    """The number of runs in which a number did not change."""
    return max(0, len(reading.runs) - move.improved_runs - move.regressed_runs)


def _moves_blocks(reading: Reading) -> Iterator[Block]:
    """Yield the number of moves in words, and a row for each, the worse ones first."""
    moves = reading.compared.moves
    names = list(dict.fromkeys(move.strategy for move in moves))
    better, worse = (count(sum(move.better is side for move in moves)) for side in (True, False))
    moved = f"{counted(len(moves), 'number')} of {listed(names)} moved"
    yield Prose(f"{moved}: {better} improved, {worse} regressed.")
    rank = {False: 0, True: 1, None: 2}
    ordered = sorted(
        moves,
        key=lambda move: (rank[move.better], -move.regressed_runs, names.index(move.strategy)),
    )
    titles = ("before", "now", "change", "runs better", "unchanged", "worse")
    heads: Heads = ["number", *map(number, titles), Column("better · unchanged · worse", card="-")]
    rows = [_move_row(reading, move, len(names) > 1) for move in ordered]
    name = "Everything that moved"
    yield table(name, heads, rows, most=_MOVES, noun="number", note=BASES)


def _move_row(reading: Reading, move: Move, several: bool) -> Cells:
    """The cells of a changed number."""
    unit = reading.unit(move.metric)
    better, same, worse = move.improved_runs, _unchanged_runs(reading, move), move.regressed_runs
    moved = difference(move.before, move.after, unit) or "–"
    return (
        Cell(name_of(reading, move.metric), move.strategy if several else move.metric),
        quantity(move.before, unit),
        quantity(move.after, unit),
        (Span(moved, _tone(move.better), strong=True),),
        Cell(count(better), tone="good" if better else ""),
        count(same),
        Cell(count(worse), tone="bad" if worse else ""),
        Cell(chart=Split(better, same, worse)),
    )


def _worst_runs(reading: Reading) -> Iterator[Table]:
    """Yield a table of the runs where the number of the first failed gate fell or rose most; none
    where it moved in no run."""
    for gate in reading.failed_gates:
        move = reading.move(gate.strategy, gate.rule.metric)
        if move is None or not move.regressed_runs or not move.runs:
            continue
        unit = reading.unit(move.metric)
        rows = [
            (
                reading.name(run.run),
                quantity(run.before, unit),
                quantity(run.after, unit),
                Cell(difference(run.before, run.after, unit), tone="bad"),
            )
            for run in move.runs[: move.regressed_runs]
        ]
        heads: Heads = ["run", *map(number, ("before", "now", "change"))]
        name = f"Runs that got worse: {reading.label(move.metric)}, {move.strategy}"
        yield table(name, heads, rows, most=_WORST, noun="run")
        return


def _tone(better: bool | None) -> Tone:
    return "" if better is None else "good" if better else "bad"


def _next(reading: Reading) -> Iterator[Block]:
    """The two ways to go on: keep the gate, or accept the loss."""
    advised = reading.by_name.get(reading.advice.advised or "")
    keep = "Take the change back, or change the strategy until every gate passes."
    if advised is not None and advised.strategy not in {
        gate.strategy for gate in reading.failed_gates
    }:
        price = reading.price(advised)
        cost = f" and costs {less_or_more(price)}" if price and price.ratio else ""
        keep = f"Take the change back, or take {advised.strategy}: it passes every gate{cost}."
    yield from (Prose("Keep the gate", "heading"), Prose(keep), Prose("Accept the loss", "heading"))
    yield Prose("Raise the limits in the scenario, then store the new values:")
    yield Prose((Span("bench run SCENARIO --update-baseline", code=True),), "use")
