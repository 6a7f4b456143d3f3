"""Fields: the scalars of a structured value, and whether another text still says one as what it is.

A field is kept only beside its own key, in a column of its name, or in a sentence that names its
record. So a renamed key, a bag of values or a value moved to another record keeps nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from ..model import grouped
from .decode import NothingParsed, decode_strings, parse_json
from .facts import is_number, number_value, numbers_in, occurs
from .row_lists import RowLists
from .scripts import FUNCTION_WORDS
from .text_records import Line, Pair, TextReading, by_word, container_keys, plain_key, records_of, says, word_of

_FIELD_CHARS, _FIELD_WORDS = 160, 6
"""A longer value, or one of more words that reads like a sentence, is prose and no field."""

_STEM_CHARS = 5
_IDENTITY_KEY = re.compile(r"(?:^|_)(?:id|ids|code|number|name|key|sku|flight|path|title|email|term|gene)$")
_TOKEN = re.compile(r"\w+")


class Field(NamedTuple):
    """A scalar of a structured value: its last key, its text, the number of its record, and its own number."""

    key: str
    text: str
    record: int
    number: int


class FactFields:
    """The fields of a table that say one fact, and where to look for them."""

    def __init__(self, table: FieldTable, fields: list[Field]) -> None:
        self.fields = fields
        by_key = grouped((item.key, item) for item in fields)
        self.by_key: dict[str, FactFields] = {
            key: self if len(by_key) == 1 else FactFields(table, items) for key, items in by_key.items()
        }
        """Those under each key."""

        self.alone = [item for item in fields if not table.is_shared(item)]
        """Those of which the value alone says whose it is."""

        self.nameless = [item for item in fields if table.identity(item.record) <= {item.text.casefold()}]
        """Those of records that nothing else tells from the others."""

        self._by_record = grouped((item.record, item) for item in fields)

    def of_records(self, records: Collection[int]) -> Iterator[Field]:
        """Yield those that belong to some records."""
        for record in records if len(records) < len(self._by_record) else self._by_record.keys() & records:
            yield from self._by_record.get(record, ())


class FieldTable:
    """The fields of one structured value; a text is read as JSON, and one that is none has no fields.

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
        self.containers = frozenset(plain_key(key) for _, inner in container_keys(value) for key in inner)
        self.names = frozenset(key for pairs, _ in self._records for key, _ in pairs if key)
        """Every key that has a scalar."""

        self.prose: list[str] = []
        """The values that are texts and no fields."""

        self.fields: list[Field] = []
        """Every field that has a value, in order."""

        self._identities_of_line: dict[str, list[tuple[int, str]]] = {}
        self._saying: dict[str, FactFields] = {}
        self._being: dict[str, FactFields] = {}
        for number, (pairs, _) in enumerate(self._records):
            for key, text in pairs:
                if not key or is_prose(text):
                    self.prose.append(text)
                elif text.strip():
                    self.fields.append(Field(key, text, number, len(self.fields)))

    @cached_property
    def labels(self) -> list[str]:
        """Each field as it is shown, by its place."""
        return [f"{item.key}: {item.text}" for item in self.fields]

    @cached_property
    def _by_word(self) -> dict[str, list[Field]]:
        return by_word((item.text, item) for item in self.fields)

    @cached_property
    def _counts(self) -> Counter[Pair]:
        """The number of records that have a value under a key."""
        return Counter(pair for pairs, _ in self._records for pair in set(pairs))

    @cached_property
    def _identities(self) -> list[frozenset[str]]:
        """The values that tell each record from the others, those of the records around it too. The name of a key is none."""
        counts, names = self._counts, {plain_key(name) for name in self.names}
        alone = [
            frozenset(
                text.casefold()
                for key, text in pairs
                if _identifies(key, text, counts[key, text]) and text.casefold() not in names
            )
            for pairs, _ in self._records
        ]
        return [
            alone[number].union(*(alone[outer] for outer in around)) for number, (_, around) in enumerate(self._records)
        ]

    @cached_property
    def _all_identities(self) -> frozenset[str]:
        return frozenset().union(*self._identities)

    def of(self, fact: str) -> list[Field]:
        """The fields that say a fact, in order."""
        return [item for item in self._by_word.get(word_of(fact), ()) if says(item.text, fact)]

    def key_of(self, fact: str) -> str:
        """The key under which the value says a fact first; `""` where it says it as prose, as a key, or not at all."""
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
        facts = (fact for word in self._facts_by_word.keys() & reading.words for fact in self._facts_by_word[word])
        return frozenset(
            item.number for fact in facts for item in self._kept(reading, fact, self._fields_of_fact(fact))
        )

    @property
    def record_count(self) -> int:
        """The number of records."""
        return len(self._records)

    def pairs(self, record: int) -> list[Pair]:
        """The keys and values of a record and of those around it."""
        own, around = self._records[record]
        return [*own, *(pair for outer in around for pair in self._records[outer][0])]

    @cached_property
    def lists(self) -> RowLists:
        """Its lists of records."""
        return RowLists(self._records)

    def is_shared(self, field: Field) -> bool:
        """True if another record has the same value under the same key, so that the value alone does not say whose it is."""
        return bool(self._identities[field.record]) and self._counts[field.key, field.text] > 1

    def identity(self, record: int) -> frozenset[str]:
        """The values that tell a record from the others, in small letters."""
        return self._identities[record]

    def has_key(self, key: str) -> bool:
        """True if the value has a scalar under a key, whatever its case."""
        return plain_key(key) in self._columns

    def is_identity(self, text: str) -> bool:
        """True if a text tells some record from the others."""
        return text.casefold() in self._all_identities

    def opens(self, key: str) -> bool:
        """True if some record with several fields begins with a key."""
        return plain_key(key) in self._first_keys

    @cached_property
    def _first_keys(self) -> frozenset[str]:
        return frozenset(plain_key(pairs[0][0]) for pairs, _ in self._records if len(pairs) > 1)

    def has_key_end(self, end: str) -> bool:
        """True if a key of the value ends so, as a cut may leave it."""
        return bool(end) and any(name.endswith(plain_key(end)) for name in self._columns)

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
        """The numbers of the records that agree with most of some pairs, of those alone that they name if they name any."""
        distinct = {(plain_key(key), text.casefold()) for key, text in pairs}
        texts = around.union(text for _, text in distinct)
        identities = texts & self._records_of_identity.keys()
        named = {number for identity in identities for number in self._records_of_identity[identity]}
        agreeing = Counter({number: len(distinct & self._plain_pairs[number]) for number in named})
        for pair in distinct if not named else ():
            agreeing.update(self._records_of_pair.get(pair, ()))
        most = max(agreeing.values(), default=0)
        return sorted(number for number, count in agreeing.items() if count == most)

    @cached_property
    def _columns(self) -> dict[str, list[str]]:
        columns: dict[str, list[str]] = {}
        for pairs, _ in self._records:
            for key, text in pairs:
                columns.setdefault(plain_key(key), []).append(text)
        return columns

    @cached_property
    def _values(self) -> frozenset[str]:
        return frozenset(item.text.casefold() for item in self.fields)

    @cached_property
    def _plain_pairs(self) -> list[set[Pair]]:
        """The keys and values of each record as they are compared."""
        return [{(plain_key(key), text.casefold()) for key, text in pairs} for pairs, _ in self._records]

    @cached_property
    def _records_of_pair(self) -> dict[Pair, list[int]]:
        return grouped((pair, number) for number, pairs in enumerate(self._plain_pairs) for pair in pairs)

    @cached_property
    def _records_of_identity(self) -> dict[str, list[int]]:
        return grouped((item, number) for number, identities in enumerate(self._identities) for item in identities)

    def _fields_of_fact(self, fact: str) -> FactFields:
        """The fields whose text is a fact."""
        if fact not in self._being:
            self._being[fact] = FactFields(self, self._by_fact[fact])
        return self._being[fact]

    @cached_property
    def _by_fact(self) -> dict[str, list[Field]]:
        return grouped((_fact_of(item.text), item) for item in self.fields)

    @cached_property
    def _facts_by_word(self) -> dict[str, list[str]]:
        return grouped((word_of(fact), fact) for fact in self._by_fact)

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

    def _in_records(self, reading: TextReading, saying: Collection[int], sources: FactFields) -> Iterator[Field]:
        """Yield the fields of one key that are those of some records of a text, which say their fact under it."""
        yield from sources.nameless
        values = frozenset[str]().union(*(reading.all_records[number].values for number in saying))
        for identity in values & self._records_of_identity.keys():
            of_records = sources.of_records(self._records_of_identity[identity])
            yield from (item for item in of_records if item.text.casefold() != identity)
        named = [reading.all_records[number].values & self._all_identities for number in saying]
        for item in sources.alone:
            if any(identities <= self._identities[item.record] for identities in named):
                yield item

    def _in_line(self, line: Line, fact: str, sources: FactFields) -> Iterator[Field]:
        """Yield the fields that a sentence which says their fact says as those fields."""
        text = line.text.casefold()
        at = _place(text, fact)
        places = self._identities_in(text)
        nearest = _nearest(places, at, fact.casefold())
        if nearest:
            yield from sources.of_records(self._records_of_identity[nearest])
        else:
            heading = {identity for _, identity in self._identities_in(line.heading)}
            for item in sources.alone:
                if _stems(item.key) & line.stems and heading <= self._identities[item.record]:
                    yield item
        rest = text[at + len(fact) : _next(places, at)]
        for item in sources.of_records(self._records_of_identity.get(fact.casefold(), ())):
            if self._goes_on(item, rest):
                yield item

    def _goes_on(self, item: Field, text: str) -> bool:
        """True if what follows an identity states another value of its record."""
        values = (value.casefold() for _, value in self._records[item.record][0] if value != item.text)
        return any(len(value) > 1 and value in text and occurs(text, value) for value in values)

    def _identities_in(self, text: str) -> list[tuple[int, str]]:
        """The identities that a line in small letters names, with the place of the first, in order."""
        if text not in self._identities_of_line:
            words = {match.group() for match in _TOKEN.finditer(text)}
            known = {item for word in words for item in self._identities_by_word.get(word, ())}
            places = ((text.find(item), item) for item in known if item in text and occurs(text, item))
            self._identities_of_line[text] = sorted(places)
        return self._identities_of_line[text]

    @cached_property
    def _identities_by_word(self) -> dict[str, list[str]]:
        identities: dict[str, list[str]] = {}
        for identity in self._all_identities:
            match = _TOKEN.search(identity)
            if match:
                identities.setdefault(match.group(), []).append(identity)
        return identities


def _nearest(places: list[tuple[int, str]], at: int, fact: str) -> str:
    """The identity that stands last before a place, else first behind it; "" for none."""
    others = [item for item in places if item[1] != fact]
    before = [identity for place, identity in others if place <= at]
    return before[-1] if before else others[0][1] if others else ""


def _next(places: list[tuple[int, str]], at: int) -> int | None:
    """The place of the first identity behind a place; None for none."""
    return next((place for place, _ in places if place > at), None)


def is_prose(text: str) -> bool:
    """True if a value is a text and no field.

    >>> [is_prose(text) for text in ("rows of the wall that we saw here", "wall W1 L2 B3 C4 D5 E6", "a\\nb")]
    [True, False, True]
    """
    if len(text) <= 2 * _FIELD_WORDS:  # too short for so many words
        return "\n" in text
    words = text.split()
    reads = len(words) > _FIELD_WORDS and not FUNCTION_WORDS.isdisjoint(words)
    return len(text) > _FIELD_CHARS or "\n" in text or reads


def _identifies(key: str, text: str, count: int) -> bool:
    """True if a value tells its record from the others: under a key of that kind, or a word that stands nowhere else."""
    if not 2 <= len(text) <= 80:
        return False
    return _is_identity_key(key) or (count == 1 and any(map(str.isalpha, text)) and any(map(str.isdigit, text)))


@lru_cache(maxsize=4096)
def _is_identity_key(key: str) -> bool:
    return _IDENTITY_KEY.search(key.casefold()) is not None


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


@lru_cache(maxsize=65536)
def _fact_of(text: str) -> str:
    """The text of a field as a fact: its number where it is one, else itself."""
    if not text.lstrip("+-$€£.,")[:1].isdigit():
        return text
    number = number_value(text)
    return number if is_number(number) else text


@lru_cache(maxsize=1 << 14)
def _place(text: str, fact: str) -> int:
    if not is_number(fact):
        return text.find(fact.casefold())
    return next((match.start() for match in re.finditer(r"[\d][\d.,]*", text) if fact in numbers_in(match.group())), 0)
