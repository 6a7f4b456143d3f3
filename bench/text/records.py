"""Records: the mappings in a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..model import as_text, nested
from ..model.base import CONTAINERS, LISTS

Pair = tuple[str, str]
"""A key and the text of its value."""


class Record(NamedTuple):
    """The scalars of one mapping as texts, with their keys; `around` are the numbers of the
    mappings around it, `name` is the key that leads to it.
    """

    keys: tuple[str, ...]
    texts: tuple[str, ...]
    around: tuple[int, ...]
    name: str = ""

    @property
    def pairs(self) -> Iterator[Pair]:
        """Its keys, each with its text."""
        return zip(self.keys, self.texts, strict=True)


def records_of(node: Any) -> Iterator[Record]:
    """Yield every mapping in a value as a record. Records with the same keys share the tuple of
    keys."""
    waiting: list[tuple[Any, str, tuple[int, ...]]] = [(node, "", ())]
    known_keys: dict[tuple[str, ...], tuple[str, ...]] = {}
    number = 0
    while waiting:
        value, name, around = waiting.pop()
        items: Iterable[tuple[Any, Any]] = ()
        if isinstance(value, dict):
            items = value.items()
        elif isinstance(value, LISTS):
            items = ((name, item) for item in value)
        keys: list[str] = []
        texts: list[str] = []
        inner: list[tuple[Any, str, tuple[int, ...]]] = []
        within = (*around, number) if isinstance(value, dict) else around
        for key, item in items:
            if isinstance(item, CONTAINERS):
                inner.append((item, str(key), within))
            else:
                keys.append(str(key))
                texts.append(as_text(item))
        if texts or isinstance(value, dict):
            own_keys = tuple(keys)
            yield Record(known_keys.setdefault(own_keys, own_keys), tuple(texts), around, name)
            number += 1
        else:
            inner = [(item, key, around) for item, key, _ in inner]
        waiting.extend(reversed(inner))


def container_keys(node: Any) -> Iterator[str]:
    """Yield the keys of a value that lead to mappings or lists."""
    for value in nested(node):
        for key, item in value.items() if isinstance(value, dict) else ():
            if isinstance(item, CONTAINERS):
                yield str(key).removesuffix("[]")
