"""Where the facts of tool results are: in the prompt, derivable, behind a handle, or lost; what was lost in silence, and which tricks show."""

from __future__ import annotations

from collections.abc import Iterator

from ...model import Comparison
from .. import panel
from ..blocks import Block, Cell, Chart, Column, Fold, Point, Prose, Table, counted, listed, measured, quantity

TIERS = (
    ("loss.in_context.end", "in the prompt"),
    ("loss.derivable.end", "follows from it"),
    ("loss.retrievable.end", "behind a handle"),
    ("loss.lost.end", "lost"),
    ("loss.lost.needed", "lost when needed"),
    ("loss.silent_truncation", "cut in silence"),
    ("loss.false_notices", "false notices"),
    ("needed.refetches", "asked again"),
)
KINDS = ("number", "measure", "name", "path", "url", "quoted", "error", "exit_code")
STRUCTURE = (
    ("loss.leaf_recall.end", "values"),
    ("loss.labelled_recall.end", "values with their key"),
    ("loss.rows_kept.end", "rows"),
    ("loss.columns_kept.end", "columns"),
    ("loss.values_changed.end", "cells changed"),
    ("loss.schema_kept.end", "keys"),
)
UNLABELLED = 0.05
"""From this share of values on that stand without their key, a strategy is named."""

MAX_ROUNDS = 20
LIMITS = (
    "Each fact of each result in the last prompt of its thread, judged per result; the four tiers sum to 100%. Presence in the prompt is an upper "
    "bound of what a model can use, and a handle helps only an agent that resolves it. What follows from a prompt is told by two written rules "
    "alone (a stated count, a total of rows all shown), so that column is a lower bound. Rows, columns and keys are what can be read back; prose "
    "about a row is no row."
)


@panel("tiers", order=38, title="What was lost, and what can still be had?")
def tiers(comparison: Comparison) -> list[Block]:
    """Per strategy the tiers of all facts, loss in silence, loss by kind and by structure, what survives each round, and tricks seen through.

    Source: issue 4
    """
    everyone = (*comparison.strategies, *comparison.references)
    if not any(_value(comparison, name, "loss.in_context.end") is not None for name in everyone):
        return [Prose("Not measured: no fact of any tool result was placed.", "muted")]
    blocks: list[Block] = [Prose(LIMITS, "muted")]
    blocks += [Prose(text, "warn") for name in everyone for text in _seen_through(comparison, name)]
    blocks.append(_table(comparison, everyone, TIERS))
    kinds = tuple((f"loss.fact_recall.{kind}.end", kind.replace("_", " ")) for kind in KINDS)
    blocks += _folded(comparison, everyone, kinds, "Facts kept to the end, by kind")
    blocks += _folded(comparison, everyone, STRUCTURE, "Structure kept to the end")
    return blocks + _rounds(comparison, everyone)


def _value(comparison: Comparison, strategy: str, metric: str) -> float | None:
    row = comparison.row(strategy, metric)
    return None if row is None else row.value


def _seen_through(comparison: Comparison, strategy: str) -> Iterator[str]:
    """What looks well by one metric and is shown up by another."""
    values, labelled = (
        _value(comparison, strategy, metric) for metric in ("loss.leaf_recall.end", "loss.labelled_recall.end")
    )
    if values is not None and labelled is not None and values - labelled > UNLABELLED:
        yield (
            f"{strategy} shows {quantity(values, 'fraction')} of the values of structured results, but only "
            f"{quantity(labelled, 'fraction')} together with their key."
        )
    false = _value(comparison, strategy, "loss.false_notices")
    if false:
        yield f"{strategy} says that something was left out of {counted(false, 'result')} that lost nothing."
    runs = [comparison.runs.get((strategy, case)) for case in comparison.cases]
    outcomes = [outcome for run in runs if run is not None for outcome in run.results if outcome.record.handle]
    empty = sum(outcome.stored is None for outcome in outcomes)
    if empty:
        yield f"{strategy} keeps {counted(empty, 'handle')} out of {len(outcomes)} that resolve to nothing: their facts count as lost."


def _table(comparison: Comparison, everyone: tuple[str, ...], columns: tuple[tuple[str, str], ...]) -> Table:
    known = [
        (metric, title)
        for metric, title in columns
        if any(_value(comparison, name, metric) is not None for name in everyone)
    ]
    rows = tuple(
        (Cell(name, strategy=name), *(measured(comparison.row(name, metric)) for metric, _ in known))
        for name in everyone
    )
    return Table((Column("strategy"), *(Column(title, align="right") for _, title in known)), rows)


def _folded(
    comparison: Comparison, everyone: tuple[str, ...], columns: tuple[tuple[str, str], ...], title: str
) -> list[Block]:
    table = _table(comparison, everyone, columns)
    return [Fold(title, (table,))] if len(table.columns) > 1 else []


def _rounds(comparison: Comparison, everyone: tuple[str, ...]) -> list[Block]:
    """What survives each round of compaction, for the strategies that compact."""
    points: list[Point] = []
    said: list[str] = []
    for name in everyone:
        curves = [
            sample.detail["curve"]
            for case in comparison.cases
            for sample in comparison.samples.get((name, "loss.compactions.1", case), ())
            if sample.detail.get("curve")
        ]
        length = min(max(map(len, curves), default=0), MAX_ROUNDS)
        for number in range(length):
            shares = [curve[number]["recall"] for curve in curves if len(curve) > number]
            points.append(Point(name, float(number + 1), sum(shares) / len(shares)))
        collapsed = comparison.row(name, "loss.collapse_compaction")
        if collapsed is not None and collapsed.value is not None:
            said.append(f"{name} in round {quantity(collapsed.value, 'rounds')} ({counted(collapsed.n, 'thread')})")
    if not points:
        return []
    text = f"Facts told so far that the prompt of each round of compaction still holds, the mean over threads; at most {MAX_ROUNDS} rounds."
    chart = Chart("line", "What survives each round", "round", "facts kept", "rounds", "fraction", tuple(points), text)
    fell = f"Fell below half, on average: {listed(said)}." if said else "No strategy fell below half in any round."
    return [Prose(fell), chart]
