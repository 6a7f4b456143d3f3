"""Runs of base64 or hexadecimal digits in a text."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress

_FEWEST_CHARS = 48
_RUN = re.compile(rf"(?<![\w+/])[A-Za-z0-9+/]{{{_FEWEST_CHARS},}}={{0,2}}(?![\w+/])")
_MOST_SLASHES = 12
"""Paths have more slashes than one in this many characters."""

_DECODERS: tuple[Callable[[str], bytes], ...] = (
    bytes.fromhex,
    lambda run: b64decode(run, validate=True),
)


def decoded_runs(text: str, known: str = "") -> tuple[str, bool]:
    """A text with its encoded runs replaced by the decoded texts, and True if it has any. Runs in a
    `known` text stay.

    >>> decoded_runs("hex: " + ("café " * 9).encode().hex())[0]
    'hex: café café café café café café café café café '
    >>> decoded_runs("/usr/lib/python/site/packages/bench/text/encoded/decoders"), decoded_runs("ab" * 20)[1]
    (('/usr/lib/python/site/packages/bench/text/encoded/decoders', False), False)
    """
    has_any = False
    words = dict.fromkeys(word for word in text.split() if len(word) >= _FEWEST_CHARS)
    for run in dict.fromkeys(run for word in words for run in _RUN.findall(word)):
        if run in known or run.count("/") * _MOST_SLASHES > len(run):
            continue
        for decode in _DECODERS:
            with suppress(ValueError):
                data = decode(run)
                has_any = True
                text = text.replace(run, data.decode())
                break
    return text, has_any
