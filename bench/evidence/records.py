"""The records of all structured results of a trace, and the values that tell them apart."""

from __future__ import annotations

import re
from functools import cached_property

from ..text.facts import occurs
from ..text.fields import FieldTable

_FEWEST_CHARS = 3
_VALUE = re.compile(r"[A-Za-z_]|\d[\d.,]{2,}")


class RecordValues:
    """The records of all structured results of a trace: what identifies each, and its values."""

    def __init__(self, tables: list[FieldTable]) -> None:
        self.records: list[tuple[frozenset[str], frozenset[str]]] = []
        for table in tables:
            for number in range(table.record_count):
                identity = frozenset(text for text in table.identity(number) if not text.replace(".", "").isdigit())
                values = frozenset(text.casefold() for _, text in table.pairs(number))
                if identity:
                    self.records.append((identity, values))

    @cached_property
    def identities(self) -> dict[str, list[int]]:
        """By identifying value the records that have it."""
        found: dict[str, list[int]] = {}
        for number, (identity, _) in enumerate(self.records):
            for text in identity:
                found.setdefault(text, []).append(number)
        return found

    @cached_property
    def values(self) -> dict[str, frozenset[int]]:
        """By value the records that have it; values of fewer than three characters say too little."""
        found: dict[str, set[int]] = {}
        for number, (_, values) in enumerate(self.records):
            for text in values:
                if len(text) >= _FEWEST_CHARS and _VALUE.match(text):
                    found.setdefault(text, set()).add(number)
        return {text: frozenset(numbers) for text, numbers in found.items()}

    def strange(self, clause: str) -> str:
        """A value in a clause that belongs to a record, but to none that the clause names; "" for none."""
        text = clause.casefold()
        words = set(re.findall(r"[\w#@.$/-]*\w", text))
        named = [item for item in self._candidates(words, self.identities) if item in text and occurs(text, item)]
        if not named:
            return ""
        own = {number for item in named for number in self.identities[item]}
        allowed = frozenset(value for number in own for value in self.records[number][1]) | set(named)
        for value in self._candidates(words, self.values):
            if value in allowed or value not in text or not occurs(text, value):
                continue
            if any(value in other for other in allowed) or value in self.identities:
                continue
            if not self.values[value] & own:
                return value
        return ""

    def _candidates(self, words: set[str], known: dict[str, list[int]] | dict[str, frozenset[int]]) -> list[str]:
        firsts = self._first_words(known)
        return sorted({item for word in words for item in firsts.get(word, ())})

    def _first_words(self, known: dict[str, list[int]] | dict[str, frozenset[int]]) -> dict[str, list[str]]:
        cached = self._by_first_word.get(id(known))
        if cached is None:
            cached = {}
            for item in known:
                match = re.search(r"[\w#@.$/-]*\w", item)
                if match:
                    cached.setdefault(match.group(), []).append(item)
            self._by_first_word[id(known)] = cached
        return cached

    @cached_property
    def _by_first_word(self) -> dict[int, dict[str, list[str]]]:
        return {}
