"""The messages that the two sides of the border have in common, so that none is sent twice."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..model import Message
from ..model.errors import StrategyError


class References(NamedTuple):
    """A list of messages as it is sent: each as its number, or itself the first time."""

    items: list[int | Message]


class Shared:
    """The messages that both sides of a replay have, numbered in the order of their crossing.

    >>> here, there = Shared(), Shared()
    >>> message = Message(role="user", text="go", kind="user")
    >>> first, again = here.sent([message]), here.sent([message])
    >>> again.items, there.received(first) == there.received(again)
    ([0], True)
    """

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._numbers: dict[Message, int] = {}

    def reference(self, message: Message) -> int | Message:
        """The number of a message that both sides have; else the message, which they have from here
        on. Raises StrategyError for anything else."""
        if not isinstance(message, Message):
            what = "a compactor's messages must be Message values"
            raise StrategyError(f"{what}, got {type(message).__name__}")
        number = self._numbers.get(message)
        return self._added(message) if number is None else number

    def message(self, reference: int | Message) -> Message:
        """The message of a reference. Raises StrategyError for the number of none."""
        if isinstance(reference, Message):
            return self._added(reference)
        if not 0 <= reference < len(self._messages):
            raise StrategyError("its answer holds messages that do not exist")
        return self._messages[reference]

    def _added(self, message: Message) -> Message:
        self._numbers[message] = len(self._messages)
        self._messages.append(message)
        return message

    def sent(self, part: Any) -> Any:
        """A part of an argument to send: a list of messages as references, anything else as it
        is."""
        is_list = isinstance(part, list | tuple) and bool(part) and isinstance(part[0], Message)
        return References([*map(self.reference, part)]) if is_list else part

    def received(self, sent: Any) -> Any:
        """The part that was sent."""
        return [*map(self.message, sent.items)] if isinstance(sent, References) else sent
