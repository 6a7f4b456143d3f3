"""Base classes of compactors: `Mask` replaces old results, `Summary` replaces old messages by a
summary. The policies of agents and libraries only say when they act, and on which messages."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, dataclass_transform

from ..model import Message, ToolCall
from ..plugins.registry import OfKind, build
from . import NewHistory, Window, WrittenSummary
from .histories import summary_message, with_text
from .settings import Count, Share


def state(empty: Callable[[], Any]) -> Any:
    """A field that a compactor keeps between prompts: `seen: set[str] = state(set)`."""
    return field(default_factory=empty, init=False)


@dataclass_transform(kw_only_default=True, field_specifiers=(state, field))
class Compactor(ABC):
    """Base of a compactor: its annotated fields are its settings.

    With `mode = "per_call"` each prompt is computed anew from the full history.

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
        """The new history for a conversation written in lines, for examples in docstrings.

        A line is `role: text` (system, user, assistant or tool), or `call NAME` for a tool call,
        which the next line answers. A message counts 4 tokens, the whole prompt `tokens`. Of each
        text only the first line is returned.
        """
        messages = [_example(step, line) for step, line in enumerate(lines)]
        size = len(messages)
        window = Window(size, "main", messages, messages, tokens, max_tokens, lambda item: 4)
        answer = self.compact(window)
        history = answer.messages if isinstance(answer, NewHistory) else answer
        return [_example_line(message) for message in (messages if history is None else history)]


def _example(step: int, line: str) -> Message:
    """The message for a line of an example: `role: text`, or `call NAME`."""
    role, colon, text = line.partition(": ")
    if not colon:
        call = ToolCall(id=f"call {step}", name=role.removeprefix("call "), arguments={})
        return Message(role="assistant", text="", kind="model", step=step, tool_calls=(call,))
    kinds: dict[str, Any] = {"assistant": "model", "tool": "result"}
    call_id = f"call {step - 1}" if role == "tool" else None
    return Message(role=role, text=text, kind=kinds.get(role, role), step=step, call_id=call_id)


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


# ---------------------------------------------------------------- mask and summary


class Mask(Compactor):
    """Base of a compactor that masks old results: `old` selects them, `text` replaces each.

    It works on the full history, so it sees results unmasked. A result has the same replacement in
    every prompt.
    """

    mode = "per_call"
    _replacements: dict[Message, Message] = state(dict)  # the replacement of each message

    @abstractmethod
    def old(self, window: Window) -> Sequence[Message]:
        """The results to mask."""

    @abstractmethod
    def text(self, message: Message) -> str:
        """The text that replaces a result."""

    def compact(self, window: Window) -> list[Message] | None:
        old, new = self.old(window), self._replacements
        for message in set(old) - new.keys():
            new[message] = with_text(message, self.text(message))
        return [new.get(message, message) for message in window.messages] if old else None


Parts = tuple[Sequence[Message], Sequence[Message], Sequence[Message]]
"""A history in three parts: its head, the old messages, and its end."""


class WithWriter(Compactor):
    """Base of a compactor whose setting `writer` names the plug-in that writes its summaries."""

    writer: Annotated[Any, OfKind("writer")] = "extractive"

    def __post_init__(self) -> None:
        writer = build("writer", self.writer) if isinstance(self.writer, str) else self.writer
        _, write = writer.start()
        self._write: Callable[..., str] = write

    def write(self, read: Sequence[Message]) -> WrittenSummary:
        """A summary of some messages, with these messages."""
        return WrittenSummary(read, self._write(read))


class Summary(WithWriter):
    """Base of a compactor that replaces the old messages (see `divided`) by a summary."""

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
