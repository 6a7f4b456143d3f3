"""Lines that state once a value of all rows of a table: `all 3 rows: status=sent`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..model import as_text
from .quantities import same_value

_LINE = re.compile(
    r"\W*(?:(?:for|in|the) )?(?:all|each|every|same|common|constant|shared)\b(?P<rows>[\w ]{0,40}):\s*(?P<pairs>\S.*?)[\s)\].]*",
    re.IGNORECASE,
)
_PAIR = re.compile(r"(\w[\w .-]*?)\s*[:=]\s*(.*)")
_COUNT = re.compile(r"\d+")
_EMPTY = frozenset({"(empty", "(empty)", "(none", "(none)", "empty"})


def without_constants(value: Any, text: str) -> tuple[Any, str]:
    """A value without the columns that lines of a text state for all rows of its tables, and the
    text without these lines. Both are unchanged if a line is wrong, or none is there.

    >>> rows = [{"id": 1, "ok": True}, {"id": 2, "ok": True}]
    >>> without_constants(rows, "all 2 rows: ok=true\\nid\\n1\\n2")
    ([{'id': 1}, {'id': 2}], 'id\\n1\\n2')
    >>> without_constants(rows, "all rows: ok=false\\nid\\n1\\n2")[1]
    'all rows: ok=false\\nid\\n1\\n2'
    """
    kept, left, stated = value, [], set[tuple[str, str]]()
    for line in text.split("\n"):
        match = _LINE.fullmatch(line) if ":" in line else None
        pairs = _pairs(match["pairs"]) if match else None
        if match is None or pairs is None:
            left.append(line)
            continue
        count = _COUNT.search(match["rows"])
        for column, constant in pairs:
            without = _without(kept, column.split("."), constant, int(count[0]) if count else 0)
            if without == kept and (column, constant) not in stated:
                return value, text
            kept = without
            stated.add((column, constant))
    return kept, "\n".join(left)


def _pairs(text: str) -> list[tuple[str, str]] | None:
    """The columns of a line with their constants; None if a part of it is no such pair."""
    matches = [_PAIR.fullmatch(part) for part in re.split(r"[,;] ", text)]
    return None if None in matches else [(pair[1], pair[2]) for pair in filter(None, matches)]


def _without(node: Any, path: Sequence[str], text: str, count: int) -> Any:
    """A value whose tables lack a column that has `text` in all rows; only tables with `count` rows
    (0: any number) are changed.
    """
    if isinstance(node, dict):
        inner: Any = {key: _without(item, path, text, count) for key, item in node.items()}
        rows = [*inner.values()]
    elif isinstance(node, list):
        inner = [_without(item, path, text, count) for item in node]
        rows = inner
    else:
        return node
    if (
        len(rows) < 2
        or count not in (0, len(rows))
        or not all(_has(row, path, text) for row in rows)
    ):
        return inner
    fewer = [_dropped(row, path) for row in rows]
    return dict(zip(inner, fewer, strict=True)) if isinstance(node, dict) else fewer


def _has(row: Any, path: Sequence[str], text: str) -> bool:
    """True if a row has a value at a path that is written as `text`."""
    for key in path:
        if not isinstance(row, dict) or key not in row:
            return False
        row = row[key]
    if row in ("", None, []):
        return text.casefold() in _EMPTY or not text
    return not isinstance(row, dict | list) and bool(text) and same_value(text, as_text(row))


def _dropped(row: Any, path: Sequence[str]) -> Any:
    """A row without the value at a path."""
    key, rest = path[0], path[1:]
    if rest:
        return {name: _dropped(item, rest) if name == key else item for name, item in row.items()}
    return {name: item for name, item in row.items() if name != key}
