"""Exit codes that a text states."""

from __future__ import annotations

import re

from .places import starts_of

_END = r"(?=\W{1,3}\d+(?!\.?\w|[^\S\n]+\w))"  # "returned 2 rows" states none
EXIT_CODE = re.compile(
    r"(?i:return_?code|exit_?(?:code|status)|exit(?:ed)? (?:with )?(?:code|status)|(?<=\[)exit|\$\?"
    rf"|\A(?:<\w+ |\W*)(?:exit(?:ed)?|rc|returned){_END})[\"']?(?:>|\s*[:=]\s*[\"']?|\s+)(-?\d{{1,9}})(?!\w)"
)
"""A statement of an exit code. Some words are one only at the beginning, as the header of an output."""

_ALONE = re.compile(rf"\W*{EXIT_CODE.pattern}(?:</\w+>)?\W*")
_WORDS = ("eturn", "ETURN", "xit", "XIT", "?")  # behind the letter that the pattern begins with


def exit_codes(text: str) -> tuple[int, ...]:
    """The exit codes that a text states, in order; `()` for none.

    >>> texts = "<returncode>0</returncode>", '{"exit_code": 127}', "run_1 exited with code 2", "$? = 1"
    >>> [exit_codes(text) for text in (*texts, "exit 3, cut\\n", "<o rc=2>", "if a: exit 3")]
    [(0,), (127,), (2,), (1,), (3,), (2,), ()]
    """
    codes: dict[int, int] = {}
    if match := EXIT_CODE.match(text):
        codes[match.end()] = int(match.group(1))
    for word in filter(text.__contains__, _WORDS):
        for position in starts_of(text, word):
            if position and (match := EXIT_CODE.match(text, position - 1)):
                codes[match.end()] = int(match.group(1))
    return tuple(code for _, code in sorted(codes.items()))


def only_exit_code(line: str) -> int | None:
    """The exit code that is all that a line, or a field as `key: value`, states; None for any other.

    >>> [only_exit_code(line) for line in ("<returncode>0</returncode>", "exit_code: 1", "exit 0: ok")]
    [0, 1, None]
    """
    match = _ALONE.fullmatch(line)
    return int(match.group(1)) if match else None
