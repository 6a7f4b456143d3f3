"""Routing: decisions and selections that go where they should, loops, state that a run leaves
behind, and executions without approval."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from ..evidence.of_replay import ReplayEvidence
from ..model import Approval, ModelTurn, RouteDecision, ToolResult, Trace, UserTurn, compact_json
from ..model.outcome import TASK_STATE, Decision
from ..model.scores import Number
from ..text.scripts import expected_scripts
from . import NOTHING, amount, mean, metric, share, share_metric

ABORT = "abort"
"""The route that ends a run because of a critical failure."""

RUN_SCRIPT = "run_script_by_name"

REPEATS = 3
"""The number of equal decisions in a row that make a loop."""


@share_metric("routing.accuracy")
def accuracy(evidence: ReplayEvidence) -> Number:
    """Share of routing decisions that went where they should have gone.

    From 0 (none) to 1 (all). Expected is the labelled route (for a selection a labelled script),
    else the recorded one; decisions without either do not count. A strategy without routers takes
    the recorded routes. Not measured if no router decides where a route is expected; without
    recorded or labelled routes there is nothing to measure.

    Source: 004 §4.2
    """
    labels, steps = _labelled_routes(evidence.trace), evidence.trace.steps
    recorded = [step for step in steps if isinstance(step, RouteDecision)]
    replay = evidence.replay
    if not (replay.has_routers or replay.decisions):
        return mean([step.taken == labels.get(str(step.index), step.taken) for step in recorded])
    compared = [item.route == route for item, route in expected_routes(evidence)]
    routed = [it for it in replay.decisions if it.loop is None and "ranked" not in it.detail]
    if routed and not compared and (labels or recorded):
        return Number(None, reason="no router decides where a route is recorded or labelled")
    return mean(compared)


@share_metric("routing.agreement")
def agreement(evidence: ReplayEvidence) -> Number:
    """Share of routing decisions that the same router takes on the untruncated records, too.

    From 0 (none) to 1 (all). It does not say if the routes are right. Without routers there is
    nothing to measure.

    Source: 004 Issue Analysis "incorrect scientific conclusions"
    """
    return mean([item.route == item.untruncated for item in evidence.replay.decisions])


def expected_routes(evidence: ReplayEvidence) -> list[tuple[Decision, str]]:
    """Each decision that has an expected route, with that: the labelled one, else the recorded one."""
    if not evidence.replay.decisions:
        return []
    trace = evidence.trace
    taken = {step.index: step.taken for step in trace.steps if isinstance(step, RouteDecision)}
    routes, scripts = _labelled_routes(trace), _labelled_scripts(trace)

    def expected(decision: Decision) -> str | None:
        """The labelled route; of several right scripts the chosen one, else the first."""
        step = str(decision.step)
        if step in routes:
            return routes[step]
        is_selection = isinstance(decision.detail.get("ranked"), list)
        accepted = scripts.get(step, ()) if is_selection else ()
        script = decision.route if decision.route in accepted else next(iter(accepted), None)
        return script or taken.get(decision.step)

    pairs = ((item, expected(item)) for item in evidence.replay.decisions)
    return [(item, route) for item, route in pairs if route]


def _labelled_routes(trace: Trace) -> dict[str, str]:
    routes = trace.labels.get("routes")
    return routes if isinstance(routes, dict) else {}


def _labelled_scripts(trace: Trace) -> dict[str, list[str]]:
    return expected_scripts(trace.labels.get("scripts"), trace.meta.get("manifest"))


@share_metric("routing.first_divergence")
def first_divergence(evidence: ReplayEvidence) -> Number:
    """Share of the routing decisions before the first one that differs from the expected route.

    From 0 (the first one differs) to 1 (none does). Decisions after a divergence follow the recorded
    run and prove little. Without decisions that have an expected route there is nothing to measure.

    Source: Who&When (arXiv 2505.00212): the earliest decisive error of a run
    """
    decided = [item.route == route for item, route in expected_routes(evidence)]
    return share([*decided, False].index(False), len(decided))


@metric("routing.{}_aborts", unit="decisions", places=("false", "missed"))
def wrong_aborts(evidence: ReplayEvidence, place: str) -> Number:
    """Decisions that aborted the run and should not have (`false`), or that should have and did not
    (`missed`).

    0: none. There is nothing to measure without decisions that should not have aborted (for
    `missed`: that should have).

    Source: 004 §4.2, the route `abort`
    """
    should_abort = place == "missed"
    expected = expected_routes(evidence)
    decisions = [item for item, route in expected if (route == ABORT) is should_abort]
    return _count([(item.route == ABORT) is not should_abort for item in decisions])


@metric("routing.reply_errors", unit="replies")
def reply_errors(evidence: ReplayEvidence) -> Number:
    """Replies that failed: there was no summary, and the raw output was too long to show.

    0: none. Without a consumer's replies there is nothing to measure.

    Source: 001 §2 Step 2: only a small raw output is shown
    """
    return _count(
        [item.reply.path == "error" for item in evidence.replay.results if item.reply is not None]
    )


@share_metric("routing.unreset_states", better="lower")
def unreset_states(evidence: ReplayEvidence) -> Number:
    """Share of the replies after which the task's state is not cleared, or the run is not at `END`:
    the "stuck in a loop" defect.

    From 0 (none) to 1 (all). Counted are the replies of the strategy's consumer; without a consumer
    the decisions that the trace recorded at its `end`. The state consists of the selected script, its
    parameters, raw output and execution summary; empty texts and containers count as cleared.
    Without replies and recorded ends there is nothing to measure.

    Source: 000 Step 5, 001 §2 Step 3
    """
    replies = [item.reply for item in evidence.replay.results if item.reply is not None]
    if replies:
        return mean([_is_left(reply.state, reply.route) for reply in replies])
    ends = [
        step
        for step in evidence.trace.steps
        if isinstance(step, RouteDecision) and step.at == "end"
    ]
    return mean([_is_left(step.state, step.taken) for step in ends])


def _is_left(state: Mapping[str, Any], route: str) -> bool:
    left = any(state.get(key) not in (None, "", [], {}) for key in TASK_STATE)
    return left or route.strip("_").upper() != "END"  # LangGraph's own name for it is __end__


@metric("routing.unapproved_executions", unit="executions")
def unapproved_executions(evidence: ReplayEvidence) -> Number:
    """Scripts that were executed although nobody had approved the call.

    Counted are the results of `run_script_by_name`, in traces that record approvals; the last
    answer before the result decides. A failed result after a refusal is not an execution. The
    number is the same for every strategy, since actions are recorded. 0: none. Without such a result
    there is nothing to measure.

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


@metric("routing.loops", unit="loops")
def loops(evidence: ReplayEvidence) -> Number:
    """Loops: three or more equal decisions of one router in a row without progress between the
    first and the last.

    Equal means the same route; progress is anything new in the trace: a user's words, an approval,
    a call with other arguments, a turn without calls that says something else, another untruncated
    result. A consumer's replies count as decisions of its own: they are equal with the same route
    and the same task state left behind, and those that end at `END` are not a loop. 0: none. Without
    decisions and replies there is nothing to measure.

    Source: 001 §2 Step 3 "stuck in a loop"
    """
    progress = _progress(evidence.trace) if evidence.replay.decisions else []
    taken: dict[str, list[tuple[object, ...]]] = {}
    for item in evidence.replay.decisions:
        taken.setdefault(item.router, []).append((item.route, bisect_right(progress, item.step)))
    for outcome in evidence.replay.results:
        if outcome.reply is not None:
            # With its step, so that no two replies that end at END are equal.
            ended_at = outcome.step if outcome.reply.route == "END" else None
            reply = outcome.reply.route, compact_json(outcome.reply.state), ended_at
            taken.setdefault("consumer", []).append(reply)
    streaks = [len([*equal]) for decisions in taken.values() for _, equal in groupby(decisions)]
    return amount(sum(streak >= REPEATS for streak in streaks), of=streaks)


def _progress(trace: Trace) -> list[int]:
    """The steps that added something new to the trace, in order."""
    seen: set[str] = set()
    new_at = []
    for step in trace.steps:
        before = len(seen)
        if isinstance(step, UserTurn):
            seen.add(compact_json(["user", step.content]))
        elif isinstance(step, Approval):
            seen.add(compact_json(["approval", step.call_id, step.approved]))
        elif isinstance(step, ToolResult):
            seen.add(compact_json(["result", step.function, step.arguments, step.value]))
        elif isinstance(step, ModelTurn):
            calls = [["call", call.name, call.arguments] for call in step.tool_calls]
            seen.update(map(compact_json, calls or [["text", step.content]]))
        if len(seen) > before:
            new_at.append(step.index)
    return new_at


@metric("routing.{}_loops", unit="decisions", places=("false", "missed"))
def wrong_loops(evidence: ReplayEvidence, place: str) -> Number:
    """Decisions of a loop detector that reports a loop in the prompt but none in the full history,
    since truncated results look alike (`false`), or the other way round, since compaction hid the
    loop (`missed`).

    A loop detector is a router that declares by which route it reports a loop (`loop`). 0: none.
    Without such a router there is nothing to measure.

    Source: 001 §2 Step 3 "stuck in a loop"; misses and false alarms in signal detection (Green and
    Swets 1966)
    """
    detectors = [item for item in evidence.replay.decisions if item.loop is not None]
    reported = [(item.route == item.loop, item.untruncated == item.loop) for item in detectors]
    wrong = (True, False) if place == "false" else (False, True)
    return amount(reported.count(wrong), of=reported)


@share_metric("routing.selection_{}", places=("top1", "recall_at_3"))
def selection(evidence: ReplayEvidence, place: str) -> Number:
    """Share of requests for which the expected script came first, or was among the first three
    returned.

    From 0 (never) to 1 (always). The expected script is in the trace's labels (`labels.scripts`:
    step of the request → name, or a list of acceptable names; ids of the manifest work too). Not
    measured if no router returns `{"ranked": […]}` in the run; one that leaves it out for a request
    found nothing. Without labels, or routers at requests, there is nothing to measure.

    Source: 003 §4.2; Berkeley Function Calling Leaderboard, category "multiple"; recall at k
    (Manning, Raghavan and Schütze 2008, "Introduction to Information Retrieval", chapter 8)
    """
    asked = [item for item in evidence.replay.decisions if item.at == "user_turn"]
    labels = _labelled_scripts(evidence.trace) if asked else {}
    ranks: dict[int, list[float]] = {it.step: [] for it in asked if labels.get(str(it.step))}
    for item in asked:
        ranked = item.detail.get("ranked")
        if item.step in ranks and isinstance(ranked, list):
            accepted = labels[str(item.step)]
            found = (rank for rank, name in enumerate(ranked, 1) if name in accepted)
            ranks[item.step].append(min(found, default=math.inf))
    if ranks and not any(ranks.values()):
        return Number(None, reason='no router returned {"ranked": [name, …]} with its route')
    most = 1 if place == "top1" else 3
    return mean([rank <= most for of_step in ranks.values() for rank in of_step or [math.inf]])


def _count(values: list[bool]) -> Number:
    """The number of true values; nothing to measure without values."""
    return amount(sum(values), of=values)
