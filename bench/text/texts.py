"""The facts, words and numbers of texts, cached so that each text of a trace is read only once."""

from __future__ import annotations

from collections.abc import Iterable

from ..model import grouped, memo
from .decode import LONG_CHARS, decoded
from .escapes import unescape
from .facts import anchor, facts_of_line, flat
from .numbers import is_number, numbers_in
from .places import is_numbered, places_of
from .search import Strings


class Texts:
    """The decoded lines, facts, words and numbers of the texts of one trace, with a cache.

    `lower` are the words that the trace writes in small letters: capitalised, they are no names.

    >>> texts = Texts()
    >>> texts.facts('{"rows": 471}')
    {'471': 'number'}
    >>> texts.flat("Bottom of the\\nTrench.\\n\\nMarianas")
    ' bottom of the trench \\n marianas '
    """

    def __init__(self, lower: Iterable[str] = ()) -> None:
        self.lower = set(lower)
        self._facts_of_lines: dict[str, list[tuple[str, str]]] = {}

    @memo
    def plain(self, text: str) -> str:
        """The decoded text, in which facts are searched."""
        return decoded(text)

    @memo
    def facts(self, text: str) -> dict[str, str]:
        """The distinct facts of a text as fact → kind, in order of first appearance."""
        return self.find_facts(text)

    def find_facts(self, text: str) -> dict[str, str]:
        """`facts`, without caching the text itself. Each distinct line is read once. In more than a
        million characters only every second line is read, in two millions every third, and so on."""
        plain, distinct = self.plain(text), dict[str, str]()
        known, is_long = self._facts_of_lines, len(plain) > LONG_CHARS
        for line in dict.fromkeys(plain.split("\n")[:: len(plain) // LONG_CHARS + 1]):
            facts = known.get(line)
            if facts is None:
                facts = facts_of_line(line, self.lower)
                if not is_long:
                    known[line] = facts
            for fact, kind in facts:
                distinct.setdefault(fact, kind)
        return distinct

    @memo
    def flat(self, text: str) -> str:
        """The words of each paragraph of a text, one line per paragraph, for searching runs of
        words."""
        rows = map(flat, self.plain(text).split("\n\n"))
        return "\n".join(" " if row.isspace() else row for row in rows)

    @memo
    def numbers(self, text: str) -> set[str]:
        """The numbers of a text, by value."""
        return numbers_in(self.plain(text))

    def unescaped(self, text: str) -> str:
        """The lines of a decoded text that still have escapes, with these resolved, as for text
        within text; `""` without any. A fact is present if it is in either form, since the meaning
        of the backslashes is unknown.

        >>> texts = Texts()
        >>> texts.unescaped("log: start\\\\nW-104 failed"), texts.unescaped("log: W-104 failed")
        ('log: start\\nW-104 failed', '')
        """
        plain = self.plain(text)
        if "\\" not in plain:
            return ""
        lines = [line for line in plain.split("\n") if "\\" in line]
        resolved = list(map(unescape, lines))
        return "\n".join(resolved) if resolved != lines else ""


class FactSearch:
    """The search of texts for given facts, with a cache.

    >>> facts = FactSearch(["471", "a/b.csv", "two words"], Texts())
    >>> sorted(facts.in_text("471.0 of 4710, Two words"))
    ['471', 'two words']
    """

    def __init__(self, facts: Iterable[str], texts: Texts) -> None:
        self.texts = texts
        facts = dict.fromkeys(facts)
        self._numbers = frozenset(filter(is_number, facts))
        self._rows = grouped((flat(fact), fact) for fact in facts if " " in fact)
        self._in_rows = Strings(self._rows)
        self._words = Strings(
            fact for fact in facts if " " not in fact and fact not in self._numbers
        )

    @memo
    def in_text(self, text: str) -> frozenset[str]:
        """The given facts in a text."""
        plain, other = self.texts.plain(text), self.texts.unescaped(text)
        words = self._words.within(plain)
        numbers = self._numbers & self.texts.numbers(text) if self._numbers else ()
        rows = {
            fact
            for row in (self._in_rows.within(self.texts.flat(text)) if self._rows else ())
            for fact in self._rows[row]
            if not is_numbered(fact) or any(places_of(plain, fact))
        }
        return frozenset().union(words, numbers, rows, self.in_text(other) if other else ())


def longer_facts(facts: Iterable[str], searched: FactSearch) -> dict[str, frozenset[str]]:
    """For each fact the longer ones among `facts` that contain it. `searched` is a search for them
    all."""
    words = {fact: flat(anchor(fact)) for fact in facts}
    longer_facts: dict[str, set[str]] = {fact: set() for fact in words}
    for other in words:
        in_other = flat(other)
        for fact in searched.in_text(other):
            if fact in words and len(other) > len(fact) and words[fact] in in_other:
                longer_facts[fact].add(other)
    return {fact: frozenset(longer) for fact, longer in longer_facts.items()}
