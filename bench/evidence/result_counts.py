"""Sizes of texts and of the result that they show: what a text may state of it as a number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..model import ToolResult, as_text, nested
from ..text.decode import decode_strings


class ResultCounts(NamedTuple):
    """The exact counts of one result and its containers, of all its rows or lines, and its texts
    with their numbers of lines.
    """

    exact: frozenset[int]
    rows: frozenset[int]
    texts: dict[str, int]


def result_counts(result: ToolResult, shown: Iterable[str]) -> ResultCounts:
    """The counts of a result; `shown` are the texts of the messages that have it."""
    value = result.data if result.data is not None else result.text
    decoded = decode_strings(value)
    strings, containers = texts_in(decoded)
    texts = dict.fromkeys((*shown, *strings))
    exact = containers.union(*map(counts_of, {*texts, as_text(result.value)}))
    of_lines = (count for text in (result.text, *strings) for count in _lines_of(text))
    return ResultCounts(
        exact,
        frozenset({*_row_counts(decoded), *of_lines}),
        {text: text.count("\n") + 1 for text in texts},
    )


def counts_of(text: str) -> frozenset[int]:
    """The characters, bytes and words of a text, and its lines with and without blank ones.

    >>> sorted(counts_of("one two\\n\\né"))
    [2, 3, 10, 11]
    """
    return frozenset(
        (len(text), len(text.encode("utf-8", "replace")), len(text.split()), *_lines_of(text))
    )


def _lines_of(text: str) -> tuple[int, int]:
    """The number of lines of a text with and without blank ones."""
    lines = text.split("\n")
    return len(lines), sum(map(bool, map(str.strip, lines)))


def _row_counts(value: object) -> Iterator[int]:
    """Yield the lengths of the lists in a value, and of the mappings of mappings."""
    for item in nested(value):
        if isinstance(item, list) or (
            isinstance(item, dict) and all(isinstance(row, dict) for row in item.values())
        ):
            yield len(item)


def texts_in(value: object) -> tuple[list[str], frozenset[int]]:
    """The texts of several lines in a value, and the lengths of its containers."""
    texts: list[str] = []
    lengths: set[int] = set()
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if "\n" in item:
                texts.append(item)
        elif isinstance(item, dict | list):
            lengths.add(len(item))
            waiting.extend(item.values() if isinstance(item, dict) else item)
    return texts, frozenset(lengths)
