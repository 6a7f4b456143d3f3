"""Which conclusions changed because of what was stored."""

from __future__ import annotations

from ...evidence.findings import changes
from ...model import Comparison
from .. import contenders, panel
from ..blocks import Block, Cell, Column, Fold, Prose, Table, counted

METRIC = "findings.agreement"
MAX_RESULTS = 8
MAX_EXPLAINED = 20  # results of one run whose findings are compared in detail


@panel("findings", order=50, title="Which conclusions changed?")
def findings(comparison: Comparison) -> list[Block]:
    """Results whose evaluation or extraction comes out otherwise from the stored record than from the untruncated one, change by change.

    Source: design §4
    """
    judged = differing = 0
    told: list[tuple[str, str, int, list[dict[str, str]]]] = []
    for strategy in contenders(comparison):
        for case in comparison.cases:
            samples = comparison.samples.get((strategy, METRIC, case), ())
            steps = [sample.step for sample in samples if sample.numerator == 0 and sample.step is not None]
            judged, differing = judged + len(samples), differing + len(steps)
            outcomes = {outcome.step: outcome for outcome in comparison.runs[strategy, case].results} if steps else {}
            for step in steps[:MAX_EXPLAINED]:
                found = changes(outcomes[step]) if step in outcomes else None
                if found is not None:
                    told.append((strategy, case, step, found))
    if not judged:
        return [Prose("No result here is evaluated, and no finding is extracted from one.", "muted")]
    if not differing:
        return [Prose(f"None: {counted(judged, 'judgement')} came out as from untruncated records.", "good")]
    said = f"{counted(differing, 'judgement')} of {judged} came out otherwise from what was stored than from untruncated records."
    told.sort(key=lambda item: -len(item[3]))
    left = differing - min(len(told), MAX_RESULTS)
    more = f" {left} of them are left out here." if left else ""
    return [Prose(said + more, "bad"), *(_changes(*item) for item in told[:MAX_RESULTS])]


def _changes(strategy: str, case: str, step: int, changes: list[dict[str, str]]) -> Block:
    rows = tuple(
        (
            Cell(change["path"]),
            Cell(change["kind"].replace("_", " ")),
            Cell(change["before"]),
            Cell(change["after"], "bad"),
        )
        for change in changes
    )
    columns = (
        Column("finding"),
        Column("change"),
        Column("from the untruncated record"),
        Column("from the stored one"),
    )
    title = f"{strategy}, {case}, step {step}: {counted(len(changes), 'change')}"
    return Fold(title, (Table(columns, rows),))
