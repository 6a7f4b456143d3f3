"""Decoding of base64 and hexadecimal runs, in which a strategy could hide text from the checks."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress

_FEWEST_CHARS = 48
_RUN = re.compile(rf"(?<![\w+/])[A-Za-z0-9+/]{{{_FEWEST_CHARS},}}={{0,2}}(?![\w+/])")
_CHARS_PER_SLASH = 12
"""A run with more slashes than one in so many characters is a path."""

_DECODERS: tuple[Callable[[str], bytes], ...] = (
    bytes.fromhex,
    lambda run: b64decode(run, validate=True),
)


def decoded_runs(text: str, known: str = "") -> tuple[str, bool]:
    """A text with its encoded runs decoded, and True if it has any. Runs that a `known` text has too
    are unchanged.

    >>> decoded_runs("hex: " + ("café " * 9).encode().hex())[0]
    'hex: café café café café café café café café café '
    >>> decoded_runs("/usr/lib/python/site/packages/bench/text/encoded/decoders"), decoded_runs("ab" * 20)[1]
    (('/usr/lib/python/site/packages/bench/text/encoded/decoders', False), False)
    """
    has_any = False
    words = dict.fromkeys(word for word in text.split() if len(word) >= _FEWEST_CHARS)
    for run in dict.fromkeys(run for word in words for run in _RUN.findall(word)):
        if run in known or run.count("/") * _CHARS_PER_SLASH > len(run):
            continue
        for decode in _DECODERS:
            with suppress(ValueError):
                data = decode(run)
                has_any = True
                text = text.replace(run, data.decode())
                break
    return text, has_any
