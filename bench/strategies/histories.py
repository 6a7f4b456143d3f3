"""Shared parts of compactors: parameter types, their base classes, cuts of a history, and writers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, dataclass_transform

import msgspec

from ..model import Message, ToolCall
from ..plugins.registry import build
from . import Edits, Window, Written
from .units import joined, pydantic_ai_tokens, requests_of, run_cut

Count = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
"""A setting that counts something: a whole number from 0 up."""

Turns = Annotated[int, msgspec.Meta(ge=1, le=10**12)]
"""A setting that counts turns between two moves of a boundary: a whole number from 1 up."""

Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
"""A setting that is a fraction: above 0, up to 1."""

Portion = Annotated[float, msgspec.Meta(ge=0, le=1)]
"""A setting that is a fraction or nothing: from 0 to 1."""

PerToken = Annotated[float, msgspec.Meta(ge=0.1, le=100)]
"""A setting that estimates tokens: characters a token."""

Factor = Annotated[float, msgspec.Meta(gt=0, le=100)]
"""A setting that a limit is multiplied by."""

PromptMessages = list[Message] | None
"""The answer of a per-call compactor: the messages of this prompt, or None for the full history."""


# ---------------------------------------------------------------- base classes


def state(empty: Callable[[], Any]) -> Any:
    """Return a field for what a compactor remembers from one prompt to the next, and that is no setting: `seen: set[str] = state(set)`."""
    return field(default_factory=empty, init=False)


@dataclass_transform(kw_only_default=True, field_specifiers=(state, field))
class Compactor(ABC):
    """Base of a compactor: its annotated fields are its settings, and it gives the same replacement of a message each time.

    So a prompt repeats the messages of the one before it, and the prefix that a provider has cached holds.

    >>> class Last(View):
    ...     def view(self, window):
    ...         return [self.rewritten(message, "[cleared]") for message in window.messages]
    >>> one = Message(role="tool", text="a long result", kind="result", step=3)
    >>> last = Last()
    >>> last.rewritten(one, "[cleared]") is last.rewritten(one, "[cleared]"), last.rewritten(one, "[cleared]").step
    (True, 3)
    """

    def __init_subclass__(cls) -> None:
        dataclass(kw_only=True)(cls)

    def __post_init__(self) -> None:
        self._known: dict[tuple[Message, str], Message] = {}

    @abstractmethod
    def compact(self, window: Window) -> Edits | PromptMessages:
        """Return the new history, its edits, or None for no change."""

    def rewritten(self, message: Message, text: str) -> Message:
        """Return the message with this text; role, call and step stay."""
        return self._known.setdefault((message, text), with_text(message, text))

    def tried(self, *lines: str, tokens: int = 95, max_tokens: int = 100) -> list[str]:
        return tried(self, *lines, tokens=tokens, max_tokens=max_tokens)


class Boundary(Compactor):
    """Base of a compactor whose boundary moves at every `every`-th prompt only: in between the prefix that a provider has cached holds."""

    every: Turns = 1
    _prompts: int = state(int)

    def due(self) -> bool:
        """True if the boundary moves at this prompt. Call it once a prompt."""
        self._prompts += 1
        return self._prompts % self.every == 0


class Batched(Boundary):
    """Base of a compactor that rewrites the history when its boundary moves. A subclass defines `edit`."""

    def compact(self, window: Window) -> Edits | None:
        return self.edit(window) if self.due() else None

    @abstractmethod
    def edit(self, window: Window) -> Edits | None:
        """Return the edits of a prompt at which the boundary moves."""


class View(Boundary):
    """Base of a per-call compactor whose boundary moves at every `every`-th prompt only. A subclass defines `view`.

    Between two moves a prompt is the last view and all messages that joined since.

    >>> class Newest(View):
    ...     def view(self, window):
    ...         return window.messages[-1:]
    >>> view = Newest(every=2)
    >>> told = [Message(role="user", text=text, kind="user") for text in "abc"]
    >>> windows = [Window(n, "main", told[:n], [], 9, 100, lambda item: 4) for n in (1, 2, 3)]
    >>> [[message.text for message in view.compact(window) or []] for window in windows]
    [[], ['b'], ['b', 'c']]
    """

    mode = "per_call"
    _last: PromptMessages = state(lambda: None)
    _seen: int = state(int)  # the length of the history at the last move

    def compact(self, window: Window) -> PromptMessages:
        if self.due():
            self._last, self._seen = self.view(window), len(window.messages)
            return self._last
        return None if self._last is None else [*self._last, *window.messages[self._seen :]]

    @abstractmethod
    def view(self, window: Window) -> PromptMessages:
        """Return the prompt at a move of the boundary."""


class AtShare(Compactor):
    """Base of a compactor that acts at a share of `max_tokens`, or of the model's window where that is None."""

    threshold: Share = 0.9
    max_tokens: Count | None = None

    def limit(self, window: Window, share: float | None = None) -> float:
        """Return the prompt tokens of a share, by default of the threshold."""
        return (share or self.threshold) * (window.max_tokens if self.max_tokens is None else self.max_tokens)


class Repeated(AtShare):
    """Base of a rule that acts above a share of the window, up to four times while that helps."""

    @abstractmethod
    def once(self, messages: list[Message]) -> list[Message]:
        """Return a history after the rule acted on it once."""

    def compact(self, window: Window) -> Edits | None:
        limit, messages, tokens = self.limit(window), list(window.messages), window.tokens
        if tokens <= limit:
            return None
        for _ in range(4):
            left = self.once(messages)
            fewer = tokens - total(window.count, messages) + total(window.count, left)
            helped, messages, tokens = fewer < tokens, left, fewer
            if tokens <= limit or not helped:
                break
        ends = "" if tokens <= limit else ": the original ends the run here"
        return Edits(messages=messages, notes=(f"{window.tokens} tokens, now {tokens}{ends}",))


class Summarising(Compactor):
    """Base of a compactor whose parameter `writer` names what writes its summaries."""

    writer: str = "extractive"
    _write: Callable[..., str] = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        plugin = build("writer", self.writer)
        write: Callable[..., str] = plugin.start()[1]
        self._write = write if plugin.attribute("needs_window", False) else lambda messages, window: write(messages)

    def write(self, read: Sequence[Message], window: Window) -> Written:
        """Return the summary of some messages, with the messages that the writer read."""
        return Written(read, self._write(read, window))

    def summarised(
        self,
        window: Window,
        before: Iterable[Message],
        old: Sequence[Message],
        after: Iterable[Message],
        note: str,
        summary: Callable[[str], Message] | None = None,
    ) -> Edits:
        """Return `[before, summary of old, after]` as the new history; a user message holds the summary unless `summary` makes another."""
        written = self.write(old, window)
        made = (summary or summary_message)(written.text)
        return Edits(messages=[*before, made, *after], written=(written,), notes=(note,))


# ---------------------------------------------------------------- parts of a history


def system_count(messages: Sequence[Message]) -> int:
    """Return the number of system messages at the start of a history."""
    return next((place for place, message in enumerate(messages) if message.kind != "system"), len(messages))


def split_old(messages: Sequence[Message], keep_last: int) -> tuple[list[Message], list[Message], list[Message]]:
    """Return a history as (system messages at its start, old messages, the last `keep_last`): a call can be cut from its result.

    >>> history = [Message(role="user", text=text, kind="user") for text in "abc"]
    >>> [len(part) for part in split_old(history, 2)]
    [0, 1, 2]
    """
    start = system_count(messages)
    cut = max(start, len(messages) - keep_last)
    return list(messages[:start]), list(messages[start:cut]), list(messages[cut:])


def worth_summarising(old: Sequence[Message]) -> bool:
    """True if anything old is more than an earlier summary: a summary alone is not summarised again."""
    return any(message.kind != "made" for message in old)


def total(count: Callable[[Message], int], messages: Iterable[Message]) -> int:
    """Return the tokens of some messages together."""
    return sum(map(count, messages))


def with_text(message: Message, text: str) -> Message:
    """Return the message with another text; role, call and step stay."""
    return msgspec.structs.replace(message, text=text)


def cut_to(message: Message, limit: int) -> Message:
    """Return the message with at most `limit` characters of its text."""
    return message if len(message.text) <= limit else with_text(message, message.text[:limit])


def summary_message(text: str) -> Message:
    """Return the user message that stands for older ones."""
    return Message(role="user", kind="made", text=text)


def assistant_message(text: str) -> Message:
    """Return an assistant message written by the strategy."""
    return Message(role="assistant", kind="made", text=text)


def tried(compactor: Any, *lines: str, tokens: int = 95, max_tokens: int = 100) -> list[str]:
    """Return the prompt that a compactor makes of a conversation: an example in one line.

    A line is `role: text` (system, user, assistant or tool), or `call NAME` for an assistant's tool call; a tool's line answers the latest call.
    A message counts 4 tokens, the whole prompt `tokens`. Of each text in the answer the first line is given; without a compactor, all lines.

    >>> from bench.strategies.documents.controls import none
    >>> tried(none, "user: go", "call read", "tool: a.txt")
    ['user: go', 'call read', 'tool: a.txt']
    """
    kinds: dict[str, Any] = {"system": "system", "user": "user", "assistant": "model", "tool": "result"}
    told: list[Message] = []
    for step, line in enumerate(lines):
        role, colon, text = line.partition(": ")
        calls = () if colon else (ToolCall(id=f"call {step}", name=role.removeprefix("call "), arguments={}),)
        role = role if colon else "assistant"
        answers = next((call.id for message in reversed(told) for call in message.tool_calls), f"call {step}")
        call_id = answers if role == "tool" else None
        told.append(Message(role=role, text=text, kind=kinds[role], step=step, call_id=call_id, tool_calls=calls))
    window = Window(len(told), "main", told, told, tokens, max_tokens, lambda item: 4)
    given = getattr(compactor, "compact", compactor)(window)
    if isinstance(given, Edits):
        kept = told if given.messages is None else given.messages
        given = [new for message in kept if (new := given.replace.get(message, message)) is not None] + [*given.append]
    return [_line(message) for message in (told if given is None else given)]


def _line(message: Message) -> str:
    called = "".join(f"call {call.name}" for call in message.tool_calls)
    return f"{message.role}: {message.text.partition(chr(10))[0]}" if message.text or not called else called


class RequestWindow(Compactor):
    """Above `max_messages` or `max_tokens`: what is old, and the last `keep_messages`.

    A message is an answer of the model, or all that comes between two answers; more stay where a call would be parted from a result.
    """

    max_messages: Count | None = None
    max_tokens: Count | None = None
    keep_messages: Count = 40
    preserve_first_user_message: bool = True

    def parts(self, window: Window) -> tuple[list[Message], list[Message], list[Message]] | None:
        """(The system messages and the first request, what is old, the end); None where nothing goes."""
        messages, most, limit = list(window.messages), self.max_messages, self.max_tokens
        above = most is not None and len(requests_of(messages)) > most
        if not above and (limit is None or pydantic_ai_tokens(messages) <= limit):
            return None
        start = system_count(messages)
        runs = requests_of(messages[start:])
        cut = run_cut(runs, self.keep_messages)
        request = next((run for run in runs[:cut] if any(message.kind == "user" for message in run)), [])
        head = [*messages[:start], *(request if self.preserve_first_user_message else [])]
        return (head, joined(runs[:cut]), joined(runs[cut:])) if cut else None
