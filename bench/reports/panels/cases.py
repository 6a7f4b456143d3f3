"""What happened in each case: a row each, and everything about a case for whoever opens it."""

from __future__ import annotations

import functools

from ...model import Case, Comparison
from ...text.wording import counted, quantity
from .. import brackets, contenders, panel
from ..blocks import Block, Cases, Cell, Column, Detail, Path, Prompts, Prose, SideBySide, Table, measured
from ..prompts_shown import unpacked
from ..window_charts import window_chart

COST = "cost.prompt_tokens"
KEPT = ("needed.recall", "loss.fact_recall.end", "loss.leaf_recall.end")
MAX_CASES = 5_000
MAX_CELLS = 600_000
AROUND = ("keep_all", "recorded", "floor")


@panel("cases", order=46, title="What happened in each case?")
def cases(comparison: Comparison) -> list[Block]:
    """A row a case: prompt tokens and recall of every strategy. A page opens each: its window, its prompts, its losses, its routes, its numbers."""
    everyone = contenders(comparison)
    kept = next(
        (metric for metric in KEPT if any(comparison.value(name, metric) is not None for name in everyone)), KEPT[0]
    )
    columns = [Column("case"), Column("model calls", align="right"), Column("lowest kept", align="right")]
    for name in everyone:
        columns += [
            Column(f"{name}: tokens", align="right", strategy=name),
            Column("kept", align="right", strategy=name),
        ]
    shown = comparison.cases[:MAX_CASES]
    table = Table(tuple(columns), tuple(_row(comparison, case, kept) for case in shown), f"Kept: {kept}.")
    details = tuple(Detail(case.id, functools.partial(_detail, comparison, case)) for case in shown)
    left = len(comparison.cases) - len(shown)
    said = f"{counted(len(shown), 'case')}; one opens when its name is chosen."
    if left:
        said += f" {left} more are left out of this page: the CSV and JSON reports hold their numbers."
    return [Prose(said, "warn" if left else "muted"), Cases(table, details)]


def _row(comparison: Comparison, case: Case, kept: str) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    recalls = []
    for name in contenders(comparison):
        recall = comparison.row(name, kept, case.id)
        if recall is not None and recall.value is not None:
            recalls.append(recall)
        cells += [measured(comparison.row(name, COST, case.id)), measured(recall)]
    lowest = min(recalls, key=lambda row: row.value or 0.0, default=None)
    worst = quantity(lowest.value, lowest.unit) if lowest is not None else ""
    return (Cell(case.id, case=case.id), Cell(quantity(case.recording.calls, "calls")), Cell(worst), *cells)


def _detail(comparison: Comparison, case: Case) -> tuple[Block, ...]:
    """Everything about one case."""
    ours = contenders(comparison)
    around = tuple(name for name in brackets(comparison) if name in AROUND)
    chart = window_chart(case, (*ours, *around), ours)
    blocks: list[Block] = [chart] if chart is not None else []
    if case.prompts:
        blocks.append(Prompts(case.id, unpacked(case.prompts)))
    said = f"Something was lost of {counted(case.results_damaged, 'tool result')}."
    if case.results_damaged > len(case.results):
        said += f" The worst {len(case.results)} follow."
    blocks += [Prose(said), *(SideBySide(case.id, result) for result in case.results)]
    return (*blocks, *_paths(case, comparison.everyone), *_numbers(comparison, case))


def _paths(case: Case, everyone: tuple[str, ...]) -> list[Block]:
    """The decision path of every strategy that took a wrong turn here; where none did, of the first that decided anything."""
    decided = [name for name in everyone if name in case.runs and case.runs[name].routes.path]
    wrong = [name for name in decided if case.runs[name].routes.first_wrong is not None]
    return [Path.of(name, case.runs[name].routes) for name in wrong or decided[:1]]


def _numbers(comparison: Comparison, case: Case) -> list[Block]:
    if len(comparison.rows) > MAX_CELLS:
        return [Prose("All numbers of this case are in the CSV and JSON reports.", "muted")]
    everyone = comparison.everyone
    columns = (Column("metric"), *(Column(name, align="right", strategy=name) for name in everyone))
    table = tuple(
        (Cell(metric), *(measured(comparison.row(name, metric, case.id)) for name in everyone))
        for metric in sorted(comparison.metrics)
    )
    return [Table(columns, table, "Every number of this case.")]
