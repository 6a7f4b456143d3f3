"""Routing: decisions that go where they should, state that a run leaves behind, and executions
without approval.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..evidence.of_replay import ReplayEvidence
from ..model import Approval, RouteDecision, ToolResult
from ..model.outcome import TASK_STATE
from ..model.scores import Number
from . import NOTHING, mean, metric, share, shared

ABORT = "abort"
"""The route that ends a run because of a critical failure."""

RUN_SCRIPT = "run_script_by_name"


@shared("routing.accuracy")
def accuracy(evidence: ReplayEvidence) -> Number:
    """Share of routing decisions that went where they should have gone.

    0–1. Expected is the labelled route (for a selection a labelled script), else the recorded one,
    else the same router's decision on untruncated records. No decisions: nothing to measure.

    Source: 004 §4.2
    """
    return mean([item.route == item.expected for item in evidence.replay.decisions])


@shared("routing.first_divergence")
def first_divergence(evidence: ReplayEvidence) -> Number:
    """Share of the routing decisions before the first one that differs from the expected route.

    0–1; 1 if none differs. Decisions after a divergence follow the recorded run and prove little.
    No decisions: nothing to measure.

    Source: Who&When (arXiv 2505.00212): the earliest decisive error of a run
    """
    decisions = evidence.replay.decisions
    differing = (number for number, item in enumerate(decisions) if item.route != item.expected)
    return share(next(differing, len(decisions)), len(decisions))


@metric("routing.{}_aborts", unit="decisions", places=("false", "missed"))
def wrong_aborts(evidence: ReplayEvidence, place: str) -> Number:
    """Decisions that aborted the run and should not have (`false`), or that should have and did not
    (`missed`).

    Without a decision of the other kind: nothing to measure.

    Source: 004 §4.2, the route `abort`
    """
    expected = place == "missed"
    asked = [item for item in evidence.replay.decisions if (item.expected == ABORT) is expected]
    return _count([(item.route == ABORT) is not expected for item in asked])


@metric("routing.reply_errors", unit="replies")
def reply_errors(evidence: ReplayEvidence) -> Number:
    """Replies that failed: there was no summary, and the raw output was too long to show.

    No consumer, or no execution: nothing to measure.

    Source: 001 §2 Step 2: only a small raw output is shown
    """
    return _count(
        [item.reply.path == "error" for item in evidence.replay.results if item.reply is not None]
    )


@metric("routing.unreset_states", unit="replies")
def unreset_states(evidence: ReplayEvidence) -> Number:
    """Replies after which the task's state is not cleared, or the run is not at `END`: the "stuck
    in a loop" defect.

    Counted are the replies of the strategy's consumer; without a consumer the decisions that the
    trace recorded at its `end`. The state consists of the selected script, its parameters, raw
    output and execution summary; empty texts and containers count as cleared. Neither replies nor
    recorded ends: nothing to measure.

    Source: 000 Step 5, 001 §2 Step 3
    """
    replies = [item.reply for item in evidence.replay.results if item.reply is not None]
    if replies:
        return _count([_is_left(reply.state, reply.route) for reply in replies])
    ends = [
        step
        for step in evidence.trace.steps
        if isinstance(step, RouteDecision) and step.at == "end"
    ]
    return _count([_is_left(step.state, step.taken) for step in ends])


def _is_left(state: Mapping[str, Any], route: str) -> bool:
    left = any(state.get(key) not in (None, "", [], {}) for key in TASK_STATE)
    return left or route.strip("_").upper() != "END"  # LangGraph's own name for it is __end__


@metric("routing.unapproved_executions", unit="executions")
def unapproved_executions(evidence: ReplayEvidence) -> Number:
    """Scripts that were executed although nobody had approved the call.

    Counted are the results of `run_script_by_name`, in traces that record approvals; the last
    answer before the result decides. A failed result after a refusal is not an execution. The
    number is the same for every strategy, since actions are recorded. No such result: nothing to
    measure.

    Source: 003 §1 "Human-in-the-Loop", §3.2
    """
    answers: dict[str, bool] = {}
    unapproved = []
    for step in evidence.trace.steps:
        if isinstance(step, Approval):
            answers[step.call_id] = step.approved
        elif isinstance(step, ToolResult) and step.function == RUN_SCRIPT:
            answer = answers.get(step.call_id)
            unapproved.append(answer is None or (answer is False and step.success))
    recorded = any(isinstance(step, Approval) for step in evidence.trace.steps)
    return _count(unapproved) if recorded else NOTHING


def _count(values: list[bool]) -> Number:
    """The number of true values; nothing to measure without values."""
    return Number(float(sum(values))) if values else NOTHING
