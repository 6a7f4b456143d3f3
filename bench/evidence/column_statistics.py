"""Statistics of the columns of a result: sums, means, extremes, and those of groups of its rows."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from itertools import islice, permutations, takewhile

from ..model import grouped, memo
from ..text.fields import FieldTable
from ..text.quantities import same_value
from ..text.text_records import plain_key

_MOST_COLONS = 3
_EDGES, _PARTS = " .()[]", re.compile(r"[,;] ")
_VALUE_AND_NUMBER = re.compile(r"([^()]+?)(?: ?[(×]|[:=]? ) ?(-?\d{1,15}(?:\.\d{1,15})?)\)?")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")


class Groups:
    """The rows of a table grouped by the values of one column.

    >>> groups = Groups(FieldTable('[{"to": "A", "n": 2}, {"to": "B", "n": 4}, {"to": "A", "n": 5}]'))
    >>> lines = "By to: A 2, B 1", "sum of n by to: A 7, B 4", "sum of n by to: A 4, B 7", "Total: 3"
    >>> [(groups.are_in(line), groups.are_wrong_in(line)) for line in lines]
    [(True, False), (True, False), (False, True), (False, False)]
    >>> groups.is_size_in("2", "to A (2 rows)"), groups.is_size_in("2", "to B (2 rows)")
    (True, False)
    """

    def __init__(self, table: FieldTable) -> None:
        self._table = table

    @memo
    def are_in(self, line: str) -> bool:
        """True if a line gives values of one column, each with the number of its rows, or with the
        statistic of another column of them that the heading names.
        """
        heading, pairs = _values_and_numbers(line)
        if not pairs:
            return False
        columns = map(self._table.column, self._table.names)
        if any(all(str(_count_of(v, column)) == n for v, n in pairs) for column in columns):
            return True
        kinds = frozenset(STATISTICS[word] for word in STATISTICS.keys() & {*heading})
        named = self._named_in(heading) if kinds else []
        return any(
            all(self._has(by, of, kinds, pair) for pair in pairs)
            for by, of in permutations(named, 2)
        )

    def are_wrong_in(self, line: str) -> bool:
        """True if a line gives values of a column that its heading names, each with a number that is
        none of theirs.
        """
        heading, pairs = _values_and_numbers(line)
        columns = [self._table.column(name) for name in self._named_in(heading if pairs else [])]
        are_groups = any(all(_count_of(value, column) for value, _ in pairs) for column in columns)
        return are_groups and not self.are_in(line)

    def is_size_in(self, number: str, line: str) -> bool:
        """True if a number is that of the rows with a value that a line has."""
        row = line.casefold()
        columns = map(self._table.column, self._table.names)
        sizes = (pair for column in columns for pair in column.items())
        return any(
            str(size) == number and value.casefold() in row for value, size in sizes if value
        )

    def _named_in(self, words: list[str]) -> list[str]:
        """The columns that some words name."""
        return [name for name in self._table.names if {*plain_key(name).split()} <= {*words}]

    def _has(self, by: str, of: str, kinds: frozenset[str], pair: tuple[str, str]) -> bool:
        """True if the rows of a group have a number as one of some kinds of statistics."""
        value, number = pair
        numbers = next(
            (x for group, x in self._numbers(by, of).items() if same_value(value, group)), []
        )
        every = (
            statistics_of(numbers) if len(numbers) > 1 else ((k, n) for k in kinds for n in numbers)
        )
        return any(kind in kinds and is_rounded(number, exact) for kind, exact in every)

    @memo
    def _numbers(self, by: str, of: str) -> dict[str, list[float]]:
        """The numbers of a column by the values of another one in the same row."""
        rows = (dict(self._table.pairs(row)) for row in range(self._table.record_count))
        return grouped(
            (row[by], float(row[of]))
            for row in rows
            if by in row and _NUMBER.fullmatch(row.get(of, ""))
        )


def _values_and_numbers(line: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The words of a heading, and each value behind it with its number; none for other lines."""
    if not line.rstrip(_EDGES)[-1:].isdigit():
        return [], []  # the last value has no number
    colons = islice(re.finditer(": ", line), _MOST_COLONS)
    for end in (*(colon.end() for colon in colons), 0):
        parts = _PARTS.split(line[end:].strip(_EDGES))
        matches = [*takewhile(bool, map(_VALUE_AND_NUMBER.fullmatch, parts))]
        if len(matches) == len(parts):
            return plain_key(line[:end]).split(), [(m[1], m[2]) for m in matches if m]
    return [], []


def _count_of(text: str, column: Counter[str]) -> int:
    """The number of values of a column that are a text."""
    return sum(times for value, times in column.items() if same_value(text, value))


def is_rounded(number: str, value: float) -> bool:
    """True if a number as it is written is a value, rounded.

    >>> is_rounded("2.5", 2.54), is_rounded("2.6", 2.54), is_rounded("1e3", 1000)
    (True, False, False)
    """
    return _NUMBER.fullmatch(number) is not None and abs(
        value - float(number)
    ) <= half_of_last_digit(number)


def half_of_last_digit(number: str) -> float:
    """Half of the last digit of a number as it is written."""
    digits, _, exponent = number.partition("e")
    return 0.5 * 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))


STATISTICS = {
    "total": "sum",
    "sum": "sum",
    "range": "range",
    "mean": "mean",
    "average": "mean",
    "avg": "mean",
    "deviation": "deviation",
    "std": "deviation",
    "stdev": "deviation",
    "median": "median",
    "quartile": "quartile",
    "quartiles": "quartile",
    "min": "least",
    "minimum": "least",
    "lowest": "least",
    "smallest": "least",
    "max": "most",
    "maximum": "most",
    "highest": "most",
    "largest": "most",
}
"""The words by which texts call each statistic."""


def statistics_of(column: Sequence[float]) -> tuple[tuple[str, float], ...]:
    """The statistics of two or more numbers, each by its kind: both deviations, three quartiles.

    >>> statistics_of([1, 2, 3, 10])[:5]
    (('sum', 16.0), ('range', 9), ('least', 1), ('most', 10), ('mean', 4.0))
    >>> statistics_of([1, 2, 3, 10])[7:]
    (('median', 2.5), ('quartile', 1.75), ('quartile', 2.5), ('quartile', 4.75))
    """
    total, size = math.fsum(column), len(column)
    mean = total / size
    squares = math.fsum((value - mean) ** 2 for value in column)
    low, median, high = statistics.quantiles(column, n=4, method="inclusive")
    return (
        ("sum", total),
        ("range", max(column) - min(column)),
        ("least", min(column)),
        ("most", max(column)),
        ("mean", mean),
        ("deviation", math.sqrt(squares / (size - 1))),
        ("deviation", math.sqrt(squares / size)),
        ("median", median),
        *(("quartile", value) for value in (low, median, high)),
    )
