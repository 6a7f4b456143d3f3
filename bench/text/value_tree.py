"""A structured value as a tree whose scalars are ticked off, and the tables in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
    """A mapping, list or scalar of the value: its place in the one around it, and how much of it is
    still to come.

    A scalar that is the key of its record too (`{"W1": {"id": "W1"}}`) need not come: one of the
    two says it.
    """

    __slots__ = "children", "is_key", "key", "left", "parent", "place", "size", "value"

    def __init__(
        self, value: Any, parent: Node | None = None, name: str = "", place: int = -1
    ) -> None:
        self.value, self.parent, self.place = value, parent, place
        self.key = words_of_key(name)
        self.children: list[Node] = []
        self.is_key = False
        if isinstance(value, dict):
            self.children = [Node(item, self, str(key)) for key, item in value.items()]
            for child in self.children if name and len(value) > 1 else ():
                child.is_key = child.value == name
        elif isinstance(value, list | tuple):
            self.children = [Node(item, self, "", at) for at, item in enumerate(value)]
        sizes = [child.size for child in self.children if not child.is_key]
        self.size: int = sum(sizes) if self.children else 1
        self.left = self.size

    @property
    def path(self) -> list[Node]:
        """The nodes from the whole value down to this one."""
        return [*(self.parent.path if self.parent else ()), self]

    @property
    def name(self) -> Words:
        """The words of its key; of what stands in a list those of the list."""
        return self.key if self.key or self.parent is None else self.parent.name

    def leaves(self) -> Iterator[Node]:
        """Yield its scalars in order; an empty mapping or list is one."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def tick_off(self) -> None:
        """Count that a text has this scalar."""
        self.left = 0
        for node in self.path[:-1] if not self.is_key else ():
            node.left -= 1

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers that may stand beside it: its place in a list from 0 or 1, and the length of
        a list.
        """
        places = (self.place, self.place + 1) if self.place >= 0 else ()
        return (*places, len(self.children)) if isinstance(self.value, list) else places

    def follows_unwritten(self) -> bool:
        """True for a scalar of a list the one before which is still to come: such texts keep their
        order.
        """
        is_next = self.parent is None or self.place < 1 or bool(self.children)
        return (
            not is_next
            and self.parent is not None
            and self.parent.children[self.place - 1].left > 0
        )


def nodes_of(node: Node) -> Iterator[Node]:
    """Yield a node and all in it, from the outside in."""
    yield node
    for child in node.children:
        yield from nodes_of(child)


def tables_of(root: Node) -> dict[Words, list[tuple[list[Words], Node]]]:
    """By the words of their columns, in order of the alphabet, the lists of rows with the same
    columns, and the whole as a row.
    """
    tables: dict[Words, list[tuple[list[Words], Node]]] = {}
    for node in nodes_of(root):
        rows = rows_of(node) or [node] * (node is root)
        columns = {tuple(_columns(row)) for row in rows if row.children}
        if len(columns) == 1 and all(isinstance(row.value, dict) for row in rows):
            of_rows = list(next(iter(columns)))
            words = tuple(sorted(word for column in of_rows for word in column))
            tables.setdefault(words, []).append((of_rows, node))
    return tables


def rows_of(node: Node) -> list[Node]:
    """The records of a list, or of a mapping in which each has its key as a value; none for any
    other.
    """
    by_key = bool(node.children) and all(
        any(leaf.is_key for leaf in child.children) for child in node.children
    )
    return node.children if by_key or isinstance(node.value, list) else []


def _columns(row: Node) -> Iterator[Words]:
    """Yield the words of the path of each scalar of a row, within the row."""
    depth = len(row.path)
    for leaf in row.leaves():
        inner = leaf.path[depth:]
        yield tuple(word for node in inner for word in (node.key or (str(node.place),)))


def in_order(columns: list[Words], header: Sequence[str]) -> list[int] | None:
    """The columns as a header names them, by number; None where it does not name each once."""
    order: list[int] = []
    at = 0
    while at < len(header):
        left = [number for number in range(len(columns)) if number not in order]
        named = [
            number
            for number in left
            if columns[number] == tuple(header[at : at + len(columns[number])])
        ]
        if not named:
            return None
        order.append(max(named, key=lambda number: len(columns[number])))
        at += len(columns[order[-1]])
    return order if len(order) == len(columns) else None
