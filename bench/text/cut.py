"""The ends at which a text was cut: half a word or number at a cut says nothing of what stood there."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable

from .decode import NothingParsed, parse_json, parse_prefix
from .facts import token_around

_WORD = re.compile(r"\w")


def without_halves(shown: str, untruncated: str) -> str:
    """A text that holds the beginning or the end of another one, without the half of a word or number that a cut left of it.

    `12` is not what `[3, 1250]` holds, though it stands in `[3, 12`. Only the first cut from the front and from the back are looked at, behind
    whatever stands before the one and after the other. A text that holds neither beginning nor end of the other one comes back as it is, and so
    do data that are whole: their values changed.

    >>> without_halves("<ref> [3, 12", "[3, 1250]"), without_halves("[3, 12 … 7]", "[3, 1250, 4417]"), without_halves("12", "[3, 1250]")
    ('<ref> [3, ', '[3,  … ]', '12')
    >>> without_halves("[3, 1250", "[3, 1250]"), without_halves("", "[3]"), without_halves("['a', 12]", "['a', 12.5]")
    ('[3, 1250', '', "['a', 12]")
    >>> without_halves("1…", "1250 walls"), without_halves("… s", "1250 walls")
    ('…', '… ')
    """
    if _whole(shown):
        return shown
    at = _begins(shown, untruncated)
    front = _shared(shown[at:], untruncated, from_end=False)
    if 0 < front < len(untruncated) and not _WORD.match(shown[at + front : at + front + 1]):
        start = token_around(untruncated, front)[0]
        shown = shown[: at + start] + shown[at + front :]
    after = len(shown) - _ends(shown, untruncated)
    shown, behind = (shown[:-after], shown[-after:]) if after else (shown, "")
    back = _shared(shown, untruncated, from_end=True)
    if 0 < back < len(untruncated) and not _WORD.match(shown[len(shown) - back - 1 : len(shown) - back]):
        end = token_around(untruncated, len(untruncated) - back)[1]
        shown = shown[: len(shown) - back] + shown[len(shown) - (len(untruncated) - end) :]
    return shown + behind


SOUGHT_CHARS, SURE_CHARS = 64, 8
"""The characters of a beginning or an end that are looked for, and the least number that is no accident."""


def _begins(shown: str, untruncated: str) -> int:
    """Return the place in a shown text where the longest beginning of another text stands, the first such place."""
    chars = _longest(shown, untruncated[:SOUGHT_CHARS], from_end=False)
    at = shown.find(untruncated[:chars])
    return at if chars >= SURE_CHARS or at + chars == len(shown) else 0


def _ends(shown: str, untruncated: str) -> int:
    """Return the place in a shown text where the longest end of another text ends, the last such place.

    >>> _ends("… 441700] tail", "[3, 1250, 441700]"), _ends("… 41700] tail", "[3, 1250, 41700]")
    (9, 13)
    """
    sought = untruncated[-SOUGHT_CHARS:]
    chars = _longest(shown, sought, from_end=True)
    at = shown.rfind(sought[len(sought) - chars :])
    return at + chars if chars >= SURE_CHARS or at == 0 else len(shown)


def _longest(shown: str, sought: str, from_end: bool) -> int:
    """Count the characters of a text, from its beginning or its end, that stand together somewhere in another text."""
    return _most(len(sought), lambda chars: (sought[-chars:] if from_end else sought[:chars]) in shown)


def _whole(text: str) -> bool:
    """True if a text is data from its first bracket to its last, written as JSON or Python."""
    if text[:1] not in ("[", "{") or text[-1:] not in ("]", "}"):
        return False
    try:
        parse_json(text)
    except NothingParsed:
        try:
            return parse_prefix(text)[1] == len(text)
        except NothingParsed:
            return False
    return True


def _shared(one: str, other: str, from_end: bool) -> int:
    """Count the characters that two texts share at their beginning, or at their end."""
    most = min(len(one), len(other))
    return _most(most, lambda chars: one.endswith(other[-chars:]) if from_end else one.startswith(other[:chars]))


def _most(high: int, holds: Callable[[int], bool]) -> int:
    """Return the largest number up to a limit for which something holds that holds for all smaller ones."""
    return bisect.bisect_left(range(1, high + 1), True, key=lambda number: not holds(number))
