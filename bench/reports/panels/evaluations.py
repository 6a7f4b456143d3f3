"""What the evaluator concluded, step by step."""

from __future__ import annotations

from typing import Any

from ...model import Comparison, ResultOutcome, as_text
from .. import contenders, panel
from ..blocks import Block, Cell, Column, Fold, Prose, Table, counted

MAX_STEPS = 40  # of one strategy and case
BASE = ("step_index", "function_name", "success", "result_type", "timestamp", "evaluation_version", "critical_failure")


@panel("evaluations", order=52, title="What did the evaluator say, step by step?")
def evaluations(comparison: Comparison) -> list[Block]:
    """The evaluation log: for each strategy and case, what the evaluator concluded about each step from the stored record.

    Source: 004 §6.1
    """
    folds: list[Block] = []
    for strategy in contenders(comparison):
        for case in comparison.cases:
            judged = [outcome for outcome in comparison.runs[strategy, case].results if outcome.evaluation is not None]
            if judged:
                folds.append(_log(strategy, case, judged))
    return folds or [Prose("No strategy here evaluates its steps.", "muted")]


def _log(strategy: str, case: str, judged: list[ResultOutcome]) -> Block:
    rows = tuple(_row(outcome, outcome.evaluation or {}) for outcome in judged[:MAX_STEPS])
    columns = (Column("step"), Column("function"), Column("outcome"), Column("type"), Column("conclusions"))
    left = len(judged) - len(rows)
    said = (Prose(f"{counted(left, 'step')} more are left out here; the Run holds them all.", "muted"),) if left else ()
    return Fold(f"{strategy}, {case}: {counted(len(judged), 'step')} evaluated", (Table(columns, rows), *said))


def _row(outcome: ResultOutcome, found: dict[str, Any]) -> tuple[Cell, ...]:
    critical = bool(found.get("critical_failure"))
    state = "critical failure" if critical else "succeeded" if found.get("success", True) else "failed"
    concluded = "; ".join(f"{key}: {as_text(value)}" for key, value in found.items() if key not in BASE)
    return (
        Cell(str(found.get("step_index", outcome.step))),
        Cell(str(found.get("function_name", outcome.record.function))),
        Cell(state, "plain" if state == "succeeded" else "bad"),
        Cell(str(found.get("result_type", outcome.record.result_type))),
        Cell(concluded if len(concluded) <= 400 else concluded[:397] + "..."),
    )
