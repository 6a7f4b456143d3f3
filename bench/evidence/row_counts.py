"""Counts that a text may state: of all rows and lines of a result, of its own size."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..model import nested
from ..text.decode import decode_strings
from ..text.keys import plain_key

NEAR = 2
"""The lines or items by which a count of what is left out may be wrong."""


def row_counts(text: str, data: object = None, tables: object = ()) -> frozenset[int]:
    """The numbers of all lines of a text and of each long text in it, and of all rows of each list
    in it, in the `data` that it writes, and in its `tables`.

    >>> sorted(row_counts('[{"id": 1}, {"id": 2}]'))
    [1, 2]
    """
    value = decode_strings(text if data is None else data)
    texts = text, *(item for item in nested(value) if isinstance(item, str))
    return frozenset(
        (
            *_row_counts(value),
            *_row_counts(tables),
            *(count for text in texts for count in line_counts(text)),
        )
    )


def line_counts(text: str) -> tuple[int, int]:
    """The number of lines of a text with and without blank ones."""
    lines = text.split("\n")
    return len(lines), sum(map(bool, map(str.strip, lines)))


def _row_counts(value: object) -> Iterator[int]:
    """Yield the number of rows of each list in a value, of each mapping whose values are rows, and of
    all lists in a list.

    >>> [*_row_counts({"legs": [["a", "b"], ["c"]], "of": {}})]
    [2, 3, 2, 1, 0]
    """
    for item in nested(value):
        if isinstance(item, list) or (
            isinstance(item, dict) and all(isinstance(row, dict) for row in item.values())
        ):
            yield len(item)
        if isinstance(item, list) and any(isinstance(row, list) for row in item):
            yield sum(len(row) for row in item if isinstance(row, list))


def sizes_of(value: object, words: Collection[str]) -> set[int]:
    """The sizes of the mappings and lists in a value under a key that consists of some words.

    >>> sizes_of({"open_legs": [{"n": 1, "legs": []}, {"n": 2}]}, {"open", "legs"})
    {2}
    """
    items = (pair for it in nested(value) if isinstance(it, dict) for pair in it.items())
    named = (it for key, it in items if {*plain_key(str(key)).split()} == {*words})
    return {len(it) for it in named if isinstance(it, dict | list)}


def counts_of(text: str) -> frozenset[int]:
    """The characters, bytes and words of a text, and its lines with and without blank ones.

    >>> sorted(counts_of("one two\\n\\né"))
    [2, 3, 10, 11]
    """
    return frozenset(
        (len(text), len(text.encode("utf-8", "replace")), len(text.split()), *line_counts(text))
    )
