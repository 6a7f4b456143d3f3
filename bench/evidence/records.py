"""The records of all structured results of a trace: their identities and values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from ..model import grouped, memo
from ..text.common_words import COMMON_WORDS
from ..text.field_list import Numbers, listed, numbers_by_text
from ..text.numbers import number_value
from ..text.places import occurs
from .contents import Once, kept_between_runs, made_now
from .result_contents import ResultContents

_FEWEST_CHARS = 3
_MOST_OF_RESULT = 1 << 32
"""The most records of a result: the number of a record is its step times this, plus its place."""

_WORD = re.compile(r"[\w#@$/-]*\w(?:[.,:]\w+)*")
_AMOUNT = re.compile(r"[-$€£]*\d[\d,]*(?:\.\d+)?")
_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=\S)")
_CLAUSE = re.compile(r"[,;]\s+|\s+(?:and|while|but)\s+")
_FEWEST_DIGITS = 5
"""The fewest digits of a number that can be an identity; a shorter one is a count or a price."""


class Contradiction(NamedTuple):
    """A value that a text gives to a record, and the record's value under the same key."""

    words: str
    stated: str
    actual: str


class RecordValues:
    """The records of the structured results of a trace, by step, read on demand. `once` caches the
    identities between runs.

    >>> from bench.model import ToolResult
    >>> orders = [{"id": "W12", "status": "pending", "price": 20.5}, {"id": "W13", "status": "delivered", "price": 31.25}]
    >>> result = ToolResult(index=0, call_id="c", function="f", data=orders)
    >>> records = RecordValues({0: ResultContents(result)})
    >>> [records.contradictions(text) for text in ("W12 is pending and W13 is delivered.", "W12 costs $20.50.")]
    [(), ()]
    >>> [(item.stated, item.actual) for item in records.contradictions("W12 is delivered. W13 was sold for 20.50.")]
    [('delivered', 'pending'), ('20.5', '31.25')]
    """

    def __init__(self, results: Mapping[int, ResultContents], once: Once = made_now) -> None:
        self._results, self.once = results, once

    @kept_between_runs
    def by_identity(self) -> Numbers:
        """The numbers of the records by each identity; a number has the step of its result in it."""
        return numbers_by_text(
            (identity, step * _MOST_OF_RESULT + number)
            for step, result in self._results.items()
            for identity, numbers in result.table.records_of_identity.items()
            if _identifies(identity)
            for number in listed(numbers)
        )

    @memo
    def _values(self, number: int) -> dict[str, set[str]]:
        return self._find_values(number)

    def _find_values(self, number: int) -> dict[str, set[str]]:
        """The values of a record by key in small letters, without its identities."""
        step, record = divmod(number, _MOST_OF_RESULT)
        table = self._results[step].table
        identity = set(filter(_identifies, table.identity(record)))
        values: dict[str, set[str]] = {}
        for key, text in table.pairs(record):
            plain = _plain(text)
            if len(plain) >= _FEWEST_CHARS and plain not in identity:
                values.setdefault(key.casefold(), set()).add(plain)
        return values

    @cached_property
    def _numbers(self) -> list[int]:
        return sorted(
            {number for numbers in self.by_identity.values() for number in listed(numbers)}
        )

    @cached_property
    def _keys(self) -> dict[str, frozenset[str]]:
        """For each value the keys under which some record has it. Equal sets are shared."""
        keys: dict[str, frozenset[str]] = {}
        known: dict[frozenset[str], frozenset[str]] = {}
        nothing = frozenset[str]()
        for number in self._numbers:
            for key, values in self._find_values(number).items():
                for value in values:
                    of_value = keys.get(value, nothing)
                    if key not in of_value:
                        more = of_value | {key}
                        keys[value] = known.setdefault(more, more)
        return keys

    def named(self, text: str) -> list[str]:
        """The identities in a text (in small letters)."""
        candidates = _candidates(text, self.by_identity, self._identities_of_words)
        return [item for item in candidates if occurs(text, item)]

    @memo
    def names_any(self, line: str) -> bool:
        """True if a line names a record."""
        return bool(self.named(line.casefold()))

    @memo
    def contradictions(self, line: str) -> tuple[Contradiction, ...]:
        """The values that the sentences of a line give to a record that has another value under
        that key.

        A clause is about the record that it names, else about the one named before it in its
        sentence. A value that no record has does not count; nor does one with the record's own
        value next to it ("from economy to business").
        """
        return tuple(
            contradiction
            for sentence in (_SENTENCE.split(line) if self.names_any(line) else ())
            for words, identities in self._clauses(sentence)
            for contradiction in self._contradictions_of(words, identities)
        )

    def _clauses(self, sentence: str) -> Iterator[tuple[str, list[str]]]:
        """Yield the clauses of a sentence (in small letters), each about one set of records."""
        parts = [part.casefold() for part in _CLAUSE.split(sentence)]
        words, named = "", list[str]()
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
        """Yield the values of other records that a clause gives to the record that it names."""
        counts = Counter(number for item in identities for number in listed(self.by_identity[item]))
        most = max(counts.values(), default=0)
        actual: dict[str, set[str]] = {}
        for number in sorted(number for number, count in counts.items() if count == most):
            for key, values in self._values(number).items():
                actual.setdefault(key, set()).update(values)
        allowed = set().union(*actual.values(), identities) if actual else set(identities)
        stated = {_plain(match.group()) for match in _AMOUNT.finditer(words)} & self._keys.keys()
        candidates = _candidates(words, self._keys, self._values_of_words)
        stated.update(
            item for item in candidates if not _AMOUNT.fullmatch(item) and occurs(words, item)
        )
        for value in sorted(stated - allowed):
            if value in self.by_identity or any(value in other for other in allowed):
                continue
            for key in sorted(self._keys[value] & actual.keys()):
                beside = [item for item in actual[key] if occurs(words, item) or item in stated]
                if not beside:
                    yield Contradiction(words.strip(), value, min(actual[key]))
                    break

    @cached_property
    def _identities_of_words(self) -> dict[str, list[str]]:
        return _by_first_word(self.by_identity)

    @cached_property
    def _values_of_words(self) -> dict[str, list[str]]:
        return _by_first_word(self._keys)


def _identifies(text: str) -> bool:
    """True for a text that can name a record in prose: not a small number, and not common words.

    >>> [_identifies(text) for text in ("W-104", "12345", "1234", "1234.5", "the")]
    [True, True, False, False, False]
    """
    if text.replace(".", "").isdigit():
        return len(text) >= _FEWEST_DIGITS and text.isdigit()
    return not COMMON_WORDS.issuperset(text.casefold().split())


def _plain(text: str) -> str:
    """A value in the form for comparison: a number in one spelling, else in small letters."""
    return number_value(text) if _AMOUNT.fullmatch(text) else " ".join(text.casefold().split())


def _candidates(text: str, known: Collection[str], of_words: dict[str, list[str]]) -> list[str]:
    """The known strings that a text may have: its words, and strings of several words that begin
    with one of them."""
    words = {match.group() for match in _WORD.finditer(text)}
    words |= {piece for word in words for piece in re.split(r"[.,:]", word)}
    several = (item for word in words for item in of_words.get(word, ()) if item in text)
    return sorted({*(word for word in words if word in known), *several})


def _by_first_word(texts: Iterable[str]) -> dict[str, list[str]]:
    """The texts of several words by the first of them."""
    several = (text for text in texts if not _WORD.fullmatch(text))
    return grouped((match.group(), text) for text in several if (match := _WORD.search(text)))
