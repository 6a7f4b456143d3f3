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
"""Up to so many facts under one key and word are compared with a text one by one."""

_TOKEN = re.compile(r"\w+")


class SameFact:
    """The fields of a table with one fact under one key, in order."""

    def __init__(self, table: FieldTable, fact: str, fields: list[Field]) -> None:
        self._table, self.fact, self.fields = table, fact, fields

    @cached_property
    def unique(self) -> list[Field]:
        """The fields whose value identifies the record, since no other record has it."""
        return [field for field in self.fields if not self._table.is_shared(field)]

    @cached_property
    def nameless(self) -> list[Field]:
        """The fields whose record no other value identifies."""
        return [field for field in self.fields if self._table.is_nameless(field)]

    def named_by(self, identities: frozenset[str]) -> Iterator[Field]:
        """Yield the fields of the records that some identities name, and those with a unique value.
        A value does not name its own record."""
        for identity in identities:
            for field in fields_of_records(self.fields, self._table.records_named(identity)):
                is_other = field.text.casefold() != identity
                if is_other and self._table.may_belong(field, identities):
                    yield field
        yield from (field for field in self.unique if self._table.may_belong(field, identities))


class KeptFields:
    """The search of texts for the fields of a table that they keep.

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
        """True if a text keeps a field with a fact, or has the fact as a key where the table has it as
        a key or an identity. The fact may be a part of the field."""
        if self._table.has_container(fact) and reading.has_container(fact):
            return True
        if fact.casefold() in reading.names and fact.casefold() in self._table.records_of_identity:
            return True
        for same in self._fields_with(fact):
            numbers = reading.records_with(same.fields[0].key, fact)
            if numbers and same.nameless:
                return True
            records = (reading.records[number] for number in numbers)
            if any(any(same.named_by(self._identities_of(record))) for record in records):
                return True
        return any(any(self._in_sentences(reading, same)) for same in self._fields_with(fact))

    def kept_in(self, reading: TextReading) -> frozenset[int]:
        """The numbers of the fields that a text keeps."""
        kept: set[int] = set()
        stated: set[SameFact] = set()
        keys = self._numbers_by_word.keys() & reading.numbers_by_key.keys()
        for number in {*chain.from_iterable(map(reading.numbers_by_key.__getitem__, keys))}:
            record = reading.records[number]
            if in_record := self._in_record(record):
                names = self._identities_of(record)
                stated |= in_record
                kept.update(field.number for same in in_record for field in same.named_by(names))
        kept.update(field.number for same in stated for field in same.nameless)
        kept.update(self._kept_as_names(reading))
        for key, by_word in self._numbers_by_word.items() if reading.lines else ():
            for word in by_word.keys() & reading.lines.keys():
                for same in self._same_facts(key, word):
                    if not all(field.number in kept for field in same.fields):
                        kept.update(field.number for field in self._in_sentences(reading, same))
        return frozenset(kept)

    def _kept_as_names(self, reading: TextReading) -> Iterator[int]:
        """Yield the numbers of the fields that identify their record, and that a text has as the key
        of a record, as in `W1: {…}`."""
        for identity in filter(self._table.is_value, reading.names):
            for record in self._table.records_named(identity):
                if identity in map(str.casefold, self._table.texts_of(record)):
                    for field in self._table.fields.of_record(record):
                        if field.text.casefold() == identity:
                            yield field.number

    @memo
    def _fields_with(self, fact: str) -> list[SameFact]:
        """The fields with a fact, grouped by key."""
        by_key = grouped((field.key, field) for field in self._table.fields_with(fact))
        return [SameFact(self._table, fact, fields) for fields in by_key.values()]

    def _in_record(self, record: TextRecord) -> set[SameFact]:
        """The facts of the table that a record of a text has under the same key."""
        facts: set[SameFact] = set()
        for key, text in record.pairs:
            key = plain_key(key)
            if by_word := self._numbers_by_word.get(key):
                words = words_in(text)
                for word in by_word.keys() & words:
                    for same in self._possible_facts(key, word, words):
                        if text == same.fact or has_fact(text, same.fact):
                            facts.add(same)
        return facts

    def _identities_of(self, record: TextRecord) -> frozenset[str]:
        """The identities of the table in a record of a text."""
        return record.values & self._table.records_of_identity.keys()

    @cached_property
    def _numbers_by_word(self) -> dict[str, Numbers]:
        """For each key the numbers of its fields, by the index word of each."""
        by_key: dict[str, Numbers] = {}
        for key, text, number in self._table.fields.pairs():
            add_number(by_key.setdefault(plain_key(key), {}), index_word_of_field(text), number)
        return by_key

    @memo
    def _same_facts(self, key: str, word: str) -> list[SameFact]:
        """The fields under a key and an index word, grouped by fact."""
        numbers = listed(self._numbers_by_word[key][word])
        fields = map(self._table.fields.__getitem__, numbers)
        by_fact = grouped(((field.key, fact_of_field(field.text)), field) for field in fields)
        return [SameFact(self._table, fact, same) for (_, fact), same in by_fact.items()]

    def _possible_facts(self, key: str, word: str, words: frozenset[str]) -> Iterable[SameFact]:
        """Those of `_same_facts` that a text with some words may have."""
        facts = self._same_facts(key, word)
        if len(facts) <= _FEW_FACTS:
            return facts
        by_other_word = self._by_other_word(key, word)
        known = by_other_word.keys() & {"", *words}
        return chain.from_iterable(map(by_other_word.__getitem__, known))

    @memo
    def _by_other_word(self, key: str, word: str) -> dict[str, list[SameFact]]:
        """`_same_facts` by the rarest other word of each fact; "" for a fact of one word."""
        others = [(words_in(same.fact) - {word}, same) for same in self._same_facts(key, word)]
        counts = Counter(chain.from_iterable(words for words, _ in others))
        return grouped(
            (min(words, key=lambda other: (counts[other], other), default=""), same)
            for words, same in others
        )

    def _in_sentences(self, reading: TextReading, same: SameFact) -> Iterator[Field]:
        """Yield the fields with the same fact that a sentence keeps. The sentence names the record
        ("W1 is sent"), or has the key of a unique value ("the status is sent"), or the fact itself
        names the record and another value of it follows."""
        for line in reading.lines_with(same.fact):
            text, fact = line.text.casefold(), same.fact.casefold()
            place = _place_of(same.fact, text)
            identities = self._identities_in(text)
            if nearest := _nearest(identities, place, fact):
                yield from fields_of_records(same.fields, self._table.records_named(nearest))
            else:
                in_heading = {identity for _, identity in self._identities_in(line.heading)}
                for field in same.unique:
                    is_key_there = not line.stems.isdisjoint(_stems(field.key))
                    if is_key_there and in_heading <= self._table.identity(field.record):
                        yield field
            next_place = next((start for start, _ in identities if start > place), None)
            rest = text[place + len(fact) : next_place]
            for field in fields_of_records(same.fields, self._table.records_named(fact)):
                if self._has_other_value(field, rest):
                    yield field

    def _has_other_value(self, field: Field, text: str) -> bool:
        """True if a text has another value of the record of a field."""
        texts = self._table.texts_of(field.record)
        values = (value.casefold() for value in texts if value != field.text)
        return any(len(value) > 1 and value in text and occurs(text, value) for value in values)

    @memo
    def _identities_in(self, text: str) -> list[tuple[int, str]]:
        """The identities in a sentence in small letters, as (start, identity), in order."""
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


def _nearest(identities: list[tuple[int, str]], place: int, fact: str) -> str:
    """The last identity up to a place, else the first one after it, ignoring the fact itself; ""
    without one."""
    others = [(start, identity) for start, identity in identities if identity != fact]
    before = [identity for start, identity in others if start <= place]
    after = [identity for start, identity in others if start > place]
    return next(chain(reversed(before), after), "")


def _stems(text: str) -> frozenset[str]:
    """The stems of the words in a key or sentence; of an identifier also those of its parts.

    >>> sorted(_stems("The totals are open")), sorted(_stems("unit_price"))
    (['open', 'total'], ['price', 'unit', 'unit_'])
    """
    stems = {word.casefold() for word in _TOKEN.findall(text)} - FUNCTION_WORDS
    if " " not in text:  # a key, whose parts may be separate words in a sentence
        parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", text)
        stems.update(part.casefold() for part in parts)
    return frozenset(word[:STEM_CHARS] for word in stems if not word.isdigit())


@lru_cache(maxsize=1 << 14)
def _place_of(fact: str, text: str) -> int:
    """The start of a fact in a text: -1 for a missing word, 0 for a missing number."""
    if not is_number(fact):
        return text.find(fact.casefold())
    for match in re.finditer(r"[\d][\d.,]*", text):
        if fact in numbers_in(match.group()):
            return match.start()
    return 0
