"""The lines of a result: their places, and the lines of another text that show them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from html import unescape
from itertools import pairwise
from typing import NamedTuple

from ..model import grouped
from .line_notes import without_number
from .line_words import DENIAL, LONG_CHARS, is_short, undenied, words_of_line
from .omissions import notice_at, omission_in
from .quantities import kind_of, same_value

_RUN = re.compile(r"([^\w\s])\1{3,}")
_NAME_IN_BRACKETS = re.compile(r"<([\w .-]+)>")
_BOLD, _RULE = re.compile(r"\*\*(.+?)\*\*"), re.compile(r"([^\w\s])\1{2,}|(?<!\w)_{2,}(?!\w)")
_SIGNIFICANT = re.compile(
    r"\w+|[-+*/&~#!?%$€£^\\@]|\((?=[\d$€£])|[<>](?=[\s=\d])|[^\x00-\x7f\u2018-\u201e\u2022\u00ab\u00bb]"
)
"""Matches words, and the signs that may change what a line says."""

_TIMES = re.compile(r"\[(\d{1,9}) times\]$")
"""Matches the number of equal lines for which one stands."""

_BULLET = re.compile(r"[-*•] +")
_HEADING = re.compile(
    r"#+ |\[[^\]]*\]$|(?:=+|-+|\*+) \w.* (?:=+|-+|\*+)$|<[^/<>]+>$|.*:$|[A-Z][A-Z0-9 _/&-]{2,}$"
)
"""Matches a line that says what the lines below it are about."""

_SURE_CHARS = 8
"""The fewest characters with which a line begins by no accident."""

_TOKEN = re.compile(r"\w+")
_MOST_WORDS, _FEW_TOKENS = 40, 3
"""A longer line is not compared word by word; a changed line has one of so many of its longest
words."""

_DENIES = re.compile(r"\b(?:cannot|never|not?|un|without)\b|n['’]t\b|!(?=[\w(])", re.IGNORECASE)


class LinesShown(NamedTuple):
    """What a text shows of a result: the numbers of its lines, the text's own lines, the first line
    that stands elsewhere, and the first one below another heading; "" without one.
    """

    numbers: list[int]
    own: list[str]
    moved: str = ""
    misplaced: str = ""


class ResultLines:
    """The lines of a text result without blank ones, to find them in another text. Blanks, line
    numbers and bullets in front of a line make no difference. Linear in the result.

    >>> lines = ResultLines("ok\\nwall W1 is 12.5 mm thick\\nwall W2 is not painted\\nend")
    >>> lines.shown(["1: ok", "- wall W2 is not  painted", "2 of 4", "end"])
    LinesShown(numbers=[0, 2, 3], own=['2 of 4'], moved='', misplaced='')
    >>> lines.shown(["end", "ok"]).moved
    'ok'
    """

    def __init__(self, text: str) -> None:
        self.texts: list[str] = []
        self._indents: list[int] = []
        self._begins: list[bool] = []  # True below a blank line
        is_below_blank = True
        is_plain = "&" not in text
        text = _with_short_runs(text) if is_plain else text
        for line in text.split("\n"):
            if words := " ".join(line.split()) if is_plain else _folded(line):
                self.texts.append(words)
                self._indents.append(len(line) - len(line.lstrip()))
                self._begins.append(is_below_blank)
            is_below_blank = not words

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        return grouped((line, number) for number, line in enumerate(self.texts))

    @cached_property
    def _by_words(self) -> dict[str, list[int]]:
        """The numbers of the lines by their words, without the signs of a layout."""
        by_words = grouped((_words(line), number) for number, line in enumerate(self.texts))
        return {words: numbers for words, numbers in by_words.items() if words}

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._numbers)

    @cached_property
    def _may_be_changes(self) -> bool:
        """True if the lines may have the signs of added and removed ones."""
        return any(line[:1] in ("+", "-") for line in self.texts)

    def shown(self, lines: Sequence[str]) -> LinesShown:
        """What some lines show.

        >>> lines = ResultLines("Open:\\n  door A\\n  door B\\nShut:\\n  door C")
        >>> shown = (["Open:", "door C"], ["Open:", "[2 left out]", "door C"], ["Open:", "door B", "Shut:", "door C"])
        >>> [lines.shown(text).misplaced for text in shown]
        ['door C', '', '']
        """
        own: list[str] = []
        places: list[tuple[int, int]] = []
        moved, last = "", -1
        depth, above = 0, -1
        for at, line in enumerate(filter(str.strip, lines)):
            times = _TIMES.search(line)
            words, many = (line[: times.start()], int(times[1])) if times else (line, 1)
            if not words.strip():
                continue  # blank lines
            numbers = self._numbers_of(words)
            later = numbers[bisect_right(numbers, last) :]
            first = next((it for it in later if self._are_alike(it, it + many)), -1)
            if first >= 0:
                last = first + many - 1
                before, depth = depth, len(line) - len(line.lstrip())
                if above == first - 1 >= 0 and _sign(depth - before) > self._step(first):
                    moved = moved or line.strip()
                above = last
                places += [(at, number) for number in range(first, last + 1)]
            elif numbers:
                moved = moved or line.strip()
            else:
                own.append(line)
                above = -1
        return LinesShown([number for _, number in places], own, moved, self._misplaced(places))

    def _numbers_of(self, line: str) -> Sequence[int]:
        """The numbers of the lines that a line shows, perhaps cut at a mark of omission."""
        words = _folded(line)
        if words in self._numbers:
            return self._numbers[words]
        ways = [words, _folded(without_number(line))]
        if not self._may_be_changes:
            ways += [_BULLET.sub("", way, count=1) for way in ways]
        ways = [*dict.fromkeys(ways)]
        found = next(filter(None, map(self._numbers.get, ways)), None)
        if alike := found or next(filter(None, map(self._alike, ways)), None):
            return alike
        begun = words[: notice_at(words)].rstrip() if omission_in(words, "") else ""
        first = bisect_left(self._sorted, begun) if len(begun) >= _SURE_CHARS else len(self.texts)
        line = next(iter(self._sorted[first : first + 1]), "")
        return self._numbers[line] if line.startswith(begun) and line else ()

    def _alike(self, line: str) -> Sequence[int]:
        """The numbers of the lines with the words of a line."""
        words = _words(line)
        may_have = len(line) > LONG_CHARS or all(word in self._plain for word in words.split())
        return self._by_words.get(words, ()) if words and may_have else ()

    @cached_property
    def _plain(self) -> str:
        """The lines without signs that may stand within a word: it has each word of every line."""
        return _without_signs("\n".join(self.texts))

    def has(self, line: str) -> bool:
        """True if the result has a line, or most of it in front of a mark of omission."""
        return bool(self._numbers_of(line))

    def _step(self, number: int) -> int:
        """1 for a line that is indented deeper than the one before it, -1 for one less deep, else 0."""
        return _sign(self._indents[number] - self._indents[number - 1])

    def _are_alike(self, start: int, end: int) -> bool:
        return end == start + 1 or (end <= len(self.texts) and len({*self.texts[start:end]}) == 1)

    def _misplaced(self, places: Sequence[tuple[int, int]]) -> str:
        """The first line that a text shows behind one with another heading, without its own heading,
        and without a line of the text's own in between; "" without one. `places` are those
        of lines in the text, with their numbers."""
        known = {number for _, number in places}
        for (at, number), (after, below) in pairwise(places):
            is_marked = after > at + 1 or below <= number + 1
            heading = self._above[below]
            if not is_marked and heading not in known and heading not in (-1, self._above[number]):
                return self.texts[below]
        return ""

    def missing(self, shown: LinesShown) -> list[str]:
        """The lines that are not shown."""
        numbers = {*shown.numbers}
        return [line for number, line in enumerate(self.texts) if number not in numbers]

    @cached_property
    def _above(self) -> list[int]:
        """By line the number of the line that says what it is about: a heading, a line that is
        indented less, or the first line of its paragraph; -1 without one."""
        above: list[int] = []
        stack: list[int] = []
        first = -1
        for number, begins in enumerate(self._begins):
            is_heading = self._is_heading[number]
            first = -1 if begins or is_heading else first
            while stack and not self._leads(stack[-1], number):
                stack.pop()
            above.append(stack[-1] if stack else first)
            first = number if begins and not is_heading else first
            stack.append(number)
        return above

    def _leads(self, number: int, below: int) -> bool:
        """True if a line says what a line below it is about."""
        if self._indents[number] != self._indents[below]:
            return self._indents[number] < self._indents[below]
        return self._is_heading[number] and not self._is_heading[below]

    @cached_property
    def _is_heading(self) -> list[bool]:
        return [_HEADING.match(line) is not None for line in self.texts]

    def altered(self, line: str) -> str:
        """The line of the result that a line shows with one other word, or with a denial more or
        less; "" without one, and if another line has all of its words. A cut word, or a number in
        another spelling, is the same word.

        >>> lines = ResultLines("wall W1 is 12.5 mm thick\\nwall W2 is not painted")
        >>> [lines.altered(text) for text in ("wall W1 is 12.5 m thick", "wall W1 is 12.50 mm thick", "wall W2 is painted")]
        ['wall W1 is 12.5 mm thick', '', 'wall W2 is not painted']
        >>> ResultLines("wall W1 is 12 mm thick\\nthe wall W1 is 13 mm thick").altered("wall W1 is 13 mm thick")
        ''
        """
        words = words_of_line(_folded(without_number(line)))
        if is_short(words) or len(words) > _MOST_WORDS or omission_in(line, ""):
            return ""
        longest = sorted({*_TOKEN.findall(line.casefold())}, key=len)[-_FEW_TOKENS:]
        if not any(token in self._all_small for token in longest):
            return ""
        is_denied, bare = _DENIES.search(line) is not None, undenied(line)
        changed = denied = ""
        run = f" {' '.join(words)} "
        for number, text in enumerate(self._small):
            if not any(token in text for token in longest):
                continue
            original = words_of_line(self.texts[number])
            is_other = bool(_DENIES.search(self.texts[number])) != is_denied
            if not is_other and run in f" {' '.join(original)} ":
                return ""
            differing = [pair for pair in zip(words, original, strict=False) if pair[0] != pair[1]]
            if len(words) == len(original) and len(differing) == 1:
                (new, was) = differing[0]
                if same_value(new, was) or DENIAL.fullmatch(new):
                    return ""
                if kind_of(new) == kind_of(was):
                    changed = changed or self.texts[number]
            if is_other and not denied and bare == undenied(self.texts[number]):
                denied = self.texts[number]
        return changed or denied

    @cached_property
    def _small(self) -> list[str]:
        return list(map(str.casefold, self.texts))

    @cached_property
    def _all_small(self) -> str:
        return "\n".join(self._small)


def _folded(line: str) -> str:
    """A line with blanks and runs of the same sign in one length."""
    line = unescape(line) if "&" in line else line
    return _with_short_runs(" ".join(line.split()))


def _with_short_runs(text: str) -> str:
    return _RUN.sub(r"\1\1\1", text)


def _words(line: str) -> str:
    """The words of a line, and its signs except those of a layout."""
    if len(line) > LONG_CHARS:
        return line
    return " ".join(_SIGNIFICANT.findall(_RULE.sub(" ", _without_signs(line))))


def _without_signs(text: str) -> str:
    """A text without the signs around bold words and names."""
    return _BOLD.sub(r"\1", _NAME_IN_BRACKETS.sub(r"\1 ", text))


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
