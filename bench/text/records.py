"""Records: the mappings of a structured value in one flat list, each with its scalars as texts.
`FieldTable` asks about the records of a result, `TextReading` about those of a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ..model import as_text, grouped, nested
from ..model.base import CONTAINERS, LISTS
from .keys import plain_key

Pair = tuple[str, str]
"""A key and the text of its value."""


class Record(NamedTuple):
    """The scalars of one mapping: their keys, and their values as texts. `ancestors` are the
    numbers of the mappings that it is nested in, the outermost first. `name` is the key that it is
    under, "" at the top. `place` has its number, and before that of its list, in a list of lists."""

    keys: tuple[str, ...]
    texts: tuple[str, ...]
    ancestors: tuple[int, ...]
    name: str = ""
    place: tuple[int, ...] = ()

    @property
    def pairs(self) -> Iterator[Pair]:
        """The keys, each with the text of its value."""
        return zip(self.keys, self.texts, strict=True)


def records_of(node: Any) -> Iterator[Record]:
    """Yield every mapping in a value as a record, an outer one before those nested in it. Records
    with the same keys share the tuple of keys, to save memory.

    >>> [record.place for record in records_of([[{"n": 5}], [{"n": 6}, {"n": 7}]])]
    [(1, 1), (2, 1), (2, 2)]
    """
    waiting: list[tuple[Any, str, tuple[int, ...], tuple[int, ...]]] = [(node, "", (), ())]
    known_keys: dict[tuple[str, ...], tuple[str, ...]] = {}
    number = 0
    while waiting:
        value, name, ancestors, place = waiting.pop()
        items: Iterable[tuple[Any, Any]] = ()
        if isinstance(value, dict):
            items = value.items()
        elif isinstance(value, LISTS):
            items = ((name, item) for item in value)
        keys: list[str] = []
        texts: list[str] = []
        inner: list[tuple[Any, str, tuple[int, ...], tuple[int, ...]]] = []
        path = (*ancestors, number) if isinstance(value, dict) else ancestors
        for at, (key, item) in enumerate(items, 1):
            if isinstance(item, CONTAINERS):
                is_numbered = isinstance(value, LISTS) and (place or isinstance(item, LISTS))
                inner.append((item, str(key), path, (*place, at) if is_numbered else ()))
            else:
                keys.append(str(key))
                texts.append(as_text(item))
        if texts or isinstance(value, dict):
            shared_keys = known_keys.setdefault(tuple(keys), tuple(keys))
            yield Record(shared_keys, tuple(texts), ancestors, name, place)
            number += 1
        waiting.extend(reversed(inner))


def container_keys(node: Any) -> Iterator[str]:
    """Yield the keys of a value that lead to mappings or lists."""
    for value in nested(node):
        for key, item in value.items() if isinstance(value, dict) else ():
            if isinstance(item, CONTAINERS):
                yield str(key).removesuffix("[]")


def keyed_rows(records: Sequence[Record]) -> frozenset[int]:
    """The numbers of the rows that have a key of their own, as in `{"W1": {…}, "W2": {…}}`."""
    counts = Counter(record.name for record in records)
    alike = grouped(
        ((record.ancestors, record.keys), number)
        for number, record in enumerate(records)
        if counts[record.name] == 1
    )
    return frozenset(number for rows in alike.values() if len(rows) > 1 for number in rows)


def keys_within(records: Sequence[Record], keyed: Collection[int]) -> dict[str, set[str]]:
    """The keys of scalars, mappings and lists under each key, "" for the outermost; all as `plain_key`
    spells them. A `keyed` row counts as one under the key of all rows.

    >>> records = [*records_of({"orders": {"W1": {"id": 1, "of": [2]}, "W2": {"id": 3, "of": [4]}}})]
    >>> {key: sorted(keys) for key, keys in keys_within(records, keyed_rows(records)).items()}
    {'': ['orders'], 'orders': ['id', 'of'], 'of': ['of']}
    """
    names: list[str] = []
    keys: dict[str, set[str]] = {"": set()}
    for number, record in enumerate(records):
        outer = names[record.ancestors[-1]] if record.ancestors else ""
        names.append(outer if number in keyed else plain_key(record.name))
        keys.setdefault(names[-1], set()).update(map(plain_key, record.keys))
        keys[outer].update([names[-1]] if names[-1] not in (outer, "") else ())
    return keys


def nested_records(records: Sequence[Record]) -> dict[int, list[int]]:
    """The numbers of the records nested in each, without rows and what is nested in these.

    >>> nested_records([*records_of({"id": "W1", "size": {"mm": 9}, "rows": [{"a": 1}, {"a": 2}]})])
    {0: [1]}
    """
    alike = Counter((record.ancestors, record.keys) for record in records)
    nested: dict[int, list[int]] = {}
    for number, record in enumerate(records):
        for inner, outer in pairwise((number, *reversed(record.ancestors))):
            if alike[records[inner].ancestors, records[inner].keys] > 1:
                break
            nested.setdefault(outer, []).append(number)
    return nested


def values_under(key: str, records: Iterable[Record]) -> dict[str, None]:
    """The distinct values under a plain key in some records, in order. The key may have the name of
    its record in front."""
    return {
        text: None
        for record in records
        for name, text in record.pairs
        if key.endswith(plain_key(name))
        and key in (plain_key(name), plain_key(f"{record.name} {name}"))
    }
