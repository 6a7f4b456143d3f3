"""Fields: the scalars of a structured value, in records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

from ..model import grouped, memo
from .columnar import columns_as_records
from .decode import decode_strings
from .field_list import Field, Fields, Numbers, identifies, listed, numbers_by_text
from .keyless_rows import KeylessRows
from .keys import plain_key
from .numbers import is_number, numbers_in
from .quantities import plain_value
from .records import Pair, container_keys, records_of
from .text_records import has_fact, has_odd_number, index_word, required_part, words_in

_LARGE, _FEW_QUESTIONS = 50_000, 30
"""Of so many fields, so many facts are looked for in each one; who asks more often is worth an
index of all words.
"""


class FieldTable:
    """The fields of one structured value; any other value has none.

    >>> table = FieldTable({"id": "W123", "status": "sent", "price": 412.75})
    >>> table.key_of("412.75"), table.key_of("W123"), table.key_of("absent")
    ('price', 'id', '')
    """

    def __init__(self, value: Any) -> None:
        value = columns_as_records(decode_strings(value))
        self._records = list(records_of(value))
        self.containers = frozenset(map(plain_key, container_keys(value)))
        self.names = frozenset().union(*{record.keys for record in self._records}) - {""}
        """Every key that has a scalar."""

        self.fields = Fields(self._records)
        """Every field that has a value, in order."""

        self.prose = self.fields.prose
        """The values that are texts and no fields."""

        self._asked = 0

    @cached_property
    def keyless_rows(self) -> KeylessRows:
        """Its records, to find the lines of a text that write them."""
        return KeylessRows(self._records, self.fields, self.containers)

    @cached_property
    def _shared_pairs(self) -> set[Pair]:
        """The keys and values that several records have."""
        counts = Counter(chain.from_iterable({*record.pairs} for record in self._records))
        return {pair for pair, count in counts.items() if count > 1}

    @memo
    def _own_identity(self, number: int) -> set[str]:
        """The values that identify a record, without those of the records around it and without
        names of keys.
        """
        shared, record = self._shared_pairs, self._records[number]
        identifying = [pair for pair in record.pairs if identifies(pair, alone=pair not in shared)]
        texts = {text.casefold() for _, text in identifying} - self._plain_keys
        return texts | {record.name.casefold()} if number in self._rows_by_key else texts

    @cached_property
    def _rows_by_key(self) -> frozenset[int]:
        """The numbers of the records in mappings of rows, each under a key that leads to no other
        record."""
        counts = Counter(record.name for record in self._records)
        alike = grouped(
            ((record.ancestors, record.keys), number)
            for number, record in enumerate(self._records)
            if counts[record.name] == 1
        )
        return frozenset(number for rows in alike.values() if len(rows) > 1 for number in rows)

    def rows(self, kept: Collection[int]) -> tuple[list[int], list[int]]:
        """The numbers of the rows (records with the keys of another one beside them) that have one of
        some fields, and of those that have none, without those inside such rows.

        >>> FieldTable([{"a": 1, "b": 2}, {"a": 3, "b": 4}, {"c": 5}]).rows({0})
        ([0], [1])
        """
        alike = Counter((record.ancestors, record.keys) for record in self._records)
        with_field = {self.fields[number].record for number in kept}
        shown, missing = list[int](), set[int]()
        for number, record in enumerate(self._records):
            if record.keys and alike[record.ancestors, record.keys] > 1:
                if number in with_field:
                    shown.append(number)
                elif missing.isdisjoint(record.ancestors):
                    missing.add(number)
        return shown, sorted(missing)

    def row_key(self, record: int) -> str:
        """The key of the row in a mapping of rows that a record is, or is inside; "" outside of
        one.
        """
        numbers = record, *reversed(self._records[record].ancestors)
        rows = (number for number in numbers if number in self._rows_by_key)
        return next((self._records[number].name for number in rows), "")

    @memo
    def identity(self, record: int) -> set[str]:
        """The values that identify a record, with those of the records around it, in small letters."""
        around = self._records[record].ancestors
        return self._own_identity(record).union(*map(self._own_identity, around))

    @cached_property
    def records_of_identity(self) -> Numbers:
        """For each identity the numbers of the records that it identifies, and of the records
        inside these.
        """
        outer = {*chain.from_iterable({record.ancestors for record in self._records})}
        of_outer = {number: self._own_identity(number) for number in outer}
        return numbers_by_text(
            (identity, number)
            for number, record in enumerate(self._records)
            for identity in self._own_identity(number).union(
                *map(of_outer.__getitem__, record.ancestors)
            )
        )

    @cached_property
    def _by_word(self) -> Numbers:
        """The numbers of the fields by the words and numbers in them."""
        return numbers_by_text(
            (word, number) for _, text, number in self.fields.pairs() for word in words_in(text)
        )

    def fields_with(self, fact: str) -> list[Field]:
        """The fields with a fact, in order."""
        word, is_large = index_word(fact), len(self.fields) > _LARGE
        self._asked += is_large
        if not is_large or self._asked > _FEW_QUESTIONS:
            fields = map(self.fields.__getitem__, listed(self._by_word.get(word)))
            return [item for item in fields if has_fact(item.text, fact)]
        part = required_part(word)
        texts = {
            text for record in self._records for text in record.texts if part in text.casefold()
        }
        saying = {
            text
            for text in texts | self._odd_numbers
            if word in words_in(text) and has_fact(text, fact)
        }
        records = (
            at for at, record in enumerate(self._records) if not saying.isdisjoint(record.texts)
        )
        return [item for at in records for item in self.fields.of_record(at) if item.text in saying]

    @cached_property
    def _odd_numbers(self) -> set[str]:
        """The texts with a number in an unusual spelling."""
        return {text for record in self._records for text in record.texts if has_odd_number(text)}

    @memo
    def key_of(self, fact: str) -> str:
        """The key of the first field with a fact; `""` if the fact is in prose, in a key, or
        missing.
        """
        if fact in self.names or self._is_in_prose(fact):
            return ""
        fields = self.fields_with(fact)
        return fields[0].key if fields else ""

    def _is_in_prose(self, fact: str) -> bool:
        if is_number(fact):
            return fact in self._prose_numbers
        return any(has_fact(text, fact) for text in self.prose)

    @cached_property
    def _prose_numbers(self) -> frozenset[str]:
        return frozenset().union(*map(numbers_in, self.prose))

    def pairs(self, record: int) -> list[Pair]:
        """The keys and values of a record and of the records around it."""
        around = self._records[record].ancestors
        return [pair for number in (record, *around) for pair in self._records[number].pairs]

    def texts_of(self, record: int) -> tuple[str, ...]:
        """The values of a record, without the records around it."""
        return self._records[record].texts

    def is_shared(self, field: Field) -> bool:
        """True if another record has the same value under the same key, so that the value does not
        identify its record.
        """
        return (field.key, field.text) in self._shared_pairs and bool(self._is_named[field.record])

    def is_nameless(self, field: Field) -> bool:
        """True if a field has no other value in its record that identifies the record, among all of
        them."""
        text = field.text.casefold()
        if text in self.records_of_identity:
            return self.identity(field.record) - self._of_all <= {text}
        return not self._is_named[field.record]

    @cached_property
    def _of_all(self) -> frozenset[str]:
        """The identities of a record with all others inside it."""
        named, most = self.records_of_identity, len(self._records)
        return frozenset(text for text, of in named.items() if len(listed(of)) == most)

    @cached_property
    def _is_named(self) -> bytearray:
        """For each record 1 if some value identifies it, else 0."""
        named = bytearray(len(self._records))
        for number in chain.from_iterable(map(listed, self.records_of_identity.values())):
            named[number] = 1
        return named

    def has_key(self, key: str) -> bool:
        """True if the value has a scalar under a key, ignoring case."""
        return plain_key(key) in self._plain_keys

    def records_named(self, identity: str) -> list[int]:
        """The numbers of the records that an identity identifies."""
        return listed(self.records_of_identity.get(identity))

    def is_meant(self, field: Field, identities: frozenset[str]) -> bool:
        """False for a field of a record that none of some identities names, but perhaps those of the
        records around it, if they name a record with its key, another one beside its record, or one
        beside the row that it is inside.

        >>> rows = [{"sku": "A-1", "tags": ["new"]}, {"sku": "A-2", "tags": ["new"]}]
        >>> table = FieldTable({"id": "W9", "items": rows, "total": 27})
        >>> [table.is_meant(item, frozenset({"w9", "a-1"})) for item in table.fields_with("new")]
        [True, False]
        >>> table.is_meant(table.fields_with("27")[0], frozenset({"a-2"}))
        True
        """
        for number in (field.record, *reversed(self._records[field.record].ancestors)):
            own, around = self._own_identity(number), self._records[number].ancestors
            if not own.isdisjoint(identities):
                return True
            others = identities.difference(*map(self._own_identity, around)) if own else ()
            named = (self._records[at] for item in others for at in self.records_named(item))
            keys = {*self._records[number].keys}
            if any(
                field.key in other.keys
                or (other.ancestors == around and not keys.isdisjoint(other.keys))
                for other in named
            ):
                return False
        return True

    def has_container(self, key: str) -> bool:
        """True if the value has a mapping or list under a key."""
        return plain_key(key) in self.containers

    def is_below(self, record: int, key: str) -> bool:
        """True if a key leads to a record, or to one around it; also if it leads to none.

        >>> table = FieldTable({"water": {"max": 5}, "power": {"max": 9}})
        >>> [table.is_below(record, "water") for record in (1, 2)], table.is_below(2, "all")
        ([True, False], True)
        """
        numbers = (record, *self._records[record].ancestors)
        names = {plain_key(self._records[number].name) for number in numbers}
        return plain_key(key) in names or not self.has_container(key)

    def values(self, records: Sequence[int], key: str) -> dict[str, None]:
        """The distinct values under a key in some records, or in records around them, in order."""
        key = plain_key(key)
        pairs = chain.from_iterable(map(self.pairs, records))
        return {text: None for name, text in pairs if plain_key(name) == key}

    def is_value(self, text: str) -> bool:
        """True if a text is the value of a field and not a common word."""
        return text.casefold() in self._values

    def best_records(self, pairs: Collection[Pair], around: frozenset[str]) -> list[int]:
        """The numbers of the records that agree with most of some pairs. If the pairs identify
        records, only these count: those that most of the values `around` name, then those with
        most of the identities.

        >>> rows = [{"sku": "A-1", "qty": 12}, {"sku": "A-2", "qty": 15}]
        >>> table = FieldTable({"id": "W9", "items": rows})
        >>> table.best_records([("sku", "A-1"), ("qty", "15")], frozenset({"w9"}))
        [1]
        """
        distinct = {(plain_key(key), plain_value(text)): text.casefold() for key, text in pairs}
        texts = around.union(distinct.values())
        identities = texts & self.records_of_identity.keys()
        named = {number for item in identities for number in self.records_named(item)}
        keys = {key for key, _ in distinct}
        within = Counter(
            number
            for item in identities & around
            for number in self.records_named(item)
            if not any(
                text.casefold() == item and key in keys and (key, plain_value(text)) not in distinct
                for key, text in self._plain_pairs(number)
            )  # the pairs name another one
        )
        itself = Counter(
            number
            for pair, text in distinct.items()
            if text in identities
            for number in self._records_of_pair.get(pair, ())
        )
        most_named = max(((within[number], itself[number]) for number in named), default=None)
        named = {number for number in named if (within[number], itself[number]) == most_named}
        agreeing = Counter(
            {number: len(distinct.keys() & self._pairs_compared(number)) for number in named}
        )
        for pair in distinct if not named else ():
            agreeing.update(self._records_of_pair.get(pair, ()))
        most = max(agreeing.values(), default=0)
        if most < len(distinct) and not within:
            having = [{*self._records_of_pair.get(pair, ())} for pair in distinct]
            if have_all := set.intersection(*having):
                return sorted(have_all)
        return sorted(number for number, count in agreeing.items() if count == most)

    @cached_property
    def _plain_keys(self) -> frozenset[str]:
        """Every key in the form for comparison, including the empty one."""
        sets_of_keys = {record.keys for record in self._records}
        return frozenset(map(plain_key, chain.from_iterable(sets_of_keys)))

    @cached_property
    def _values(self) -> frozenset[str]:
        return frozenset(text.casefold() for _, text, _ in self.fields.pairs())

    def _plain_pairs(self, number: int) -> Iterator[Pair]:
        return ((plain_key(key), text) for key, text in self._records[number].pairs)

    def _pairs_compared(self, number: int) -> frozenset[Pair]:
        """The keys and values of a record in the form for comparison."""
        return frozenset((key, plain_value(text)) for key, text in self._plain_pairs(number))

    @cached_property
    def _records_of_pair(self) -> dict[Pair, list[int]]:
        numbers = range(len(self._records))
        return grouped(
            (pair, number) for number in numbers for pair in self._pairs_compared(number)
        )
