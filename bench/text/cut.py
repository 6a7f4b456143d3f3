"""The ends at which a text was cut: half a word or number at a cut says nothing of what stood there."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable

from .decode import NothingParsed, parse_json, parse_prefix
from .facts import token_around

_WORD = re.compile(r"\w")
_SOUGHT_CHARS, _SURE_CHARS = 64, 8
"""The characters of a beginning that are looked for, and the least number that is no accident."""


def without_halves(kept: str, untruncated: str) -> str:
    """A text that shows another one cut, without the half of a word or number that a cut left of it.

    `12` is not what `[3, 1250]` holds, though it stands in `[3, 12`. Only the first cut from the
    front and from the back are looked at, behind whatever stands before the one and after the
    other. A text that holds neither beginning nor end of the other comes back as it is, and so do
    complete data.

    >>> without_halves("<ref> [3, 12", "[3, 1250]"), without_halves("[3, 12 … 7]", "[3, 1250, 4417]")
    ('<ref> [3, ', '[3,  … ]')
    >>> [without_halves(text, "[3, 1250]") for text in ("12", "[3, 1250", "")]
    ['12', '[3, 1250', '']
    >>> without_halves("['a', 12]", "['a', 12.5]"), without_halves("1…", "1250 walls"), without_halves("… s", "1250 walls")
    ("['a', 12]", '…', '… ')
    """
    if _is_data(kept):
        return kept
    kept = _without_half(kept, untruncated, lambda place: token_around(untruncated, place)[0])
    size = len(untruncated)
    backwards = kept[::-1], untruncated[::-1]
    return _without_half(*backwards, lambda place: size - token_around(untruncated, size - place)[1])[::-1]


def _without_half(kept: str, untruncated: str, token_start: Callable[[int], int]) -> str:
    """A text without the half of a token behind the first beginning of another text that stands in it."""
    sought = untruncated[:_SOUGHT_CHARS]
    chars = most(len(sought), lambda number: sought[:number] in kept)
    at = kept.find(sought[:chars])
    if chars < _SURE_CHARS and at + chars < len(kept):
        at = 0
    rest = kept[at:]
    shared = most(min(len(rest), len(untruncated)), lambda number: rest.startswith(untruncated[:number]))
    if not 0 < shared < len(untruncated) or _WORD.match(rest, shared):
        return kept
    return kept[: at + token_start(shared)] + rest[shared:]


def _is_data(text: str) -> bool:
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


def most(high: int, is_so: Callable[[int], bool]) -> int:
    """The largest number up to a limit for which something is so that is so for all smaller ones."""
    return bisect.bisect_left(range(1, high + 1), True, key=lambda number: not is_so(number))
