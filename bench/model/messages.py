"""The recorded messages of a trace, numbered; they are the same in every replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import msgspec

from .outcome import Message
from .trace import ModelTurn, SystemTurn, ToolResult, Trace, UserTurn

Speaking = SystemTurn | UserTurn | ModelTurn | ToolResult
"""The steps that are messages in prompts."""


class RecordedMessages(NamedTuple):
    """The messages of a trace by number, and the numbers of each step's untruncated and seen
    message."""

    messages: tuple[Message, ...]
    full: dict[int, int]
    seen: dict[int, int]


def recorded_messages(
    trace: Trace, reasoning_tokens: Mapping[int, int] | None = None
) -> RecordedMessages:
    """The numbered messages of a trace, in the order of its steps.

    A result that the recorded model did not see untruncated has two, the untruncated one first.
    `reasoning_tokens` is the size of the reasoning resent with a model turn, by its step. A trace
    without messages gives empty mappings.

    >>> from bench.model import Source
    >>> cut = ToolResult(index=1, call_id="c", function="f", seen="ab", full="abcd")
    >>> steps = (UserTurn(index=0, content="Go."), cut)
    >>> found = recorded_messages(Trace(id="a", source=Source(format="native"), steps=steps))
    >>> [message.text for message in found.messages], found.full, found.seen
    (['Go.', 'abcd', 'ab'], {0: 0, 1: 1}, {0: 0, 1: 2})
    """
    messages: list[Message] = []
    full: dict[int, int] = {}
    seen: dict[int, int] = {}
    for step in trace.steps:
        if not isinstance(step, Speaking):
            continue
        full[step.index] = seen[step.index] = len(messages)
        messages.append(message_of(step, (reasoning_tokens or {}).get(step.index, 0)))
        if isinstance(step, ToolResult) and step.recorded_text != step.text:
            seen[step.index] = len(messages)
            messages.append(msgspec.structs.replace(messages[-1], text=step.recorded_text))
    return RecordedMessages(tuple(messages), full, seen)


def message_of(step: Speaking, reasoning_tokens: int = 0) -> Message:
    """The message of a step: a result untruncated, a model turn with its calls."""
    if isinstance(step, ToolResult):
        return Message(
            role=step.role,
            text=step.text,
            kind="result",
            step=step.index,
            call_id=step.call_id,
            non_text=step.non_text,
        )
    text, parts = step.content, step.non_text
    if isinstance(step, ModelTurn):
        return Message(
            role="assistant",
            text=text,
            kind="model",
            step=step.index,
            tool_calls=step.tool_calls,
            non_text=parts,
            reasoning_tokens=reasoning_tokens,
        )
    kind: Literal["system", "user"] = "system" if isinstance(step, SystemTurn) else "user"
    return Message(role=kind, text=text, kind=kind, step=step.index, non_text=parts)
