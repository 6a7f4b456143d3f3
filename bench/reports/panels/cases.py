"""What happened in each case: a row each, and everything about a case for whoever opens it."""

from __future__ import annotations

import functools

from ...model import Comparison, Row
from .. import brackets, contenders, panel
from ..blocks import Block, Cases, Cell, Column, Detail, Prompts, Prose, Table, counted, measured, quantity
from ..decision_path import path
from ..loss.side_by_side import badness, damages, side_by_side
from ..windows import prompts_data, window_chart

COST = "cost.prompt_tokens"
KEPT = ("needed.recall", "loss.fact_recall.end", "loss.leaf_recall.end")
MAX_CASES = 5_000
MAX_RESULTS = 600
"""How many results are shown beside what was kept of them, over all cases."""

MAX_RESULTS_A_CASE = 8
MAX_STRATEGIES = 12
MAX_CELLS = 600_000
AROUND = ("keep_all", "recorded", "floor")
AS_IT_WAS = ("recorded", "keep_all")


@panel("cases", order=46, title="What happened in each case?")
def cases(comparison: Comparison) -> list[Block]:
    """A row a case: prompt tokens and recall of every strategy. A page opens each: its window, its prompts, its losses, its routes, its numbers.

    Source: design §6
    """
    rows: dict[tuple[str, str], dict[str, Row]] = {}
    for row in comparison.rows:
        rows.setdefault((row.case or "", row.strategy), {})[row.metric] = row
    known = {row.metric for row in comparison.rows if row.value is not None and row.strategy in contenders(comparison)}
    kept = next((metric for metric in KEPT if metric in known), KEPT[0])
    columns = [Column("case"), Column("model calls", align="right"), Column("lowest kept", align="right")]
    for name in contenders(comparison):
        columns += [
            Column(f"{name}: tokens", align="right", strategy=name),
            Column("kept", align="right", strategy=name),
        ]
    shown = comparison.cases[:MAX_CASES]
    table = Table(tuple(columns), tuple(_row(comparison, case, rows, kept) for case in shown), f"Kept: {kept}.")
    details = tuple(Detail(case, functools.partial(_detail, comparison, case, rows)) for case in shown)
    left = len(comparison.cases) - len(shown)
    said = f"{counted(len(shown), 'case')}; one opens when its name is chosen."
    if left:
        said += f" {left} more are left out of this page: the CSV and JSON reports hold their numbers, and a report of fewer traces shows them."
    return [Prose(said, "warn" if left else "muted"), Cases(table, details)]


def _row(comparison: Comparison, case: str, rows: dict[tuple[str, str], dict[str, Row]], kept: str) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    lowest: Row | None = None
    for name in contenders(comparison):
        own = rows.get((case, name), {})
        recall = own.get(kept)
        if recall is not None and recall.value is not None and (lowest is None or recall.value < (lowest.value or 0.0)):
            lowest = recall
        cells += [measured(own.get(COST)), measured(recall)]
    calls = len(comparison.traces[case].model_turns)
    worst = quantity(lowest.value, lowest.unit) if lowest is not None else ""
    return (Cell(case, case=case), Cell(quantity(calls, "calls")), Cell(worst), *cells)


def _detail(comparison: Comparison, case: str, rows: dict[tuple[str, str], dict[str, Row]]) -> tuple[Block, ...]:
    """Everything about one case."""
    ours, around = contenders(comparison), brackets(comparison)
    chart = window_chart(comparison, case, (*ours, *(name for name in around if name in AROUND)), ours)
    asked = dict.fromkeys([*ours, *(name for name in AS_IT_WAS if name in (*comparison.strategies, *around))])
    data = prompts_data(comparison, case, list(asked))
    blocks: list[Block] = [chart] if chart is not None else []
    if data["strategies"]:
        blocks.append(Prompts(case, data))
    everyone = (*comparison.strategies, *comparison.references)
    return (
        *blocks,
        *_losses(comparison, case),
        *_paths(comparison, case, everyone),
        *_numbers(comparison, case, everyone, rows),
    )


def _losses(comparison: Comparison, case: str) -> list[Block]:
    found = damages(comparison, contenders(comparison), (case,))
    worst = sorted(found, key=lambda place: (badness(found[place]), place))
    limit = max(1, min(MAX_RESULTS_A_CASE, MAX_RESULTS // len(comparison.cases)))
    said = f"Some strategy lost something of {counted(len(found), 'tool result')}."
    if len(worst) > limit:
        said += f" Shown: the worst {limit}; a report of fewer cases shows up to {MAX_RESULTS_A_CASE}."
    return [
        Prose(said),
        *(side_by_side(comparison, case, step, found[case, step], MAX_STRATEGIES) for _, step in worst[:limit]),
    ]


def _paths(comparison: Comparison, case: str, everyone: tuple[str, ...]) -> list[Block]:
    """The decision path of every strategy that took a wrong turn here; where none did, of the first that decided anything."""
    runs = {name: comparison.runs[name, case].decisions for name in everyone if (name, case) in comparison.runs}
    wrong = [name for name, decisions in runs.items() if any(item.route != item.expected for item in decisions)]
    some = wrong or [name for name, decisions in runs.items() if decisions][:1]
    paths = (path(name, runs[name]) for name in some)
    return [found for found in paths if found is not None]


def _numbers(
    comparison: Comparison, case: str, everyone: tuple[str, ...], rows: dict[tuple[str, str], dict[str, Row]]
) -> list[Block]:
    if len(comparison.rows) > MAX_CELLS:
        return [Prose("All numbers of this case are in the CSV and JSON reports.", "muted")]
    columns = (Column("metric"), *(Column(name, align="right", strategy=name) for name in everyone))
    table = tuple(
        (Cell(metric), *(measured(rows.get((case, name), {}).get(metric)) for name in everyone))
        for metric in sorted(comparison.metrics)
    )
    return [Table(columns, table, "Every number of this case.")]
