"""Excerpts: texts that show parts of a result in order, with gaps between.

If the gaps of a text are known exactly, the rest is right, and each of its own words is next to
what is missing there.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from .decode import LONG_CHARS, without_colours
from .facts import token_around
from .line_prefixes import without_marks
from .places import starts_of

NOTICE_CHARS, _SURE_CHARS, _MOST_PLACES = 200, 8, 20
"""The most characters of a notice, the fewest characters that match by no accident, and the most
places to try.
"""

_SOUGHT = re.compile(r"\W{0,400}.{0,24}", re.DOTALL)
"""Matches what is searched after a gap; signs alone may be anywhere."""

_STOP = re.compile(r"\n\s*|(?:[\])}>…]|\.{3})\s*|[\"']")
"""The characters after which a text may continue with the other one."""

_WITHIN = re.compile(r"[\w<\[(/]\w|</")
_CUTS = re.compile(r"[\w…\[(<\n]|\.\.")
"""Matches a sign of words that stand for missing ones, not only for signs."""

_TYPED = str.maketrans(
    {**dict(zip("’‘“”„–—−\u00a0⏎↵", '\'\'"""--- \n\n', strict=True)), "…": "..."}
)
"""Typographic signs and their plain forms."""

_LOOSE = *'{}[],"', '":', "':"
"""Signs next to which a blank is insignificant."""

_BREAK = re.compile(
    r"\n(?:(?<=[{\[]\n)|(?<=>\n)(?=<)|(?=[}\],])|(?<=,\n)(?=[\"'{\[\d-]|true|false|null))"
)
"""Matches a line break between the signs of data, or between tags."""


class Gap(NamedTuple):
    """A place where a text has words of its own, or leaves out a part of the result."""

    words: str
    missing: str


class _Place(NamedTuple):
    """The start and the end of a gap in a text, and in the other one."""

    begin: int
    end: int
    begin_of_missing: int
    end_of_missing: int

    def between(self, shown: str, full: str) -> Gap:
        """The gap between two parts of texts, without the blanks at which both end."""
        words = shown[self.begin : self.end]
        missing = full[self.begin_of_missing : self.end_of_missing]
        blanks = missing[len(missing.rstrip()) :]
        both = len(blanks) if words.endswith(blanks) else 0
        return Gap(words[: len(words) - both], missing[: len(missing) - both])


IsNotice: TypeAlias = Callable[[Gap], bool]
"""A function that is True for a gap whose words only say that something is left out."""


class Excerpt:
    """A text and another one of which it may show parts; their gaps are found once.

    >>> def gaps(text, full):
    ...     return Excerpt(text, full).gaps(lambda gap: "omitted" in gap.words or "(+" in gap.words)
    >>> gaps("rows 1 to 3 of the walls\\n[2 lines omitted]\\nrow 6", "rows 1 to 3 of the walls\\n4\\n5\\nrow 6")
    [Gap(words='[2 lines omitted]', missing='4\\n5')]
    >>> gaps("(a)\\n(1 row omitted)", "(a)\\n(b)"), gaps("Error: dis… (+6)", "Error: disk full")
    ([Gap(words='(1 row omitted)', missing='(b)')], [Gap(words='… (+6)', missing='k full')])
    >>> gaps("1  /usr/lib/a\\n2  /usr/lib/b", "/usr/lib/a\\n/usr/lib/b"), gaps("user found", "user not found")
    ([], None)
    """

    def __init__(self, text: str, full: str) -> None:
        self._text, self._full = text, full

    @cached_property
    def _places(self) -> list[_Place] | None:
        return _places(self._text, self._full, lambda gap: _CUTS.search(gap.words) is not None)

    def gaps(self, is_notice: IsNotice) -> list[Gap] | None:
        """The gaps in the text as written or with other blanks, each a notice or at an end and silent;
        None if it is not an excerpt."""
        gaps = [place.between(self._text, self._full) for place in self._places or ()]
        if self._places is not None and all(is_notice(gap) for gap in gaps if gap.words):
            return gaps
        one, other = _plain(self._text, self._full)
        places = _places(one, other, is_notice)
        return None if places is None else [place.between(one, other) for place in places]

    @property
    def without_halves(self) -> str:
        """The text without half words and half numbers next to gaps, which are left from a cut.

        For instance `[3, 12` does not show the number 12 if the other text is `[3, 1250]`. A text
        that is not an excerpt stays as it is.

        >>> def cut(text, full):
        ...     return Excerpt(text, full).without_halves
        >>> cut("<ref> [3, 12", "[3, 1250]"), cut("[3, 12 … 7]", "[3, 1250, 4417]")
        ('<ref> [3, ', '[3,  … ]')
        >>> [cut(text, "[3, 1250]") for text in ("12", "[3, 1250", "")]
        ['12', '[3, 1250', '']
        >>> cut("['a', 12]", "['a', 12.5]"), cut("1…", "1250 walls"), cut("… s", "1250 walls")
        ("['a', 12]", '…', '… ')
        """
        text, parts, done = self._text, list[str](), 0
        for begin, end, place, goes_on in self._places or ():
            half = token_around(self._full, place)[0] - place
            parts += text[done : begin + half], text[begin:end]
            done = end - goes_on + token_around(self._full, goes_on)[1]
        return "".join([*parts, text[done:]])


def _plain(text: str, full: str) -> tuple[str, str]:
    """Two texts without insignificant parts."""
    if max(len(text), len(full)) > LONG_CHARS:
        return " ".join(text.split()), " ".join(full.split())
    return folded(without_marks(text)), _folded_once(full)


def folded(text: str) -> str:
    """A text with runs of blanks or line breaks reduced to one, none between the signs of data, and
    typographic signs replaced.

    >>> folded('{\\n  "a": [1,\\n  2]\\n}'), folded("[1 line left out]\\nDelete it.")
    ('{"a":[1,2]}', '[1 line left out]\\nDelete it.')
    """
    text = without_colours(text)
    if not text.isascii():
        text = normalize("NFC", text).translate(_TYPED)
    lines = (" ".join(line.split()) for line in text.split("\n"))
    text = _BREAK.sub("", "\n".join(filter(None, lines)))
    for sign in filter(text.__contains__, _LOOSE):
        text = text.replace(f" {sign}", sign).replace(f"{sign} ", sign)
    return text


_folded_once = lru_cache(maxsize=256)(folded)
"""`folded`, cached for a text that many others are compared with."""


def _places(one: str, other: str, is_notice: IsNotice) -> list[_Place] | None:
    """The places of the gaps between two texts; None if the first is not an excerpt of the other."""
    if one.startswith(("{", "[{")) and one[:2] != other[:2]:
        return None  # data in another layout
    places: list[_Place] = []
    at = place = 0
    while True:
        same = shared(one, at, other, place)
        at, place = at + same, place + same
        if at == len(one):
            return [*places, _Place(at, at, place, len(other))] if place < len(other) else places
        while at and place and _WITHIN.match(one, at - 1):
            at, place = at - 1, place - 1  # a notice does not begin within a word, nor a tag
        if one[at].isalnum() and one[:at].rpartition("\n")[2].strip():
            return None
        gap = _Place(at, *next(_resumed(one, at, other, place), (len(one), place, len(other))))
        if gap.end - at > NOTICE_CHARS or (gap.end > at and not is_notice(gap.between(one, other))):
            return None
        places.append(gap)
        if gap.end == len(one):
            return places
        at, place = gap.end, gap.end_of_missing


def shared(one: str, at: int, other: str, place: int = 0) -> int:
    """The number of characters that two texts share from a place of each."""
    size, done, step = min(len(one) - at, len(other) - place), 0, 64
    while (
        done < size
        and one[at + done : at + done + step] == other[place + done : place + done + step]
    ):
        done, step = done + step, 2 * step
    start, part = at + done, other[place + done : place + min(done + step, size)]
    differs = bisect_left(
        range(len(part)), True, key=lambda number: not one.startswith(part[: number + 1], start)
    )
    return min(done, size) + differs


def _resumed(one: str, at: int, other: str, place: int) -> Iterator[tuple[int, int, int]]:
    """Yield the possible ends of a gap in both texts, from where they are equal again."""
    silent = [0] if at == 0 else []
    for end in (*silent, *(stop.end() for stop in _STOP.finditer(one, at, at + NOTICE_CHARS))):
        rest = one[end:]
        is_end = len(rest) <= len(other) - place and other.endswith(rest)
        part = sought[0] if (sought := _SOUGHT.match(rest)) else ""
        starts = (
            [len(other) - len(rest)]
            if is_end
            else [*islice(starts_of(other, part, place), _MOST_PLACES)]
        )
        if part and starts:
            start = max(starts, key=lambda start: shared(one, end, other, start))
            if end or (len(one) >= _SURE_CHARS and (is_end or other[:start].endswith("\n"))):
                yield end, place, start
