"""The fields of a structured value, as a table that answers which record a value belongs to.
`FieldTable` reads a result once. `kept_fields` and the checks ask it for the fields with a fact,
the values that identify a record, and the record that another text shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any

from ..model import grouped, memo
from .columnar import columns_as_records
from .decode import decode_strings
from .field_list import Field, Fields, Numbers, identifies, listed, numbers_by_text
from .keys import plain_key
from .numbers import is_number, numbers_in
from .quantities import plain_value
from .records import (
    Pair,
    container_keys,
    keyed_rows,
    keys_within,
    nested_records,
    records_of,
    values_under,
)
from .text_records import has_fact, has_odd_number, index_word, required_part, words_in

_LARGE, _FEW_QUESTIONS = 50_000, 30
"""In a value with more fields than this, the first questions for facts read all fields; an index of
all words is only built for more questions."""


class FieldTable:
    """The fields of one structured value; any other value has none.

    An identity is a value that identifies its record, such as an id (`field_list.identifies`).

    >>> table = FieldTable({"id": "W123", "status": "sent", "price": 412.75})
    >>> table.key_of("412.75"), table.key_of("W123"), table.key_of("absent")
    ('price', 'id', '')
    """

    def __init__(self, value: Any) -> None:
        value = columns_as_records(decode_strings(value))
        self._records = list(records_of(value))
        self.containers = frozenset(map(plain_key, container_keys(value)))
        self.names = frozenset().union(*{record.keys for record in self._records}) - {""}
        """The keys of scalars."""

        self.fields = Fields(self._records)
        """The fields that are not empty, in order."""

        self._asked = 0

    @cached_property
    def keys_within(self) -> dict[str, set[str]]:
        """The keys under each key of a mapping or list."""
        return keys_within(self._records, self._keyed_rows)

    @cached_property
    def _shared_pairs(self) -> set[Pair]:
        """The pairs of key and value that several records have."""
        counts = Counter(chain.from_iterable({*record.pairs} for record in self._records))
        return {pair for pair, count in counts.items() if count > 1}

    @memo
    def _own_identity(self, number: int) -> set[str]:
        """The values of a record that identify it, and the key of a keyed row, in small letters."""
        shared, record = self._shared_pairs, self._records[number]
        identifying = [pair for pair in record.pairs if identifies(pair, alone=pair not in shared)]
        texts = {text.casefold() for _, text in identifying} - self._plain_keys
        return texts | {record.name.casefold()} if number in self._keyed_rows else texts

    @cached_property
    def _keyed_rows(self) -> frozenset[int]:
        return keyed_rows(self._records)

    def rows(self, kept: Collection[int]) -> tuple[list[int], list[int]]:
        """The numbers of the rows with one of the `kept` fields, and of those without any.

        A row is a record with the same keys as a sibling. Rows nested in a missing row are not
        counted.

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
        """The key of the innermost keyed row that a record is, or is nested in; "" without one."""
        for number in (record, *reversed(self._records[record].ancestors)):
            if number in self._keyed_rows:
                return self._records[number].name
        return ""

    @memo
    def identity(self, record: int) -> set[str]:
        """The values that identify a record or one of its ancestors, in small letters."""
        ancestors = self._records[record].ancestors
        return self._own_identity(record).union(*map(self._own_identity, ancestors))

    @cached_property
    def records_of_identity(self) -> Numbers:
        """The numbers of the records that a value identifies, and of the records nested in these, by
        the value."""
        all_ancestors = {*chain.from_iterable({record.ancestors for record in self._records})}
        identities = {number: self._own_identity(number) for number in all_ancestors}
        return numbers_by_text(
            (identity, number)
            for number, record in enumerate(self._records)
            for identity in self._own_identity(number).union(
                *map(identities.__getitem__, record.ancestors)
            )
        )

    @cached_property
    def _by_word(self) -> Numbers:
        """The numbers of the fields by each word and number in them."""
        return numbers_by_text(
            (word, number) for _, text, number in self.fields.pairs() for word in words_in(text)
        )

    def fields_with(self, fact: str) -> list[Field]:
        """The fields with a fact, in order."""
        word, is_large = index_word(fact), len(self.fields) > _LARGE
        self._asked += is_large
        if is_large and self._asked <= _FEW_QUESTIONS:
            return self._read_fields_with(fact, word)
        fields = map(self.fields.__getitem__, listed(self._by_word.get(word)))
        return [field for field in fields if has_fact(field.text, fact)]

    def _read_fields_with(self, fact: str, word: str) -> list[Field]:
        """`fields_with` without the index."""
        part = required_part(word)
        texts = {
            text for record in self._records for text in record.texts if part in text.casefold()
        }
        with_fact = {
            text
            for text in texts | self._texts_with_odd_numbers
            if word in words_in(text) and has_fact(text, fact)
        }
        fields: list[Field] = []
        for number, record in enumerate(self._records):
            if not with_fact.isdisjoint(record.texts):
                of_record = self.fields.of_record(number)
                fields += (field for field in of_record if field.text in with_fact)
        return fields

    @cached_property
    def _texts_with_odd_numbers(self) -> set[str]:
        """The values with a number in a spelling that `required_part` does not find."""
        return {text for record in self._records for text in record.texts if has_odd_number(text)}

    @memo
    def key_of(self, fact: str) -> str:
        """The key of the first field with a fact; `""` if the fact is in prose, in a key, or
        missing."""
        if fact in self.names or self._is_in_prose(fact):
            return ""
        fields = self.fields_with(fact)
        return fields[0].key if fields else ""

    def _is_in_prose(self, fact: str) -> bool:
        if is_number(fact):
            return fact in self._prose_numbers
        return any(has_fact(text, fact) for text in self.fields.prose)

    @cached_property
    def _prose_numbers(self) -> frozenset[str]:
        return frozenset().union(*map(numbers_in, self.fields.prose))

    def pairs(self, record: int) -> list[Pair]:
        """The keys and values of a record and of its ancestors."""
        ancestors = self._records[record].ancestors
        return [pair for number in (record, *ancestors) for pair in self._records[number].pairs]

    def texts_of(self, record: int) -> tuple[str, ...]:
        """The values of a record, without those of its ancestors."""
        return self._records[record].texts

    def place(self, record: int) -> tuple[str, ...]:
        """The numbers of the list and of the record in it, in a list of lists; () elsewhere."""
        return tuple(map(str, self._records[record].place))

    def is_shared(self, field: Field) -> bool:
        """True if another record has the same value under the same key, and some value identifies the
        record of the field."""
        is_shared = (field.key, field.text) in self._shared_pairs
        return is_shared and bool(self._has_identity[field.record])

    def is_nameless(self, field: Field) -> bool:
        """True if no other value identifies the record of a field. A value that is in the ancestors of
        all records does not identify one."""
        text = field.text.casefold()
        if text in self.records_of_identity:
            return self.identity(field.record) - self._identities_of_all <= {text}
        return not self._has_identity[field.record]

    @cached_property
    def _identities_of_all(self) -> frozenset[str]:
        """The values that identify every record, since all are nested in theirs."""
        items, count = self.records_of_identity.items(), len(self._records)
        return frozenset(text for text, numbers in items if len(listed(numbers)) == count)

    @cached_property
    def _has_identity(self) -> bytearray:
        """For each record 1 if some value identifies it, else 0."""
        flags = bytearray(len(self._records))
        for number in chain.from_iterable(map(listed, self.records_of_identity.values())):
            flags[number] = 1
        return flags

    def has_key(self, key: str) -> bool:
        """True if the value has a scalar under a key, perhaps with the name of its record in front."""
        return plain_key(key) in self._plain_keys or plain_key(key) in self._full_keys

    def records_named(self, identity: str) -> list[int]:
        """The numbers of the records that a value identifies, and of those nested in them."""
        return listed(self.records_of_identity.get(identity))

    def may_belong(self, field: Field, identities: frozenset[str]) -> bool:
        """True unless the identities in a text name another record that the value would belong to.

        A text with "A-1" and "new" does not state the value "new" of A-2. Another record counts if
        it has the key of the field, or is a sibling of the record or of the row that this is in.

        >>> rows = [{"sku": "A-1", "tags": ["new"]}, {"sku": "A-2", "tags": ["new"]}]
        >>> table = FieldTable({"id": "W9", "items": rows, "total": 27})
        >>> [table.may_belong(field, frozenset({"w9", "a-1"})) for field in table.fields_with("new")]
        [True, False]
        >>> table.may_belong(table.fields_with("27")[0], frozenset({"a-2"}))
        True
        """
        for number in (field.record, *reversed(self._records[field.record].ancestors)):
            own_identity, ancestors = self._own_identity(number), self._records[number].ancestors
            if not own_identity.isdisjoint(identities):
                return True
            if not own_identity:
                continue
            keys = {*self._records[number].keys}
            for identity in identities.difference(*map(self._own_identity, ancestors)):
                for other in map(self._records.__getitem__, self.records_named(identity)):
                    is_sibling = other.ancestors == ancestors and not keys.isdisjoint(other.keys)
                    if is_sibling or field.key in other.keys:
                        return False
        return True

    def has_container(self, key: str) -> bool:
        """True if the value has a mapping or list under a key."""
        return plain_key(key) in self.containers

    def is_below(self, record: int, key: str) -> bool:
        """True if a record or one of its ancestors is under a key; also if no mapping or list is.

        >>> table = FieldTable({"water": {"max": 5}, "power": {"max": 9}})
        >>> [table.is_below(record, "water") for record in (1, 2)], table.is_below(2, "all")
        ([True, False], True)
        """
        return self.names_above(record, key) or not self.has_container(key)

    def names_above(self, record: int, key: str) -> bool:
        """True if a key leads to a record or to one of its ancestors."""
        numbers = (record, *self._records[record].ancestors)
        return plain_key(key) in {plain_key(self._records[number].name) for number in numbers}

    def values(self, record: int, key: str) -> dict[str, None]:
        """The distinct values under a key in a record and its ancestors, in order; else those in the
        one record nested in it, or around it if it is a list, that has the key and is in no list.

        >>> table = FieldTable([{"id": "W1", "size": {"mm": 9}}, {"id": "W2", "size": {"mm": 8}}])
        >>> [[*table.values(record, "mm")] for record in (0, 2)]
        [['9'], ['8']]
        """
        key, of_record = plain_key(key), self._records[record]
        found = values_under(key, [of_record, *map(self._records.__getitem__, of_record.ancestors)])
        is_list = {*of_record.keys} == {of_record.name}
        for outer in (record, *of_record.ancestors[-1:][:is_list]):
            if not found:
                nested = map(self._records.__getitem__, self._nested.get(outer, ()))
                several = [values for inner in nested if (values := values_under(key, [inner]))]
                found = several[0] if len(several) == 1 else found
        return found

    @cached_property
    def _nested(self) -> dict[int, list[int]]:
        return nested_records(self._records)

    def record_with(self, texts: Iterable[str]) -> int:
        """The number of the first record with some values, also in its ancestors; -1 without one."""
        values, numbers = {*map(str.casefold, texts)}, range(len(self._records))
        found = (it for it in numbers if values <= {text.casefold() for _, text in self.pairs(it)})
        return next(found, -1)

    def is_value(self, text: str) -> bool:
        """True if a text is the value of a field."""
        return text.casefold() in self._values

    def best_records(self, pairs: Collection[Pair], ancestor_values: frozenset[str]) -> list[int]:
        """The numbers of the records that have most of the pairs of a record in a text.

        If the text names records, only these count: first those that most of the values of the
        ancestors in the text identify, then those that most of the pairs do. If no ancestor names a
        record, the records that have all pairs win.

        >>> rows = [{"sku": "A-1", "qty": 12}, {"sku": "A-2", "qty": 15}]
        >>> table = FieldTable({"id": "W9", "items": rows})
        >>> table.best_records([("sku", "A-1"), ("qty", "15")], frozenset({"w9"}))
        [1]
        """
        distinct = {(plain_key(key), plain_value(text)): text.casefold() for key, text in pairs}
        identities = ancestor_values.union(distinct.values()) & self.records_of_identity.keys()
        by_ancestors = self._named_by_ancestors(identities & ancestor_values, distinct)
        by_pairs = Counter(
            number
            for pair, text in distinct.items()
            if text in identities
            for number in self._records_of_pair.get(pair, ())
        )
        named = {number for identity in identities for number in self.records_named(identity)}
        names = {number: (by_ancestors[number], by_pairs[number]) for number in named}
        most_names = max(names.values(), default=None)
        agreeing = Counter(
            {
                number: len(distinct.keys() & self._comparable_pairs(number))
                for number in named
                if names[number] == most_names
            }
        )
        if not named:
            for pair in distinct:
                agreeing.update(self._records_of_pair.get(pair, ()))
        most = max(agreeing.values(), default=0)
        if most < len(distinct) and not by_ancestors:
            with_pair = [{*self._records_of_pair.get(pair, ())} for pair in distinct]
            if with_all := set.intersection(*with_pair):
                return sorted(with_all)
        return sorted(number for number, count in agreeing.items() if count == most)

    def _named_by_ancestors(
        self, identities: frozenset[str], pairs: Collection[Pair]
    ) -> Counter[int]:
        """For each record by how many of some identities the ancestors in a text name it. An identity
        does not name a record that has it under a key where the `pairs` have another value."""
        keys = {key for key, _ in pairs}
        return Counter(
            number
            for identity in identities
            for number in self.records_named(identity)
            if not any(
                text.casefold() == identity
                and key in keys
                and (key, plain_value(text)) not in pairs
                for key, text in self._plain_pairs(number)
            )
        )

    @cached_property
    def _plain_keys(self) -> frozenset[str]:
        """The keys of scalars as `plain_key` spells them, including the empty one."""
        sets_of_keys = {record.keys for record in self._records}
        return frozenset(map(plain_key, chain.from_iterable(sets_of_keys)))

    @cached_property
    def _full_keys(self) -> frozenset[str]:
        """The keys of scalars with the names of their records in front, as `plain_key` spells them."""
        named = {(record.name, record.keys) for record in self._records if record.name}
        return frozenset(plain_key(f"{name} {key}") for name, keys in named for key in keys)

    @cached_property
    def _values(self) -> frozenset[str]:
        return frozenset(text.casefold() for _, text, _ in self.fields.pairs())

    def _plain_pairs(self, number: int) -> Iterator[Pair]:
        return ((plain_key(key), text) for key, text in self._records[number].pairs)

    def _comparable_pairs(self, number: int) -> frozenset[Pair]:
        """The keys and values of a record as `plain_key` and `plain_value` spell them."""
        return frozenset((key, plain_value(text)) for key, text in self._plain_pairs(number))

    @cached_property
    def _records_of_pair(self) -> dict[Pair, list[int]]:
        """The numbers of the records by each of their comparable pairs."""
        numbers = range(len(self._records))
        return grouped(
            (pair, number) for number in numbers for pair in self._comparable_pairs(number)
        )
