"""The two engines of compaction, mask and summary; policies are presets of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, dataclass_transform

from ..model import Message, ToolCall
from ..plugins.registry import OfKind, build
from . import NewHistory, Window, Written
from .histories import summary_message, with_text
from .settings import Count, Share


def state(empty: Callable[[], Any]) -> Any:
    """A field that a compactor keeps between prompts: `seen: set[str] = state(set)`."""
    return field(default_factory=empty, init=False)


@dataclass_transform(kw_only_default=True, field_specifiers=(state, field))
class Compactor(ABC):
    """Base of a compactor: its annotated fields are its settings.

    With `mode = "per_call"` it is a view, computed from the full history at every prompt.

    >>> class Last(Compactor):
    ...     keep: int = 1
    ...     def compact(self, window):
    ...         return window.messages[-self.keep :]
    >>> Last().tried("user: go", "call read", "tool: a.txt")
    ['tool: a.txt']
    """

    def __init_subclass__(cls) -> None:
        dataclass(kw_only=True)(cls)

    @abstractmethod
    def compact(self, window: Window) -> NewHistory | list[Message] | None:
        """The new history, or None for no change."""

    def tried(self, *lines: str, tokens: int = 95, max_tokens: int = 100) -> list[str]:
        """The new history for a conversation written in lines, for examples.

        A line is `role: text` (system, user, assistant or tool), or `call NAME` for a tool call,
        which the next line answers. A message counts 4 tokens, the whole prompt `tokens`. The
        answer has the first line of each text.
        """
        messages = [_example(step, line) for step, line in enumerate(lines)]
        size = len(messages)
        window = Window(size, "main", messages, messages, tokens, max_tokens, lambda item: 4)
        answer = self.compact(window)
        given = answer.messages if isinstance(answer, NewHistory) else answer
        return [_example_line(message) for message in (messages if given is None else given)]


def _example(step: int, line: str) -> Message:
    """The message for a line of an example: `role: text`, or `call NAME`."""
    role, colon, text = line.partition(": ")
    if not colon:
        call = ToolCall(id=f"call {step}", name=role.removeprefix("call "), arguments={})
        return Message(role="assistant", text="", kind="model", step=step, tool_calls=(call,))
    kinds: dict[str, Any] = {"assistant": "model", "tool": "result"}
    answered = f"call {step - 1}" if role == "tool" else None
    return Message(role=role, text=text, kind=kinds.get(role, role), step=step, call_id=answered)


def _example_line(message: Message) -> str:
    if message.tool_calls and not message.text:
        return "".join(f"call {call.name}" for call in message.tool_calls)
    return f"{message.role}: {message.text.partition(chr(10))[0]}"


# ---------------------------------------------------------------- when it acts


class AtShare(Compactor):
    """Base of a compactor that acts at a share of `max_tokens`, or of the model's window."""

    threshold: Share = 0.9
    max_tokens: Count | None = None

    def limit(self, window: Window, share: float | None = None) -> float:
        """The number of tokens at a share of the maximum, by default at the threshold."""
        return (share or self.threshold) * (
            window.max_tokens if self.max_tokens is None else self.max_tokens
        )


# ---------------------------------------------------------------- what it does


class Mask(Compactor):
    """The engine of masks: `old` returns the results to mask, `text` their replacement.

    It works on the full history, so it sees results unmasked. A result has the same replacement at
    every prompt.
    """

    mode = "per_call"
    _instead: dict[Message, Message] = state(dict)  # the replacement of each message

    @abstractmethod
    def old(self, window: Window) -> Sequence[Message]:
        """The results to mask; none where all are shown."""

    @abstractmethod
    def text(self, message: Message) -> str:
        """The text that replaces a result."""

    def compact(self, window: Window) -> list[Message] | None:
        old, instead = self.old(window), self._instead
        for message in set(old) - instead.keys():
            instead[message] = with_text(message, self.text(message))
        return [instead.get(message, message) for message in window.messages] if old else None


Parts = tuple[Sequence[Message], Sequence[Message], Sequence[Message]]
"""A history in three parts: its head, the old messages, and its end."""


class Summarising(Compactor):
    """Base of a compactor whose setting `writer` names the plug-in that writes its summaries."""

    writer: Annotated[Any, OfKind("writer")] = "extractive"

    def __post_init__(self) -> None:
        writer = build("writer", self.writer) if isinstance(self.writer, str) else self.writer
        _, write = writer.start()
        self._write: Callable[..., str] = write

    def write(self, read: Sequence[Message]) -> Written:
        """The summary of some messages, with these messages."""
        return Written(read, self._write(read))


class Summary(Summarising):
    """The engine of summaries: one replaces the old messages between the head and the end from
    `divided`.
    """

    @abstractmethod
    def divided(self, window: Window) -> Parts | None:
        """The parts of the history, or None for no change."""

    def compact(self, window: Window) -> NewHistory | None:
        parts = self.divided(window)
        if parts is None:
            return None
        before, old, after = parts
        written = self.write(old)
        return NewHistory([*before, summary_message(written.text), *after], written=(written,))
