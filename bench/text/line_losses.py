"""Lines and indentation that a text lost without a word of its own."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from ..model import grouped
from .line_notes import without_number
from .omissions import omission_in

_PLACE = re.compile(
    r"\b(?:at the end|below|follow(?:s|ing)?|further|here|remaining|rest)\b", re.IGNORECASE
)
"""Matches the words by which a notice says where the gap is."""

_COLON = re.compile(r":\s*\n")


def left_out(text: str, original: str) -> str:
    """The first line that a text has less often than another text of which it has lines and nothing
    else; "" without one. Blank lines do not count.

    >>> [left_out(text, "a\\nb\\n\\na") for text in ("a\\nb", "a\\nb\\na", "a [2 times]\\nb")]
    ['a', '', '']
    """
    shown, lines = (Counter(filter(None, map(str.strip, t.split("\n")))) for t in (text, original))
    return next(iter(lines - shown), "") if shown.keys() <= lines.keys() else ""


def misplaced(text: str, original: str) -> str:
    """The first notice of a text that puts a gap where no line of another text is missing, though
    some are missing elsewhere without a notice; "" without one, or with other lines.

    >>> notices = "a\\nd\\n[2 more lines follow]", "a\\n[2 lines left out here]\\nd", "a\\nd\\n[2 lines left out]"
    >>> [misplaced(shown, "a\\nb\\nc\\nd") for shown in notices]
    ['[2 more lines follow]', '', '']
    """
    lines = [*filter(None, map(str.strip, original.split("\n")))]
    places = grouped((line, at) for at, line in enumerate(lines))
    last, found, is_silent = -1, "", False
    notices: list[str] = []
    for line in (*filter(None, map(str.strip, text.split("\n"))), None):
        if line and line not in places and omission_in(line, original):
            notices.append(line)
            continue
        later = len(lines) if line is None else _next(places.get(line, []), last)
        if later is None:
            return ""
        if later > last + 1:
            is_silent = is_silent or not notices
        else:
            found = found or next(filter(_PLACE.search, notices), "")
        last, notices = later, []
    return found if is_silent else ""


def out_of_order(text: str, original: str) -> str:
    """The first line of a text that comes after a line which it stands before in another text, or
    once too often; "" without one, for the lines in reverse, and for a text with other lines.

    >>> texts = "a\\nc", "c\\nb\\na", "a\\nc\\nb", "a\\nc\\nb!"
    >>> [out_of_order(text, "a\\nb\\nc") for text in texts]
    ['', '', 'b', '']
    """
    lines = [*filter(None, map(str.strip, text.split("\n")))]
    if not all(line in original or omission_in(line, original) for line in lines):
        return ""
    places = grouped(
        (line.strip(), at) for at, line in enumerate(original.split("\n")) if line.strip()
    )
    own = [line for line in lines if line in places or not omission_in(line, original)]
    if not places.keys() >= {*own}:
        return ""
    found = (_first_moved(some, places) for some in (own, own[::-1]))
    return min(found, key=bool)


def _first_moved(lines: list[str], places: dict[str, list[int]]) -> str:
    """The first line without a place behind those of the lines before it; "" without one."""
    last = -1
    for line in lines:
        at = _next(places[line], last)
        if at is None:
            return line
        last = at
    return ""


def _next(places: list[int], last: int) -> int | None:
    """The first place after another one; None without one."""
    at = bisect_right(places, last)
    return places[at] if at < len(places) else None


def lost_indentation(text: str, original: str) -> str:
    """The first line of a block (below a line with a colon at its end) that is indented less deep,
    compared with the line before it, or stands in one line with that colon; "" without one.
    Items of a list, which their sign tells, do not count.

    >>> code = "def f(x):\\n    if x:\\n        return 1\\n    return 2"
    >>> [lost_indentation(text, code) for text in ("def f(x):\\n if x:\\n  return 1\\n return 2", "if x:\\nreturn 1", "if x: return 1")]
    ['', 'return 1', 'return 1']
    >>> lost_indentation("a:\\n  b: 1\\nc: 2", "a:\\n  b: 1\\n  c: 2")
    'c: 2'
    """
    if _COLON.search(original) is None:
        return ""
    recorded = grouped((words, depth) for words, depth, in_block in _pairs(original) if in_block)
    for words, depth, _ in _pairs(text):
        if depth < min(recorded.get(words, [depth])):
            return words[1]
    below = (words for words, depths in recorded.items() if words[0].endswith(":") and 1 in depths)
    return next((line for above, line in below if f"{above} {line}" in text), "")


def _pairs(text: str) -> Iterator[tuple[tuple[str, str], int, bool]]:
    """Yield each line together with the next one, if neither is an item of a list; 1 if that is
    indented deeper, -1 if less, else 0; True if it is in a block."""
    lines = [line for line in map(without_number, text.split("\n")) if line.strip()]
    openers: list[int] = []
    for above, line in pairwise(lines):
        one, other = _indent(above), _indent(line)
        if above.rstrip().endswith(":"):
            openers.append(one)
        in_block = bool(openers)
        while openers and openers[-1] >= other:
            openers.pop()
        words = above.strip(), line.strip()
        if not any(each.startswith(("- ", "* ", "• ")) for each in words):
            yield words, (other > one) - (other < one), in_block


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
