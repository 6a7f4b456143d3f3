"""The recorded messages of a trace, numbered; they are the same in every replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import msgspec

from .outcome import Message
from .trace import ContextEdit, ContextReset, ModelTurn, SystemTurn, ToolResult, Trace, UserTurn

_S = TypeVar("_S")

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


# ---------------------------------------------------------------- prompts, each as a change of the one before


class RecordedPrompt(NamedTuple):
    """The recorded prompt of a model turn: the first `keep` messages of its thread's previous one,
    then `tail`.
    """

    turn: ModelTurn
    keep: int
    tail: list[Message]


def recorded_prompts(trace: Trace, recorded: RecordedMessages) -> Iterator[RecordedPrompt]:
    """Yield the prompt of each model turn as the recorded harness sent it, with its resets and
    edits.

    >>> from bench.model import Source
    >>> steps = UserTurn(index=0, content="Go."), ModelTurn(index=1), ContextReset(index=2, summary="So far."), ModelTurn(index=3)
    >>> trace = Trace(id="a", source=Source(format="native"), steps=steps)
    >>> for _, keep, tail in recorded_prompts(trace, recorded_messages(trace)):
    ...     keep, [message.text for message in tail]
    (0, ['Go.'])
    (0, ['So far.'])
    """
    prompts: dict[str, list[Message]] = {}
    kept: dict[str, int] = {}
    for step in trace.steps:
        prompt = prompts.setdefault(step.thread, [])
        if isinstance(step, ContextReset | ContextEdit):
            changed = after_change(prompt, step)
            kept[step.thread] = min(kept.get(step.thread, 0), shared_length(prompt, changed))
            prompts[step.thread] = changed
        elif isinstance(step, Speaking):
            if isinstance(step, ModelTurn):
                keep = kept.get(step.thread, 0)
                yield RecordedPrompt(step, keep, prompt[keep:])
                kept[step.thread] = len(prompt)
            prompt.append(recorded.messages[recorded.seen[step.index]])


def after_change(prompt: Sequence[Message], change: ContextReset | ContextEdit) -> list[Message]:
    """A prompt after a recorded edit, or after a reset: the system messages at its start, the
    summary, and what was kept or came later.
    """
    if isinstance(change, ContextEdit):
        texts = change.shown
        return [
            msgspec.structs.replace(message, text=texts[message.step])
            if message.step is not None and message.step in texts
            else message
            for message in prompt
        ]
    system = [*takewhile(lambda message: message.kind == "system", prompt)]
    summary = [change.summary] if change.summary is not None else []
    steps = ((message.step, message) for message in prompt[len(system) :])
    kept = {*change.kept}
    rest = [
        message
        for step, message in steps
        if step is not None and (step in kept or step > change.index)
    ]
    made = [Message(role="user", kind="made", text=text) for text in summary]
    return [*system, *made, *rest]


def shared_length(one: Sequence[Any], other: Sequence[Any]) -> int:
    """The number of equal items at the start of two lists.

    >>> shared_length([1, 2, 3], [1, 2, 4]), shared_length([], [1])
    (2, 0)
    """
    keep, most = 0, min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    while most - keep > 1:  # the first difference is between them
        middle = (keep + most) // 2
        is_same = one[keep:middle] == other[keep:middle]
        keep, most = (middle, most) if is_same else (keep, middle)
    return keep


class Running(Generic[_S]):
    """A value after each message of one thread's prompt, such as the sum of tokens so far. A prompt
    only costs what changed since the one before.

    >>> sizes = Running(0, lambda before, size: before + size)
    >>> sizes.change(0, [3, 4]), sizes.change(1, [1, 1]), sizes.values
    (7, 5, [0, 3, 4, 5])
    """

    def __init__(self, first: _S, add: Callable[[_S, Any], _S]) -> None:
        self.values, self._add = [first], add

    def change(self, keep: int, tail: Sequence[Any]) -> _S:
        """The value after the first `keep` messages of the prompt before and a new tail."""
        values, add = self.values, self._add
        del values[keep + 1 :]
        for message in tail:
            values.append(add(values[-1], message))
        return values[-1]
