"""What was concluded from stored records: which findings changed, and what the evaluator said step by step."""

from __future__ import annotations

from ...model import Comparison, FindingChange, RunShown
from ...text.wording import counted
from .. import contenders, panel
from ..blocks import Block, Cell, Column, Fold, Prose, Table

MAX_RESULTS = 8


@panel("findings", order=50, title="Which conclusions changed?")
def findings(comparison: Comparison) -> list[Block]:
    """Results whose evaluation or extraction comes out otherwise from the stored record than from the untruncated one, then the evaluator's log."""
    runs = [(name, case.id, case.runs[name]) for name in contenders(comparison) for case in comparison.cases]
    judged = sum(run.findings_judged for _, _, run in runs)
    if not judged:
        return [Prose("No result here is evaluated, and no finding is extracted from one.", "muted")]
    differing = sum(run.findings_differing for _, _, run in runs)
    blocks: list[Block] = [_by_strategy(runs)]
    if not differing:
        blocks.insert(0, Prose(f"None: {counted(judged, 'judgement')} came out as from untruncated records.", "good"))
    else:
        said = f"{counted(differing, 'judgement')} of {judged} came out otherwise from what was stored than from untruncated records."
        told = _by_result(runs)
        left = differing - min(len(told), MAX_RESULTS)
        blocks.insert(0, Prose(said + (f" {left} of them are left out here." if left else ""), "bad"))
        blocks += [_changes(title, changes) for title, changes in told[:MAX_RESULTS]]
    logs = [_log(f"{name}, {case}", run) for name, case, run in runs if run.judged]
    return [*blocks, *([Fold("The evaluator's log, step by step", tuple(logs))] if logs else [])]


def _by_strategy(runs: list[tuple[str, str, RunShown]]) -> Table:
    """A row a strategy that evaluates or extracts: how many judgements it made, and how many differ from those of untruncated records."""
    made: dict[str, list[RunShown]] = {}
    for name, _, run in runs:
        made.setdefault(name, []).append(run)
    rows = []
    for name, found in made.items():
        judged, differing = (
            sum(getattr(run, field) for run in found) for field in ("findings_judged", "findings_differing")
        )
        if judged:
            steps = str(sum(run.judged for run in found))
            rows.append(
                (
                    Cell(name, strategy=name),
                    Cell(steps),
                    Cell(f"{differing} of {judged}", "bad" if differing else "good"),
                )
            )
    columns = (
        Column("strategy"),
        Column("steps evaluated", align="right"),
        Column("came out otherwise", align="right"),
    )
    return Table(columns, tuple(rows))


def _by_result(runs: list[tuple[str, str, RunShown]]) -> list[tuple[str, list[FindingChange]]]:
    """The changes of each result under its title, the most changed first."""
    found: dict[str, list[FindingChange]] = {}
    for name, case, run in runs:
        for change in run.finding_changes:
            found.setdefault(f"{name}, {case}, step {change.step}", []).append(change)
    return sorted(found.items(), key=lambda item: -len(item[1]))


def _changes(title: str, changes: list[FindingChange]) -> Block:
    rows = tuple(
        (Cell(change.path), Cell(change.kind.replace("_", " ")), Cell(change.before), Cell(change.after, "bad"))
        for change in changes
    )
    columns = (
        Column("finding"),
        Column("change"),
        Column("from the untruncated record"),
        Column("from the stored one"),
    )
    return Fold(f"{title}: {counted(len(changes), 'change')}", (Table(columns, rows),))


def _log(title: str, run: RunShown) -> Block:
    rows = tuple(
        (
            Cell(str(item.step)),
            Cell(item.function),
            Cell(item.outcome, "plain" if item.outcome == "succeeded" else "bad"),
            Cell(item.result_type),
            Cell(item.conclusions),
        )
        for item in run.judgements
    )
    columns = (Column("step"), Column("function"), Column("outcome"), Column("type"), Column("conclusions"))
    left = run.judged - len(rows)
    said = (Prose(f"{counted(left, 'more step')} are left out here.", "muted"),) if left else ()
    return Fold(f"{title}: {counted(run.judged, 'step')} evaluated", (Table(columns, rows), *said))
