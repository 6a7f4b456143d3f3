"""Separators: signs and words of a layout between its keys and values."""

from __future__ import annotations

import re

from .vocabulary import is_of

_SEPARATORS = frozenset("{}[]()\"'`@,:;=|/\\–—*#•_ \t&→-+.<>")
FORMATTING_TAG = re.compile(
    r"</?(?:b|br|body|code|div|em|h[1-6]|html|i|p|pre|section|strong|u)\s*/?>", re.IGNORECASE
)
"""Matches a tag of markup that only says how its words look."""

_ROOT = re.compile(r"\$(?=\[|\.[^\W\d]|\s+[^\W\d])")
"""Matches the sign for the whole value, alone or in a path."""

_LEADER = re.compile(r"\.{4,}|[\u2500-\u257f]+")
"""Matches dots or lines that lead from a key to its value."""


def behind_separator(text: str, at: int) -> int | None:
    """The place after a separator; None for any other sign, such as that of a number, a comparison
    or an omission.

    >>> [behind_separator(text, 0) for text in (": 5", "-5", "- 5", "...", "<a>", "<b>", "< 5", "$.a", "$ a", "$ 5")]
    [1, None, 1, None, 1, 3, None, 1, 1, None]
    """
    sign, following, behind = (
        text[at : at + 1],
        text[at + 1 : at + 2],
        text[at - 1 : at] if at else "",
    )
    if drawn := _LEADER.match(text, at) or FORMATTING_TAG.match(text, at) or _ROOT.match(text, at):
        return drawn.end()
    if sign not in _SEPARATORS or not sign:
        return None
    if sign in "-+." and following.isdigit() and not (behind.isalnum() and sign != "+"):
        return None
    if sign == "." and following == ".":
        return None
    if sign == "+" and behind not in "-=+ \n" and following not in "-=+":
        return None
    if sign == "<" and not (following.isalpha() or following in "/_!?"):
        return None
    if sign == ">" and behind not in "-=" and text.rfind("<", 0, at) <= text.rfind(">", 0, at):
        return None
    return at + 1


def is_part(word: str) -> bool:
    """True for a word in small letters that layouts use for their parts."""
    return is_of(word, "types", "formats", "units", "turns")


def is_link(word: str) -> bool:
    """True for a word in small letters that joins keys and values, or that layouts use."""
    return is_of(word, "links") or is_part(word)
