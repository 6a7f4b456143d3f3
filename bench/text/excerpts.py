"""Excerpts: texts that copy parts of a result in order, with a notice or nothing in the gaps. Of an
excerpt only the words in the gaps need checking, and it is known what each gap leaves out. Other
texts are compared line by line (`result_lines`) or record by record (`field_table`)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from .decode import LONG_CHARS, without_colours
from .escapes import unescape
from .facts import token_around
from .line_prefixes import without_marks
from .places import starts_of

NOTICE_CHARS, _SURE_CHARS, _MOST_PLACES = 200, 8, 20
"""The most characters of a notice, the fewest of a text that is no excerpt by accident, and the most
places to try behind a gap."""

_NEXT_WORDS = re.compile(r"\W{0,400}.{0,24}", re.DOTALL)
"""Matches the words behind a gap, which are searched in the full text."""

_STOP = re.compile(r"\n\s*|(?:[\])}>…]|\.{3})\s*|[\"']")
"""Matches what a notice may end with."""

_WITHIN_WORD = re.compile(r"[\w<\[(/]\w|</")
_CUTS = re.compile(r"[\w…\[(<\n]|\.\.")
"""Matches a character of a notice; a gap with only other signs is a difference in layout."""

_TYPOGRAPHIC = str.maketrans(
    {**dict(zip("’‘“”„–—−\u00a0⏎↵", '\'\'"""--- \n\n', strict=True)), "…": "..."}
)
"""Typographic signs and their plain forms."""

_ESCAPE = re.compile(r"(?:(?<!\\)\\u[\da-fA-F]{4})+")
"""Matches characters that JSON writes as their numbers."""

_LOOSE = *'{}[],"', '":', "':"
"""Signs next to which a blank is insignificant."""

_BREAK = re.compile(
    r"\n(?:(?<=[{\[]\n)|(?<=>\n)(?=<)|(?=[}\],])|(?<=,\n)(?=[\"'{\[\d-]|true|false|null))"
)
"""Matches an insignificant line break: between the signs of data, or between tags."""


_DENIES = re.compile(
    r"\b(?:cannot|except|never|no|not|only|unless|without)\b|n['’]t\b", re.IGNORECASE
)
_SENTENCE_ENDS = re.compile(r"[\n.;!?{}\[\]\"]")


class Gap(NamedTuple):
    """The words that an excerpt has in one place, and what is missing there; either may be empty."""

    words: str
    missing: str

    def hides_denial(self, full: str) -> bool:
        """True for a mark within a sentence that stands for a word such as not, and perhaps others.

        >>> Gap("…", "not").hides_denial("Do not push."), Gap("…", "Do not push.").hides_denial("Do not push.")
        (True, False)
        """
        missing = self.missing.strip()
        is_within = not (_SENTENCE_ENDS.search(missing) or full.endswith(missing))
        return bool(self.words.strip()) and is_within and bool(_DENIES.search(missing))


class _Place(NamedTuple):
    """The start and end of a gap in the excerpt, and of what is missing in the full text."""

    start: int
    end: int
    missing_start: int
    missing_end: int

    def gap(self, shown: str, full: str) -> Gap:
        """The gap at this place, without the blanks at which both parts end."""
        words = shown[self.start : self.end]
        missing = full[self.missing_start : self.missing_end]
        blanks = missing[len(missing.rstrip()) :]
        count = len(blanks) if words.endswith(blanks) else 0
        return Gap(words[: len(words) - count], missing[: len(missing) - count])


IsNotice: TypeAlias = Callable[[Gap], bool]
"""True for a gap whose words only say that something is left out."""


class Excerpt:
    """A text that may be an excerpt of a full text. Their gaps are found once.

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
        """The gaps of the excerpt, each with a notice, or silent at an end; None for another text.
        If the texts as they are give no such gaps, they are compared without differences in
        layout."""
        gaps = [place.gap(self._text, self._full) for place in self._places or ()]
        if self._places is not None and all(is_notice(gap) for gap in gaps if gap.words):
            return gaps
        text, full = _plain(self._text, self._full)
        places = _places(text, full, is_notice)
        return None if places is None else [place.gap(text, full) for place in places]

    @property
    def without_halves(self) -> str:
        """The text without the halves of words and numbers that gaps cut through.

        For instance `[3, 12` does not show the number 12 if the full text is `[3, 1250]`. A text that
        is not an excerpt is unchanged.

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
        for start, end, missing_start, missing_end in self._places or ():
            half = token_around(self._full, missing_start)[0] - missing_start
            parts += text[done : start + half], text[start:end]
            done = end - missing_end + token_around(self._full, missing_end)[1]
        return "".join([*parts, text[done:]])


def _plain(text: str, full: str) -> tuple[str, str]:
    """Both texts without what is only layout: blanks, line numbers and typographic signs."""
    if max(len(text), len(full)) > LONG_CHARS:
        return " ".join(text.split()), " ".join(full.split())
    return folded(without_marks(text)), _folded_once(full)


def folded(text: str) -> str:
    """A text with plain instead of typographic signs, and with single blanks and line breaks; without
    any between the signs of data.

    >>> folded('{\\n  "a": [1,\\n  2]\\n}'), folded("[1 line left out]\\nDelete it.")
    ('{"a":[1,2]}', '[1 line left out]\\nDelete it.')
    """
    text = _ESCAPE.sub(lambda escape: unescape(escape[0]), without_colours(text))
    if not text.isascii():
        text = normalize("NFC", text).translate(_TYPOGRAPHIC)
    lines = (" ".join(line.split()) for line in text.split("\n"))
    text = _BREAK.sub("", "\n".join(filter(None, lines)))
    for sign in filter(text.__contains__, _LOOSE):
        text = text.replace(f" {sign}", sign).replace(f"{sign} ", sign)
    return text


_folded_once = lru_cache(maxsize=256)(folded)
"""`folded`, cached, because many texts are compared with the same full text."""


def _places(text: str, full: str, is_notice: IsNotice) -> list[_Place] | None:
    """The places of the gaps in a text; None if it is not an excerpt of the full text."""
    if text.startswith(("{", "[{")) and text[:2] != full[:2]:
        return None  # data in another layout
    places: list[_Place] = []
    start = missing_start = 0
    while True:
        same = common_length(text, start, full, missing_start)
        start, missing_start = start + same, missing_start + same
        if start == len(text):
            at_end = _Place(start, start, missing_start, len(full))
            return [*places, at_end] if missing_start < len(full) else places
        while start and missing_start and _WITHIN_WORD.match(text, start - 1):
            # A notice does not begin within a word or a tag.
            start, missing_start = start - 1, missing_start - 1
        if text[start].isalnum() and text[:start].rpartition("\n")[2].strip():
            return None
        at_end = _Place(start, len(text), missing_start, len(full))
        place = next(_resumed(text, start, full, missing_start), at_end)
        is_long = place.end - start > NOTICE_CHARS
        if is_long or (place.end > start and not is_notice(place.gap(text, full))):
            return None
        places.append(place)
        if place.end == len(text):
            return places
        start, missing_start = place.end, place.missing_end


def common_length(text: str, start: int, other: str, other_start: int = 0) -> int:
    """The number of characters that two texts have in common from a place in each."""
    size, done, step = min(len(text) - start, len(other) - other_start), 0, 64
    while (
        done < size
        and text[start + done : start + done + step]
        == other[other_start + done : other_start + done + step]
    ):
        done, step = done + step, 2 * step
    begin = start + done
    part = other[other_start + done : other_start + min(done + step, size)]
    common = bisect_left(
        range(len(part)), True, key=lambda last: not text.startswith(part[: last + 1], begin)
    )
    return min(done, size) + common


def _resumed(text: str, start: int, full: str, missing_start: int) -> Iterator[_Place]:
    """Yield the possible places of a gap from its start: up to where both texts go on alike."""
    silent = [0] if start == 0 else []
    stops = (stop.end() for stop in _STOP.finditer(text, start, start + NOTICE_CHARS))
    for end in (*silent, *stops):
        rest = text[end:]
        is_end = len(rest) <= len(full) - missing_start and full.endswith(rest)
        match = _NEXT_WORDS.match(rest)
        words = match[0] if match else ""
        starts = islice(starts_of(full, words, missing_start), _MOST_PLACES)
        ends = [len(full) - len(rest)] if is_end else [*starts]
        if words and ends:
            missing_end = max(ends, key=lambda position: common_length(text, end, full, position))
            is_certain = is_end or full[:missing_end].endswith("\n")
            if end or (len(text) >= _SURE_CHARS and is_certain):
                yield _Place(start, end, missing_start, missing_end)
