"""Which conclusions changed because of what was stored."""

from __future__ import annotations

from ...blocks import Block, Cell, Column, Fold, Prose, Table, counted
from ...model import Comparison, Sample
from .. import contenders, panel

METRIC = "findings.agreement"
MAX_RESULTS = 8
MAX_CHANGES = 10


@panel("findings", order=50, title="Which conclusions changed?")
def findings(comparison: Comparison) -> list[Block]:
    """Results whose evaluation or extraction comes out otherwise from the stored record than from the untruncated one, change by change.

    Source: design §4
    """
    judged = 0
    changed: list[tuple[str, str, Sample]] = []
    for strategy in contenders(comparison):
        for case in comparison.cases:
            samples = comparison.samples.get((strategy, METRIC, case), ())
            judged += len(samples)
            changed.extend((strategy, case, sample) for sample in samples if sample.numerator == 0)
    if not judged:
        return [Prose("No result here is evaluated, and no finding is extracted from one.", "muted")]
    if not changed:
        return [Prose(f"None: {counted(judged, 'judgement')} came out as from untruncated records.", "good")]
    said = f"{counted(len(changed), 'judgement')} of {judged} came out otherwise from what was stored than from untruncated records."
    told = [item for item in changed if isinstance(item[2].detail.get("changes"), list)]
    told.sort(key=lambda item: -len(item[2].detail["changes"]))
    left = len(changed) - min(len(told), MAX_RESULTS)
    more = f" {left} of them are left out here." if left else ""
    return [Prose(said + more, "bad"), *(_changes(*item) for item in told[:MAX_RESULTS])]


def _changes(strategy: str, case: str, sample: Sample) -> Block:
    changes = sample.detail["changes"]
    rows = tuple(
        (
            Cell(change["path"]),
            Cell(change["kind"].replace("_", " ")),
            Cell(change["before"]),
            Cell(change["after"], "bad"),
        )
        for change in changes[:MAX_CHANGES]
    )
    columns = (
        Column("finding"),
        Column("change"),
        Column("from the untruncated record"),
        Column("from the stored one"),
    )
    title = f"{strategy}, {case}, step {sample.step}: {counted(len(changes), 'change')}"
    return Fold(title, (Table(columns, rows),))
