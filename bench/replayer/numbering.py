"""Messages by number: those of the recording, then those of a strategy."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..model import Message, compact_json

Count = Callable[[Message | str], int]
_BLOCK = 256


class RecordedMessages:
    """The messages of a recording by number, and their tokens; every replay of it shares them."""

    def __init__(self, messages: Sequence[Message], tokens: Sequence[int]) -> None:
        self.messages, self.tokens = messages, tokens
        self.numbers = {message: number for number, message in enumerate(messages)}

    @functools.cached_property
    def by_content(self) -> dict[Any, int]:
        """The first number of each content."""
        numbered = reversed([*enumerate(self.messages)])
        return {_content(message): number for number, message in numbered}


class Numbers:
    """The number of each message of one replay; those that a strategy wrote follow the recorded.

    A message that says what another one does has its number.
    """

    def __init__(self, recorded: RecordedMessages, count: Count) -> None:
        self.recorded, self.written = recorded, list[Message]()
        self._count = count
        self._by_message: dict[Message, int] = {}
        self._by_content: dict[Any, int] = {}
        self._tokens: list[int | None] = []

    def of(self, message: Message) -> int:
        """The number of a message, a new one where nothing before says the same."""
        number = self._known(message)
        if number is None:
            content, new = _content(message), len(self.recorded.messages) + len(self.written)
            number = self.recorded.by_content.get(content)
            if number is None:
                number = self._by_content.setdefault(content, new)
            if number == new:
                self.written.append(message)
                self._tokens.append(None)
            self._by_message[message] = number
        return number

    def tokens(self, number: int) -> int:
        """The tokens of a numbered message, framing included."""
        place = number - len(self.recorded.messages)
        if place < 0:
            return self.recorded.tokens[number]
        size = self._tokens[place]
        if size is None:
            size = self._tokens[place] = self._count(self.written[place])
        return size

    def count(self, item: Message | str) -> int:
        """The tokens of a text or a message, which need not stand in any prompt."""
        known = self._known(item) if isinstance(item, Message) else None
        return self._count(item) if known is None else self.tokens(known)

    def _known(self, message: Message) -> int | None:
        number = self.recorded.numbers.get(message)
        return self._by_message.get(message) if number is None else number


def _content(message: Message) -> Any:
    calls = message.tool_calls and compact_json(
        [(c.id, c.name, c.arguments) for c in message.tool_calls]
    )
    about = message.step, message.kind, message.role, message.call_id, message.non_text
    return *about, message.reasoning_tokens, calls, message.text


def alike(one: Sequence[Any], other: Sequence[Any]) -> int:
    """The number of items that two lists share at their start; messages are compared by identity.

    >>> alike([1, 2, 3], [1, 2, 4]), alike([], [1])
    (2, 0)
    """
    most, keep = min(len(one), len(other)), 0
    while keep < most and one[keep : keep + _BLOCK] == other[keep : keep + _BLOCK]:
        keep += _BLOCK
    return next((at for at in range(min(keep, most), most) if one[at] != other[at]), most)
