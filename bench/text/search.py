"""Search for many strings in a text at once, by an Aho-Corasick automaton."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ahocorasick_rs import AhoCorasick, Implementation

from ..model.base import encodable
from .places import is_free

_CHARS_AT_A_TIME = 1_000_000

_MANY, _STRINGS_PER_CHAR, _NO_CHAR = 1000, 64, "\U0010ffff"
"""A set of many strings also has a filler, a long string that no text has. Without it the automaton
takes quadratic time to build where nearly all of its states end a string (`W-1`, `W-12`, …)."""


class Strings:
    """A set of strings to search as words: not inside a longer word or number.

    >>> list(Strings(["1", "level 2", "el"]).places("1, 10, 1.5 and level 2"))
    [('1', 0), ('level 2', 15)]
    """

    def __init__(self, strings: Iterable[str]) -> None:
        distinct = list(dict.fromkeys(filter(None, strings)))
        size = len(distinct) // _STRINGS_PER_CHAR if len(distinct) >= _MANY else 0
        self._strings = [_NO_CHAR * size, *distinct] if size else distinct
        valid = list(map(encodable, self._strings))
        self._automaton = (
            AhoCorasick(valid, implementation=Implementation.ContiguousNFA) if valid else None
        )

    def within(self, text: str) -> set[str]:
        """The strings that a text has. A long text is searched in portions, to save memory.

        >>> sorted(Strings(["1", "el", "ab"]).within("1 el\\nel abc"))
        ['1', 'el']
        """
        found: set[int] = set()
        for part in _portions(text):
            for number, start, end in self._matches(part):
                if number in found or not is_free(part, start, end):
                    continue
                if _is_at(part, self._strings[number], start):
                    found.add(number)
        return {self._strings[number] for number in found}

    def places(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield each place of one of the strings, as (string, start), in order of their ends."""
        for number, start, end in self._matches(text):
            string = self._strings[number]
            if is_free(text, start, end) and _is_at(text, string, start):
                yield string, start

    def _matches(self, text: str) -> list[tuple[int, int, int]]:
        if self._automaton is None:
            return []
        return self._automaton.find_matches_as_indexes(encodable(text), overlapping=True)


def _portions(text: str) -> Iterator[str]:
    """Yield a text in portions of whole lines, each of about a million characters."""
    start = 0
    while len(text) - start > _CHARS_AT_A_TIME:
        end = text.find("\n", start + _CHARS_AT_A_TIME) + 1 or len(text)
        yield text[start:end]
        start = end
    yield text[start:]


def _is_at(text: str, string: str, start: int) -> bool:
    """True if a string that was found is there: a lone surrogate is searched as another character."""
    return string.isascii() or text.startswith(string, start)
