"""Notices in data that count fewer items than are missing beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ...model import as_text
from ...text.decode import NothingParsed, parse_json
from ...text.omissions import says_omission
from ..own_text import RewrittenResult
from ..row_counts import NEAR

_NUMBER = re.compile(r"\d+")


def understated(own: RewrittenResult) -> str:
    """The first such notice in a text that shows a result; "" without one."""
    with suppress(NothingParsed):
        if isinstance(own.result.data, dict | list) and own.says_omission:
            return next(_understated(parse_json(own.text), own.result.data), "")
    return ""


def _understated(shown: Any, full: Any) -> Iterator[str]:
    """Yield the notices among the items of containers that count too few of those in full ones.

    >>> [*_understated({"of": [1, 2, "... and 3 more"]}, {"of": [*range(9)]})]
    ['... and 3 more']
    >>> [*_understated([1, "3 of 9 shown"], [*range(9)]), *_understated({"...": "7 more"}, dict.fromkeys("abcdefgh"))]
    []
    """
    if isinstance(shown, dict) and isinstance(full, dict):
        others = [f"{key} {as_text(value)}" for key, value in shown.items() if key not in full]
        pairs = [(value, full[key]) for key, value in shown.items() if key in full]
    elif isinstance(shown, list) and isinstance(full, list):
        others = [item for item in shown if isinstance(item, str) and item not in full]
        pairs = [*zip(shown, full, strict=False)]
    else:
        return
    notices = [words for words in others if says_omission(words, "")]
    missing = len(full) - len(shown) + len(notices)
    counts = [int(number[:9]) for words in notices for number in _NUMBER.findall(words)]
    if counts and max(counts) < missing - NEAR:
        yield notices[0]
    for value, original in pairs:
        yield from _understated(value, original)
