"""Additions of layouts to lines of text: numbers and signs before them."""

from __future__ import annotations

import re
from itertools import pairwise

_NUMBERED = re.compile(r"[ \t]*(?P<L>L)?(?P<n>\d+)(?:[ \t]?[:|│┃→\t] ?|  |$|(?(L) |(?!)))")
_SIGN = re.compile(r"[ \t]*([>•*-])(?: |$)")


def without_number(line: str) -> str:
    """A line without the line number that `cat -n` and file viewers put before it; a line that is
    only a number stays.

    >>> without_number("  12\\tdef main():"), without_number("303  ls: no file"), without_number("12 files")
    ('def main():', 'ls: no file', '12 files')
    >>> without_number("35866"), without_number("208  "), without_number("L7| end"), without_number("L7 end")
    ('35866', '', 'end', 'end')
    """
    match = _NUMBERED.match(line)
    return line if match is None or match.end("n") == len(line) else line[match.end() :]


def without_marks(text: str) -> str:
    """A text without the line numbers, or the same sign, before all of its lines, if words follow.

    >>> without_marks("  7: {\\n  8:   }"), without_marks("7: a\\nb"), without_marks("35866")
    ('{\\n  }', '7: a\\nb', '35866')
    >>> without_marks("> a\\n> b"), without_marks("- a\\nb"), without_marks("-5\\n-7")
    ('a\\nb', '- a\\nb', '-5\\n-7')
    """
    lines = text.rstrip("\n").split("\n")
    matches = [match for line in lines if (match := _NUMBERED.match(line))]
    numbers = [int(match["n"][:9]) for match in matches]
    if len(numbers) < len(lines) or any(b - a != 1 for a, b in pairwise(numbers)):
        matches = [match for line in lines if (match := _SIGN.match(line))]
        if len(matches) < len(lines) or len({match[1] for match in matches}) > 1:
            return text
    rest = "\n".join(line[match.end() :] for line, match in zip(lines, matches, strict=True))
    return rest if rest.strip() else text
