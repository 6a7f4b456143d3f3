"""Reading of structured values from a text in any layout.

Read are JSON, Python literals, YAML, settings, and tables (also with the header as strings and lists). Only
records matter, not the shape of the value: every record comes once, with its keys. Linear in the
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import product
from typing import Any

from ..model import nested
from .containers import without_containers
from .data import parse_data
from .decode import NothingParsed, parse_prefix
from .line_notes import without_marks
from .tables import find_tables

_PATH = re.compile(r"((?:[A-Za-z_][\w-]*|\[\d+\])(?:\.[\w /-]++|\[\d+\])+)\s*[:=]\s*(.*)")

_RULE = re.compile(r"(?m)^(?=[-=+|: \t]*+$)[^\n]*(?:--|==)[^\n]*$\n?")
"""Matches a line that only draws the rule of a table."""

_MOST_DEPTH = 60


def values_of(text: str, names: Iterable[str]) -> tuple[list[Any], str]:
    """The values in a text, and its lines that are neither table nor data.

    `names` are the keys by which the header of a table is recognised.

    >>> names = "id", "status"
    >>> values_of('{"id": [1, 2], "status": ["a", "b"]}', names)
    ([[{'id': 1, 'status': 'a'}, {'id': 2, 'status': 'b'}]], '')
    >>> values_of("all:\\nid|status\\n1|a", names)
    ([[{'id': 1, 'status': 'a'}]], 'all:')
    """
    text = without_marks(text)
    columns = set(names)
    with suppress(NothingParsed):
        value = parse_data(text)
        keys = [
            key for item in nested(value) if isinstance(item, dict) for key in _scalar_keys(item)
        ]
        if 2 * sum(map(columns.__contains__, keys)) >= max(1, len(keys)):
            return [_plain(value)], ""
    values: list[Any] = []
    rest = text
    if text.lstrip()[:1] in ("{", "["):
        # The latter for lines that were wrapped.
        ways = dict.fromkeys((text, text.replace("\n", " ")))
        for way, bare in product(ways, (False, True)):
            with suppress(NothingParsed):
                value, end = parse_prefix(way, bare=bare)
                if len(text) - end < len(rest):
                    values, rest = [value], text[end:]
            if not rest.strip():
                break
    rows, rest = find_tables(_RULE.sub("", rest), columns)
    values += [rows] if rows else []
    data, _ = without_containers(rest)
    return [_plain(value) for value in [*values, *data]], rest


def _scalar_keys(value: Mapping[Any, Any]) -> list[Any]:
    """The keys of a mapping that lead to scalars."""
    return [key for key, item in value.items() if not isinstance(item, dict | list)]


def is_path(line: str) -> bool:
    """True if a line has a dotted path and its value.

    >>> is_path('orders.0.id = "W1"'), is_path("see: main.py")
    (True, False)
    """
    return bool(_PATH.fullmatch(line.strip()))


def _plain(value: Any, depth: int = 0) -> Any:
    """A value with columns converted to rows."""
    if depth > _MOST_DEPTH:
        return value
    if isinstance(value, Mapping):
        values = {key: _plain(item, depth + 1) for key, item in value.items()}
        return _rows_of(values) or values
    return [_plain(item, depth + 1) for item in value] if isinstance(value, list | tuple) else value


def _rows_of(value: dict[Any, Any]) -> list[dict[str, Any]]:
    """The rows of a mapping with columns: lists of one length, or a header and lists as long as it."""
    lists = [item for item in value.values() if isinstance(item, list)]
    flat = [
        item for item in lists if item and not any(isinstance(one, dict | list) for one in item)
    ]
    sizes = {len(item) for item in lists}
    if len(lists) == len(value) and len(flat) > 1 and len(sizes) == 1 and len(flat[0]) > 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*lists, strict=True)]
    for header in flat:
        for rows in lists:
            if all(isinstance(row, list) and len(row) == len(header) for row in rows) and rows:
                return [dict(zip(map(str, header), row, strict=True)) for row in rows]
    return []
