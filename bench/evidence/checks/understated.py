"""Notices in data that count fewer rows or items than are missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ...model import as_text
from ...text.decode import NothingParsed, parse_json
from ...text.omissions import omission_in, says_omission
from ..own_text import RewrittenResult, lines_shown
from ..row_counts import NEAR

_NUMBER = re.compile(r"\d+")
_ROWS = re.compile(
    r"(\d+) (?:(?:more|other|further) )?(?:rows?|results?|items?|records?|entry|entries)\b"
)


def understated(own: RewrittenResult) -> str:
    """The first such notice in a text that shows a result; "" without one."""
    if not own.table.fields or not own.says_omission or own.gaps is not None:
        return ""
    with suppress(NothingParsed):
        return next(_understated(parse_json(own.text), own.result.data), "")
    notices = [line for line in lines_shown(own.added) if omission_in(line, own.result.text)]
    counts = [int(count[:9]) for line in notices for count in _ROWS.findall(line)]
    if not counts:
        return ""
    kept = own.session.messages.fields_of(own.number, own.result.index)
    return notices[0] if sum(counts) < own.table.rows_without(kept) - NEAR else ""


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
