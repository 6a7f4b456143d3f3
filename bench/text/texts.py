"""What texts say, each read once for everybody who asks the same object."""

from __future__ import annotations

from collections.abc import Iterable

from .decode import decoded
from .facts import Found, anchor, distinct_facts, find_facts, occurs, words_of

_LONG_CHARS = 100_000  # from here on finding all facts of a text once is cheaper than looking for each one


class Texts:
    """The plain lines, facts and words of texts. It keeps what it has read: one object lives as long as one trace is looked at.

    >>> texts = Texts()
    >>> texts.facts('{"rows": 471}'), texts.missing("total 471", ["471", "36.5"])
    ({'471': 'number'}, ['36.5'])
    """

    def __init__(self) -> None:
        self._pieces: dict[str, Found] = {}
        self._plain: dict[str, str] = {}
        self._facts: dict[str, dict[str, str]] = {}
        self._words: dict[str, frozenset[str]] = {}

    def plain(self, text: str) -> str:
        """The text as facts are looked for in it: see `bench.text.decode.decoded`."""
        found = self._plain.get(text)
        if found is None:
            found = self._plain[text] = decoded(text)
        return found

    def facts(self, text: str) -> dict[str, str]:
        """The distinct facts of a text as fact → kind, in order of first appearance. Do not change the mapping."""
        found = self._facts.get(text)
        if found is None:
            found = self._facts[text] = distinct_facts(find_facts(self.plain(text), self._pieces))
        return found

    def words(self, text: str) -> frozenset[str]:
        """The runs of word characters of a text, decoded first."""
        found = self._words.get(text)
        if found is None:
            found = self._words[text] = words_of(self.plain(text))
        return found

    def holds(self, text: str, fact: str) -> bool:
        """Whether a fact is present in a text, decoded first."""
        return anchor(fact) in self.words(text) and occurs(self.plain(text), fact)

    def missing(self, text: str, facts: Iterable[str]) -> list[str]:
        """Those of the facts that a text does not hold, in the order given."""
        words, plain = self.words(text), self.plain(text)
        listed = self.facts(text) if len(text) > _LONG_CHARS else {}
        return [fact for fact in facts if fact not in listed and (anchor(fact) not in words or not occurs(plain, fact))]
