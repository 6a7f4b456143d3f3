"""The records of all structured results of a trace: what identifies each, and what it has under its keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from ..text.common_words import COMMON_WORDS
from ..text.facts import is_number, number_value, occurs
from ..text.fields import FieldTable
from ..text.quantities import same_value

_FEWEST_CHARS = 3
_WORD = re.compile(r"[\w#@$/-]*\w(?:[.,:]\w+)*")
_AMOUNT = re.compile(r"[-$€£]*\d[\d,]*(?:\.\d+)?")
_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=\S)")
_CLAUSE = re.compile(r"[,;]\s+|\s+(?:and|while|but)\s+")
_OMISSION_MARK = re.compile(r"\s*(?:…|\.{3})")
_MOST_RECORDS = 20
_FEWEST_DIGITS = 5
"""An identity that is a number has so many digits: a shorter one is a count or a price."""


class Contradiction(NamedTuple):
    """A value that a text states of a record, and one that the record has under the same key."""

    words: str
    stated: str
    own: str


class RecordValues:
    """The records of all structured results of a trace.

    >>> orders = [{"id": "W12", "status": "pending", "price": 20.5}, {"id": "W13", "status": "delivered", "price": 31.25}]
    >>> records = RecordValues([FieldTable(orders)])
    >>> [records.contradictions(text) for text in ("W12 is pending and W13 is delivered.", "W12 costs $20.50.")]
    [(), ()]
    >>> [(item.stated, item.own) for item in records.contradictions("W12 is delivered. W13 was sold for 20.50.")]
    [('delivered', 'pending'), ('20.5', '31.25')]
    """

    def __init__(self, tables: Iterable[FieldTable]) -> None:
        self._records: list[dict[str, set[str]]] = []
        self.by_identity: dict[str, list[int]] = {}
        self._keys: dict[str, set[str]] = {}
        self._naming: dict[str, bool] = {}
        self._contradictions: dict[str, tuple[Contradiction, ...]] = {}
        for table in tables:
            for number in range(table.record_count):
                identity = {text for text in table.identity(number) if _identifies(text)}
                if not identity:
                    continue
                values: dict[str, set[str]] = {}
                for key, text in table.pairs(number):
                    plain = _plain(text)
                    if len(plain) >= _FEWEST_CHARS and plain not in identity:
                        values.setdefault(key.casefold(), set()).add(plain)
                        self._keys.setdefault(plain, set()).add(key.casefold())
                for text in identity:
                    self.by_identity.setdefault(text, []).append(len(self._records))
                self._records.append(values)

    def named(self, text: str) -> list[str]:
        """The identities that a text in small letters names."""
        return [item for item in _candidates(text, self._first_words_of_identities) if occurs(text, item)]

    def names_any(self, line: str) -> bool:
        """True if a line names a record. Each distinct line is read once."""
        if line not in self._naming:
            self._naming[line] = bool(self.named(line.casefold()))
        return self._naming[line]

    def contradictions(self, line: str) -> tuple[Contradiction, ...]:
        """The values that the sentences of a line state of a record which has another value under that key.

        A clause speaks of the record that it names, else of the one named before it in its
        sentence. A value that no record has is none of these; nor is one where the record's own
        value stands beside it ("from economy to business"). Each distinct line is read once.
        """
        if line not in self._contradictions:
            self._contradictions[line] = tuple(
                contradiction
                for sentence in (_SENTENCE.split(line) if self.names_any(line) else ())
                for words, identities in self._clauses(sentence)
                for contradiction in self._contradictions_of(words, identities)
            )
        return self._contradictions[line]

    def contradicted(self, pairs: Iterable[tuple[str, str]], values: Iterable[str]) -> Iterator[Contradiction]:
        """Yield the pairs of a record written as data, with `values`, that no record of one of its identities has.

        A value that ends in a mark of omission has what stands before the mark.

        >>> records = RecordValues([FieldTable([{"id": "W12", "status": "pending"}, {"id": "W13", "status": "sent"}])])
        >>> [item.stated for item in records.contradicted([("id", "W12"), ("status", "sent")], ["w12", "sent"])]
        ['sent']
        >>> [[*records.contradicted([("status", text)], ["w12"])] for text in ("pen... [truncated]", "… [cut]")]
        [[], []]
        """
        numbers = {number for item in values for number in self.by_identity.get(item, ())}
        for key, text in pairs:
            own = {item for number in numbers for item in self._records[number].get(key.casefold(), ())}
            plain = _plain(text)
            if len(plain) < _FEWEST_CHARS or plain in self.by_identity or not own:
                continue
            cut = _OMISSION_MARK.search(plain)
            if cut and any(item.startswith(plain[: cut.start()]) for item in own):
                continue
            if not any(same_value(plain, item) for item in own):
                yield Contradiction(f"{key}: {text}"[:200], plain, min(own))

    def numbers_near(self, text: str) -> Iterator[list[str]]:
        """Yield the numbers of each record that a text names or a number of which it states, then those of each key of them."""
        words = text.casefold()
        numbers = {number for item in self.named(words) for number in self.by_identity[item]}
        for match in _AMOUNT.finditer(words):
            numbers.update(self._by_number.get(number_value(match.group()), ()))
        columns: dict[str, list[str]] = {}
        for number in sorted(numbers)[:_MOST_RECORDS]:
            values = [(key, item) for key, items in self._records[number].items() for item in items if is_number(item)]
            yield [item for _, item in values]
            for key, item in values:
                columns.setdefault(key, []).append(item)
        yield from columns.values()

    @cached_property
    def _by_number(self) -> dict[str, list[int]]:
        by_number: dict[str, list[int]] = {}
        for at, record in enumerate(self._records):
            for item in {item for values in record.values() for item in values if is_number(item)}:
                by_number.setdefault(item, []).append(at)
        return by_number

    def _clauses(self, sentence: str) -> Iterator[tuple[str, list[str]]]:
        """Yield the parts of a sentence that speak of one set of records each, in small letters."""
        parts = [part.casefold() for part in _CLAUSE.split(sentence)]
        words, named = "", [""][:0]
        for part in parts:
            here = self.named(part)
            if here and named:
                yield words, named
                words, named = part, here
            else:
                words, named = f"{words}, {part}" if words else part, here or named
        if named:
            yield words, named

    def _contradictions_of(self, words: str, identities: list[str]) -> Iterator[Contradiction]:
        numbers = {number for item in identities for number in self.by_identity[item]}
        own: dict[str, set[str]] = {}
        for number in sorted(numbers):
            for key, values in self._records[number].items():
                own.setdefault(key, set()).update(values)
        allowed = set().union(*own.values(), identities) if own else set(identities)
        stated = {_plain(match.group()) for match in _AMOUNT.finditer(words)} & self._keys.keys()
        stated.update(item for item in _candidates(words, self._first_words_of_values) if occurs(words, item))
        for value in sorted(stated - allowed):
            if value in self.by_identity or any(value in other for other in allowed):
                continue
            for key in sorted(self._keys[value] & own.keys()):
                beside = [item for item in own[key] if occurs(words, item) or item in stated]
                if not beside:
                    yield Contradiction(words.strip()[:200], value, min(own[key]))
                    break

    @cached_property
    def _first_words_of_identities(self) -> dict[str, list[str]]:
        return _by_first_word(self.by_identity)

    @cached_property
    def _first_words_of_values(self) -> dict[str, list[str]]:
        return _by_first_word(text for text in self._keys if not _AMOUNT.fullmatch(text))


def _identifies(text: str) -> bool:
    """True for what names a record in prose: no small number, and no words that every text has.

    >>> [_identifies(text) for text in ("W-104", "12345", "1234", "1234.5", "the")]
    [True, True, False, False, False]
    """
    if text.replace(".", "").isdigit():
        return len(text) >= _FEWEST_DIGITS and text.isdigit()
    return not COMMON_WORDS.issuperset(text.casefold().split())


def _plain(text: str) -> str:
    """A value as it is compared: a number in one spelling, else small letters."""
    return number_value(text) if _AMOUNT.fullmatch(text) else " ".join(text.casefold().split())


def _candidates(text: str, by_first_word: dict[str, list[str]]) -> list[str]:
    words = {match.group() for match in _WORD.finditer(text)}
    words |= {piece for word in words for piece in re.split(r"[.,:]", word)}
    return sorted({item for word in words for item in by_first_word.get(word, ()) if item in text})


def _by_first_word(texts: Iterable[str]) -> dict[str, list[str]]:
    by_word: dict[str, list[str]] = {}
    for text in texts:
        match = _WORD.search(text)
        if match:
            by_word.setdefault(match.group(), []).append(text)
    return by_word
