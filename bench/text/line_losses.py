"""Indentation that a text lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ..model import grouped
from .line_notes import without_number

_COLON = re.compile(r":\s*\n")


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
