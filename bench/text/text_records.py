"""The records in the data and tables of a text, and its sentences."""

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
from .numbers import is_number, numbers_in
from .reading import values_of, without_containers
from .records import Pair, Record, container_keys, records_of

STEM_CHARS = 5
_LINE_CHARS = 400
_SHORT_CHARS = 200  # the values of records: each is asked about by many fields
_SENTENCES = re.compile(r"(?<=[.;!?])\s+(?=\S)")
_TOKEN = re.compile(r"\w+")
_KEYED = re.compile(rf"\{{(?={QUOTED_KEY})")


class Line(NamedTuple):
    """One sentence of a text, with the heading above it in small letters, and the stems of both."""

    text: str
    heading: str
    stems: frozenset[str]


class TextRecord(NamedTuple):
    """One record in a text: its keys and values, and the values in small letters.

    `around` are the values of the records around it, `values` includes its own. `name` is the key
    that leads to it in data, "" elsewhere.
    """

    pairs: tuple[Pair, ...]
    around: frozenset[str]
    values: frozenset[str]
    name: str = ""


class TextReading:
    """The records in the data and tables of a text, and its sentences.

    `names` are the keys by which the header of a table is recognised. Linear in the text.
    """

    def __init__(self, text: str, names: Iterable[str]) -> None:
        self._keys = frozenset(names)
        values, rest = values_of(text, self._keys)
        values = [decode_strings(value) for value in values]
        for begun in [item for value in values for item in _begun_in(value)]:
            inner, more = values_of(begun, self._keys)
            values += map(decode_strings, inner)
            rest += f"\n{more}" if inner else ""
        self.containers = frozenset(
            plain_key(key) for value in values for key in container_keys(value)
        )
        """The keys that lead to mappings and lists."""

        self._outside_values = without_containers(rest)[1]
        in_data = [self._read(records) for value in values if (records := [*records_of(value)])]
        self.records = tuple(chain.from_iterable(in_data))
        """The records in its data, tables and lines with keys, in order."""

        self.names = {record.name.casefold() for record in self.records}
        """The keys that lead to its records, in small letters."""

        self.rest = decoded(rest)
        """The text outside data and tables."""

    def _read(self, records: Sequence[Record]) -> tuple[TextRecord, ...]:
        """Records with the values in and around each."""
        read: list[TextRecord] = []
        for record in records:
            names_and_texts = [record.name]
            for outer in map(records.__getitem__, record.around):
                names_and_texts += [*outer.texts, outer.name]
            near = frozenset(map(str.casefold, filter(None, names_and_texts)))
            own = near.union(map(str.casefold, record.texts))
            pairs = ((self._key(key), text) for key, text in record.pairs)
            read.append(TextRecord(tuple(pairs), near, own, record.name))
        return tuple(read)

    def _key(self, path: str) -> str:
        """The last part of a path, if that is a known key; the path otherwise."""
        last = path.rpartition(".")[2]
        return last if last in self._keys else path

    def has_container(self, key: str) -> bool:
        """True if the text has a mapping or list under a key."""
        return plain_key(key) in self.containers

    @cached_property
    def outside_data(self) -> str:
        """The text outside data, tables and the values in it."""
        return decoded(self._outside_values)

    @cached_property
    def numbers_by_key(self) -> dict[str, list[int]]:
        """The numbers of the records that have a key."""
        return grouped(
            (plain_key(key), number)
            for number, record in enumerate(self.records)
            for key, _ in record.pairs
        )

    @cached_property
    def _records(self) -> dict[tuple[str, str], list[int]]:
        """The numbers of the records by key and by each word and number under it."""
        return grouped(
            ((plain_key(key), word), number)
            for number, record in enumerate(self.records)
            for key, text in record.pairs
            for word in words_in(text)
        )

    @cached_property
    def lines(self) -> dict[str, list[Line]]:
        """Its sentences by each word and number in them."""
        lines = _sentences(self.rest)
        return grouped((word, line) for line in lines for word in words_in(line.text))

    def records_saying(self, key: str, fact: str) -> frozenset[int]:
        """The numbers of the records with a fact under a key."""
        key = plain_key(key)
        return frozenset(
            number
            for number in self._records.get((key, word_of(fact)), ())
            if any(
                plain_key(own) == key and says(text, fact)
                for own, text in self.records[number].pairs
            )
        )

    def lines_with(self, fact: str) -> list[Line]:
        """The sentences with a fact."""
        return [line for line in self.lines.get(word_of(fact), ()) if says(line.text, fact)]


def says(text: str, fact: str) -> bool:
    """True if a text has a fact: a number by value, or words in any case."""
    if is_number(fact):
        return fact in (_numbers_of(text) if len(text) <= _SHORT_CHARS else numbers_in(text))
    return fact in text or (" " in fact and fact.casefold() in " ".join(text.casefold().split()))


_ODD_NUMBER = re.compile(r"[\d.][eE][-+]?\d|(?![0-9])\d")


def has_odd_number(text: str) -> bool:
    """True if a text may have a number with an exponent, or with digits other than 0 to 9."""
    return _ODD_NUMBER.search(text) is not None


def sure_part(word: str) -> str:
    """The part of a word or number that every text with it has, in small letters, unless the text
    has odd numbers.

    >>> [sure_part(word) for word in ("w104", "1250.5", "0.25", "1234567", "1e-9")]
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


def _begun_in(node: Any) -> Iterator[str]:
    """Yield the strings in a value with data of which the beginning or the end may be missing."""
    for item in nested(node):
        if isinstance(item, str) and (item.lstrip()[:1] in ("{", "[") or _KEYED.search(item)):
            yield item


def _sentences(plain: str) -> Iterator[Line]:
    """Yield the sentences of a text, each with the heading above it and with its word stems."""
    heading = ""
    for line in plain.split("\n"):
        if not line.strip():
            continue
        for chunk in [line[at : at + _LINE_CHARS] for at in range(0, len(line), _LINE_CHARS)]:
            for sentence in _SENTENCES.split(chunk):
                stems = frozenset(
                    w.casefold()[:STEM_CHARS]
                    for w in _TOKEN.findall(f"{heading} {sentence}")
                    if not w.isdigit()
                )
                yield Line(sentence, heading.casefold(), stems)
        if line.rstrip().endswith(":") or line.lstrip().startswith("#"):
            heading = line[:_LINE_CHARS]


@lru_cache(maxsize=65536)
def word_of(fact: str) -> str:
    """The word or number under which a fact is indexed."""
    if fact.isidentifier():
        return fact.casefold()
    return fact if is_number(fact) else anchor(fact).casefold()


def words_in(text: str) -> frozenset[str]:
    """The words and numbers of a text."""
    return _words_in(text) if len(text) <= _SHORT_CHARS else _words_in.__wrapped__(text)


@lru_cache(maxsize=65536)
def _words_in(text: str) -> frozenset[str]:
    return frozenset({*map(str.casefold, words_of(text)), *numbers_in(text)})
