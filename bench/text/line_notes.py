"""Additions of layouts to lines of text: numbers and signs before them, counts of repetition after
them."""

from __future__ import annotations

import re
from itertools import pairwise

_NUMBERED = re.compile(r"[ \t]*(\d+)(?:[ \t]?[:|│┃→\t] ?|  |$)")
_SIGN = re.compile(r"[ \t]*([>•*-])(?: |$)")
_TIMES = re.compile(
    r"(.*\S)\s+[\[(]?(?:[a-z ]{1,20} )?(?:[x×]\s?(\d{1,9})|(\d{1,9})\s?(?:times|x|×))[\])]?\s*",
    re.IGNORECASE,
)
_DRAWN = re.compile(r"\[(\S{1,3}) ?[x×] ?(\d{1,3})\]")
"""Matches a sign and how often it is repeated within a line."""

_ENDS = frozenset("0123456789sSxX×)]")
"""The characters at the end of a line that states its number of repetitions."""


def without_number(line: str) -> str:
    """A line without the line number that `cat -n` and file viewers put before it; a line that is
    only a number stays.

    >>> without_number("  12\\tdef main():"), without_number("303  ls: no file"), without_number("12 files")
    ('def main():', 'ls: no file', '12 files')
    >>> without_number("35866"), without_number("208  ")
    ('35866', '')
    """
    match = _NUMBERED.match(line)
    return line if match is None or match.end(1) == len(line) else line[match.end() :]


def without_marks(text: str) -> str:
    """A text without the line numbers, or the same sign, before all of its lines, if words follow.

    >>> without_marks("  7: {\\n  8:   }"), without_marks("7: a\\nb"), without_marks("35866")
    ('{\\n  }', '7: a\\nb', '35866')
    >>> without_marks("> a\\n> b"), without_marks("- a\\nb"), without_marks("-5\\n-7")
    ('a\\nb', '- a\\nb', '-5\\n-7')
    """
    lines = text.rstrip("\n").split("\n")
    matches = [match for line in lines if (match := _NUMBERED.match(line))]
    numbers = [int(match[1][:9]) for match in matches]
    if len(numbers) < len(lines) or any(b - a != 1 for a, b in pairwise(numbers)):
        matches = [match for line in lines if (match := _SIGN.match(line))]
        if len(matches) < len(lines) or len({match[1] for match in matches}) > 1:
            return text
    rest = "\n".join(line[match.end() :] for line, match in zip(lines, matches, strict=True))
    return rest if rest.strip() else text


def repeated_line(line: str) -> tuple[str, int] | None:
    """A line without its stated number of repetitions, and that number; None for any other line.

    >>> repeated_line("ok [3 times]"), repeated_line("ok (x2)"), repeated_line("3 times ok")
    (('ok', 3), ('ok', 2), None)
    """
    match = _TIMES.fullmatch(line) if line.rstrip()[-1:] in _ENDS else None
    return (match[1], int(match[2] or match[3])) if match else None


def _repeated_sign(drawn: re.Match[str], known: str) -> str:
    """A sign repeated as often as stated if a known text has that, else the statement itself."""
    repeated = drawn[1] * int(drawn[2])
    return repeated if repeated in known and drawn[0] not in known else drawn[0]


def with_repeated_lines(text: str, known: str) -> str:
    """A text with lines, and signs in brackets, that state a number of repetitions written that
    often; those in a `known` text stay.

    >>> with_repeated_lines("ok (x2)\\nend", "ok\\nok\\nend"), with_repeated_lines("ok x2", "ok x2")
    ('ok\\nok\\nend', 'ok x2')
    >>> with_repeated_lines("[= x 5]\\n[- x 9]", "a\\n=====\\nb")
    '=====\\n[- x 9]'
    """
    text = _DRAWN.sub(lambda drawn: _repeated_sign(drawn, known), text)
    most = known.count("\n") + 1
    lines: list[str] = []
    for line in text.split("\n"):
        repeated, times = (None if line in known else repeated_line(line)) or (line, 1)
        lines += [repeated] * times if times <= most else [line]
    return "\n".join(lines)
