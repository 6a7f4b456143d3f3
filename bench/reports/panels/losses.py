"""What was lost: the worst tool results beside what was kept of them, where the facts are now, and what survives compaction."""

from __future__ import annotations

from collections.abc import Iterator

from ...model import Comparison, ResultShown
from ...text.wording import counted, listed, quantity
from .. import contenders, panel
from ..blocks import Block, Cell, Chart, Column, Fold, Point, Prose, SideBySide, Table, measured

MAX_RESULTS = 6
MAX_RESULTS_A_CASE = 2
MAX_COMPACTIONS = 20
TIERS = (
    ("loss.fact_recall.end", "still in the prompt"),
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
    ("loss.rows_kept.end", "rows"),
    ("loss.columns_kept.end", "columns"),
    ("loss.values_changed.end", "cells changed"),
    ("loss.schema_kept.end", "keys"),
)
LIMITS = (
    "Facts of results, looked for in the last prompt of their thread. Presence in the prompt is an upper bound of what a model can use, and a "
    "handle helps only an agent that resolves it. Rows, columns and keys are what can be read back; prose about a row is no row."
)


@panel("losses", order=30, title="What was lost?")
def losses(comparison: Comparison) -> list[Block]:
    """The worst tool results side by side, where their facts are now, loss by kind and by structure, and what survives each compaction."""
    found = [(case.id, result) for case in comparison.cases for result in case.results]
    if not found and all(comparison.value(name, "loss.fact_recall.end") is None for name in comparison.everyone):
        return [Prose("Not measured: no tool result of a finished run holds a fact.", "warn")]
    everyone = comparison.everyone
    kinds = tuple((f"loss.fact_recall.{kind}.end", kind.replace("_", " ")) for kind in KINDS)
    return [
        *_worst(comparison, found),
        *(Prose(text, "warn") for name in everyone for text in _seen_through(comparison, name)),
        _table(comparison, TIERS),
        Prose(LIMITS, "muted"),
        *_folded(comparison, kinds, "Facts kept to the end, by kind"),
        *_folded(comparison, STRUCTURE, "Structure kept to the end"),
        *_compactions(comparison),
    ]


def _worst(comparison: Comparison, found: list[tuple[str, ResultShown]]) -> Iterator[Block]:
    damaged = sum(case.results_damaged for case in comparison.cases)
    if not damaged:
        yield Prose("Nothing: no declared strategy lost a fact of any tool result.", "good")
        return
    ordered = sorted(found, key=lambda item: (-item[1].missed, -item[1].lost, item[0], item[1].step))
    a_case = max(MAX_RESULTS_A_CASE, -(-MAX_RESULTS // len(comparison.cases)))
    chosen: list[tuple[str, ResultShown]] = []
    for item in ordered:
        if sum(case == item[0] for case, _ in chosen) < a_case and len(chosen) < MAX_RESULTS:
            chosen.append(item)
    results = sum(case.recording.results for case in comparison.cases)
    needed = sum(case.results_needed for case in comparison.cases)
    missed = f"{needed} of them something" if needed else "but nothing"
    follow = "Here is the worst" if len(chosen) == 1 else f"Here are the worst {len(chosen)}"
    yield Prose(
        f"{damaged} of {counted(results, 'tool result')} lost something, {missed} that a later turn needed. {follow}."
    )
    for case, result in chosen:
        yield SideBySide(case, result)


def _seen_through(comparison: Comparison, strategy: str) -> Iterator[str]:
    """What looks well by one metric and is shown up by another."""
    false = comparison.value(strategy, "loss.false_notices")
    if false:
        yield f"{strategy} says that something was left out of {counted(false, 'result')} that lost nothing."
    runs = [case.runs[strategy] for case in comparison.cases]
    handles, empty = sum(run.handles for run in runs), sum(run.handles_empty for run in runs)
    if empty:
        yield f"{strategy} keeps {counted(empty, 'handle')} out of {handles} that resolve to nothing: their facts count as lost."


def _table(comparison: Comparison, columns: tuple[tuple[str, str], ...]) -> Table:
    everyone = comparison.everyone
    known = [
        (metric, title)
        for metric, title in columns
        if any(comparison.value(name, metric) is not None for name in everyone)
    ]
    rows = tuple(
        (Cell(name, strategy=name), *(measured(comparison.row(name, metric)) for metric, _ in known))
        for name in everyone
    )
    return Table((Column("strategy"), *(Column(title, align="right") for _, title in known)), rows)


def _folded(comparison: Comparison, columns: tuple[tuple[str, str], ...], title: str) -> list[Block]:
    table = _table(comparison, columns)
    return [Fold(title, (table,))] if len(table.columns) > 1 else []


def _compactions(comparison: Comparison) -> list[Block]:
    """What survives each compaction, for the strategies that compact."""
    points: list[Point] = []
    said: list[str] = []
    for name in comparison.everyone:
        curves = [curve for case in comparison.cases for curve in case.runs[name].compactions]
        length = min(max(map(len, curves), default=0), MAX_COMPACTIONS)
        for number in range(length):
            shares = [curve[number].recall for curve in curves if len(curve) > number]
            points.append(Point(name, float(number + 1), sum(shares) / len(shares)))
        collapsed = comparison.row(name, "loss.collapse_compaction")
        if collapsed is not None and collapsed.value is not None:
            said.append(f"{name} in compaction {quantity(collapsed.value, 'count')} ({counted(collapsed.n, 'thread')})")
    if not points:
        return []
    text = f"Facts told so far that the prompt of each compaction still holds, the mean over threads; at most {MAX_COMPACTIONS} compactions."
    chart = Chart(
        "line",
        "What survives each compaction",
        "compaction",
        "facts kept",
        "compactions",
        "fraction",
        tuple(points),
        text,
    )
    fell = f"Fell below half, on average: {listed(said)}." if said else "No strategy fell below half in any compaction."
    blocks: list[Block] = [Prose(fell), chart]
    return (
        blocks
        if set(contenders(comparison)) & {point.series for point in points}
        else [Fold("Compactions", tuple(blocks))]
    )
