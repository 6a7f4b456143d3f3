"""Sizes of texts and of the result that they show: what a text may state of it as a number."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any

from ..model import ToolResult, as_text, grouped, memo, nested
from ..text.decode import decode_strings
from ..text.fields import FieldTable
from ..text.numbers import numbers_in
from ..text.text_records import plain_key
from .column_statistics import STATISTICS, Groups, half_of_last_digit, is_rounded, statistics_of

_FEWEST_DIGITS = 3
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")


class ResultCounts:
    """The numbers that count something in one result or in a text that shows it, each made on demand.

    >>> from bench.model import Source, ToolResult, Trace
    >>> result = ToolResult(index=0, call_id="c", function="list", seen='[{"id": 1}, {"id": 2}]')
    >>> counts = ResultCounts(result, [result.text], FieldTable(result.text))
    >>> [counts.has(number) for number in (22, 3, 100)], counts.rows, counts.texts
    ([True, False, False], frozenset({1, 2}), {'[{"id": 1}, {"id": 2}]': 1})
    >>> counts.is_all("2"), counts.is_worked_out("3"), counts.is_statistic("1.5", "mean of id: 1.5")
    (True, True, True)
    """

    def __init__(self, result: ToolResult, shown: Iterable[str], table: FieldTable) -> None:
        self._result, self._shown, self._table = result, dict.fromkeys(shown), table

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

    @cached_property
    def lengths(self) -> frozenset[str]:
        """The numbers of characters of its lines, and of each text in its value, read or as it is."""
        values = nested([self._value, self._result.data])
        texts = (item for item in values if isinstance(item, str))
        lines = (line for text in self.texts for line in text.split("\n"))
        return frozenset(str(len(text)) for text in chain(texts, lines))

    def is_all(self, number: str) -> bool:
        """True if a number counts all rows or lines of the result, or of a list in it."""
        return number.isdigit() and int(number[:18]) in self.rows

    def may_count_rows(self, number: int, shown: int) -> bool:
        """True if a number counts the rows of a list, those with one value of a column, those
        `shown`, or those left out.
        """
        if number <= shown or any(number in (rows, rows - shown) for rows in self.rows):
            return True
        return any(number in self._table.column(name).values() for name in self._table.names)

    def is_worked_out(self, number: str) -> bool:
        """True if a number is the sum of a column, or the number of its rows or lines."""
        sums = map(math.fsum, self._columns.values())
        return self.is_all(number) or any(is_rounded(number, value) for value in sums)

    def is_statistic(self, number: str, sentence: str, called: str = "") -> bool:
        """True if a number is the sum, range, mean, deviation or a quartile of a column: that which
        it is `called`, else one that its sentence names, if it names any; of the columns that the
        sentence names, if it names any.
        """
        columns, kinds = self._named_in(sentence)
        kinds = frozenset({STATISTICS[called.casefold()]}) if called else kinds
        return any(
            is_rounded(number, value)
            for key in columns
            for kind, value in self._of(key)
            if kind in kinds
        )

    @memo
    def _named_in(self, sentence: str) -> tuple[list[str], frozenset[str]]:
        """The columns and the kinds of statistics that a sentence names; all where it names none."""
        words = set(plain_key(sentence).split())
        columns = [key for key in self._columns if words.issuperset(key.split())]
        names = STATISTICS.keys() & words or STATISTICS.keys()
        return columns or [*self._columns], frozenset(STATISTICS[name] for name in names)

    def is_rounded(self, number: str) -> bool:
        """True if a number of three digits or more is one of the result, rounded."""
        if sum(map(str.isdigit, number)) < _FEWEST_DIGITS or not ({".", "e"} & set(number)):
            return False
        value, half = float(number), half_of_last_digit(number)
        at = bisect_left(self._numbers, value - half)
        return at < len(self._numbers) and self._numbers[at] <= value + half

    @cached_property
    def _numbers(self) -> list[float]:
        """The numbers that the result says, in order."""
        return sorted(map(float, numbers_in(self._result.text)))

    @cached_property
    def groups(self) -> Groups:
        """Its rows by the values of each column."""
        return Groups(self._table)

    @memo
    def _of(self, key: str) -> tuple[tuple[str, float], ...]:
        return statistics_of(self._columns[key])

    @cached_property
    def _columns(self) -> dict[str, list[float]]:
        """The numbers of each key of the result that stands there several times, and of each path to
        numbers in the rows of its lists (`prices economy`).
        """
        columns = {
            plain_key(name): [
                float(text)
                for text in self._table.column(name).elements()
                if _NUMBER.fullmatch(text)
            ]
            for name in sorted(self._table.names)
        }
        for rows in filter(_are_rows, nested(self._value)):
            by_path = grouped(pair for row in rows for pair in _numbers_in(row))
            columns.update((path, numbers) for path, numbers in by_path.items() if " " in path)
        return {key: column for key, column in columns.items() if len(column) > 1}

    @cached_property
    def _value(self) -> Any:
        data = self._result.data
        return decode_strings(self._result.text if data is None else data)

    @cached_property
    def _strings(self) -> tuple[list[str], frozenset[int]]:
        return texts_in(self._value)


def _are_rows(value: object) -> bool:
    """True for a list of mappings."""
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _numbers_in(row: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of a row and of the mappings in it, each by the words of its path."""
    for key, item in row.items():
        words = f"{path} {plain_key(str(key))}".strip()
        if isinstance(item, dict):
            yield from _numbers_in(item, words)
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield words, float(item)


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
    """Yield the number of rows of each list in a value, and of each mapping whose values are rows."""
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
