"""Every metric of every strategy, over all cases and case by case."""

from __future__ import annotations

from ...model import Comparison, MetricInfo
from ...text.wording import counted
from .. import panel
from ..blocks import Block, Cell, Column, Fold, Prose, Table, measured

MAX_CELLS = 12_000


@panel("metrics", order=90, title="Every number")
def metrics(comparison: Comparison) -> list[Block]:
    """All metrics of all strategies over all cases, then each metric case by case."""
    if not comparison.metrics:
        return [Prose("No metric is registered, so nothing was measured.", "warn")]
    everyone = comparison.everyone
    rows = tuple(
        (_name(info), Cell(f"{info.better} is better", "muted"), *(measured(comparison.row(name, metric)) for name in everyone))
        for metric, info in sorted(comparison.metrics.items())
    )  # fmt: skip
    columns = (Column("metric"), Column("direction"), *(Column(name, align="right") for name in everyone))
    return [
        Table(columns, rows, f"Over {counted(len(comparison.cases), 'case')}."),
        *_per_case(comparison, everyone),
    ]


def _name(info: MetricInfo) -> Cell:
    return Cell(f"{info.name} ({info.unit})")


def _per_case(comparison: Comparison, everyone: tuple[str, ...]) -> list[Block]:
    cells_a_case = max(1, len(everyone) * len(comparison.metrics))
    shown = comparison.case_ids[: max(1, MAX_CELLS // cells_a_case)]
    columns = (Column("case"), *(Column(name, align="right") for name in everyone))
    left = len(comparison.cases) - len(shown)
    caption = f"{counted(left, 'more case')}: in the CSV and JSON reports." if left else ""
    tables: list[Block] = []
    for metric, info in sorted(comparison.metrics.items()):
        rows = tuple(
            (Cell(case), *(measured(comparison.row(name, metric, case)) for name in everyone)) for case in shown
        )
        tables.append(
            Fold(f"{info.name} by case: {info.title}" if info.title else info.name, (Table(columns, rows, caption),))
        )
    return tables
