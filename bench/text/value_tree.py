"""A structured value as a tree whose scalars are ticked off when a text has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from .text_records import plain_key

Words = tuple[str, ...]


@lru_cache(maxsize=65536)
def words_of_key(key: str) -> Words:
    """The words of a key in small letters.

    >>> words_of_key("payment_id"), words_of_key("giftCard8"), words_of_key("#")
    (('payment', 'id'), ('gift', 'card', '8'), ())
    """
    return tuple(re.findall(r"[^\W\d_]+|\d+", plain_key(key)))


class Node:
    """A mapping, list or scalar of the value: its place in its parent, and how much of it is still
    to come.

    A scalar that is also the key of its record (`{"W1": {"id": "W1"}}`) may be missing in a text,
    unless the record began without its key.
    """

    __slots__ = (
        "children",
        "is_awaited",
        "is_key",
        "key",
        "label",
        "left",
        "ordinal",
        "parent",
        "path",
        "place",
        "size",
        "value",
    )

    def __init__(
        self, value: Any, parent: Node | None = None, name: str = "", place: int = -1
    ) -> None:
        self.value, self.parent, self.place = value, parent, place
        self.path: tuple[Node, ...] = (*(parent.path if parent else ()), self)
        """The nodes from the whole value down to this one."""

        self.ordinal = place
        """Its place in a list, or among the records of a mapping, from 0; -1 for a scalar."""

        self.key, self.label = words_of_key(name), name
        self.children: list[Node] = []
        self.is_key = self.is_awaited = False
        if isinstance(value, dict):
            self.children = [Node(item, self, str(key)) for key, item in value.items()]
            for child in self.children if name and len(value) > 1 else ():
                child.is_key = child.value == name
            for at, child in enumerate(self.children):
                child.ordinal = at if child.children else -1
        elif isinstance(value, list | tuple):
            self.children = [Node(item, self, "", at) for at, item in enumerate(value)]
        sizes = [child.size for child in self.children if not child.is_key]
        self.size: int = sum(sizes) if self.children else 1
        self.left = self.size

    @property
    def name(self) -> Words:
        """The words of its key; for an item of a list those of the list's key."""
        return self.key if self.key or self.parent is None else self.parent.name

    def leaves(self) -> Iterator[Node]:
        """Yield its scalars in order; an empty mapping or list counts as one."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def reset(self) -> None:
        """Start again: nothing of it has come."""
        self.left, self.is_awaited = self.size, False

    def tick_off(self) -> None:
        """Count that a text has this scalar."""
        self.left = 0
        for node in self.path[:-1] if self.is_awaited or not self.is_key else ():
            node.left -= 1

    @property
    def own_key(self) -> Node | None:
        """The scalar in a record that is also its key; None without one."""
        return next((child for child in self.children if child.is_key), None)

    def await_key(self) -> None:
        """Expect the scalar that states the key of a record that began without its key."""
        key = self.own_key
        if key and not key.is_awaited:
            key.is_awaited = True
            for node in self.path:
                node.left += 1

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers that may be written next to it: its place from 0 or 1, and its length."""
        places = (self.ordinal, self.ordinal + 1) if self.ordinal >= 0 else ()
        return (*places, len(self.children)) if self.children else places

    @property
    def lengths(self) -> Iterator[int]:
        """Yield the lengths of the parts of a mapping, which may be written before it."""
        if isinstance(self.value, dict):
            yield from (len(child.children) for child in self.children if child.children)

    def follows_unwritten(self) -> bool:
        """True for a scalar of a list whose predecessor is still to come, since a list keeps its
        order.
        """
        is_next = self.parent is None or self.place < 1 or bool(self.children)
        return (
            not is_next
            and self.parent is not None
            and self.parent.children[self.place - 1].left > 0
        )


def nodes_of(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes in it, from the outside in."""
    yield node
    for child in node.children:
        yield from nodes_of(child)
