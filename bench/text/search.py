"""Search for many strings in a text at once, by an Aho-Corasick automaton."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice

from ahocorasick_rs import AhoCorasick, Implementation

from ..model.base import encodable
from .places import is_free

_LINES_AT_A_TIME = 10_000

_MANY, _EACH, _NO_CHAR = 1000, 64, "\U0010ffff"
"""Many strings are built behind a filler, which no text has: the automaton renumbers its states in
time that is quadratic where nearly all of them end a string (`W-1`, `W-12`, …) and few do not.
"""


class Strings:
    """A set of strings to search as words: not inside a longer word or number.

    >>> list(Strings(["1", "level 2", "el"]).places("1, 10, 1.5 and level 2"))
    [('1', 0), ('level 2', 15)]
    """

    def __init__(self, strings: Iterable[str]) -> None:
        distinct = list(dict.fromkeys(filter(None, strings)))
        filler = [_NO_CHAR * (len(distinct) // _EACH)] if len(distinct) >= _MANY else []
        self._strings = filler + distinct
        valid = list(map(encodable, self._strings))
        self._automaton = (
            AhoCorasick(valid, implementation=Implementation.ContiguousNFA) if valid else None
        )

    def in_each(self, texts: Iterable[str]) -> dict[int, set[str]]:
        """The strings in each of some texts, by the text's place, for texts with any. The texts are
        searched together.

        >>> Strings(["1", "el"]).in_each(["1 el", "", "el"]) == {0: {"1", "el"}, 2: {"el"}}
        True
        """
        texts = list(texts)
        text = "\n".join(texts)
        ends = list(accumulate(len(text) + 1 for text in texts))
        found: dict[int, set[str]] = {}
        at, strings = -1, set[str]()
        for number, start, end in self._matches(text):
            if at < 0 or start >= ends[at]:
                at = bisect_right(ends, start)
                strings = found.setdefault(at, set())
            string = self._strings[number]
            if string not in strings and _is_match(text, string, start, end):
                strings.add(string)
        return found

    def within(self, lines: Iterable[str]) -> set[str]:
        """The strings in any of very many lines, searched in portions to save memory.

        >>> sorted(Strings(["1", "el", "ab"]).within(["1 el", "", "el abc"]))
        ['1', 'el']
        """
        found: set[str] = set()
        lines = iter(lines)
        while batch := list(islice(lines, _LINES_AT_A_TIME)):
            text = "\n".join(batch)
            for number, start, end in self._matches(text):
                string = self._strings[number]
                if string not in found and _is_match(text, string, start, end):
                    found.add(string)
        return found

    def places(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield each place of one of the strings, as (string, start), in order of their ends."""
        for number, start, end in self._matches(text):
            string = self._strings[number]
            if _is_match(text, string, start, end):
                yield string, start

    def _matches(self, text: str) -> list[tuple[int, int, int]]:
        if self._automaton is None:
            return []
        return self._automaton.find_matches_as_indexes(encodable(text), overlapping=True)


def _is_match(text: str, string: str, start: int, end: int) -> bool:
    return is_free(text, start, end) and (string.isascii() or text.startswith(string, start))
