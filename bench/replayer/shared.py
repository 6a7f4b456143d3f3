"""What the two sides of the border have in common, so that nothing is sent twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..model import Message
from ..model.errors import StrategyError
from ..model.messages import shared_length

ANSWER = "answer"
"""The name of a compactor's answer among the parts."""

_SAME: Any = ...


class Edit(NamedTuple):
    """A list as a change of what it was before: its first `keep` items, then `tail`.

    Messages in it are references.
    """

    keep: int
    tail: Sequence[Any]
    has_messages: bool


class Shared:
    """The messages that both sides of a replay have, numbered in the order of their crossing, and
    the parts of arguments and answers as they were at the call before.

    >>> here, there = Shared(), Shared()
    >>> lists = [1, 2], [1, 2, 3]
    >>> [there.changed(0, "messages", here.change(0, "messages", each)) for each in lists]
    [[1, 2], [1, 2, 3]]
    """

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._numbers: dict[Message, int] = {}
        self._parts: dict[tuple[int, str], Any] = {}

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

    def change(self, instance: int, name: str, part: Any) -> Any:
        """A part to send: as a change of the one before with its name, if it is a list or the
        same."""
        if self._parts.get((instance, name), self) is part:
            return _SAME
        if not isinstance(part, list | tuple):
            self._parts[instance, name] = part
            return part
        keep, tail = self.tail(instance, name, part)
        has_messages = bool(tail) and isinstance(tail[0], Message)
        return Edit(keep, [*map(self.reference, tail)] if has_messages else tail, has_messages)

    def tail(self, instance: int, name: str, items: Sequence[Any]) -> tuple[int, Sequence[Any]]:
        """The number of items at the start of a list that the one before has too, and the rest."""
        before = self._parts.get((instance, name))
        self._parts[instance, name] = items
        keep = shared_length(before, items) if isinstance(before, list | tuple) else 0
        return keep, items[keep:]

    def changed(self, instance: int, name: str, sent: Any) -> Any:
        """The part that was sent; a list is a new one, since the code may change what it gets."""
        before = self._parts.get((instance, name), ())
        if sent is _SAME:
            return before
        if isinstance(sent, Edit):
            tail = map(self.message, sent.tail) if sent.has_messages else sent.tail
            sent = [*before[: sent.keep], *tail]
        self._parts[instance, name] = sent
        return list(sent) if isinstance(sent, list) else sent
