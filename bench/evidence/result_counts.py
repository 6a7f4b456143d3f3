"""Sizes of texts and of the result that they show: what a text may state of it as a number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from ..model import ToolResult, as_text, memo, nested
from ..text.decode import decode_strings


class ResultCounts:
    """The numbers that count something in one result or in a text that shows it, each made on demand.

    >>> from bench.model import Source, ToolResult, Trace
    >>> result = ToolResult(index=0, call_id="c", function="list", seen='[{"id": 1}, {"id": 2}]')
    >>> counts = ResultCounts(result, [result.text])
    >>> [counts.has(number) for number in (22, 3, 100)], counts.rows, counts.texts
    ([True, False, False], frozenset({1, 2}), {'[{"id": 1}, {"id": 2}]': 1})
    >>> counts.is_all("2"), counts.is_all("3")
    (True, False)
    """

    def __init__(self, result: ToolResult, shown: Iterable[str]) -> None:
        self._result, self._shown = result, dict.fromkeys(shown)

    @memo
    def _counts(self, text: str) -> frozenset[int]:
        return counts_of(text)

    def has(self, number: int) -> bool:
        """True if a number is an exact count of a text, or of a container of the result."""
        return any(number in counts for counts in self._exact())

    def _exact(self) -> Iterator[Iterable[int]]:
        """Yield the exact counts, those first that cost least and are stated most."""
        yield map(len, self._shown)
        yield (text.count("\n") + 1 for text in self._shown)
        yield from map(self._counts, self._shown)
        strings, lengths = self._strings
        yield lengths
        yield from map(self._counts, strings)
        yield self._counts(as_text(self._result.value))

    @cached_property
    def rows(self) -> frozenset[int]:
        """The counts of all its rows or lines."""
        texts = self._result.text, *self._strings[0]
        of_lines = (count for text in texts for count in _lines_of(text))
        return frozenset((*_row_counts(self._value), *of_lines))

    @cached_property
    def texts(self) -> dict[str, int]:
        """The texts with their numbers of lines."""
        return {text: text.count("\n") + 1 for text in (*self._shown, *self._strings[0])}

    def is_all(self, number: str) -> bool:
        """True if a number counts all rows or lines of the result, or of a list in it."""
        return number.isdigit() and int(number[:18]) in self.rows

    @cached_property
    def _value(self) -> Any:
        data = self._result.data
        return decode_strings(self._result.text if data is None else data)

    @cached_property
    def _strings(self) -> tuple[list[str], frozenset[int]]:
        return texts_in(self._value)


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
