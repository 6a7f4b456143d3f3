"""The search of a text for the lines of a result without structure, such as the output of a shell.
`ResultLines` tells which lines another text shows, leaves out, moves or alters. Structured results
are compared field by field instead (`FieldTable`)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from html import unescape
from typing import NamedTuple

from ..model import compact_json, grouped, memo
from .line_prefixes import without_number
from .line_words import denies, undenied, words_of_line
from .omissions import omission_in
from .quantities import kind_of, same_value

_BULLET = re.compile(r"[-*•] +")
_RULE, _UNDERSCORES = re.compile(r"([^\w\s])\1\1+"), re.compile(r"(?<!\w)__+(?!\w)")
"""Match a rule that is drawn with signs. One pattern for both takes twice as long."""

_SIGNIFICANT = re.compile(
    r"\w+|[-+*/&~#!?%$€£^\\@]|\((?=[\d$€£])|[<>](?=[\s=\d])|[^\x00-\x7f\u2018-\u201e\u2022\u00ab\u00bb]"
)
"""Matches words, and the signs that may change the meaning of a line."""

_TIMES = re.compile(r"\[(\d{1,9}) times\]$")
"""Matches a note that a line stands for several equal lines."""

_HEADING = re.compile(
    r"#+ |\[[^\]]*\]$|(?:=+|-+|\*+) \w.* (?:=+|-+|\*+)$|<[^/<>]+>$|.*:$|[A-Z][A-Z0-9 _/&-]{2,}$"
)
"""Matches a heading of the lines below."""

_NO = re.compile(r"[|\t;,] *no *(?:[|\t;,]|$)", re.IGNORECASE)
"""Matches a cell with the value "no", which denies no other words."""

_TOKEN = re.compile(r"\w+")
_FEWEST_WORDS, _MOST_WORDS, _FEW_TOKENS = 3, 40, 3
"""Only lines with so many words are compared word by word, and only with lines that have one of their
three longest words."""


class LinesShown(NamedTuple):
    """What a text shows of a result. `own` are its lines that the result does not have, `gaps` the
    lines that it leaves out. `moved` is the first line in another place, `misplaced` the first
    whose heading is left out without a notice; "" without one."""

    own: list[str]
    gaps: list[list[str]]
    moved: str = ""
    misplaced: str = ""


class ResultLines:
    """The lines of a result, without blank ones, to find them in another text. Blanks, line numbers
    and bullets make no difference. Linear in the result.

    >>> lines = ResultLines("ok\\nwall W1 is 12.5 mm thick\\nwall W2 is not painted\\nend")
    >>> lines.compare(["1: ok", "- wall W2 is not  painted", "2 of 4", "end"])
    LinesShown(own=['2 of 4'], gaps=[['wall W1 is 12.5 mm thick']], moved='', misplaced='')
    >>> lines.compare(["end", "ok"]).moved
    'ok'
    """

    def __init__(self, text: str, blocks: Iterable[tuple[str, str]] = ()) -> None:
        """The lines of a text, and behind them those of values, each below the line of its key."""
        self.texts = [*filter(None, map(_folded, text.split("\n")))]
        self._beginnings: dict[int, str] = {}  # of the values, by the numbers of their keys
        for key, value in blocks:
            lines = [*filter(None, map(_folded, value.split("\n")))]
            if key:
                self._beginnings[len(self.texts)] = "".join(lines[:1])
            self.texts += [_folded(f"{key}:")] * bool(key) + lines

    @cached_property
    def _numbers_by_line(self) -> dict[str, list[int]]:
        return grouped((line, number) for number, line in enumerate(self.texts))

    def compare(self, lines: Iterable[str]) -> LinesShown:
        """What the lines of a text show of the result. The beginning of several lines may stand once,
        as a heading above the rest of them.

        >>> lines = ResultLines("Open:\\n  door A\\nShut:\\n  door C")
        >>> [lines.compare(["door A", *text]).misplaced for text in (["door C"], ["[cut]", "door C"], ["Shut:", "door C"])]
        ['door C', '', '']
        >>> ResultLines("a.py:3: x = y\\na.py:7: return").compare(["a.py", "3: x = y", "7: return"])
        LinesShown(own=[], gaps=[], moved='', misplaced='')

        The line of a key is an own one, with the beginning of its value. Below it no line of another
        block is in its place.

        >>> lines = ResultLines("", [("out", "ok\\nend"), ("err", "none"), ("log", "")])
        >>> lines.compare(["out:", "ok", "none"])[::3], lines.compare(["out:", "end", "err:", "none"]).own
        ((['out: "ok…"'], 'none'), ['out: "ok…"', 'err: "none…"'])
        """
        own, gaps, after, follows_shown = list[str](), list[list[str]](), 0, False
        starts, block = [*self._beginnings], 0  # the number of the last block
        moved = misplaced = heading = ""
        for line in lines:
            if not line.strip():
                own.append(line)  # which may stand between two records
                continue
            times = _TIMES.search(line)
            text, count = (line[: times.start()], int(times[1])) if times else (line, 1)
            numbers = self.numbers_of(f"{heading} {text}") if heading else ()
            if numbers and own and own[-1] == heading:
                own.pop()
            numbers = numbers or self.numbers_of(text)
            later = (numbers[at] for at in range(bisect_left(numbers, after), len(numbers)))
            first = next((number for number in later if self._are_equal(number, count)), -1)
            if first >= 0:
                gap = self.texts[after:first]
                at = bisect_right(starts, first)
                if first in self._beginnings:
                    block, value = at, self._beginnings[first]
                    own += [f"{line.rstrip()} {compact_json(f'{value}…')}"] if value else []
                is_elsewhere = at > 0 and block not in (0, at)
                if is_elsewhere or (follows_shown and any(map(_HEADING.match, gap))):
                    misplaced = misplaced or line.strip()
                gaps.append(gap)
                after, follows_shown = first + count, True
            elif numbers:
                moved = moved or line.strip()
            elif _folded(text):
                own.append(line)
                follows_shown = False
                heading = line if self._begins_a_line(_folded(line)) else heading
        return LinesShown(own, [*filter(None, [*gaps, self.texts[after:]])], moved, misplaced)

    def _begins_a_line(self, text: str) -> bool:
        place = bisect_left(self._sorted, text)
        return place < len(self._sorted) and self._sorted[place].startswith(text)

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self.texts)

    def _are_equal(self, start: int, count: int) -> bool:
        """True if the result has `count` equal lines from a line on."""
        end = start + count
        return count == 1 or (end <= len(self.texts) and len({*self.texts[start:end]}) == 1)

    @cached_property
    def _numbers_by_words(self) -> dict[str, list[int]]:
        """The numbers of the lines by their words and significant signs."""
        by_words = grouped((_words(line), number) for number, line in enumerate(self.texts))
        return {words: numbers for words, numbers in by_words.items() if words}

    @memo
    def numbers_of(self, line: str) -> Sequence[int]:
        """The numbers of the lines of the result that a line shows, perhaps in another layout."""
        for text in map(_folded, dict.fromkeys((line, without_number(line)))):
            if numbers := self._numbers_by_line.get(text):
                return numbers
            bullet = _BULLET.match(text)
            if bullet and (numbers := self._numbers_by_line.get(text[bullet.end() :])):
                return numbers
        words = _words(_folded(without_number(line)))
        if not _has_all(self._small_text, words.split()):
            return ()
        return self._numbers_by_words.get(words, ())

    def altered(self, line: str) -> str:
        """The line of the result that a line shows with one word changed, or with a negation added or
        dropped; "" without one.

        A truncated word, and a number in another spelling, are the same word. A line that has all
        words of another line of the result is not altered.

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
        count = sum(word[-1].isalnum() for word in words)
        if not _FEWEST_WORDS <= count <= _MOST_WORDS or not _has_any(self._small_text, longest):
            return ""
        run, undenied_words, is_denial = f" {' '.join(words)} ", undenied(words), denies(words)
        changed = negated = ""
        for text, small in zip(self.texts, self._small, strict=True):
            if not _has_any(small, longest):
                continue
            original = words_of_line(text)
            is_negated = denies(original) != is_denial
            if not is_negated and run in f" {' '.join(original)} ":
                return ""
            differing = [pair for pair in zip(words, original, strict=False) if pair[0] != pair[1]]
            if len(words) == len(original) and len(differing) == 1:
                new_word, old_word = differing[0]
                is_rounded = "e+" in new_word and same_value(new_word, f"{old_word}.0")
                is_joined = new_word.endswith(f".{old_word}")  # a key behind that of its mapping
                is_same = is_rounded or is_joined or same_value(new_word, old_word)
                if is_same or denies((new_word,)):
                    return ""
                if kind_of(new_word) == kind_of(old_word):
                    changed = changed or text
            if is_negated and not (negated or _NO.search(text)):
                negated = text if undenied_words == undenied(original) else ""
        return changed or negated

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
    """The words and significant signs of a line."""
    return " ".join(_SIGNIFICANT.findall(line))


def _folded(line: str) -> str:
    """A line with single blanks, without rules and HTML entities."""
    line = unescape(line) if "&" in line else line
    line = _RULE.sub(" ", line)
    return " ".join((_UNDERSCORES.sub(" ", line) if "__" in line else line).split())
