"""Calls that ask again: what the recorded run had already been told when it asked for it once more."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import ModelTurn, ToolResult, Trace
from ..text.texts import Texts


@dataclass(frozen=True)
class Repeat:
    """A call that an earlier one of its thread had already made, and the facts that both results told the recorded model.

    `turn` is the step of the call, `earlier` the latest result of the same call before it, `again` the step of its own result.
    """

    turn: int
    call_id: str
    command: str
    earlier: ToolResult
    again: int
    told: tuple[str, ...]


def find_repeats(trace: Trace, texts: Texts) -> tuple[Repeat, ...]:
    """Every repeated call of a trace that was told a fact again, in order of their results.

    The same call is the same function with the same arguments, or the same command. A call without a result, and one that got nothing it
    had been told before, is left out.

    >>> from bench.model import Source, ToolCall
    >>> steps = []
    >>> for index in (0, 2):
    ...     call = ToolCall(id=f"c{index}", name="bash", arguments={"command": "wc -l a.csv"})
    ...     steps += [ModelTurn(index=index, tool_calls=(call,)),
    ...               ToolResult(index=index + 1, call_id=call.id, function="bash", seen="471 rows")]
    >>> trace = Trace(id="t", source=Source(format="native"), steps=tuple(steps))
    >>> [(repeat.turn, repeat.earlier.index, repeat.told) for repeat in find_repeats(trace, Texts())]
    [(2, 1, ('471',))]
    """
    answered: dict[tuple[str, str], ToolResult] = {}
    asked: dict[tuple[str, str], tuple[int, str, ToolResult | None]] = {}
    found = []
    for step in trace.steps:
        if isinstance(step, ModelTurn):
            for call in step.tool_calls:
                command = call.command
                asked[step.thread, call.id] = step.index, command, answered.get((step.thread, command))
        elif isinstance(step, ToolResult) and (step.thread, step.call_id) in asked:
            turn, command, earlier = asked[step.thread, step.call_id]
            answered[step.thread, command] = step
            told = () if earlier is None else _told_twice(earlier, step, texts)
            if earlier is not None and told:
                found.append(Repeat(turn, step.call_id, command, earlier, step.index, told))
    return tuple(found)


def _told_twice(earlier: ToolResult, again: ToolResult, texts: Texts) -> tuple[str, ...]:
    """The facts that the recorded model saw in both; one that only a harness's own warning held is no strategy's to keep."""
    untruncated, seen_again = texts.facts(earlier.text), texts.facts(again.shown_by_recorder)
    return tuple(fact for fact in texts.facts(earlier.shown_by_recorder) if fact in seen_again and fact in untruncated)
