"""The runs that got worse against the baseline: how many by how much, and the worst of them."""

from __future__ import annotations

from collections import Counter

from ..model.compared import Move
from .blocks import Block, Drawing, Heading, Span, columns, number, table
from .charts import Histogram, Mark
from .labels import label, sentence_case
from .numbers import difference, of, quantity
from .reading import MISSED, RATE, Reading

_MOST = 10
_FARTHEST = 6  # turns; more are in the last bar


def worse_runs(reading: Reading) -> list[Block]:
    """The runs in which missed turns, or else what the first failed gate judges, got worse."""
    failed = [reading.move(gate.strategy, gate.rule.metric) for gate in reading.failed]
    lost = [move for move in reading.compared.moves if move.metric in (MISSED, RATE) and move.better is False]
    moves = [move for move in (*failed, *lost) if move is not None and move.runs]
    if not moves:
        return []
    chosen = next((move for move in moves if move.metric == MISSED), moves[0])
    unit, info = reading.unit(chosen.metric), reading.info(chosen.metric)
    lower = info is None or info.better == "lower"
    worse = [run for run in chosen.runs if run.after != run.before and (run.after > run.before) == lower]
    if not worse:
        return []
    name = label(chosen.metric, info)
    rows = [
        (
            reading.name(run.run),
            quantity(run.before, unit),
            (Span(quantity(run.after, unit), "bad", strong=True),),
            (Span(difference(run.before, run.after, unit), "bad"),),
        )
        for run in worse
    ]
    heads = columns("run", number("before"), number("now"), number("change"))
    return [
        *([Drawing(_spread(reading, chosen), f"Change of {name} by run")] if chosen.metric == MISSED else []),
        Heading(f"{sentence_case(name)}, {chosen.strategy}"),
        table("Runs that got worse", heads, rows, most=_MOST, noun="run"),
    ]


def _spread(reading: Reading, move: Move) -> Histogram:
    """The number of runs by the number of turns that they moved by."""
    steps = Counter({0: max(0, len(reading.compared.runs) - len(move.runs))})
    steps.update(max(-_FARTHEST, min(_FARTHEST, round(run.after - run.before))) for run in move.runs)
    places = range(min(steps), max(steps) + 1)
    labels = tuple(
        "same" if by == 0 else f"{by:+}".replace("-", "−") + ("…" if abs(by) == _FARTHEST else "") for by in places
    )
    marks: tuple[Mark, ...] = tuple("other" if by == 0 else "rejected" if by > 0 else "advised" for by in places)
    alt = "; ".join(f"{text}: {of(steps[by], 'run')}" for by, text in zip(places, labels, strict=True))
    return Histogram(alt, tuple(steps[by] for by in places), labels, marks, values=True, wide=True)
