"""What the two sides of the border have in common, so that none of it is sent twice."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..model import Message
from ..model.errors import StrategyError


class References(NamedTuple):
    """A list as it is sent: each item as its number, or itself the first time."""

    items: list[Any]


class Shared:
    """The messages and the entries of histories that both sides of a replay have, numbered in the
    order of their crossing.

    An item is known by its identity, and a history is a tuple of mappings, which grows.

    >>> here, there = Shared(), Shared()
    >>> message = Message(role="user", text="go", kind="user")
    >>> first, again = here.sent([message]), here.sent([message])
    >>> again.items, there.received(first) == there.received(again)
    ([0], True)
    >>> entry = {"success": True}
    >>> there.received(here.sent((entry,)))[0].clear()
    >>> again = here.sent((entry, entry))
    >>> again.items, there.received(again)
    ([1, 1], [{'success': True}, {'success': True}])
    """

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._numbers: dict[int, int] = {}  # by the identity of an item

    def reference(self, message: Message) -> int | Message:
        """The number of a message that both sides have; else the message, which they have from here
        on. Raises StrategyError for anything else."""
        if not isinstance(message, Message):
            what = "a compactor's messages must be Message values"
            raise StrategyError(f"{what}, got {type(message).__name__}")
        known: int | Message = self._reference(message)
        return known

    def message(self, reference: int | Message) -> Message:
        """The message of a reference. Raises StrategyError for the number of none."""
        if isinstance(reference, Message):
            self._added(reference)
            return reference
        known = self._items[reference] if 0 <= reference < len(self._items) else None
        if not isinstance(known, Message):
            raise StrategyError("its answer holds messages that do not exist")
        return known

    def _reference(self, item: Any) -> Any:
        number = self._numbers.get(id(item))
        return self._added(item) if number is None else number

    def _added(self, item: Any) -> Any:
        self._numbers[id(item)] = len(self._items)
        self._items.append(item)
        return item

    def sent(self, part: Any) -> Any:
        """A part of an argument to send: a history, or a list of messages, as references, anything
        else as it is."""
        is_list = isinstance(part, list) and bool(part) and isinstance(part[0], Message)
        is_shared = is_list or isinstance(part, tuple)
        return References([*map(self._reference, part)]) if is_shared else part

    def received(self, sent: Any) -> Any:
        """The part that was sent, a history as a list of copies, which its reader may change."""
        if not isinstance(sent, References):
            return sent
        items = (self._items[it] if type(it) is int else self._added(it) for it in sent.items)
        return [*map(_copied, items)]


def _copied(item: Any) -> Any:
    if isinstance(item, dict):
        return {key: _copied(value) for key, value in item.items()}
    return [*map(_copied, item)] if isinstance(item, list) else item
