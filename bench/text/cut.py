"""Where a text was cut: half a word or number at the cut says nothing of what stood there."""

from __future__ import annotations

import re

from .decode import NothingParsed, parse_json, parse_prefix
from .facts import token_around

_WORD = re.compile(r"\w")


def without_halves(shown: str, untruncated: str) -> str:
    """A text that begins or ends as another one does, without the half of a word or number that a cut left of it.

    `12` is not what `[3, 1250]` holds, though it stands in `[3, 12`. Only the first cut from the front and from the back are looked at. A text
    that shares neither beginning nor end with the other one comes back as it is, and so do data that are whole: their values changed.

    >>> without_halves("[3, 12", "[3, 1250]"), without_halves("[3, 12 … 7]", "[3, 1250, 4417]"), without_halves("12", "[3, 1250]")
    ('[3, ', '[3,  … ]', '12')
    >>> without_halves("[3, 1250", "[3, 1250]"), without_halves("", "[3]"), without_halves("['a', 12]", "['a', 12.5]")
    ('[3, 1250', '', "['a', 12]")
    """
    if _whole(shown):
        return shown
    front = _shared(shown, untruncated, from_end=False)
    if 0 < front < len(untruncated) and not _WORD.match(shown[front : front + 1]):
        start = token_around(untruncated, front)[0]
        shown = (shown[:start] if start > 0 else "") + shown[front:]
    back = _shared(shown, untruncated, from_end=True)
    if 0 < back < len(untruncated) and not _WORD.match(shown[len(shown) - back - 1 : len(shown) - back]):
        end = token_around(untruncated, len(untruncated) - back)[1]
        shown = shown[: len(shown) - back] + shown[len(shown) - (len(untruncated) - end) :]
    return shown


def _whole(text: str) -> bool:
    """Whether a text is data from its first bracket to its last, as JSON or as Python writes them."""
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
    """How many characters two texts share at their beginning, or at their end."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        same = one.endswith(other[-middle:]) if from_end else one.startswith(other[:middle])
        low, high = (middle, high) if same else (low, middle - 1)
    return low
