"""Every metric of every strategy over all cases."""

from __future__ import annotations

from ...text.wording import counted
from .. import panel
from ..answered import Answered
from ..blocks import Block, Cell, Column, Fold, Prose, Table, measured, number


@panel("metrics", order=90, title="Every number", detail=True)
def metrics(comparison: Answered) -> list[Block]:
    """All metrics of all strategies over all cases. A page shows those of one case where that is opened; CSV and JSON have them all."""
    if not comparison.metrics:
        return [Prose("No metric is registered, so nothing was measured.", "warn")]
    everyone = comparison.everyone
    infos = dict(sorted(comparison.metrics.items()))
    empty = [name for name in infos if all(comparison.value(one, name) is None for one in everyone)]
    rows = tuple(
        (
            Cell(f"{name} ({info.unit})", detail=f"{info.better} is better"),
            *(measured(comparison.row(one, name)) for one in everyone),
        )
        for name, info in infos.items()
        if name not in empty
    )
    table = Table((Column("metric"), *(number(name, strategy=name) for name in everyone)), rows)
    said = [Prose(f"Not measured for anybody: {', '.join(empty)}.", "muted")] if empty else []
    return [Fold(f"All {len(infos)} over {counted(len(comparison.cases), 'case')}", (table, *said))]
