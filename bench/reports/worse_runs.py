"""The runs that got worse against the baseline: how many by how much, and the worst of them."""

from __future__ import annotations

from ..model.compared import Move
from .blocks import Block, Cell, Column, Drawing, Heading, Histogram, Row, Span, Table
from .labels import label, sentence_case
from .numbers import count, difference, of, quantity
from .reading import MISSED, RATE, Reading

_MOST = 10


def worse_runs(reading: Reading) -> list[Block]:
    """The runs in which missed turns, or else what the first failed gate judges, got worse."""
    wanted = [*((gate.strategy, gate.rule.metric) for gate in reading.failed)]
    moves = [move for key in wanted if (move := reading.move(*key)) is not None and move.runs]
    moves += [
        move for move in reading.compared.moves if move.runs and move.metric in (MISSED, RATE) and move.better is False
    ]
    if not moves:
        return []
    chosen = next((move for move in moves if move.metric == MISSED), moves[0])
    unit, lower = reading.unit(chosen.metric), _lower(reading, chosen)
    worse = [run for run in chosen.runs if (run.after > run.before) == lower and run.after != run.before]
    if not worse:
        return []
    name = label(chosen.metric, reading.info(chosen.metric))
    rows = tuple(
        Row((Cell(reading.name(run.run)), Cell(quantity(run.before, unit)), Cell((Span(quantity(run.after, unit), "bad", strong=True),)),
             Cell((Span(difference(run.before, run.after, unit), "bad"),))))
        for run in worse[:_MOST]
    )  # fmt: skip
    columns = (Column("run"), Column("before", True), Column("now", True), Column("change", True))
    more = f"The {_MOST} that got worse most; {count(len(worse) - _MOST)} more did." if len(worse) > _MOST else ""
    drawn = _spread(reading, chosen) if unit == "turns" or chosen.metric == MISSED else None
    return [
        *([Drawing(drawn, f"Change of {name} by run")] if drawn else []),
        Heading(f"{sentence_case(name)}, {chosen.strategy}"),
        Table("Runs that got worse", columns, rows, "cards", more),
    ]


def _lower(reading: Reading, move: Move) -> bool:
    info = reading.info(move.metric)
    return info.better == "lower" if info else True


def _spread(reading: Reading, move: Move) -> Histogram:
    """How many runs moved by how many turns."""
    steps: dict[int, int] = {0: max(0, len(reading.compared.runs) - len(move.runs))}
    for run in move.runs:
        by = max(-6, min(6, round(run.after - run.before)))
        steps[by] = steps.get(by, 0) + 1
    places = range(min(steps), max(steps) + 1)
    labels = tuple("same" if by == 0 else f"{by:+}".replace("-", "−") + ("…" if abs(by) == 6 else "") for by in places)
    marks = tuple("other" if by == 0 else "rejected" if by > 0 else "advised" for by in places)
    alt = "; ".join(f"{text}: {of(steps.get(by, 0), 'run')}" for by, text in zip(places, labels, strict=True))
    return Histogram(alt, tuple(steps.get(by, 0) for by in places), labels, marks)  # type: ignore[arg-type]
