"""Every metric of every strategy, over all cases and case by case."""

from __future__ import annotations

from ...model import Comparison, MetricInfo
from ...text.wording import counted
from .. import contenders, panel
from ..blocks import Block, Cell, Column, Fold, Prose, Table, measured

MAX_ROWS = 10


@panel("metrics", order=90, title="Every number", detail=True)
def metrics(comparison: Comparison) -> list[Block]:
    """All metrics of all strategies over all cases, then each metric case by case."""
    if not comparison.metrics:
        return [Prose("No metric is registered, so nothing was measured.", "warn")]
    everyone = comparison.everyone
    infos = dict(sorted(comparison.metrics.items()))
    empty = [name for name in infos if all(comparison.value(one, name) is None for one in everyone)]
    rows = tuple(
        (_name(info), *(measured(comparison.row(name, metric)) for name in everyone))
        for metric, info in infos.items()
        if metric not in empty
    )
    columns = (Column("metric"), *(Column(name, align="right") for name in everyone))
    said = [Prose(f"Not measured for anybody: {', '.join(empty)}.", "muted")] if empty else []
    return [
        Fold(f"All {len(infos)} over {counted(len(comparison.cases), 'case')}", (Table(columns, rows), *said)),
        *_per_case(comparison, everyone, [name for name in infos if name not in empty]),
    ]


def _name(info: MetricInfo) -> Cell:
    return Cell(f"{info.name} ({info.unit})", detail=f"{info.better} is better")


def _per_case(comparison: Comparison, everyone: tuple[str, ...], names: list[str]) -> list[Block]:
    columns = (Column("case"), *(Column(name, align="right") for name in everyone))
    left = max(0, len(comparison.cases) - MAX_ROWS)
    caption = f"The {MAX_ROWS} worst; {counted(left, 'more case')}: in the CSV and JSON reports." if left else ""
    tables: list[Block] = []
    for metric in names:
        info = comparison.metrics[metric]
        rows = tuple(
            (Cell(case, case=case), *(measured(comparison.row(name, metric, case)) for name in everyone))
            for case in _worst(comparison, info)
        )
        tables.append(
            Fold(f"{info.name} by case: {info.title}" if info.title else info.name, (Table(columns, rows, caption),))
        )
    return tables


def _worst(comparison: Comparison, info: MetricInfo) -> list[str]:
    """Up to ten cases, those first on which a contender does worst by a metric; where all fit, in their own order."""
    if len(comparison.case_ids) <= MAX_ROWS:
        return list(comparison.case_ids)
    sign = 1 if info.better == "higher" else -1

    def badness(case: str) -> tuple[bool, float]:
        rows = [comparison.row(name, info.name, case) for name in contenders(comparison)]
        values = [sign * row.value for row in rows if row is not None and row.value is not None]
        return not values, min(values, default=0.0)

    return sorted(comparison.case_ids, key=badness)[:MAX_ROWS]
