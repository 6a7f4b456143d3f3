"""Running in circles: decisions that repeat without progress, and the loops that a detector saw in the prompt."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import groupby

from ..evidence.of_run import RunEvidence
from ..model import Approval, Decision, ModelTurn, Sample, Told, ToolResult, Trace, UserTurn, compact_json, text_of
from . import example as example, metric, sample

REPEATS = 3  # the number of equal decisions in a row that make a loop


@metric("routing.loops", unit="loops", better="lower", aggregate="sum")
def loops(evidence: RunEvidence) -> list[Sample]:
    """Loops: three or more equal decisions of one router in a row without progress between the first and the last.

    Equal means the same route; progress is anything the trace had not held before: a user's words, an approval, a call with other arguments, a
    turn without calls that says something else, another untruncated result. A consumer's replies count as decisions of its own: they are equal
    with the same route and the same task state left behind, and those that end at `END` are no loop. One sample a router (and consumer),
    the number of its loops; the detail says where each begins and how long it is. No decisions: no samples.

    Source: 001 §2 Step 3 "stuck in a loop"

    >>> loops(example())
    []
    """
    known = _novelty(evidence.trace) if evidence.run.decisions else []
    taken: dict[str, list[tuple[int, tuple[object, ...]]]] = {}
    for decision in evidence.run.decisions:
        where = (decision.route, bisect_right(known, decision.step))
        taken.setdefault(decision.router, []).append((decision.step, where))
    for outcome in evidence.run.results:
        if outcome.reply is not None:
            left = compact_json(outcome.reply.state)
            ended_at = outcome.step if outcome.reply.route == "END" else None  # no two ends are equal
            taken.setdefault("consumer", []).append((outcome.step, (outcome.reply.route, left, ended_at)))
    return [_counted(router, decided) for router, decided in taken.items()]


def _counted(router: str, decided: Iterable[tuple[int, tuple[object, ...]]]) -> Sample:
    streaks = [[step for step, _ in group] for _, group in groupby(decided, key=lambda item: item[1])]
    loops = [streak for streak in streaks if len(streak) >= REPEATS]
    told = ", ".join(f"{router} from step {streak[0]}, {len(streak)} decisions" for streak in loops)
    return sample(len(loops), loops[0][0] if loops else None, detail=Told(text=told) if told else None)


def _novelty(trace: Trace) -> list[int]:
    """The steps after which the trace has held something that it had not held before, in order."""
    held: set[str] = set()
    grown = []
    for step in trace.steps:
        before = len(held)
        if isinstance(step, UserTurn):
            held.add(compact_json(["user", text_of(step.content)]))
        elif isinstance(step, Approval):
            held.add(compact_json(["approval", step.call_id, step.approved]))
        elif isinstance(step, ToolResult):
            held.add(compact_json(["result", step.function, step.arguments, step.value]))
        elif isinstance(step, ModelTurn):
            said = [["call", call.name, call.arguments] for call in step.tool_calls]
            held.update(map(compact_json, said or [["said", text_of(step.content)]]))
        if len(held) > before:
            grown.append(step.index)
    return grown


@metric("routing.missed_loops", unit="decisions", better="lower", aggregate="sum")
def missed_loops(evidence: RunEvidence) -> list[Sample]:
    """Decisions of a router that looks for loops where the full history shows one and the prompt does not: compaction blinded it.

    Such a router declares by which route it says so (`loop`). One sample a decision of it, 1 or 0. Without such a router: no samples.

    Source: 001 §2 Step 3 "stuck in a loop"; a miss in signal detection (Green and Swets 1966)

    >>> missed_loops(example())
    []
    """
    return [sample(in_full and not in_prompt, item.step) for item, in_prompt, in_full in _seen(evidence)]


@metric("routing.false_loops", unit="decisions", better="lower", aggregate="sum")
def false_loops(evidence: RunEvidence) -> list[Sample]:
    """Decisions of a router that looks for loops where the prompt shows one and the full history does not: cut results look alike.

    Such a router declares by which route it says so (`loop`). One sample a decision of it, 1 or 0. Without such a router: no samples.

    Source: 001 §2 Step 3 "stuck in a loop"; a false alarm in signal detection (Green and Swets 1966)

    >>> false_loops(example())
    []
    """
    return [sample(in_prompt and not in_full, item.step) for item, in_prompt, in_full in _seen(evidence)]


def _seen(evidence: RunEvidence) -> Iterator[tuple[Decision, bool, bool]]:
    """Every decision of a router that looks for loops, with whether it saw one in the prompt, and in the full history."""
    for item in evidence.run.decisions:
        if item.loop is not None:
            yield item, item.route == item.loop, item.untruncated == item.loop
