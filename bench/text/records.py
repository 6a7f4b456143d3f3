"""Records: the mappings of a structured value in one flat list, each with its scalars as texts.
`FieldTable` asks about the records of a result, `TextReading` about those of a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..model import as_text, nested
from ..model.base import CONTAINERS, LISTS

Pair = tuple[str, str]
"""A key and the text of its value."""


class Record(NamedTuple):
    """The scalars of one mapping: their keys, and their values as texts. `ancestors` are the
    numbers of the mappings that it is nested in, the outermost first. `name` is the key that it is
    under, "" at the top."""

    keys: tuple[str, ...]
    texts: tuple[str, ...]
    ancestors: tuple[int, ...]
    name: str = ""

    @property
    def pairs(self) -> Iterator[Pair]:
        """The keys, each with the text of its value."""
        return zip(self.keys, self.texts, strict=True)


def records_of(node: Any) -> Iterator[Record]:
    """Yield every mapping in a value as a record, an outer one before those nested in it. Records
    with the same keys share the tuple of keys, to save memory."""
    waiting: list[tuple[Any, str, tuple[int, ...]]] = [(node, "", ())]
    known_keys: dict[tuple[str, ...], tuple[str, ...]] = {}
    number = 0
    while waiting:
        value, name, ancestors = waiting.pop()
        items: Iterable[tuple[Any, Any]] = ()
        if isinstance(value, dict):
            items = value.items()
        elif isinstance(value, LISTS):
            items = ((name, item) for item in value)
        keys: list[str] = []
        texts: list[str] = []
        inner: list[tuple[Any, str, tuple[int, ...]]] = []
        path = (*ancestors, number) if isinstance(value, dict) else ancestors
        for key, item in items:
            if isinstance(item, CONTAINERS):
                inner.append((item, str(key), path))
            else:
                keys.append(str(key))
                texts.append(as_text(item))
        if texts or isinstance(value, dict):
            own_keys = tuple(keys)
            yield Record(known_keys.setdefault(own_keys, own_keys), tuple(texts), ancestors, name)
            number += 1
        waiting.extend(reversed(inner))


def container_keys(node: Any) -> Iterator[str]:
    """Yield the keys of a value that lead to mappings or lists."""
    for value in nested(node):
        for key, item in value.items() if isinstance(value, dict) else ():
            if isinstance(item, CONTAINERS):
                yield str(key).removesuffix("[]")
