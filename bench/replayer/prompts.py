"""The prompt of one thread as it grows and is compacted: messages by content, edits between prompts, tokens kept in step."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import is_
from typing import Any, Literal, TypeVar, overload
from weakref import WeakKeyDictionary

from ..evidence.oracle import Future
from ..model import (
    ContextEdit,
    ContextReset,
    Message,
    ModelTurn,
    Prompt,
    Splice,
    SystemTurn,
    ToolResult,
    UserTurn,
    compact_json,
    non_text_parts,
    text_of,
)
from ..model.errors import StrategyError
from ..strategies import Edits, Window
from ..tokens.counting import DEFAULT_WINDOW_TOKENS, TokenCounter
from .handed import answered, checked, edits_of, fresh, parts_of

_Item = TypeVar("_Item", Message, str)
_MANY = 256


def base_message(step: SystemTurn | UserTurn | ModelTurn | ToolResult, reasoning_tokens: int = 0) -> Message:
    """The message that shows a step as it is: a result untruncated, a model turn with its calls and the size of its reasoning."""
    if isinstance(step, ToolResult):
        return Message(
            role=step.role, text=step.text, kind="result", step=step.index, call_id=step.call_id, non_text=step.non_text
        )
    text, parts = text_of(step.content), non_text_parts(step.content)
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


def message_key(message: Message) -> str:
    """The content hash of a message: 16 hex digits over all that it says and which step it shows."""
    calls = [(call.id, call.name, call.arguments) for call in message.tool_calls]
    said = [message.role, message.kind, message.step, message.call_id, message.non_text, calls]
    head = compact_json([*said, message.reasoning_tokens] if message.reasoning_tokens else said)
    digest = hashlib.blake2b(head.encode("utf-8", "surrogatepass"), digest_size=8)
    digest.update(message.text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


class BaseMessages:
    """The messages that show the steps of one trace as they are, each with its key and its tokens: the same in every replay, made once.

    `reasoning` is the size of the reasoning that was sent back with a model turn, in tokens by its step.
    """

    def __init__(
        self, counter: TokenCounter, reasoning: Mapping[int, int] | None = None, tokens: dict[str, int] | None = None
    ) -> None:
        self.counter = counter
        self.reasoning = reasoning or {}
        self.tokens: dict[str, int] = {} if tokens is None else tokens
        """Tokens of every message that any replay has shown, by key."""

        self._of_step: dict[int, tuple[Message, str]] = {}

    def of(self, step: SystemTurn | UserTurn | ModelTurn | ToolResult, *, count: bool = False) -> tuple[Message, str]:
        """The message that shows a step as it is, and its key. With `count` its tokens are counted too."""
        found = self._of_step.get(step.index)
        if found is None:
            message = base_message(step, self.reasoning.get(step.index, 0))
            found = self._of_step[step.index] = message, message_key(message)
        if count:
            self.weigh(found[1], found[0])
        return found

    def weigh(self, key: str, message: Message) -> int:
        """The tokens of a message that some replay shows."""
        if key not in self.tokens:
            self.tokens[key] = self.counter.message(message)
        return self.tokens[key]

    def known(self) -> dict[str, Message]:
        """The messages that show steps as they are, by key, as far as any were asked for."""
        return {key: message for message, key in self._of_step.values()}


class MessageTokens:
    """Every distinct message of one replay, once, with its key and its tokens. With `own` a message may be somebody's own code's: it is kept as
    it was when it was first seen, in plain data.
    """

    def __init__(self, base: BaseMessages, *, own: bool = False) -> None:
        self.counter = base.counter
        self.messages: dict[str, Message] = {}
        self.message_tokens: dict[str, int] = {}
        self._base, self._own = base, own
        self._keys: dict[Message, str] = {}

    def base(self, step: SystemTurn | UserTurn | ModelTurn | ToolResult) -> Message:
        """The message that shows a step as it is, for this replay alone: what a strategy does to the arguments of its calls, no other one sees."""
        message, key = self._base.of(step)
        handed: Message = fresh(message) if self._own else message
        self._keys[handed] = key
        if key not in self.messages:
            self._enter(key, message)
        return handed

    def key(self, message: Message) -> str:
        key = self._keys.get(message)
        if key is None:
            kept = checked(Message, message) if self._own else message
            key = self._keys[message] = message_key(kept)
            if key not in self.messages:
                self._enter(key, kept)
        return key

    def _enter(self, key: str, message: Message) -> None:
        self.messages[key] = message
        self.message_tokens[key] = self._base.weigh(key, message)

    def tokens(self, message: Message) -> int:
        """The tokens of a message, framing included. Not entered: a message may be weighed and never shown."""
        key = self._keys.get(message)
        if key is None:
            return self.counter.message(checked(Message, message) if self._own else message)
        return self.message_tokens[key]

    def count(self, item: Message | str) -> int:
        """Tokens of a message or of a text: what a window's `count` gives."""
        if not isinstance(item, str):
            return self.tokens(item)
        return self.counter.text(answered(item) if self._own else item)


class Count:
    """The token counter that a window offers. It leads to nothing that a strategy could change to falsify its own cost."""

    __slots__ = ("__weakref__",)

    def __call__(self, item: Message | str) -> int:
        return _LEDGERS[self].count(item)


_LEDGERS: WeakKeyDictionary[Count, MessageTokens] = WeakKeyDictionary()


class ThreadPrompt(Sequence[Message]):
    """Messages that may be read and not changed. A slice is a list."""

    __slots__ = ("_items",)

    def __init__(self, items: Sequence[Message]) -> None:
        self._items = tuple(items)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        return list(self._items[index]) if isinstance(index, slice) else self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Message]:
        return iter(self._items)


class ThreadHistory:
    """One thread's history: steps join it, the compactor reworks it before each model call, each prompt is kept as edits.

    `messages` is what the model sees. With `per_call` the compactor is given the full history instead, and its answer is that prompt alone.
    """

    def __init__(
        self,
        thread: str,
        ledger: MessageTokens,
        compact: Callable[[Window], Any] | None,
        window_tokens: int | None,
        future: Future | None,
        per_call: bool = False,
    ) -> None:
        self.thread, self.ledger, self._compact = thread, ledger, compact
        self._count = Count()
        _LEDGERS[self._count] = ledger
        self.window_tokens, self.future = window_tokens, future
        self.messages: list[Message] = []
        self.recording: list[Message] = []
        self.prompts: list[Prompt] = []
        self.resets: list[ContextReset | ContextEdit] = []
        self._recorded_summary: str | None = None
        self._prompted = 0  # how many of `messages` the last prompt already held
        self._framing = ledger.counter.counting.prompt_tokens
        self._tokens = self._framing
        self._tools_tokens = 0
        self._tools_changed = False
        self._full: list[Message] | None = [] if per_call else None  # what joined, never reworked
        self._full_tokens = self._framing
        self._given = 0  # how many of those the last window already held

    def join(self, message: Message, recorded: Message | None = None) -> str:
        """A message joins the history; gives its key. `recorded` is what it is in the untruncated recording, where that differs."""
        key = self.ledger.key(message)
        self.messages.append(message)
        self.recording.append(recorded or message)
        self._tokens += self.ledger.message_tokens[key]
        if self._full is not None:
            self._full.append(message)
            self._full_tokens += self.ledger.message_tokens[key]
        return key

    def set_tools(self, tools: tuple[Any, ...]) -> None:
        self._tools_tokens, self._tools_changed = self.ledger.counter.tools(tools), True

    def compact(self, turn: ModelTurn) -> Edits | None:
        """Let the compactor turn the history into the prompt of this turn, and record the prompt."""
        edits = edits_of(None if self._compact is None else self._compact(self._window(turn)))
        splices, compacted = self._apply(edits)
        self._prompted = len(self.messages)
        self.prompts.append(
            Prompt(
                step=turn.index,
                thread=self.thread,
                splices=splices,
                tokens=self._tokens + self._tools_tokens,
                tools_tokens=self._tools_tokens,
                tools_changed=self._tools_changed,
                window_tokens=self.window_tokens,
                compacted=compacted,
                parts=parts_of(edits),
            )
        )
        self._tools_changed = False
        self.resets.clear()
        return edits

    def _window(self, turn: ModelTurn) -> Window:
        told = [reset.summary for reset in self.resets if isinstance(reset, ContextReset) and reset.summary is not None]
        self._recorded_summary = told[-1] if told else self._recorded_summary
        history, held, tokens = self.messages, self._prompted, self._tokens
        if self._full is not None:
            history, held, tokens, self._given = self._full, self._given, self._full_tokens, len(self._full)
        return Window(
            step=turn.index,
            thread=self.thread,
            messages=ThreadPrompt(history),
            added=history[held:],
            tokens=tokens + self._tools_tokens,
            max_tokens=self.window_tokens or DEFAULT_WINDOW_TOKENS,
            count=self._count,
            resets=fresh(tuple(self.resets)),
            future=self.future,
            recorded_summary=self._recorded_summary,
        )

    def _apply(self, edits: Edits | None) -> tuple[tuple[Splice, ...], bool]:
        """Take the compactor's answer as the history. Gives the edits against the last prompt, and whether it changed more than new turns do.

        A view is compared with the last one by what it says, since it may write a message anew each time.
        """
        if edits is None and self._full is None:
            added = tuple(self.ledger.key(item) for item in self.messages[self._prompted :])
            return ((Splice(at=self._prompted, removed=0, added=added),) if added else ()), False
        old, new = self.messages, _applied(edits, self.messages if self._full is None else self._full)
        start = min(_alike(old, new), self._prompted)
        before, after = [self.ledger.key(item) for item in old[start:]], [self._key_of(item) for item in new[start:]]
        if self._full is None:
            changed = len(new) != len(old) or not all(map(is_, old[start:], new[start:]))
            splices = _splices(old[start : self._prompted], new[start:], self._key_of)
        else:
            changed, splices = before != after, _changed(before[: self._prompted - start], after)
        tokens = self.ledger.message_tokens
        self._tokens += sum(tokens[key] for key in after) - sum(tokens[key] for key in before)
        self.messages = new
        return _further(start, splices), changed

    def _key_of(self, message: Any) -> str:
        if not isinstance(message, Message):
            raise StrategyError(f"a compactor's messages must be Message values, got {type(message).__name__}")
        return self.ledger.key(message)


def _applied(edits: Edits | None, history: Sequence[Message]) -> list[Message]:
    """Apply edits to a history, which stays as it is. Replaced messages are looked for from the newest on, where compaction works."""
    if edits is None:
        return [*history]
    if edits.messages is not None:
        return [*edits.messages, *edits.append]
    shown: list[Message] = [*history]
    wanted = dict(edits.replace)
    for place in range(len(shown) - 1, -1, -1):
        if not wanted:
            break
        if shown[place] in wanted:
            instead = wanted.pop(shown[place])
            shown[place : place + 1] = [] if instead is None else [instead]
    if wanted:
        raise StrategyError("a compactor replaced a message that is not in the history")
    return [*shown, *edits.append]


def _alike(old: list[Message], new: list[Message]) -> int:
    """Count the leading messages that two histories share as the same objects. Compared in blocks, because most of a long history stays."""
    start = 0
    while start < len(old) and all(map(is_, old[start : start + _MANY], new[start : start + _MANY])):
        start += _MANY
    return next((at for at in range(start, min(len(old), len(new))) if old[at] is not new[at]), min(len(old), len(new)))


def _further(start: int, splices: Sequence[Splice]) -> tuple[Splice, ...]:
    """Edits of what stands behind the first `start` messages, as edits of them all."""
    return tuple(Splice(at=start + splice.at, removed=splice.removed, added=splice.added) for splice in splices)


def _changed(old: Sequence[str], new: Sequence[str]) -> tuple[Splice, ...]:
    """The edits that turn one list of keys into another, none of them before the first difference."""
    start = next((place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return _further(start, _splices(old[start:], new[start:], str))


def _splices(old: Sequence[_Item], new: Sequence[_Item], key_of: Callable[[Any], str]) -> tuple[Splice, ...]:
    """The edits that turn one list into another, in order; messages are matched by identity, keys by what they are."""
    where = {item: position for position, item in enumerate(old)}
    splices: list[Splice] = []
    added: list[str] = []
    cursor = 0
    for item in new:
        key = key_of(item)
        position = where.get(item, -1)
        if position < cursor:
            added.append(key)
            continue
        if position > cursor or added:
            splices.append(Splice(at=cursor, removed=position - cursor, added=tuple(added)))
            added = []
        cursor = position + 1
    if cursor < len(old) or added:
        splices.append(Splice(at=cursor, removed=len(old) - cursor, added=tuple(added)))
    return tuple(splices)
