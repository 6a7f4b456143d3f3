"""Numbers for messages: those of the recording from 0 up, then those of a strategy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..model import Message, compact_json

Count = Callable[[Message | str], int]


class Numbers:
    """The number of each message of one replay. Recorded messages are added as their steps come.

    `first` is the number of the first message that the strategy writes. Messages with the same
    content share a number.
    """

    def __init__(self, count: Count, first: int = 0) -> None:
        self.written: list[Message] = []
        self._first = first
        self._recorded: list[Message] = []
        self._count = count
        self._by_message: dict[Message, int] = {}
        self._by_content: dict[Any, int] = {}
        self._by_step: dict[int | None, list[int]] = {}
        self._tokens: dict[int, int] = {}

    def record(self, message: Message, tokens: int) -> None:
        """Add the next message of the recording."""
        number = len(self._recorded)
        self._recorded.append(message)
        self._by_message[message] = number
        self._by_step.setdefault(message.step, []).append(number)
        self._tokens[number] = tokens

    def of(self, message: Message) -> int:
        """The number of a message; a new one unless an earlier message has the same content."""
        number = self._by_message.get(message)
        if number is None:
            content = _content(message)
            same = (at for at in self._by_step.get(message.step, ()) if self._says(at, content))
            number = next(same, None)
            if number is None:
                new = self._first + len(self.written)
                number = self._by_content.setdefault(content, new)
                if number == new:
                    self.written.append(message)
            self._by_message[message] = number
        return number

    def tokens(self, number: int) -> int:
        """The tokens of a numbered message, framing included."""
        size = self._tokens.get(number)
        if size is None:
            size = self._tokens[number] = self._count(self.written[number - self._first])
        return size

    def count(self, item: Message | str) -> int:
        """The tokens of a text or a message, in a prompt or not."""
        known = self._by_message.get(item) if isinstance(item, Message) else None
        return self._count(item) if known is None else self.tokens(known)

    def _says(self, number: int, content: Any) -> bool:
        return bool(_content(self._recorded[number]) == content)


def _content(message: Message) -> Any:
    """The parts of a message that identify it, except its object."""
    calls = message.tool_calls and compact_json(
        [(c.id, c.name, c.arguments) for c in message.tool_calls]
    )
    about = message.step, message.kind, message.role, message.call_id, message.non_text
    return *about, message.reasoning_tokens, calls, message.text
