"""Numbers for messages: those of the recording from 0 up, then those of a strategy."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..model import Message, compact_json
from ..model.base import grouped

CountTokens = Callable[[Message | str], int]


class Numbers:
    """The number of each message of one replay.

    `recorded` are the messages of the recording, `tokens` their sizes. Messages with the same
    content share a number.
    """

    def __init__(
        self, count: CountTokens, recorded: Sequence[Message] = (), tokens: Sequence[int] = ()
    ) -> None:
        self.written: list[Message] = []
        self._count, self._recorded = count, recorded
        self._by_message = dict(zip(recorded, range(len(recorded)), strict=True))
        self._by_content: dict[Any, int] = {}
        self._tokens = dict(enumerate(tokens))

    def of(self, message: Message) -> int:
        """The number of a message; a new one unless an earlier message has the same content."""
        number = self._by_message.get(message)
        if number is None:
            content = _content(message)
            recorded = self._by_step.get(message.step, ())
            same = (at for at in recorded if _content(self._recorded[at]) == content)
            number = next(same, None)
            if number is None:
                new = len(self._recorded) + len(self.written)
                number = self._by_content.setdefault(content, new)
                if number == new:
                    self.written.append(message)
            self._by_message[message] = number
        return number

    @functools.cached_property
    def _by_step(self) -> dict[int | None, list[int]]:
        """The numbers of the recorded messages, by step."""
        return grouped((message.step, number) for number, message in enumerate(self._recorded))

    def tokens(self, number: int) -> int:
        """The tokens of a numbered message, framing included."""
        size = self._tokens.get(number)
        if size is None:
            size = self._tokens[number] = self._count(self.written[number - len(self._recorded)])
        return size

    def count(self, item: Message | str) -> int:
        """The tokens of a text or a message, in a prompt or not."""
        known = self._by_message.get(item) if isinstance(item, Message) else None
        return self._count(item) if known is None else self.tokens(known)


def _content(message: Message) -> Any:
    """The parts of a message that identify it, except its object."""
    calls = message.tool_calls and compact_json(
        [(c.id, c.name, c.arguments) for c in message.tool_calls]
    )
    about = message.step, message.kind, message.role, message.call_id, message.non_text
    return *about, message.reasoning_tokens, calls, message.text
