"""The lists of records in a structured value, and the distinctive words of each row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from ..model import grouped
from .text_records import Record, records_of as records_of, words_in


class RowLists:
    """The lists of some records: two or more in one container that begin with the same key. Parts
    under the names of fields (`seats`, `prices`) are no rows of one list; under those of records
    (`W1`, `T cell`) they are.

    >>> flight = {"seats": {"economy": 9, "business": 2}, "prices": {"economy": 80, "business": 310}}
    >>> RowLists([*records_of(flight)]).lists, RowLists([*records_of({"T cell": {"n": 5}, "B cell": {"n": 7}})]).lists
    ([], [[1, 2]])
    >>> rows = RowLists([*records_of({"of": 2, "rows": [{"id": "W1", "n": 5}, {"id": "W2", "n": 5}]})])
    >>> rows.lists, rows.number, sorted(rows.distinctive[2])
    ([[1, 2]], {1: 0, 2: 0}, ['w2'])
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        begins = grouped(
            ((record.around, _field_name(record), record.keys[0]), at)
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


def _field_name(record: Record) -> str:
    """The name of the field that leads to a record; "" if it is the record's own name."""
    name = record.name
    is_field = name.isidentifier() and name.islower() and not any(map(str.isdigit, name))
    return name if is_field and name not in record.texts else ""
