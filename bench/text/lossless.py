"""Values as lossless text: as compact JSON, or with every table as CSV, in fewer tokens.

With tables the first line is the value as compact JSON, each table in it replaced by
`{"@table":N}`. The tables follow in order, each under a line `@table N: R rows`: the column names,
then R rows.

A cell is one of four things. Bare text that JSON would read as a scalar (`null`, `true`, `12`,
`-3.5e-7`) is that scalar; text that begins with `[`, `{` or `"` is JSON; nothing at all means that
the row lacks the key; any other bare text is the string itself. So `1` is a number and `"1"` a
string.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..model import compact_json

_REFERENCE = re.compile(r"@+table")
_SCALAR = re.compile(
    r"null|true|false|NaN|-?Infinity|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII
)
_NEEDS_QUOTES = re.compile(r'[,\n\r]|^["\[{\s]|\s$|^$')


def exact_json(value: Any) -> str:
    """A value as lossless compact JSON; NaN and infinities are written as in JavaScript.

    >>> exact_json([1e-9, None, "é"]), exact_json(["é", float("inf")])
    ('[1e-9,null,"é"]', '["é",Infinity]')
    """
    written = compact_json(value)
    if "null" in written:  # which also stands for NaN and infinities
        try:
            json.dumps(value, allow_nan=False)
        except ValueError:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return written


def write_tables(value: Any) -> str:
    """A value as text, its tables as CSV; without a table its compact JSON.

    A table is a list of two or more mappings, written as CSV if that is shorter than JSON.

    >>> print(write_tables({"ok": True, "walls": [{"id": 7, "level": "1"}, {"id": 12, "level": None}]}))
    {"ok":true,"walls":{"@table":1}}
    @table 1: 2 rows
    id,level
    7,"1"
    12,null
    """
    tables: list[str] = []
    head = exact_json(_without_tables(value, tables))
    return "\n".join([head, *tables])


def _without_tables(value: Any, tables: list[str]) -> Any:
    """A value with a reference in place of each table, which is added to `tables` as text."""
    if isinstance(value, dict):
        # A key that looks like a reference gets one @ more.
        escape = "@" if len(value) == 1 and _REFERENCE.fullmatch(next(iter(value))) else ""
        return {escape + key: _without_tables(item, tables) for key, item in value.items()}
    if isinstance(value, list | tuple):
        written = _table(value, len(tables) + 1)
        if written is not None:
            tables.append(written)
            return {"@table": len(tables)}
        return [_without_tables(item, tables) for item in value]
    return value


def _table(rows: Any, number: int) -> str | None:
    """A list as CSV under its heading; None if it is not a table, or JSON is as short."""
    if len(rows) < 2 or not all(isinstance(row, dict) and row for row in rows):
        return None
    columns = list(dict.fromkeys(key for row in rows for key in row))
    order = {column: place for place, column in enumerate(columns)}
    for row in rows:
        places = [order[key] for key in row]
        if places != sorted(places) or any(map(_has_table, row.values())):
            return None
    lines = [f"@table {number}: {len(rows)} rows", ",".join(map(_name, columns))]
    lines += [
        ",".join(_cell(row[column]) if column in row else "" for column in columns) for row in rows
    ]
    written = "\n".join(lines)
    return written if len(written) < len(exact_json(rows)) else None


def _has_table(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_table, value.values()))
    if isinstance(value, list | tuple):
        return sum(isinstance(item, dict) for item in value) > 1 or any(map(_has_table, value))
    return False


def _name(text: str) -> str:
    return exact_json(text) if _NEEDS_QUOTES.search(text) else text


def _cell(value: Any) -> str:
    if isinstance(value, str) and not _NEEDS_QUOTES.search(value) and not _SCALAR.fullmatch(value):
        return value
    return exact_json(value)
