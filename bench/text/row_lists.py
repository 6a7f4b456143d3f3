"""The lists of records in a structured value, and the distinctive words of each row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from ..model import grouped
from .text_records import Record, records_of as records_of, words_in


class RowLists:
    """The lists of some records: two or more in one container that begin with the same key.

    >>> rows = RowLists([*records_of({"of": 2, "rows": [{"id": "W1", "n": 5}, {"id": "W2", "n": 5}]})])
    >>> rows.lists, rows.number, sorted(rows.distinctive[2])
    ([[1, 2]], {1: 0, 2: 0}, ['w2'])
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        begins = grouped(
            ((record.around, record.keys[0]), at)
            for at, record in enumerate(records)
            if record.keys
        )
        self.lists: list[list[int]] = [rows for rows in begins.values() if len(rows) > 1]
        """The numbers of the rows of each list."""

        self.number = {row: number for number, rows in enumerate(self.lists) for row in rows}
        """The number of its list by row."""

    @cached_property
    def distinctive(self) -> dict[int, frozenset[str]]:
        """The words and numbers of each row and everything in it that no other row of its list has."""
        words: dict[int, set[str]] = {row: set() for row in self.number}
        for number, record in enumerate(self._records):
            of_record = frozenset[str]().union(*map(words_in, record.texts))
            for row in {number, *record.around} & words.keys():
                words[row] |= of_record
        counts = [Counter(word for row in rows for word in words[row]) for rows in self.lists]
        return {
            row: frozenset(w for w in words[row] if counts[at][w] == 1)
            for row, at in self.number.items()
        }
