"""Every metric of every strategy over all cases."""

from __future__ import annotations

from ...text.wording import counted
from .. import panel
from ..answered import Answered
from ..blocks import Block, Cell, Fold, Prose, by_metric


@panel("metrics", order=90, title="Every number", detail=True)
def metrics(comparison: Answered) -> list[Block]:
    """All metrics of all strategies over all cases. A page shows those of one case where that is opened; CSV and JSON have them all."""
    if not comparison.metrics:
        return [Prose("No metric is registered, so nothing was measured.", "warn")]
    infos = dict(sorted(comparison.metrics.items()))
    empty = [name for name in infos if all(comparison.value(one, name) is None for one in comparison.everyone)]
    heads = {
        name: Cell(f"{name} ({info.unit})", detail=f"{info.better} is better")
        for name, info in infos.items()
        if name not in empty
    }
    table = by_metric(comparison, heads)
    said = [Prose(f"Not measured for anybody: {', '.join(empty)}.", "muted")] if empty else []
    return [Fold(f"All {len(infos)} over {counted(len(comparison.cases), 'case')}", (table, *said))]
