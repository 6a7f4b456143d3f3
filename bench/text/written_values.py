"""The forms of scalars in texts: as they are, with the escapes of a layout, dates and times in
other words."""

from __future__ import annotations

import html
import json
import re
from decimal import Decimal
from functools import lru_cache
from itertools import accumulate
from typing import Any

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
NOTHING = r"(?:null|none|nil|nan|n/?a|undefined|absent|missing)\b"
"""The pattern of the words for no value."""

_EMPTY, _NONE = (
    re.compile(rf"[\"'`*]*[:=>|\s]*(?:{words}\"\"|''|\[\]|\{{\}}|\[0\]:)?", re.IGNORECASE)
    for words in ("", rf"{NOTHING}|")
)
_A_NUMBER = re.compile(r"[-+.]?\d")
"""Matches the beginning of a number, which is not written for no value."""

_TRUE, _FALSE = (
    re.compile(r"true\b|yes\b", re.IGNORECASE),
    re.compile(r"false\b|no\b", re.IGNORECASE),
)


def folded(text: str) -> str:
    """A text with runs of blanks and line breaks reduced to one blank; tabs, which separate cells,
    stay.

    >>> folded(" a\\n  b \\t c")
    'a b\\tc'
    """
    return "\t".join(" ".join(part.split()) for part in text.split("\t"))


def folded_lines(text: str) -> tuple[str, list[int]]:
    """A text with its lines folded into one, and the places where lines with words begin.

    >>> folded_lines("a  b\\n\\n c")
    ('a b c', [0, 4])
    """
    lines = [line for line in map(folded, text.split("\n")) if line]
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    return " ".join(lines), starts[: len(lines)]


def end_of(text: str, at: int, value: Any) -> int | None:
    """The place after a scalar at a place of a text; None if it is not there.

    >>> end_of("id 5, ok", 3, 5.0), end_of("id 5% off", 3, 5)
    (4, None)
    >>> end_of("seat: , row", 5, None), end_of("seat: 0, row", 5, None)
    (6, None)
    """
    if value is None or value == [] or value == {} or value == "":
        match = (_NONE if value is None else _EMPTY).match(text, at)
        return match.end() if match and not _A_NUMBER.match(text, match.end()) else None
    if isinstance(value, bool):
        match = (_TRUE if value else _FALSE).match(text, at)
        return match.end() if match else None
    if isinstance(value, int | float):
        match = _NUMBER.match(text, at)
        while match and match[0].endswith("."):
            match = _NUMBER.fullmatch(text, at, match.end() - 1)
        is_same = match is not None and Decimal(match[0]) == Decimal(str(value))
        return match.end() if match and is_same and _is_end(text, match.end()) else None
    for form in forms_of(value):
        if text.startswith(form, at) and (not form[-1:].isalnum() or _is_end(text, at + len(form))):
            return at + len(form)
    return None


def _is_end(text: str, at: int) -> bool:
    """True if no word, number or unit continues at a place."""
    after = text[at : at + 2]
    return not (
        after[:1].isalnum()
        or after[:1] in ("_", "%", "°")
        or (after[:1] == "." and after[1:].isdigit())
    )


def stands_in(value: str, text: str) -> bool:
    """True if a folded text may have a value somewhere, in any form."""
    return any(form in text for form in forms_of(value))


@lru_cache(maxsize=65536)
def forms_of(value: str) -> tuple[str, ...]:
    """The folded forms of a text in layouts: as it is, and with the escapes of JSON, Python, SQL or
    XML."""
    plain = folded(value)
    written = (
        json.dumps(value, ensure_ascii=False)[1:-1],
        json.dumps(value)[1:-1],
        repr(value)[1:-1],
        value.replace("'", "''"),
        value.replace('"', '""'),
        html.escape(value),
        html.escape(value, quote=False),
    )
    forms = dict.fromkeys((plain, *map(folded, written)))
    return tuple(sorted(forms, key=len, reverse=True))  # a shorter one may begin a longer one
