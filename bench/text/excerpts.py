"""Excerpts: texts that show parts of another one in order, with gaps between.

If the gaps of a text are known exactly, the rest is right, and each of its own words is next to
what is missing there.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from html import unescape as unescape_html
from itertools import islice
from typing import Any, NamedTuple, TypeAlias
from unicodedata import normalize

from .decode import LONG_CHARS, NothingParsed, parse_json, parse_prefix, without_colours
from .facts import token_around
from .field_list import is_prose
from .line_notes import without_marks
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
_MARK_BEGINS = re.compile(r"[\n…\[(<]|\.{3}")
_CUTS = re.compile(r"[\w…\[(<\n]|\.\.")
"""Characters that show that a word may be half a word at a cut."""

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
    """A place where a text has words of its own, or leaves out a part of the other text."""

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


def gaps_of(shown: Any, full: Any, is_notice: IsNotice) -> list[Gap] | None:
    """The gaps between a text and another one that it shows in part, also text by text in two
    values; None if it is not an excerpt.

    Each gap is a notice, or at an end of the text and silent. Mappings have the same keys in any
    order. Blanks, and line numbers in front of all lines, make no difference.

    >>> def gaps(shown, full):
    ...     return gaps_of(shown, full, lambda gap: "omitted" in gap.words or "(+" in gap.words)
    >>> gaps("rows 1 to 3 of the walls\\n[2 lines omitted]\\nrow 6", "rows 1 to 3 of the walls\\n4\\n5\\nrow 6")
    [Gap(words='[2 lines omitted]', missing='4\\n5')]
    >>> gaps("(a)\\n(1 row omitted)", "(a)\\n(b)")
    [Gap(words='(1 row omitted)', missing='(b)')]
    >>> gaps({"n": 1, "log": "Error: dis… (+6)"}, {"log": "Error: disk full", "n": 1})
    [Gap(words='… (+6)', missing='k full')]
    >>> gaps({"state": "pen"}, {"state": "pending"})
    >>> gaps("1  /usr/lib/a\\n2  /usr/lib/b", "/usr/lib/a\\n/usr/lib/b"), gaps("user found", "user not found")
    ([], None)
    """
    if isinstance(full, str):
        return Excerpt(shown, full).gaps(is_notice) if isinstance(shown, str) else None
    if isinstance(full, dict) and isinstance(shown, dict) and shown.keys() == full.keys():
        return _of_all(((shown[key], item) for key, item in full.items()), is_notice)
    if isinstance(full, list) and isinstance(shown, list) and len(shown) == len(full):
        return _of_all(zip(shown, full, strict=True), is_notice)
    return (
        []
        if type(shown) is type(full) and shown == full and not isinstance(full, dict | list)
        else None
    )


class Excerpt:
    """A text and another one of which it may show parts; their gaps are found once."""

    def __init__(self, text: str, full: str) -> None:
        self._text, self._full = text, full

    @cached_property
    def _gaps(self) -> list[_Place] | None:
        return _places(self._text, self._full, lambda _: True)

    def gaps(self, is_notice: IsNotice) -> list[Gap] | None:
        """The gaps, each a notice or silent at an end; None if the text is not an excerpt."""
        gaps = [place.between(self._text, self._full) for place in self._gaps or ()]
        at_places = zip(self._gaps or (), gaps, strict=True)
        if self._gaps is not None and all(
            place.end == place.begin or is_notice(gap) for place, gap in at_places
        ):
            return gaps
        for one, other, flat in islice(_ways(self._text, self._full), 1, None):
            places = _places(one, other, is_notice, flat=flat)
            if places is not None:
                return [place.between(one, other) for place in places]
        return None

    @cached_property
    def without_halves(self) -> str:
        """The text without half words and half numbers next to gaps, which are left from a cut.

        For instance `[3, 12` does not show the number 12 if the other text is `[3, 1250]`. A text
        that is not an excerpt stays as it is, and so do complete data.

        >>> def cut(text, full):
        ...     return Excerpt(text, full).without_halves
        >>> cut("<ref> [3, 12", "[3, 1250]"), cut("[3, 12 … 7]", "[3, 1250, 4417]")
        ('<ref> [3, ', '[3,  … ]')
        >>> [cut(text, "[3, 1250]") for text in ("12", "[3, 1250", "")]
        ['12', '[3, 1250', '']
        >>> cut("['a', 12]", "['a', 12.5]"), cut("1…", "1250 walls"), cut("… s", "1250 walls")
        ("['a', 12]", '…', '… ')
        """
        parts, done = [], 0
        for begin, end, place, goes_on in () if _is_data(self._text) else self._gaps or ():
            if begin < end and not _CUTS.search(self._text[begin:end]):
                continue
            parts += [
                self._text[done : begin - place + token_around(self._full, place)[0]],
                self._text[begin:end],
            ]
            done = end - goes_on + token_around(self._full, goes_on)[1]
        return "".join([*parts, self._text[done:]])


def _is_data(text: str) -> bool:
    """True if a text is data from its first bracket to its last, written as JSON or Python."""
    if text[:1] not in ("[", "{") or text[-1:] not in ("]", "}"):
        return False
    with suppress(NothingParsed):
        return parse_json(text) is not None
    with suppress(NothingParsed):
        return parse_prefix(text)[1] == len(text)
    return False


def _of_all(pairs: Iterable[tuple[Any, Any]], is_notice: IsNotice) -> list[Gap] | None:
    """The gaps of several pairs of values; None if one of them is not an excerpt."""
    gaps: list[Gap] = []
    for shown, full in pairs:
        of_pair = gaps_of(shown, full, is_notice)
        is_field = isinstance(full, str) and not is_prose(full)
        if of_pair is None or (is_field and any(not gap.words.strip() for gap in of_pair)):
            return None  # the beginning of a field is another value
        gaps += of_pair
    return gaps


def _ways(shown: str, full: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the ways to compare two texts: as written, then without insignificant parts; each with
    True if a line break counts as a blank.
    """
    yield shown, full, False
    if max(len(shown), len(full)) > LONG_CHARS:
        yield " ".join(shown.split()), " ".join(full.split()), True
        return
    plain = without_marks(shown)
    yield folded(plain), folded_once(full), True
    if "&" in plain:
        yield folded(unescape_html(plain)), folded_once(full), True


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


folded_once = lru_cache(maxsize=256)(folded)
"""`folded`, cached for a text that many others are compared with."""


def _places(
    shown: str, full: str, is_notice: IsNotice, *, flat: bool = False
) -> list[_Place] | None:
    """The places of the gaps between two texts as written; with `flat` a line break counts as a
    blank.
    """
    one, other = (shown.replace("\n", " "), full.replace("\n", " ")) if flat else (shown, full)
    places: list[_Place] = []
    at = place = 0
    while True:
        same = shared(one, at, other, place)
        at, place = at + same, place + same
        if at == len(one):
            return [*places, _Place(at, at, place, len(full))] if place < len(full) else places
        while at and place and _WITHIN.match(one, at - 1):
            at, place = at - 1, place - 1  # a notice does not begin within a word, nor a tag
        if one[at].isalnum() and shown[:at].rpartition("\n")[2].strip():
            return None
        gap = _Place(at, *next(_resumed(one, at, other, place), (len(one), place, len(other))))
        if gap.end - at > NOTICE_CHARS or (
            gap.end > at and not is_notice(gap.between(shown, full))
        ):
            return None
        places.append(gap)
        if gap.end == len(one):
            return places
        at, place = gap.end, gap.end_of_missing


def shared(one: str, at: int, other: str, place: int) -> int:
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
        if (mark := _MARK_BEGINS.search(part, _SURE_CHARS)) and part not in other:
            part = part[: mark.start()]
        starts = (
            [len(other) - len(rest)]
            if is_end
            else [*islice(starts_of(other, part, place), _MOST_PLACES)]
        )
        if part and starts:
            start = max(starts, key=lambda start: shared(one, end, other, start))
            if end or (len(one) >= _SURE_CHARS and (is_end or other[:start].endswith("\n"))):
                yield end, place, start
