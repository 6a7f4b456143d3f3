"""Line numbers and quotation signs (`>`) in front of lines, as file viewers and mails add them."""

from __future__ import annotations

import re

from .omissions import omission_in

_NUMBERED = re.compile(
    r"[ \t]*(?!\d\d:\d\d(?::\d\d|\s))(?P<L>L)?(?P<n>\d+)(?:[ \t]?[:|│┃→\t] ?|  |$|(?(L) |(?!)))"
)
"""Matches the number of a line. It is not a time of day."""

_SIGN = re.compile(r"[ \t]*(>)(?: |$)")


def without_number(line: str) -> str:
    """A line without the number that `cat -n` and file viewers put in front. A line that is only a
    number is unchanged.

    >>> without_number("  12\\tdef main():"), without_number("303  ls: no file"), without_number("12 files")
    ('def main():', 'ls: no file', '12 files')
    >>> without_number("35866"), without_number("208  "), without_number("L7| end"), without_number("L7 end")
    ('35866', '', 'end', 'end')
    """
    match = _NUMBERED.match(line)
    return line if match is None or match.end("n") == len(line) else line[match.end() :]


def without_marks(text: str) -> str:
    """A text without the line numbers, or the signs, that all of its lines begin with. Between the
    numbers there may be notices of an omission.

    >>> without_marks("  7: {\\n  8:   }"), without_marks("7: a\\nb"), without_marks("35866")
    ('{\\n  }', '7: a\\nb', '35866')
    >>> without_marks("7: a\\n[2 lines omitted]\\n10: b"), without_marks("7: a\\n10: b")
    ('a\\n[2 lines omitted]\\nb', '7: a\\n10: b')
    >>> without_marks("> a\\n> b"), without_marks("- a\\nb"), without_marks("-5\\n-7")
    ('a\\nb', '- a\\nb', '-5\\n-7')
    """
    lines = text.rstrip("\n").split("\n")
    numbers, signs = (list(map(mark.match, lines)) for mark in (_NUMBERED, _SIGN))
    if not (any(numbers) or any(signs)):
        return text
    if _are_line_numbers(lines, numbers):
        marks = numbers
    elif all(signs):
        marks = signs
    else:
        return text
    ends = [mark.end() if mark else 0 for mark in marks]
    rest = "\n".join(line[end:] for line, end in zip(lines, ends, strict=True))
    return rest if any(marks) and rest.strip() else text


def _are_line_numbers(lines: list[str], matches: list[re.Match[str] | None]) -> bool:
    """True if the lines are numbered one by one, with a jump only after a notice of an omission."""
    last, may_jump = -1, True
    for line, match in zip(lines, matches, strict=True):
        if match is None:
            if not omission_in(line, ""):
                return False
            may_jump = True
            continue
        number = int(match["n"][:9])
        if number <= last or not (may_jump or number == last + 1):
            return False
        last, may_jump = number, False
    return True
