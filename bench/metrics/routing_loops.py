"""Loops: decisions that repeat without progress, and loops that a detector reports from the prompt."""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby

from ..evidence.of_replay import ReplayEvidence
from ..model import Approval, ModelTurn, ToolResult, Trace, UserTurn, compact_json
from ..model.scores import Number
from . import NOTHING, metric

REPEATS = 3
"""The number of equal decisions in a row that make a loop."""


@metric("routing.loops", unit="loops")
def loops(evidence: ReplayEvidence) -> Number:
    """Loops: three or more equal decisions of one router in a row without progress between the
    first and the last.

    Equal means the same route; progress is anything new in the trace: a user's words, an approval,
    a call with other arguments, a turn without calls that says something else, another untruncated
    result. A consumer's replies count as decisions of its own: they are equal with the same route
    and the same task state left behind, and those that end at `END` are not a loop. No decisions:
    nothing to measure.

    Source: 001 §2 Step 3 "stuck in a loop"
    """
    progress = _progress(evidence.trace) if evidence.replay.decisions else []
    taken: dict[str, list[tuple[object, ...]]] = {}
    for item in evidence.replay.decisions:
        taken.setdefault(item.router, []).append((item.route, bisect_right(progress, item.step)))
    for outcome in evidence.replay.results:
        if outcome.reply is not None:
            # No two ends are equal.
            ended_at = outcome.step if outcome.reply.route == "END" else None
            reply = outcome.reply.route, compact_json(outcome.reply.state), ended_at
            taken.setdefault("consumer", []).append(reply)
    streaks = [len([*group]) for decided in taken.values() for _, group in groupby(decided)]
    return Number(float(sum(streak >= REPEATS for streak in streaks))) if streaks else NOTHING


def _progress(trace: Trace) -> list[int]:
    """The steps that added something new to the trace, in order."""
    seen: set[str] = set()
    grown = []
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
            grown.append(step.index)
    return grown


@metric("routing.{}_loops", unit="decisions", places=("false", "missed"))
def wrong_loops(evidence: ReplayEvidence, place: str) -> Number:
    """Decisions of a loop detector that reports a loop in the prompt but none in the full history,
    since truncated results look alike (`false`), or the other way round, since compaction hid the
    loop (`missed`).

    A loop detector is a router that declares by which route it reports a loop (`loop`). Without
    such a router: nothing to measure.

    Source: 001 §2 Step 3 "stuck in a loop"; misses and false alarms in signal detection (Green and
    Swets 1966)
    """
    looking = [item for item in evidence.replay.decisions if item.loop is not None]
    seen = [(item.route == item.loop, item.untruncated == item.loop) for item in looking]
    wrong = (True, False) if place == "false" else (False, True)
    return Number(float(seen.count(wrong))) if looking else NOTHING
