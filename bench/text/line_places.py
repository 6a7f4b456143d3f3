"""The places of a text's lines in the text that it shows: missing, moved and replaced lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from html import unescape

from ..model import grouped, memo
from .decode import without_colours
from .instructions import is_rank
from .line_words import LONG_CHARS, is_short, words_of_line
from .omissions import omission_in
from .quantities import same_value

_FEW_LINES = 20
"""So many lines are compared with a text one by one."""

_BRACKETS = re.compile(r"[\[(<{].*[\])>}]")


class LinePlaces:
    """The lines of a text, to find the lines of a text that shows it. Lines with the same words are
    the same line, except in data (not `by_words`), and blank ones do not count.
    """

    def __init__(self, text: str, *, by_words: bool = True) -> None:
        self._text, self._lines, self._are_words = text, _lines(text), by_words

    @cached_property
    def _by_line(self) -> dict[str, list[int]]:
        return grouped((line, at) for at, line in enumerate(self._lines))

    @cached_property
    def _by_key(self) -> dict[str, list[int]]:
        return grouped((self._key(line), at) for at, line in enumerate(self._lines))

    def _key(self, line: str) -> str:
        return _words(line) if self._are_words else line

    def _places(self, lines: Sequence[str]) -> list[list[int]]:
        """The places of each of some lines in this text; an empty list for a line of others."""
        others = [line for line in lines if line not in self._by_line]
        others = [line for line in others if not self._is_notice(line)]
        if not (len(others) > _FEW_LINES or any(map(self._has, others))):
            return [self._by_line.get(line, []) for line in lines]  # faster
        return [self._by_key.get(self._key(line), []) for line in lines]

    def _has(self, line: str) -> bool:
        """True if this text has a line with the words of another one, which it does not have
        itself."""
        with_letters = [word for word in _words_of(line) if any(map(str.isalpha, word))]
        longest, key = max(with_letters, key=len, default=""), self._key(line)
        with_longest = (own for own, plain in self._plain.items() if longest in plain)
        return self._are_words and any(self._key(own) == key for own in with_longest)

    @cached_property
    def _plain(self) -> dict[str, str]:
        """Each line in the form in which it has its words with letters."""
        plain = (without_colours(unescape(line)).casefold() for line in self._by_line)
        return {
            line: text.replace("_", " ") for line, text in zip(self._by_line, plain, strict=True)
        }

    def _is_notice(self, line: str) -> bool:
        return bool(omission_in(line, self._text) or _BRACKETS.fullmatch(line))

    def left_out(self, text: str) -> str:
        """The first line that another text shows less often, if that has lines of this one and
        nothing else; "" without one.

        >>> lines = LinePlaces("a\\nb\\n\\na")
        >>> [lines.left_out(text) for text in ("a\\nb", "a\\n- b\\na", "a [2 times]\\nb")]
        ['a', '', '']
        """
        lines = _lines(text)
        others = {*lines} - self._by_line.keys()
        is_exact = not others
        if 0 < len(others) <= _FEW_LINES and not all(map(self._has, others)):
            return ""
        known = self._by_line if is_exact else self._by_key
        shown = Counter(lines if is_exact else map(self._key, lines))
        if not shown.keys() <= known.keys():
            return ""
        lost = (self._lines[of[0]] for key, of in known.items() if shown[key] < len(of))
        return next((line for line in lost if any(map(str.isalnum, line))), "")

    @memo
    def _with_places(self, text: str) -> list[tuple[str, list[int]]]:
        lines = _lines(text)
        return [*zip(lines, self._places(lines), strict=True)]

    def out_of_order(self, text: str) -> str:
        """The first line of another text that comes after a line which it stands before in this one,
        or once too often; "" without one, for the lines in reverse, and for a text with other lines
        than notices.

        >>> lines = LinePlaces("a\\nb\\nc")
        >>> [lines.out_of_order(text) for text in ("a\\nc", "c\\nb\\na", "a\\nc\\nb", "a\\nc\\nb!x")]
        ['', '', 'b', '']
        """
        shown = self._with_places(text)
        if not all(places or self._is_notice(line) for line, places in shown):
            return ""
        own = [(line, places) for line, places in shown if places]
        found = (_first_moved(some) for some in (own, own[::-1]))
        return min(found, key=bool)

    def replaced(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the lines of another text that stand between two lines of this one, in place of as
        many lines, each with the line in whose place it stands; notices are none.

        >>> code = LinePlaces("if n < 0 {\\n  return\\n}\\nn = 1\\nexit")
        >>> [*code.replaced("if n <= 0 {\\n return\\n}\\nn = 2\\nm = 3\\nexit")]
        [('if n <= 0 {', 'if n < 0 {')]
        """
        last, new = -1, list[str]()
        for line, places in (*self._with_places(text), ("", [len(self._lines)])):
            if not places:
                new.append(line)
                continue
            at = _next(places, last)
            if at is None:
                return
            if len(new) == at - last - 1:
                for shown, was in zip(new, self._lines[last + 1 : at], strict=True):
                    omission = omission_in(shown, self._text)
                    is_notice = omission not in was if omission else _BRACKETS.fullmatch(shown)
                    if not is_notice:
                        yield shown, was
            last, new = at, []


def is_altered(line: str, original: str, *, may_lack_words: bool) -> bool:
    """True if a line in place of another one has words that this lacks, or lacks some of its words.
    A line that may lack words may also be an end of the other; one that is not short may lack some.

    >>> pairs = ("8 kg of rye", "5 kg of rye"), ("rye 5.0 kg", "5 kg of rye"), ("rye", "rye (optional)")
    >>> [is_altered(*pair, may_lack_words=False) for pair in pairs]
    [True, False, True]
    """
    if may_lack_words and (original.startswith(line) or original.endswith(line)):
        return False
    words, others = _words_of(line), _words_of(original)
    if others and words[-len(others) :] == others:
        return False  # with names of sections before it
    new = [word for word in words if word not in others]
    if any(not any(same_value(word, other) for other in others) for word in new):
        return True
    rest = iter(others)
    is_part = not new and all(word in rest for word in words)
    is_cut = is_part and is_short(words) and not may_lack_words
    return is_cut and any(map(str.isalpha, {*others} - {*words}))


def is_one_word_off(line: str, original: str) -> bool:
    """True if a line has the words of another one but for one, which is neither the same value nor
    short for it.

    >>> original = "5 kg of wheat"
    >>> [is_one_word_off(line, original) for line in ("5 kg of rye", "5.0 kg of wh", "8 kg of rye", "5 kg")]
    [True, False, False, False]
    """
    words, others = _words_of(line), _words_of(original)
    if len(words) != len(others) or len(words) < 2:
        return False
    off = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
    if len(off) != 1 or same_value(*off[0]) or is_rank(off[0][0]):
        return False  # rows in another order have another rank
    return not _is_short_for(*off[0]) and not re.fullmatch(
        rf".*\W{re.escape(off[0][1])}", off[0][0]
    )


def _is_short_for(word: str, original: str) -> bool:
    """True if a word may be short for another one with a letter.

    >>> pairs = ("mgmt", "management"), ("55", "55af"), ("12", "112"), ("ok", "bad")
    >>> [_is_short_for(*pair) for pair in pairs]
    [True, True, False, False]
    """
    rest = iter(original)
    return any(map(str.isalpha, original)) and all(letter in rest for letter in word)


def _lines(text: str) -> list[str]:
    return [*filter(None, map(str.strip, text.split("\n")))]


def _words(line: str) -> str:
    """The words of a line by which it is found; of a long one, or one without words, itself."""
    return (" ".join(_words_of(line)) if len(line) <= LONG_CHARS else "") or line


def _words_of(line: str) -> list[str]:
    """The words of a line without the sign between a key and its value."""
    return [word for word in words_of_line(line) if word != "="]


def _next(places: list[int], last: int) -> int | None:
    """The first place after another one; None without one."""
    at = bisect_right(places, last)
    return places[at] if at < len(places) else None


def _first_moved(lines: Sequence[tuple[str, list[int]]]) -> str:
    """The first line without a place behind those of the lines before it; "" without one."""
    last = -1
    for line, places in lines:
        at = _next(places, last)
        if at is None:
            return line
        last = at
    return ""
