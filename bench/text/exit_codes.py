"""Exit codes that a text states."""

from __future__ import annotations

import re

from .places import starts_of

EXIT_CODE = re.compile(
    r"(?i:return_?code|exit_?(?:code|status)|exit(?:ed)? (?:with )?(?:code|status)|(?<=\[)exit"
    r"|\$\?|\Aexit(?= \d+(?:,|\n|\Z)))[\"']?(?:>|\s*[:=]\s*|\s+)(-?\d+)(?!\w)"
)
"""A statement of an exit code."""

_WORDS = ("eturn", "ETURN", "xit", "XIT", "?")  # behind the letter that the pattern begins with


def exit_codes(text: str) -> tuple[int, ...]:
    """The exit codes that a text states, in order; `()` for none.

    >>> texts = "<returncode>0</returncode>", '{"exit_code": 127}', "run_1 exited with code 2", "$? = 1"
    >>> [exit_codes(text) for text in (*texts, "exit 3\\n", "if a: exit 3")]
    [(0,), (127,), (2,), (1,), (3,), ()]
    """
    codes: dict[int, int] = {}
    for word in filter(text.__contains__, _WORDS):
        for position in starts_of(text, word):
            if position and (match := EXIT_CODE.match(text, position - 1)):
                codes[position] = int(match.group(1))
    return tuple(code for _, code in sorted(codes.items()))
