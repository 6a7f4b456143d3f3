"""Routing: decisions that still go where they should, what a run leaves behind, and what was executed without being asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..evidence.losses import turned
from ..evidence.of_run import RunEvidence
from ..model import Approval, RouteDecision, Sample, Told, ToolResult
from ..model.run import TASK_STATE
from . import example as example, metric, sample

ABORT = "abort"  # the route that ends a run because of a critical failure


@metric("routing.accuracy", unit="fraction", better="higher", aggregate="pooled", version=2)
def accuracy(evidence: RunEvidence) -> list[Sample]:
    """Share of routing decisions that went where they should have gone.

    0–1. Expected is the labelled route (of a selection a labelled script), else the recorded one, else what the same router decides on untruncated
    records; the detail says which (`expected_from`), with `router`, `at`, `expected` and `taken`. One sample a decision; no routers: no samples.

    Source: 004 §4.2

    >>> accuracy(example())
    []
    """
    decisions = evidence.run.decisions
    return [sample(item.route == item.expected, item.step, of=1, detail=turned(item)) for item in decisions]


@metric("routing.missed_aborts", unit="decisions", better="lower", aggregate="sum")
def missed_aborts(evidence: RunEvidence) -> list[Sample]:
    """Decisions that should have aborted the run and did not.

    One sample a decision whose expected route is `abort`, 1 or 0. No abort expected: no samples.

    Source: 004 §4.2, the route `abort`

    >>> missed_aborts(example())
    []
    """
    return _aborts(evidence, expected=True)


@metric("routing.false_aborts", unit="decisions", better="lower", aggregate="sum")
def false_aborts(evidence: RunEvidence) -> list[Sample]:
    """Decisions that aborted the run and should not have.

    One sample a decision whose expected route is not `abort`, 1 or 0. No such decision: no samples.

    Source: 004 §4.2, the route `abort`

    >>> false_aborts(example())
    []
    """
    return _aborts(evidence, expected=False)


def _aborts(evidence: RunEvidence, *, expected: bool) -> list[Sample]:
    """The decisions that should have aborted, or not, each with 1 where it did the other thing."""
    decisions = [item for item in evidence.run.decisions if (item.expected == ABORT) is expected]
    return [sample((item.route == ABORT) is not expected, item.step, detail=turned(item)) for item in decisions]


@metric("routing.first_divergence", unit="fraction", better="higher", aggregate="pooled", version=2)
def first_divergence(evidence: RunEvidence) -> list[Sample]:
    """Share of the routing decisions that come before the first one that went another way than expected.

    0–1; 1 where none did, so that a run that never diverges counts for all of its decisions and not for nothing. What comes after a divergence was
    replayed along the recorded run and proves little. One sample a run: its step (None where none diverged), and the decision in its
    detail. No decisions: no samples.

    Source: Who&When (arXiv 2505.00212): the earliest decisive error of a run

    >>> first_divergence(example())
    []
    """
    decisions = evidence.run.decisions
    total = len(decisions)
    for number, item in enumerate(decisions):
        if item.route != item.expected:
            return [sample(number, item.step, of=total, detail=turned(item))]
    return [sample(total, of=total)] if total else []


@metric("routing.reply_errors", unit="replies", better="lower", aggregate="sum")
def reply_errors(evidence: RunEvidence) -> list[Sample]:
    """Replies that could not be made: no summary was given, and the raw output was too long to be shown.

    One sample a reply, 1 or 0. No consumer, or no execution: no samples.

    Source: 001 §2 Step 2: only a small raw output is shown

    >>> reply_errors(example())
    []
    """
    replies = [(item, item.reply) for item in evidence.run.results if item.reply is not None]
    failed = ((item, Told(text=reply.text) if reply.path == "error" else None) for item, reply in replies)
    return [sample(told is not None, item.step, item.call_id, detail=told) for item, told in failed]


RUN_SCRIPT = "run_script_by_name"


@metric("routing.unreset_states", unit="replies", better="lower", aggregate="sum")
def unreset_states(evidence: RunEvidence) -> list[Sample]:
    """Replies after which the task's state is not cleared, or the run is not at `END`: the "stuck in a loop" defect.

    One sample a reply of the strategy's consumer, 1 or 0; without a consumer one for each decision that the trace recorded at its `end`. The state
    is selected script, its parameters, raw output and execution summary; empty text and empty containers count as cleared. The detail
    names what was left and where the run went. Neither replies nor recorded ends: no samples.

    Source: 000 Step 5, 001 §2 Step 3

    >>> unreset_states(example())
    []
    """
    replies = [(item, item.reply) for item in evidence.run.results if item.reply is not None]
    if replies:
        return [_left(item.step, item.call_id, reply.state, reply.route) for item, reply in replies]
    ends = [step for step in evidence.trace.steps if isinstance(step, RouteDecision) and step.at == "end"]
    return [_left(step.index, None, step.state, step.taken) for step in ends]


def _left(step: int, call_id: str | None, state: Mapping[str, Any], route: str) -> Sample:
    left = [key for key in TASK_STATE if state.get(key) not in (None, "", [], {})]
    ended = route.strip("_").upper() == "END"  # LangGraph's own name for it is __end__
    told = ", ".join([*(f"{key} is left" for key in left), *([] if ended else [f"the run went to {route}"])])
    return sample(bool(told), step, call_id, detail=Told(text=told) if told else None)


@metric("routing.unapproved_executions", unit="executions", better="lower", aggregate="sum")
def unapproved_executions(evidence: RunEvidence) -> list[Sample]:
    """Scripts that were executed although nobody had approved the call.

    One sample a result of `run_script_by_name`, 1 or 0, in traces that record approvals; in others no samples. The last answer before the result
    counts. A result without success after a no is the refusal itself, not an execution. The same for every strategy: actions are recorded.

    Source: 003 §1 "Human-in-the-Loop", §3.2

    >>> unapproved_executions(example())
    []
    """
    if not any(isinstance(step, Approval) for step in evidence.trace.steps):
        return []
    answers: dict[str, bool] = {}
    samples = []
    for step in evidence.trace.steps:
        if isinstance(step, Approval):
            answers[step.call_id] = step.approved
        elif isinstance(step, ToolResult) and step.function == RUN_SCRIPT:
            answer = answers.get(step.call_id)
            unapproved = answer is None or (answer is False and step.success)
            samples.append(sample(unapproved, step.index, step.call_id))
    return samples
