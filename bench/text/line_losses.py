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
    """The first line of a text that was indented below the line before it, and is not any more, or
    stands in one line with it; "" without one. Items of a list, which their sign tells, do not
    count.

    >>> code = "def f(x):\\n    if x:\\n        return 1\\n    return 2"
    >>> [lost_indentation(text, code) for text in ("def f(x):\\n if x:\\n  return 1\\n return 2", "if x:\\nreturn 1", "if x: return 1")]
    ['', 'return 1', 'return 1']
    """
    if _COLON.search(original) is None:
        return ""
    deeper: dict[tuple[str, str], None] = {}
    others: dict[tuple[str, str], None] = {}
    for words, is_deeper in _pairs(original):
        (deeper if is_deeper else others)[words] = None
    lost = (words for words, is_deeper in _pairs(text) if not is_deeper)
    flat = next((words[1] for words in lost if words in deeper and words not in others), "")
    return flat or next((line for above, line in deeper if f"{above} {line}" in text), "")


def _pairs(text: str) -> Iterator[tuple[tuple[str, str], bool]]:
    """Yield each line with a colon at its end together with the next line, which is no item of a
    list; True if that is indented deeper."""
    lines = [line for line in map(without_number, text.split("\n")) if line.strip()]
    for above, line in pairwise(lines):
        words = above.strip(), line.strip()
        if words[0].endswith(":") and not words[1].startswith(("- ", "* ", "• ")):
            yield words, _indent(line) > _indent(above)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
