"""The fields of a structured value that another text keeps.

A field is kept only next to its own key, in a column of its name, or in a sentence that names its
record. So a renamed key, a list of bare values or a value moved to another record does not keep it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain

from ..model import grouped, memo
from .common_words import FUNCTION_WORDS
from .field_list import (
    Field,
    Numbers,
    add_number,
    fact_of_field,
    fields_of_records,
    index_word_of_field,
    listed,
)
from .field_table import FieldTable
from .keys import plain_key
from .numbers import is_number, numbers_in
from .places import occurs
from .text_records import STEM_CHARS, TextReading, TextRecord, has_fact, words_in

_FEW_FACTS = 20
"""So many facts under one key and word are compared with a text one by one."""

_TOKEN = re.compile(r"\w+")


class SameFact:
    """The fields of a table with one fact under one key, in order."""

    def __init__(self, table: FieldTable, fact: str, fields: list[Field]) -> None:
        self._table, self.fact, self.fields = table, fact, fields

    @cached_property
    def alone(self) -> list[Field]:
        """The fields whose value no other record has."""
        return [item for item in self.fields if not self._table.is_shared(item)]

    @cached_property
    def nameless(self) -> list[Field]:
        """The fields whose record nothing else identifies."""
        return [item for item in self.fields if self._table.is_nameless(item)]

    def named_by(self, identities: frozenset[str]) -> Iterator[Field]:
        """Yield the fields of the records that some identities name; a value does not name its own
        record."""
        for identity in identities:
            for item in fields_of_records(self.fields, self._table.records_named(identity)):
                is_other = item.text.casefold() != identity
                if is_other and self._table.is_meant(item, identities):
                    yield item
        yield from (item for item in self.alone if self._table.is_meant(item, identities))


class KeptFields:
    """The fields of a table that texts keep.

    >>> table = FieldTable({"id": "W123", "status": "sent", "price": 412.75})
    >>> texts = "price: 412.75", "W123 was sold for 412.75", "last_price: 412.75", "sold for 412.75"
    >>> readings = [TextReading(text, table.names) for text in texts]
    >>> [KeptFields(table).keeps(reading, "412.75") for reading in readings]
    [True, True, False, False]
    >>> [sorted(KeptFields(table).kept_in(reading)) for reading in readings]
    [[2], [0, 2], [], []]
    >>> rows = [{"sku": "A-1", "qty": 120}, {"sku": "A-2", "qty": 150}]
    >>> table = FieldTable({"id": "W9", "items": rows})
    >>> texts = ('{"id": "W9", "items": [{"sku": "A-1", "qty": %d}]}' % qty for qty in (120, 150))
    >>> [KeptFields(table).keeps(TextReading(text, table.names), "150") for text in texts]
    [False, False]
    """

    def __init__(self, table: FieldTable) -> None:
        self._table = table

    def keeps(self, reading: TextReading, fact: str) -> bool:
        """True if a text keeps the field with a fact, which may be a part of the field; a value
        that is also a key of a mapping may be kept there.
        """
        if self._table.has_container(fact) and reading.has_container(fact):
            return True
        if fact.casefold() in reading.names and fact.casefold() in self._table.records_of_identity:
            return True
        for same in self._saying(fact):
            saying = reading.records_with(same.fields[0].key, fact)
            if saying and same.nameless:
                return True
            records = (reading.records[number] for number in saying)
            if any(any(same.named_by(self._named(record))) for record in records):
                return True
        return any(any(self._in_lines(reading, same)) for same in self._saying(fact))

    def kept_in(self, reading: TextReading) -> frozenset[int]:
        """The numbers of the fields that a text keeps."""
        kept: set[int] = set()
        said: set[SameFact] = set()
        keys = self._by_word.keys() & reading.numbers_by_key.keys()
        for number in {*chain.from_iterable(map(reading.numbers_by_key.__getitem__, keys))}:
            of_record, numbers = self._in_record(reading.records[number])
            said |= of_record
            kept |= numbers
        kept.update(item.number for same in said for item in same.nameless)
        kept.update(self._named_by_keys(reading))
        for key, numbers_of in self._by_word.items() if reading.lines else ():
            for word in numbers_of.keys() & reading.lines.keys():
                for same in self._same(key, word):
                    if not all(item.number in kept for item in same.fields):
                        kept.update(item.number for item in self._in_lines(reading, same))
        return frozenset(kept)

    def _named_by_keys(self, reading: TextReading) -> Iterator[int]:
        """Yield the fields that identify their record and are keys of records in the text."""
        for identity in filter(self._table.is_value, reading.names):
            for number in self._table.records_named(identity):
                if identity in map(str.casefold, self._table.texts_of(number)):
                    items = self._table.fields.of_record(number)
                    yield from (it.number for it in items if it.text.casefold() == identity)

    @memo
    def _saying(self, fact: str) -> list[SameFact]:
        return [*self._by_fact(self._table.fields_with(fact), fact)]

    def _in_record(self, record: TextRecord) -> tuple[set[SameFact], set[int]]:
        """The fields of the table that a record of a text keeps."""
        said = {
            same
            for key, text in record.pairs
            if (numbers_of := self._by_word.get(plain_key(key)))
            for word in numbers_of.keys() & words_in(text)
            for same in self._same_with(plain_key(key), word, words_in(text))
            if text == same.fact or has_fact(text, same.fact)
        }
        named = self._named(record) if said else frozenset[str]()
        return said, {item.number for same in said for item in same.named_by(named)}

    def _named(self, record: TextRecord) -> frozenset[str]:
        """The identities of the table in a record of a text."""
        return record.values & self._table.records_of_identity.keys()

    @cached_property
    def _by_word(self) -> dict[str, Numbers]:
        """For each key the numbers of its fields by the word under which each is indexed."""
        by_word: dict[str, Numbers] = {}
        for key, text, number in self._table.fields.pairs():
            add_number(by_word.setdefault(plain_key(key), {}), index_word_of_field(text), number)
        return by_word

    @memo
    def _same(self, key: str, word: str) -> list[SameFact]:
        """The fields of a key that are indexed under a word, grouped by fact."""
        numbers = listed(self._by_word[key][word])
        return [*self._by_fact(map(self._table.fields.__getitem__, numbers))]

    def _same_with(self, key: str, word: str, words: frozenset[str]) -> Iterable[SameFact]:
        """The fields of `_same` of which a text with some words may say the fact."""
        same = self._same(key, word)
        if len(same) <= _FEW_FACTS:
            return same
        by_other = self._by_other_word(key, word)
        return chain.from_iterable(map(by_other.__getitem__, by_other.keys() & {"", *words}))

    @memo
    def _by_other_word(self, key: str, word: str) -> dict[str, list[SameFact]]:
        """The fields of `_same` by the other word of the fact that fewest of them have; "" without
        one.
        """
        others = [(words_in(same.fact) - {word}, same) for same in self._same(key, word)]
        counts = Counter(chain.from_iterable(words for words, _ in others))
        return grouped(
            (min(words, key=lambda other: (counts[other], other), default=""), same)
            for words, same in others
        )

    def _by_fact(self, fields: Iterable[Field], fact: str = "") -> Iterator[SameFact]:
        """Yield some fields grouped by key and fact; with `fact` all belong to that."""
        by_fact = grouped(((item.key, fact or fact_of_field(item.text)), item) for item in fields)
        for (_, of_fields), items in by_fact.items():
            yield SameFact(self._table, of_fields, items)

    def _in_lines(self, reading: TextReading, same: SameFact) -> Iterator[Field]:
        """Yield the fields with the same fact that a sentence keeps."""
        for line in reading.lines_with(same.fact):
            text, fact = line.text.casefold(), same.fact.casefold()
            at = _place(text, same.fact)
            places = self._identities_in(text)
            nearest = _nearest(places, at, fact)
            if nearest:
                yield from fields_of_records(same.fields, self._table.records_named(nearest))
            else:
                heading = {identity for _, identity in self._identities_in(line.heading)}
                for item in same.alone:
                    own = self._table.identity(item.record)
                    if _stems(item.key) & line.stems and heading <= own:
                        yield item
            rest = text[at + len(fact) : _next(places, at)]
            items = fields_of_records(same.fields, self._table.records_named(fact))
            yield from (item for item in items if self._goes_on(item, rest))

    def _goes_on(self, item: Field, text: str) -> bool:
        """True if the words after an identity state another value of its record."""
        others = self._table.texts_of(item.record)
        values = (value.casefold() for value in others if value != item.text)
        return any(len(value) > 1 and value in text and occurs(text, value) for value in values)

    @memo
    def _identities_in(self, text: str) -> list[tuple[int, str]]:
        """The identities in a line (in small letters), each with its place, in order."""
        words = {match.group() for match in _TOKEN.finditer(text)}
        known = {item for word in words for item in self._identities_by_word.get(word, ())}
        known |= words & self._table.records_of_identity.keys()
        return sorted(
            (text.find(item), item) for item in known if item in text and occurs(text, item)
        )

    @cached_property
    def _identities_by_word(self) -> dict[str, list[str]]:
        """The identities with several words, by their first word."""
        several = (item for item in self._table.records_of_identity if not _TOKEN.fullmatch(item))
        return grouped((match.group(), item) for item in several if (match := _TOKEN.search(item)))


def _nearest(places: list[tuple[int, str]], at: int, fact: str) -> str:
    """The last identity before a place, else the first one after it; "" without one."""
    others = [(place, identity) for place, identity in places if identity != fact]
    before = [identity for place, identity in others if place <= at]
    after = [identity for place, identity in others if place > at]
    return next(chain(reversed(before), after), "")


def _next(places: list[tuple[int, str]], at: int) -> int | None:
    """The place of the first identity after a place; None without one."""
    return next((place for place, _ in places if place > at), None)


def _stems(text: str) -> frozenset[str]:
    """The stems of the words in a key or sentence; an identifier is one word.

    >>> sorted(_stems("The totals are open")), sorted(_stems("unit_price"))
    (['open', 'total'], ['price', 'unit', 'unit_'])
    """
    stems = {word.casefold() for word in _TOKEN.findall(text)} - FUNCTION_WORDS
    if " " not in text:  # a key: its parts are words of a sentence
        parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", text)
        stems.update(part.casefold() for part in parts)
    return frozenset(word[:STEM_CHARS] for word in stems if not word.isdigit())


@lru_cache(maxsize=1 << 14)
def _place(text: str, fact: str) -> int:
    """The place of a fact in a text: -1 for a missing word, 0 for a missing number."""
    if not is_number(fact):
        return text.find(fact.casefold())
    return next(
        (
            match.start()
            for match in re.finditer(r"[\d][\d.,]*", text)
            if fact in numbers_in(match.group())
        ),
        0,
    )
