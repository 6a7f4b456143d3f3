"""A text read as records and sentences, to find which fields of a result it keeps. `layouts` finds
the values in the text, `records` makes records of them, and all else is read as sentences.
`kept_fields` compares them with the fields of a result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, NamedTuple

from ..model import grouped, nested
from .decode import QUOTED_KEY, decode_strings, decoded
from .facts import anchor, words_of
from .keys import plain_key
from .layouts import values_of, without_containers
from .numbers import is_number, numbers_in
from .outline import KeysWithin
from .records import Pair, Record, container_keys, records_of

STEM_CHARS = 5
_LINE_CHARS = 400
_SHORT_CHARS = 200  # a value of a record, whose words many fields ask for, so they are cached
_SENTENCES = re.compile(r"(?<=[.;!?])\s+(?=\S)")
_TOKEN = re.compile(r"\w+")
_KEYED = re.compile(rf"\{{(?={QUOTED_KEY})")


class Line(NamedTuple):
    """A sentence of a text, the heading above it in small letters, and the word stems of both."""

    text: str
    heading: str
    stems: frozenset[str]


class TextRecord(NamedTuple):
    """A record in a text: its keys and values, and the values in small letters. `ancestor_values`
    are those of its ancestors, with the keys that lead to them and to the record itself; `values`
    has its own too. `name` is the key that leads to it, "" for none."""

    pairs: tuple[Pair, ...]
    ancestor_values: frozenset[str]
    values: frozenset[str]
    name: str = ""


class TextReading:
    """The records in the data, tables and outlines of a text, and its other sentences. `names` are
    the keys of the result, by which headers of tables are recognised, `keys_within` those in the
    mappings under each key. Linear in the text."""

    def __init__(self, text: str, names: Iterable[str], keys_within: KeysWithin = None) -> None:
        self._keys = frozenset(names)
        values, rest = values_of(text, self._keys, keys_within)
        values = [decode_strings(value) for value in values]
        for string in [string for value in values for string in _strings_with_data(value)]:
            inner, inner_rest = values_of(string, self._keys, keys_within)
            values += map(decode_strings, inner)
            rest += f"\n{inner_rest}" if inner else ""
        self.containers = frozenset(
            plain_key(key) for value in values for key in container_keys(value)
        )
        """The keys that lead to mappings and lists."""

        self._outside_values = without_containers(rest)[1]
        by_value = [self._text_records([*records_of(value)]) for value in values]
        self.records = tuple(chain.from_iterable(by_value))
        """The records of the text, in order."""

        self.names = {record.name.casefold() for record in self.records}
        """The keys that lead to the records, in small letters."""

        self.rest = decoded(rest)
        """The text outside data, tables and outlines."""

    def _text_records(self, records: Sequence[Record]) -> Iterator[TextRecord]:
        """Yield the records of one value with the values of their ancestors."""
        for record in records:
            outer_texts = [record.name]
            for ancestor in map(records.__getitem__, record.ancestors):
                outer_texts += [*ancestor.texts, ancestor.name]
            ancestor_values = frozenset(map(str.casefold, filter(None, outer_texts)))
            values = ancestor_values.union(map(str.casefold, record.texts))
            pairs = ((self._known_key(key, record.name), text) for key, text in record.pairs)
            yield TextRecord(tuple(pairs), ancestor_values, values, record.name)

    def _known_key(self, path: str, name: str) -> str:
        """The last part of a dotted path if it is a key of the result, else the path. Below the name
        of an element, JSON made of XML has its text and its attributes."""
        last, full = path.rpartition(".")[2], f"{name}.{path.removeprefix('@')}"
        if path == "#text" or full in self._keys:
            return name if path == "#text" else full
        return last if last in self._keys and path not in self._keys else path

    def has_container(self, key: str) -> bool:
        """True if the text has a mapping or list under a key."""
        return plain_key(key) in self.containers

    @cached_property
    def outside_data(self) -> str:
        """`rest` without the containers inside its sentences."""
        return decoded(self._outside_values)

    @cached_property
    def numbers_by_key(self) -> dict[str, list[int]]:
        """The numbers of the records with a key, by the key."""
        return grouped(
            (plain_key(key), number)
            for number, record in enumerate(self.records)
            for key, _ in record.pairs
        )

    @cached_property
    def _numbers_by_key_and_word(self) -> dict[tuple[str, str], list[int]]:
        """The numbers of the records by a key and a word or number in its value."""
        return grouped(
            ((plain_key(key), word), number)
            for number, record in enumerate(self.records)
            for key, text in record.pairs
            for word in words_in(text)
        )

    @cached_property
    def lines(self) -> dict[str, list[Line]]:
        """The sentences by each word and number in them."""
        lines = _sentences(self.rest)
        return grouped((word, line) for line in lines for word in words_in(line.text))

    def records_with(self, key: str, fact: str) -> frozenset[int]:
        """The numbers of the records with a fact under a key."""
        key = plain_key(key)
        return frozenset(
            number
            for number in self._numbers_by_key_and_word.get((key, index_word(fact)), ())
            if any(
                plain_key(own_key) == key and has_fact(text, fact)
                for own_key, text in self.records[number].pairs
            )
        )

    def lines_with(self, fact: str) -> list[Line]:
        """The sentences with a fact."""
        return [line for line in self.lines.get(index_word(fact), ()) if has_fact(line.text, fact)]


def has_fact(text: str, fact: str) -> bool:
    """True if a text has a fact: a number by value, or words in any case."""
    if is_number(fact):
        return fact in (_numbers_of(text) if len(text) <= _SHORT_CHARS else numbers_in(text))
    return fact in text or (" " in fact and fact.casefold() in " ".join(text.casefold().split()))


_ODD_NUMBER = re.compile(r"[\d.][eE][-+]?\d|(?![0-9])\d")


def has_odd_number(text: str) -> bool:
    """True if a text may have a number with an exponent, or with digits other than 0 to 9, which a
    search for `required_part` would not find."""
    return _ODD_NUMBER.search(text) is not None


def required_part(word: str) -> str:
    """The part of a word or number that every spelling of it contains, in small letters: the last
    three digits of 1234567, since a text may write 1,234,567.

    >>> [required_part(word) for word in ("w104", "1250.5", "0.25", "1234567", "1e-9")]
    ['w104', '5', '25', '567', '']
    """
    if not is_number(word):
        return word
    if "e" in word:
        return ""
    integer, _, decimals = word.partition(".")
    return decimals or integer[-3:]


@lru_cache(maxsize=65536)
def _numbers_of(text: str) -> frozenset[str]:
    return frozenset(numbers_in(text))


def _strings_with_data(value: Any) -> Iterator[str]:
    """Yield the strings in a value that contain data, perhaps truncated at either end."""
    for item in nested(value):
        if isinstance(item, str) and (item.lstrip()[:1] in ("{", "[") or _KEYED.search(item)):
            yield item


def _sentences(plain: str) -> Iterator[Line]:
    """Yield the sentences of a text. A heading ends with a colon or begins with `#`."""
    heading = ""
    for line in plain.split("\n"):
        if not line.strip():
            continue
        for start in range(0, len(line), _LINE_CHARS):
            for sentence in _SENTENCES.split(line[start : start + _LINE_CHARS]):
                stems = frozenset(
                    word.casefold()[:STEM_CHARS]
                    for word in _TOKEN.findall(f"{heading} {sentence}")
                    if not word.isdigit()
                )
                yield Line(sentence, heading.casefold(), stems)
        if line.rstrip().endswith(":") or line.lstrip().startswith("#"):
            heading = line[:_LINE_CHARS]


@lru_cache(maxsize=65536)
def index_word(fact: str) -> str:
    """The word or number under which an index has a fact: of several words the longest."""
    if fact.isidentifier():
        return fact.casefold()
    return fact if is_number(fact) else anchor(fact).casefold()


def words_in(text: str) -> frozenset[str]:
    """The words of a text in small letters, and its numbers."""
    return _words_in(text) if len(text) <= _SHORT_CHARS else _words_in.__wrapped__(text)


@lru_cache(maxsize=65536)
def _words_in(text: str) -> frozenset[str]:
    return frozenset({*map(str.casefold, words_of(text)), *numbers_in(text)})
