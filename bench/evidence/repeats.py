"""Repeated calls: calls that are equal to an earlier one of their thread and whose results share
facts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..model import ToolResult, Trace
from .calls import answered_calls

if TYPE_CHECKING:
    from .of_replay import ReplayEvidence


class Repeat(NamedTuple):
    """A repeated call of a turn: `earlier` is the first result, `again` its own result."""

    turn: int
    earlier: ToolResult
    again: ToolResult


def repeats_of(trace: Trace) -> list[Repeat]:
    """The repeated calls of a trace, in order of their results. A call without a result is left
    out.
    """
    answered: dict[tuple[str, str], list[ToolResult]] = {}
    calls = answered_calls(trace)
    repeats = []
    for result in trace.results:
        if result.index not in calls:
            continue
        turn, call = calls[result.index]
        before = answered.setdefault((result.thread, call.command), [])
        earlier = next((item for item in reversed(before) if item.index < turn), None)
        before.append(result)
        if earlier is not None:
            repeats.append(Repeat(turn, earlier, result))
    return repeats


def refetched(evidence: ReplayEvidence) -> list[tuple[Repeat, tuple[str, ...]]]:
    """The repeats whose turn's prompt lacks facts that the repeated result has again, with these
    facts.
    """
    fetched = []
    facts = evidence.session.facts
    for repeat in evidence.session.repeats:
        call, full = evidence.call_of.get(repeat.turn), evidence.index.full[repeat.earlier.index]
        if call is not None and not evidence.is_in_prompt(full, call):
            lost = facts.lost(repeat.earlier, evidence.facts_at(call))
            again = facts.in_text(repeat.again.recorded_text, lost)
            if seen := facts.in_text(repeat.earlier.recorded_text, again):
                fetched.append((repeat, seen))
    return fetched
