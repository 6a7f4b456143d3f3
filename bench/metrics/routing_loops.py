"""Running in circles: decisions that repeat without progress, and the loops that a detector saw in
the prompt.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby

from ..evidence.of_replay import ReplayEvidence
from ..model import Approval, ModelTurn, ToolResult, Trace, UserTurn, compact_json, text_of
from ..model.scores import Number
from . import NOTHING, example as example, metric

REPEATS = 3
"""The number of equal decisions in a row that make a loop."""


@metric("routing.loops", unit="loops", better="lower", aggregate="total")
def loops(evidence: ReplayEvidence) -> Number:
    """Loops: three or more equal decisions of one router in a row without progress between the
    first and the last.

    Equal means the same route; progress is anything the trace had not held before: a user's words,
    an approval, a call with other arguments, a turn without calls that says something else, another
    untruncated result. A consumer's replies count as decisions of its own: they are equal with the
    same route and the same task state left behind, and those that end at `END` are no loop. No
    decisions: nothing to measure.

    Source: 001 §2 Step 3 "stuck in a loop"

    >>> loops(example()).value
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
    """The steps after which the trace has held something that it had not held before, in order."""
    seen: set[str] = set()
    grown = []
    for step in trace.steps:
        before = len(seen)
        if isinstance(step, UserTurn):
            seen.add(compact_json(["user", text_of(step.content)]))
        elif isinstance(step, Approval):
            seen.add(compact_json(["approval", step.call_id, step.approved]))
        elif isinstance(step, ToolResult):
            seen.add(compact_json(["result", step.function, step.arguments, step.value]))
        elif isinstance(step, ModelTurn):
            calls = [["call", call.name, call.arguments] for call in step.tool_calls]
            seen.update(map(compact_json, calls or [["text", text_of(step.content)]]))
        if len(seen) > before:
            grown.append(step.index)
    return grown


@metric("routing.missed_loops", unit="decisions", better="lower", aggregate="total")
def missed_loops(evidence: ReplayEvidence) -> Number:
    """Decisions of a router that looks for loops where the full history shows one and the prompt
    does not: compaction blinded it.

    Such a router declares by which route it says so (`loop`). Without such a router: nothing to
    measure.

    Source: 001 §2 Step 3 "stuck in a loop"; a miss in signal detection (Green and Swets 1966)

    >>> missed_loops(example()).value
    """
    return _differing(evidence, in_prompt=False)


@metric("routing.false_loops", unit="decisions", better="lower", aggregate="total")
def false_loops(evidence: ReplayEvidence) -> Number:
    """Decisions of a router that looks for loops where the prompt shows one and the full history
    does not: cut results look alike.

    Such a router declares by which route it says so (`loop`). Without such a router: nothing to
    measure.

    Source: 001 §2 Step 3 "stuck in a loop"; a false alarm in signal detection (Green and Swets
    1966)

    >>> false_loops(example()).value
    """
    return _differing(evidence, in_prompt=True)


def _differing(evidence: ReplayEvidence, *, in_prompt: bool) -> Number:
    """Count the decisions where a loop is seen in the prompt alone, or in the full history alone."""
    looking = [item for item in evidence.replay.decisions if item.loop is not None]
    differing = [
        (item.route == item.loop) is in_prompt and (item.untruncated == item.loop) is not in_prompt
        for item in looking
    ]
    return Number(float(sum(differing))) if looking else NOTHING
