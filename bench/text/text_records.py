"""A text as somebody reads it: the records of its data and tables, and its sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from ..model import as_text
from .decode import decode_strings, decoded
from .facts import is_number, numbers_in, words_of
from .reading import values_of

_STEM_CHARS = 5
_LINE_CHARS = 400
_SHORT_CHARS = 200  # the values of records: each is asked about by many fields
_SENTENCES = re.compile(r"(?<=[.;!?])\s+(?=\S)")
_TOKEN = re.compile(r"\w+")

Pair = tuple[str, str]
"""A key and the text of its value."""


class Line(NamedTuple):
    """One sentence of a text: itself, the heading above it in small letters, and the stems of both."""

    text: str
    heading: str
    stems: frozenset[str]


class TextRecord(NamedTuple):
    """One record as a text shows it: its keys and values, and the values in small letters.

    `around` has those of the records around it, `values` its own as well.
    """

    pairs: tuple[Pair, ...]
    around: frozenset[str]
    values: frozenset[str]


class TextReading:
    """A text as somebody reads it: the records of its data and tables, and its sentences.

    `names` are the keys by which the header of a table is recognised. Linear in the text.
    """

    def __init__(self, text: str, names: Iterable[str]) -> None:
        records: list[TextRecord] = []
        values, rest = values_of(text, names)
        values = [decode_strings(value) for value in values]
        self.containers = tuple(keys for value in values for keys in container_keys(value))
        """The keys of each mapping that holds others, and those of them that lead to these."""

        for value in values:
            found = list(records_of(value))
            for pairs, around in found:
                near = frozenset(text.casefold() for outer in around for _, text in found[outer][0])
                own = near.union(text.casefold() for _, text in pairs)
                records.append(TextRecord(tuple(pairs), near, own))
        self.records = tuple(records)
        """The records of its data and tables, in order."""

        self._rest = decoded(rest)

    @cached_property
    def _records(self) -> dict[str, list[TextRecord]]:
        return by_word((" ".join(text for _, text in item.pairs), item) for item in self.records)

    @cached_property
    def _lines(self) -> dict[str, list[Line]]:
        return by_word((line.text, line) for line in _sentences(self._rest))

    def records_with(self, fact: str) -> Iterator[TextRecord]:
        """Yield the records of the text that say a fact."""
        return (
            item for item in self._records.get(word_of(fact), ()) if any(says(text, fact) for _, text in item.pairs)
        )

    def lines_with(self, fact: str) -> Iterator[Line]:
        """Yield the sentences of the text that say a fact."""
        return (line for line in self._lines.get(word_of(fact), ()) if says(line.text, fact))


def says(text: str, fact: str) -> bool:
    """True if a text says a fact: that number by value, or those words whatever their case."""
    if is_number(fact):
        return fact in (_numbers_of(text) if len(text) <= _SHORT_CHARS else numbers_in(text))
    return fact in text or (" " in fact and fact.casefold() in " ".join(text.casefold().split()))


@lru_cache(maxsize=65536)
def _numbers_of(text: str) -> frozenset[str]:
    return frozenset(numbers_in(text))


def records_of(node: Any) -> Iterator[tuple[list[Pair], tuple[int, ...]]]:
    """Yield every mapping of a value as its scalars by key, with the numbers of the mappings around it."""
    waiting: list[tuple[Any, str, tuple[int, ...]]] = [(node, "", ())]
    number = 0
    while waiting:
        value, name, around = waiting.pop()
        items = list(value.items()) if isinstance(value, Mapping) else [(name, item) for item in _listed(value)]
        own: list[Pair] = []
        inner: list[tuple[Any, str, tuple[int, ...]]] = []
        within = (*around, number) if isinstance(value, Mapping) else around
        for key, item in items:
            if isinstance(item, Mapping | list | tuple):
                inner.append((item, str(key), within))
            else:
                own.append((str(key), as_text(item)))
        if own or isinstance(value, Mapping):
            yield own, around
            number += 1
        else:
            inner = [(item, key, around) for item, key, _ in inner]
        waiting.extend(reversed(inner))


def container_keys(node: Any) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the keys of each mapping, and those of them that lead to mappings or lists, where it has any."""
    waiting = [node]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            inner = [
                str(key).removesuffix("[]") for key, item in value.items() if isinstance(item, Mapping | list | tuple)
            ]
            if any(inner):
                yield [str(key).removesuffix("[]") for key in value], inner
        waiting.extend(value.values() if isinstance(value, Mapping) else _listed(value))


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _sentences(plain: str) -> Iterator[Line]:
    heading = ""
    for line in plain.split("\n"):
        if not line.strip():
            continue
        for chunk in [line[at : at + _LINE_CHARS] for at in range(0, len(line), _LINE_CHARS)]:
            for sentence in _SENTENCES.split(chunk):
                stems = frozenset(
                    w.casefold()[:_STEM_CHARS] for w in _TOKEN.findall(f"{heading} {sentence}") if not w.isdigit()
                )
                yield Line(sentence, heading.casefold(), stems)
        if line.rstrip().endswith(":") or line.lstrip().startswith("#"):
            heading = line[:_LINE_CHARS]


def word_of(fact: str) -> str:
    return fact if is_number(fact) else max(words_of(fact), key=len, default=fact).casefold()


def by_word(items: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    """Things by each word and number of their texts."""
    found: dict[str, list[Any]] = {}
    for text, item in items:
        for word in {*map(str.casefold, words_of(text)), *numbers_in(text)}:
            found.setdefault(word, []).append(item)
    return found
