"""Fields: the scalars of a structured value, and whether another text still says one as what it is.

A field is kept only beside its own key, in a column of its name, or in a sentence that names its
record. So a renamed key, a bag of values or a value moved to another record keeps nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

from ..model import grouped
from .decode import NothingParsed, decode_strings, parse_json
from .facts import occurs
from .field_list import (
    Field,
    Fields,
    Numbers,
    fact_of_field,
    fields_of_records,
    identifies,
    listed,
    numbers_by_text,
    word_of_field,
)
from .numbers import is_number, numbers_in
from .row_lists import RowLists
from .scripts import FUNCTION_WORDS
from .text_records import (
    Line,
    Pair,
    TextReading,
    container_keys,
    has_odd_number,
    plain_key,
    records_of,
    says,
    sure_part,
    word_of,
    words_in,
)

_STEM_CHARS = 5
_LARGE, _FEW_QUESTIONS = 50_000, 30
"""Of so many fields, so many facts are looked for in each one; who asks more often is worth an
index of all words.
"""

_TOKEN = re.compile(r"\w+")


class FactFields:
    """The fields of a table that say one fact, and where to look for them."""

    def __init__(self, table: FieldTable, fields: list[Field]) -> None:
        self.fields = fields
        by_key = grouped((item.key, item) for item in fields)
        self.by_key: dict[str, FactFields] = {
            key: self if len(by_key) == 1 else FactFields(table, items)
            for key, items in by_key.items()
        }
        """Those under each key."""

        self.alone = [item for item in fields if not table.is_shared(item)]
        """Those of which the value alone says whose it is."""

        self.nameless = [item for item in fields if table.is_nameless(item)]
        """Those of records that nothing else tells from the others."""

    def of_records(self, records: Sequence[int]) -> Iterator[Field]:
        """Yield those that belong to some records."""
        return fields_of_records(self.fields, records)


class FieldTable:
    """The fields of one structured value; a text is read as JSON, and one that is none has no
    fields.

    >>> table = FieldTable({"id": "W123", "status": "sent", "price": 412.75})
    >>> table.key_of("412.75"), table.key_of("W123"), table.key_of("absent")
    ('price', 'id', '')
    >>> texts = "price: 412.75", "W123 was sold for 412.75", "last_price: 412.75", "sold for 412.75"
    >>> [table.keeps(TextReading(text, table.names), "412.75") for text in texts]
    [True, True, False, False]
    """

    def __init__(self, value: Any) -> None:
        if isinstance(value, str):
            try:
                value = parse_json(value)
            except NothingParsed:
                value = None
        value = decode_strings(value)
        self._records = list(records_of(value))
        self.containers = frozenset(
            plain_key(key) for _, inner in container_keys(value) for key in inner
        )
        self.names = frozenset().union(*{record.keys for record in self._records}) - {""}
        """Every key that has a scalar."""

        self.fields = Fields(self._records)
        """Every field that has a value, in order."""

        self.prose = self.fields.prose
        """The values that are texts and no fields."""

        self._asked = 0
        self._identities: dict[int, set[str]] = {}
        self._plain_pairs: dict[int, frozenset[Pair]] = {}
        self._identities_of_line: dict[str, list[tuple[int, str]]] = {}
        self._saying: dict[str, FactFields] = {}
        self._of_word: dict[str, dict[str, FactFields]] = {}

    @cached_property
    def _shared_pairs(self) -> set[Pair]:
        """The keys and values that several records have."""
        counts = Counter(chain.from_iterable({*record.pairs} for record in self._records))
        return {pair for pair, count in counts.items() if count > 1}

    def _own_identity(self, number: int) -> set[str]:
        """The values that tell a record from the others, without those of the records around it.
        The name of a key is none.
        """
        shared, names = self._shared_pairs, self._plain_keys
        return {
            plain
            for pair in self._records[number].pairs
            if identifies(pair, alone=pair not in shared)
            and (plain := pair[1].casefold()) not in names
        }

    def identity(self, record: int) -> set[str]:
        """The values that tell a record from the others, those of the records around it too, in
        small letters.
        """
        if record not in self._identities:
            around = self._records[record].around
            self._identities[record] = self._own_identity(record).union(
                *map(self._own_identity, around)
            )
        return self._identities[record]

    @cached_property
    def records_of_identity(self) -> Numbers:
        """The numbers of the records that each identity tells from the others, or that stand in one
        of these.
        """
        outer = {*chain.from_iterable({record.around for record in self._records})}
        of_outer = {number: self._own_identity(number) for number in outer}
        return numbers_by_text(
            (identity, number)
            for number, record in enumerate(self._records)
            for identity in self._own_identity(number).union(
                *map(of_outer.__getitem__, record.around)
            )
        )

    @cached_property
    def _by_word(self) -> Numbers:
        """The numbers of the fields by the words and numbers in them."""
        return numbers_by_text(
            (word, number) for text, number in self.fields.texts() for word in words_in(text)
        )

    def of(self, fact: str) -> list[Field]:
        """The fields that say a fact, in order."""
        word, is_large = word_of(fact), len(self.fields) > _LARGE
        self._asked += is_large
        if not is_large or self._asked > _FEW_QUESTIONS:
            fields = map(self.fields.__getitem__, listed(self._by_word.get(word)))
            return [item for item in fields if says(item.text, fact)]
        part = sure_part(word)
        texts = {
            text for record in self._records for text in record.texts if part in text.casefold()
        }
        saying = {
            text
            for text in texts | self._odd_numbers
            if word in words_in(text) and says(text, fact)
        }
        records = (
            at for at, record in enumerate(self._records) if not saying.isdisjoint(record.texts)
        )
        return [item for at in records for item in self.fields.of_record(at) if item.text in saying]

    @cached_property
    def _odd_numbers(self) -> set[str]:
        return {text for record in self._records for text in record.texts if has_odd_number(text)}

    def key_of(self, fact: str) -> str:
        """The key under which the value says a fact first; `""` where it says it as prose, as a
        key, or not at all.
        """
        if fact in self.names or any(says(text, fact) for text in self.prose):
            return ""
        fields = self.of(fact)
        return fields[0].key if fields else ""

    def keeps(self, reading: TextReading, fact: str) -> bool:
        """True if a text says a fact as the field that it is."""
        if fact not in self._saying:
            self._saying[fact] = FactFields(self, self.of(fact))
        return any(True for _ in self._kept(reading, fact, self._saying[fact]))

    def kept_in(self, reading: TextReading) -> frozenset[int]:
        """The numbers of the fields that a text says as those fields."""
        facts = (
            item
            for word in self._fields_of_word.keys() & reading.words
            for item in self._facts_of_word(word).items()
        )
        return frozenset(
            item.number for fact, sources in facts for item in self._kept(reading, fact, sources)
        )

    @property
    def record_count(self) -> int:
        """The number of records."""
        return len(self._records)

    def pairs(self, record: int) -> list[Pair]:
        """The keys and values of a record and of those around it."""
        around = self._records[record].around
        return [pair for number in (record, *around) for pair in self._records[number].pairs]

    @cached_property
    def lists(self) -> RowLists:
        """Its lists of records."""
        return RowLists(self._records)

    def is_shared(self, field: Field) -> bool:
        """True if another record has the same value under the same key, so that the value alone
        does not say whose it is.
        """
        return (field.key, field.text) in self._shared_pairs and bool(self._is_named[field.record])

    def is_nameless(self, field: Field) -> bool:
        """True if nothing but a field tells its record from the others."""
        text = field.text.casefold()
        if text in self.records_of_identity:
            return self.identity(field.record) <= {text}
        return not self._is_named[field.record]

    @cached_property
    def _is_named(self) -> bytearray:
        """By record 1 if anything tells it from the others."""
        named = bytearray(len(self._records))
        for number in chain.from_iterable(map(listed, self.records_of_identity.values())):
            named[number] = 1
        return named

    def has_key(self, key: str) -> bool:
        """True if the value has a scalar under a key, whatever its case."""
        return plain_key(key) in self._plain_keys

    def is_identity(self, text: str) -> bool:
        """True if a text tells some record from the others."""
        return text.casefold() in self.records_of_identity

    def opens(self, key: str) -> bool:
        """True if some record with several fields begins with a key."""
        return plain_key(key) in self._first_keys

    @cached_property
    def _first_keys(self) -> frozenset[str]:
        return frozenset(
            plain_key(keys[0])
            for keys in {record.keys for record in self._records}
            if len(keys) > 1
        )

    def has_container(self, key: str) -> bool:
        """True if the value has a mapping or list under a key."""
        return plain_key(key) in self.containers

    def column(self, key: str) -> list[str]:
        """Every value under a key, in order."""
        return self._columns.get(plain_key(key), [])

    def values(self, record: int, key: str) -> list[str]:
        """The values that one record, or a record around it, has under a key."""
        return [text for name, text in self.pairs(record) if plain_key(name) == plain_key(key)]

    def says_value(self, text: str) -> bool:
        """True if a text is a value of some field, other than a common word of data."""
        return text.casefold() in self._values

    def best_records(self, pairs: Iterable[Pair], around: frozenset[str]) -> list[int]:
        """The numbers of the records that agree with most of some pairs, of those alone that they
        name if they name any.
        """
        distinct = {(plain_key(key), text.casefold()) for key, text in pairs}
        texts = around.union(text for _, text in distinct)
        identities = texts & self.records_of_identity.keys()
        named = {
            number
            for identity in identities
            for number in listed(self.records_of_identity.get(identity))
        }
        agreeing = Counter(
            {number: len(distinct & self._pairs_compared(number)) for number in named}
        )
        for pair in distinct if not named else ():
            agreeing.update(self._records_of_pair.get(pair, ()))
        most = max(agreeing.values(), default=0)
        return sorted(number for number, count in agreeing.items() if count == most)

    @cached_property
    def _plain_keys(self) -> frozenset[str]:
        """Every key as keys are compared, the empty one too."""
        return frozenset(
            plain_key(key) for keys in {record.keys for record in self._records} for key in keys
        )

    @cached_property
    def _columns(self) -> dict[str, list[str]]:
        return grouped(
            (plain_key(key), text) for record in self._records for key, text in record.pairs
        )

    @cached_property
    def _values(self) -> frozenset[str]:
        return frozenset(text.casefold() for text, _ in self.fields.texts())

    def _pairs_compared(self, number: int) -> frozenset[Pair]:
        """The keys and values of a record as they are compared."""
        if number not in self._plain_pairs:
            pairs = self._records[number].pairs
            self._plain_pairs[number] = frozenset(
                (plain_key(key), text.casefold()) for key, text in pairs
            )
        return self._plain_pairs[number]

    @cached_property
    def _records_of_pair(self) -> dict[Pair, list[int]]:
        numbers = range(len(self._records))
        return grouped(
            (pair, number) for number in numbers for pair in self._pairs_compared(number)
        )

    @cached_property
    def _fields_of_word(self) -> Numbers:
        """The numbers of the fields by the word under which what they say is looked up."""
        return numbers_by_text(
            (word_of_field(text), number) for text, number in self.fields.texts()
        )

    def _facts_of_word(self, word: str) -> dict[str, FactFields]:
        """The fields that are looked up under a word, by the fact that each is."""
        if word not in self._of_word:
            fields = map(self.fields.__getitem__, listed(self._fields_of_word.get(word)))
            by_fact = grouped((fact_of_field(item.text), item) for item in fields)
            self._of_word[word] = {fact: FactFields(self, items) for fact, items in by_fact.items()}
        return self._of_word[word]

    def _kept(self, reading: TextReading, fact: str, sources: FactFields) -> Iterator[Field]:
        """Yield the fields of a fact that a text says as those fields, some of them twice."""
        kept: set[int] = set()
        for key, of_key in sources.by_key.items():
            saying = reading.records_saying(key, fact)
            for item in self._in_records(reading, saying, of_key) if saying else ():
                kept.add(item.number)
                yield item
        for line in reading.lines_with(fact) if len(kept) < len(sources.fields) else ():
            yield from self._in_line(line, fact, sources)

    def _in_records(
        self, reading: TextReading, saying: Collection[int], sources: FactFields
    ) -> Iterator[Field]:
        """Yield the fields of one key that are those of some records of a text, which say their
        fact under it.
        """
        yield from sources.nameless
        values = frozenset[str]().union(*(reading.all_records[number].values for number in saying))
        for identity in values & self.records_of_identity.keys():
            of_records = sources.of_records(listed(self.records_of_identity.get(identity)))
            yield from (item for item in of_records if item.text.casefold() != identity)
        named = [
            reading.all_records[number].values & self.records_of_identity.keys()
            for number in saying
        ]
        for item in sources.alone:
            if any(identities <= self.identity(item.record) for identities in named):
                yield item

    def _in_line(self, line: Line, fact: str, sources: FactFields) -> Iterator[Field]:
        """Yield the fields that a sentence which says their fact says as those fields."""
        text = line.text.casefold()
        at = _place(text, fact)
        places = self._identities_in(text)
        nearest = _nearest(places, at, fact.casefold())
        if nearest:
            yield from sources.of_records(listed(self.records_of_identity.get(nearest)))
        else:
            heading = {identity for _, identity in self._identities_in(line.heading)}
            for item in sources.alone:
                if _stems(item.key) & line.stems and heading <= self.identity(item.record):
                    yield item
        rest = text[at + len(fact) : _next(places, at)]
        for item in sources.of_records(listed(self.records_of_identity.get(fact.casefold()))):
            if self._goes_on(item, rest):
                yield item

    def _goes_on(self, item: Field, text: str) -> bool:
        """True if what follows an identity states another value of its record."""
        values = (
            value.casefold() for value in self._records[item.record].texts if value != item.text
        )
        return any(len(value) > 1 and value in text and occurs(text, value) for value in values)

    def _identities_in(self, text: str) -> list[tuple[int, str]]:
        """The identities that a line in small letters names, with the place of the first, in order."""
        if text not in self._identities_of_line:
            words = {match.group() for match in _TOKEN.finditer(text)}
            known = {item for word in words for item in self._identities_by_word.get(word, ())}
            known |= words & self.records_of_identity.keys()
            places = (
                (text.find(item), item) for item in known if item in text and occurs(text, item)
            )
            self._identities_of_line[text] = sorted(places)
        return self._identities_of_line[text]

    @cached_property
    def _identities_by_word(self) -> dict[str, list[str]]:
        """The identities of several words by the first one."""
        several = (item for item in self.records_of_identity if not _TOKEN.fullmatch(item))
        return grouped((match.group(), item) for item in several if (match := _TOKEN.search(item)))


def _nearest(places: list[tuple[int, str]], at: int, fact: str) -> str:
    """The identity that stands last before a place, else first behind it; "" for none."""
    others = [item for item in places if item[1] != fact]
    before = [identity for place, identity in others if place <= at]
    return before[-1] if before else others[0][1] if others else ""


def _next(places: list[tuple[int, str]], at: int) -> int | None:
    """The place of the first identity behind a place; None for none."""
    return next((place for place, _ in places if place > at), None)


def _stems(text: str) -> frozenset[str]:
    """The beginnings of the words of a key or sentence; an identifier is one word.

    >>> sorted(_stems("The totals are open")), sorted(_stems("unit_price"))
    (['open', 'total'], ['price', 'unit', 'unit_'])
    """
    stems = {word.casefold() for word in _TOKEN.findall(text)} - FUNCTION_WORDS
    if " " not in text:  # a key: its parts are words of a sentence
        parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", text)
        stems.update(part.casefold() for part in parts)
    return frozenset(word[:_STEM_CHARS] for word in stems if not word.isdigit())


@lru_cache(maxsize=1 << 14)
def _place(text: str, fact: str) -> int:
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
