"""Fields: the key–value pairs of records, numbered in order, and compact indexes of their numbers.
A field is a short value under a key. Longer texts are prose and no fields. `FieldTable` answers
questions about the fields of one value."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from .common_words import FUNCTION_WORDS
from .numbers import is_number, is_spelled, number_value
from .records import Pair, Record
from .text_records import index_word

_IDENTITY_KEY = re.compile(
    r"(?:^|_)(?:id|ids|code|number|name|key|sku|flight|path|title|email|term|gene)$"
)
_FIELD_CHARS, _FIELD_WORDS = 160, 6
"""The limits of a field: a longer value, or one with more words that reads like a sentence, is
prose."""


class Field(NamedTuple):
    """A scalar of a structured value as text, with its key, the number of its record, and its own
    number."""

    key: str
    text: str
    record: int
    number: int


class Fields:
    """The sequence of the fields of some records. Each `Field` is built on demand, to save memory.

    >>> fields = Fields([Record(("id", "note"), ("W1", "x\\ny"), ()), Record(("id", "mm"), ("W2", "125"), ())])
    >>> len(fields), fields[2], fields.prose
    (3, Field(key='mm', text='125', record=1, number=2), ['x\\ny'])
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._starts = array("L", [0])  # the number of the first field, by record
        self.prose: list[str] = []
        """The values that are longer texts, or have no key."""

        for record in records:
            count = self._starts[-1]
            for key, text in record.pairs:
                if not key or is_prose(text):
                    self.prose.append(text)
                elif text.strip():
                    count += 1
            self._starts.append(count)

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, number: int) -> Field:
        record = bisect_right(self._starts, number) - 1
        place, pairs = number - self._starts[record], self._records[record]
        if self._has_only_fields(record):
            return Field(pairs.keys[place], pairs.texts[place], record, number)
        return self.of_record(record)[place]

    def __iter__(self) -> Iterator[Field]:
        return chain.from_iterable(map(self.of_record, range(len(self._records))))

    def of_record(self, record: int) -> list[Field]:
        """The fields of one record."""
        pairs, start = self._records[record].pairs, self._starts[record]
        if not self._has_only_fields(record):
            pairs = (
                (key, text) for key, text in pairs if key and text.strip() and not is_prose(text)
            )
        return [Field(key, text, record, number) for number, (key, text) in enumerate(pairs, start)]

    def pairs(self) -> Iterator[tuple[str, str, int]]:
        """Yield each field as (key, text, number); faster than iterating over `Field` objects."""
        for record_number, record in enumerate(self._records):
            if self._has_only_fields(record_number):
                numbers = range(self._starts[record_number], self._starts[record_number + 1])
                yield from zip(record.keys, record.texts, numbers, strict=True)
            else:
                fields = self.of_record(record_number)
                yield from ((key, text, number) for key, text, _, number in fields)

    def blocks(self) -> Iterator[Pair]:
        """Yield the values that are no fields, prose and empty ones, with their keys."""
        for record_number, record in enumerate(self._records):
            for key, text in () if self._has_only_fields(record_number) else record.pairs:
                if not key or not text.strip() or is_prose(text):
                    yield key, text

    def _has_only_fields(self, record: int) -> bool:
        """True if no value of a record is prose or empty."""
        return len(self._records[record].texts) == self._starts[record + 1] - self._starts[record]


def is_prose(text: str) -> bool:
    """True if a value is a longer text instead of a field: it has several lines, more than 160
    characters, or more than six words that read like a sentence.

    >>> [is_prose(text) for text in ("rows of the wall that we saw here", "wall W1 L2 B3 C4 D5 E6", "a\\nb")]
    [True, False, True]
    """
    if len(text) <= 2 * _FIELD_WORDS:  # too short for so many words
        return "\n" in text
    if len(text) > _FIELD_CHARS or "\n" in text:
        return True
    words = text.split()
    return len(words) > _FIELD_WORDS and not FUNCTION_WORDS.isdisjoint(words)


Numbers = dict[str, int | list[int]]
"""An index: the numbers of fields or records by a text, ascending. A single number is stored without
a list, to save memory; `listed` reads both forms."""


def numbers_by_text(pairs: Iterable[tuple[str, int]]) -> Numbers:
    """The index of (text, number) pairs.

    >>> numbers = numbers_by_text([("W1", 0), ("ann", 0), ("W2", 1), ("ann", 1)])
    >>> numbers, [listed(numbers.get(text)) for text in ("W2", "bob")]
    ({'W1': 0, 'ann': [0, 1], 'W2': 1}, [[1], []])
    """
    numbers: Numbers = {}
    for text, number in pairs:
        if numbers.setdefault(text, number) != number:
            add_number(numbers, text, number)
    return numbers


def add_number(numbers: Numbers, text: str, number: int) -> None:
    """Add a number to an index under a text. The numbers must come in ascending order."""
    known = numbers.setdefault(text, number)
    if isinstance(known, list):
        known.append(number)
    elif known != number:
        numbers[text] = [known, number]


def listed(numbers: int | list[int] | None) -> list[int]:
    """The numbers under one text as a list; [] for None."""
    if numbers is None:
        return []
    return numbers if isinstance(numbers, list) else [numbers]


def fields_of_records(fields: Sequence[Field], records: Sequence[int]) -> Iterator[Field]:
    """Yield those of some fields that belong to one of some records. The fields must be in the order
    of their records.

    >>> fields = [Field("mm", "125", record, record) for record in (1, 4, 6)]
    >>> [item.record for item in fields_of_records(fields, [4, 5])], [*fields_of_records(fields, range(2, 4))]
    ([4], [])
    """
    if len(records) > len(fields):
        distinct = set(records)
        yield from (field for field in fields if field.record in distinct)
        return
    for record in records:
        place = bisect_left(fields, record, key=lambda field: field.record)
        while place < len(fields) and fields[place].record == record:
            yield fields[place]
            place += 1


@lru_cache(maxsize=65536)
def fact_of_field(text: str) -> str:
    """The text of a field as a fact: a number as `number_value` spells it, other texts unchanged."""
    if not text.lstrip("+-$€£.,")[:1].isdigit():
        return text
    number = number_value(text)
    return number if is_number(number) else text


def index_word_of_field(text: str) -> str:
    """The word or number under which an index has the text of a field."""
    if text.isidentifier():
        return text.casefold()
    return text if is_spelled(text) else index_word(fact_of_field(text))


def identifies(pair: Pair, *, alone: bool) -> bool:
    """True if a value identifies its record: its key is one such as `id` or `name`, or it has both
    letters and digits, and is the only one (`alone`) among the records.

    >>> [identifies(("x", text), alone=True) for text in ("W-104", "1.25e-07", "104", "sent")]
    [True, False, False, False]
    """
    key, text = pair
    if not 2 <= len(text) <= 80:
        return False
    if _is_identity_key(key):
        return True
    has_digit = alone and any(map(str.isdigit, text))
    return has_digit and any(map(str.isalpha, text)) and not is_number(fact_of_field(text))


@lru_cache(maxsize=4096)
def _is_identity_key(key: str) -> bool:
    return _IDENTITY_KEY.search(key.casefold()) is not None
