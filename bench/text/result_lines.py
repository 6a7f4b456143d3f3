"""The lines of a result, to find them in another text, as they are or altered."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from html import unescape
from typing import NamedTuple

from ..model import grouped, memo
from .line_prefixes import without_number
from .line_words import denies, undenied, words_of_line
from .omissions import omission_in
from .quantities import kind_of, same_value

_BULLET = re.compile(r"[-*•] +")
_RULE, _UNDERSCORES = re.compile(r"([^\w\s])\1\1+"), re.compile(r"(?<!\w)__+(?!\w)")
"""These match a line that is drawn with signs. One pattern for both takes twice as long."""

_SIGNIFICANT = re.compile(
    r"\w+|[-+*/&~#!?%$€£^\\@]|\((?=[\d$€£])|[<>](?=[\s=\d])|[^\x00-\x7f\u2018-\u201e\u2022\u00ab\u00bb]"
)
"""Matches words, and the signs that may change what a line says."""

_TIMES = re.compile(r"\[(\d{1,9}) times\]$")
"""Matches the number of equal lines for which one stands."""

_HEADING = re.compile(
    r"#+ |\[[^\]]*\]$|(?:=+|-+|\*+) \w.* (?:=+|-+|\*+)$|<[^/<>]+>$|.*:$|[A-Z][A-Z0-9 _/&-]{2,}$"
)
"""Matches a line that says what the lines below it are about."""

_NO = re.compile(r"[|\t;,] *no *(?:[|\t;,]|$)", re.IGNORECASE)
"""Matches a cell that is a value and denies no other words."""

_TOKEN = re.compile(r"\w+")
_FEWEST_WORDS, _MOST_WORDS, _FEW_TOKENS = 3, 40, 3
"""A shorter or longer line is not compared word by word; a changed line has one of so many of its
longest words."""


class LinesShown(NamedTuple):
    """What a text shows of a result: its own lines, the lines that it leaves out in each gap, the
    first line that stands in another place, and the first one whose heading is left out without a
    word in its place; "" without one.
    """

    own: list[str]
    gaps: list[list[str]]
    moved: str = ""
    misplaced: str = ""


class ResultLines:
    """The lines of a text result without blank ones, to find them in another text. Blanks, line
    numbers and bullets in front of a line make no difference. Linear in the result.

    >>> lines = ResultLines("ok\\nwall W1 is 12.5 mm thick\\nwall W2 is not painted\\nend")
    >>> lines.shown(["1: ok", "- wall W2 is not  painted", "2 of 4", "end"])
    LinesShown(own=['2 of 4'], gaps=[['wall W1 is 12.5 mm thick']], moved='', misplaced='')
    >>> lines.shown(["end", "ok"]).moved
    'ok'
    """

    def __init__(self, text: str) -> None:
        self.texts = [*filter(None, map(_folded, text.split("\n")))]

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        return grouped((line, number) for number, line in enumerate(self.texts))

    def shown(self, lines: Iterable[str]) -> LinesShown:
        """What some lines show.

        >>> lines = ResultLines("Open:\\n  door A\\nShut:\\n  door C")
        >>> [lines.shown(["door A", *text]).misplaced for text in (["door C"], ["[cut]", "door C"], ["Shut:", "door C"])]
        ['door C', '', '']
        """
        own, gaps, after, is_next = list[str](), list[list[str]](), 0, False
        moved = misplaced = ""
        for line in filter(str.strip, lines):
            times = _TIMES.search(line)
            words, many = (line[: times.start()], int(times[1])) if times else (line, 1)
            numbers = self.numbers_of(words)
            later = numbers[bisect_left(numbers, after) :]
            first = next((it for it in later if self._are_alike(it, it + many)), -1)
            if first >= 0:
                gap = self.texts[after:first]
                if is_next and any(map(_HEADING.match, gap)):
                    misplaced = misplaced or line.strip()
                gaps.append(gap)
                after, is_next = first + many, True
            elif numbers:
                moved = moved or line.strip()
            elif _folded(words):
                own.append(line)
                is_next = False
        return LinesShown(own, [*filter(None, [*gaps, self.texts[after:]])], moved, misplaced)

    def _are_alike(self, start: int, end: int) -> bool:
        return end == start + 1 or (end <= len(self.texts) and len({*self.texts[start:end]}) == 1)

    @cached_property
    def _by_words(self) -> dict[str, list[int]]:
        """The numbers of the lines by their words, without the signs of a layout."""
        by_words = grouped((_words(line), number) for number, line in enumerate(self.texts))
        return {words: numbers for words, numbers in by_words.items() if words}

    @memo
    def numbers_of(self, line: str) -> Sequence[int]:
        """The numbers of the lines that a line shows, perhaps with other signs of a layout."""
        for way in dict.fromkeys((line, without_number(line))):
            words = _folded(way)
            bullet = _BULLET.match(words)
            ways = (words, words[bullet.end() :]) if bullet else (words,)
            if numbers := next(filter(None, map(self._numbers.get, ways)), None):
                return numbers
        words = _words(_folded(without_number(line)))
        return self._by_words.get(words, ()) if _has_all(self._small_text, words.split()) else ()

    def altered(self, line: str) -> str:
        """The line of the result that a line shows with one other word, or with a denial more or
        less; "" without one, and if another line has all of its words. A cut word, or a number in
        another spelling, is the same word.

        >>> lines = ResultLines("wall W1 is 12.5 mm thick\\nwall W2 is not painted")
        >>> [lines.altered(text) for text in ("wall W1 is 12.5 m thick", "wall W1 is 12.50 mm thick", "wall W2 is painted")]
        ['wall W1 is 12.5 mm thick', '', 'wall W2 is not painted']
        >>> ResultLines("| W1 | Ann Lee | no |").altered("W1: Ann Lee")
        ''
        >>> ResultLines("wall W1 is 12 mm thick\\nthe wall W1 is 13 mm thick").altered("wall W1 is 13 mm thick")
        ''
        """
        if omission_in(line, ""):
            return ""
        words = words_of_line(_folded(without_number(line)))
        longest = sorted({*_TOKEN.findall(line.casefold())}, key=len)[-_FEW_TOKENS:]
        may_have = _FEWEST_WORDS <= sum(word[-1].isalnum() for word in words) <= _MOST_WORDS
        if not (may_have and _has_any(self._small_text, longest)):
            return ""
        run, bare, is_denied = f" {' '.join(words)} ", undenied(words), denies(words)
        changed = denied = ""
        for text, small in zip(self.texts, self._small, strict=True):
            if not _has_any(small, longest):
                continue
            original = words_of_line(text)
            is_other = denies(original) != is_denied
            if not is_other and run in f" {' '.join(original)} ":
                return ""
            differing = [pair for pair in zip(words, original, strict=False) if pair[0] != pair[1]]
            if len(words) == len(original) and len(differing) == 1:
                (new, was) = differing[0]
                if same_value(new, was) or denies((new,)):
                    return ""
                if kind_of(new) == kind_of(was):
                    changed = changed or text
            if is_other and not (denied or _NO.search(text)) and bare == undenied(original):
                denied = text
        return changed or denied

    @cached_property
    def _small_text(self) -> str:
        return "\n".join(self._small)

    @cached_property
    def _small(self) -> list[str]:
        return [*map(str.casefold, self.texts)]


def _has_any(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


def _has_all(text: str, words: Iterable[str]) -> bool:
    return all(word.casefold() in text for word in words)


def _words(line: str) -> str:
    """The words of a line, and its signs except those of a layout."""
    return " ".join(_SIGNIFICANT.findall(line))


def _folded(line: str) -> str:
    """A line with single blanks and without rules."""
    line = unescape(line) if "&" in line else line
    line = _RULE.sub(" ", line)
    return " ".join((_UNDERSCORES.sub(" ", line) if "__" in line else line).split())
