"""A value as text, written and read back exactly: as compact JSON, or with every table as CSV: the same data in fewer tokens.

With tables the first line is the value as compact JSON, each table in it replaced by `{"@table":N}`. The tables follow, in order, each under a line
`@table N: R rows`: a line of column names, then R rows.

A cell is one of four things. Bare text that JSON would read as a scalar (`null`, `true`, `12`, `-3.5e-7`) is that scalar; text that begins with
`[`, `{` or `"` is JSON; nothing at all means that the row lacks the key; any other bare text is the string itself. So `1` is a number and `"1"`
a string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from ..model import ToolResult, compact_json
from .decode import NothingParsed, decode_strings, parse_json

_REFERENCE = re.compile(r"@+table")
_HEADING = re.compile(r"@table (\d{1,9}): (\d{1,9}) rows")
_SCALAR = re.compile(r"null|true|false|NaN|-?Infinity|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_NEEDS_QUOTES = re.compile(r'[,\n\r]|^["\[{\s]|\s$|^$')
_BARE = re.compile(r"[^,\n]*")
_SCAN = json.JSONDecoder()


def exact_json(value: Any) -> str:
    """A value as compact JSON that gives it back: as `compact_json` writes it, but for NaN and infinities, written as JavaScript does.

    >>> exact_json([1e-9, None, "é"]), exact_json(["é", float("inf")])
    ('[1e-9,null,"é"]', '["é",Infinity]')
    """
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return compact_json(value)


def read_json(text: str) -> Any:
    """The value that `exact_json` wrote. Raises NothingParsed for a text that is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise NothingParsed from None


def write_tables(value: Any) -> str:
    """A value as text, its tables as CSV. A table is a list of two or more mappings, written as CSV where that is shorter than JSON.

    A value without a table is its compact JSON.

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


def read_tables(text: str) -> Any:
    """The value that `write_tables` wrote, exactly: types, key order and missing keys included. Raises NothingParsed for any other text.

    >>> read_tables('[{"@table":1}]\\n@table 1: 2 rows\\nid,level\\n7,"1"\\n12,')
    [[{'id': 7, 'level': '1'}, {'id': 12}]]
    """
    head, position = _scanned(text, 0)
    tables: dict[int, list[dict[str, Any]]] = {}
    while position < len(text):
        heading = _HEADING.match(text, position + 1) if text[position] == "\n" else None
        if heading is None or int(heading.group(1)) != len(tables) + 1:
            raise NothingParsed
        rows = _Rows(text, heading.end())
        tables[len(tables) + 1] = list(rows.read(int(heading.group(2))))
        position = rows.position
    return _with_tables(head, tables)


def _without_tables(value: Any, tables: list[str]) -> Any:
    if isinstance(value, dict):
        if len(value) == 1 and _REFERENCE.fullmatch(
            next(iter(value))
        ):  # looks like a reference: one @ more tells it apart
            return {f"@{key}": _without_tables(item, tables) for key, item in value.items()}
        return {key: _without_tables(item, tables) for key, item in value.items()}
    if isinstance(value, list | tuple):
        written = _table(value, len(tables) + 1)
        if written is not None:
            tables.append(written)
            return {"@table": len(tables)}
        return [_without_tables(item, tables) for item in value]
    return value


def _with_tables(value: Any, tables: dict[int, list[dict[str, Any]]]) -> Any:
    if isinstance(value, dict):
        if len(value) == 1:
            (key, item), *_ = value.items()
            if key == "@table":
                if type(item) is not int or item not in tables:
                    raise NothingParsed
                return tables[item]
            if _REFERENCE.fullmatch(key):
                return {key[1:]: _with_tables(item, tables)}
        return {key: _with_tables(item, tables) for key, item in value.items()}
    return [_with_tables(item, tables) for item in value] if isinstance(value, list) else value


# ---------------------------------------------------------------- writing a table


def _table(rows: Any, number: int) -> str | None:
    """A list as CSV under its heading; None where it is no table, or JSON is as short."""
    if len(rows) < 2 or not all(isinstance(row, dict) and row for row in rows):
        return None
    columns = list(dict.fromkeys(key for row in rows for key in row))
    order = {column: place for place, column in enumerate(columns)}
    for row in rows:
        places = [order[key] for key in row]
        if places != sorted(places) or any(_holds_table(item) for item in row.values()):
            return None
    lines = [f"@table {number}: {len(rows)} rows", ",".join(map(_name, columns))]
    lines += [",".join(_cell(row[column]) if column in row else "" for column in columns) for row in rows]
    written = "\n".join(lines)
    return written if len(written) < len(exact_json(rows)) else None


def _holds_table(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_table, value.values()))
    if isinstance(value, list | tuple):
        return sum(isinstance(item, dict) for item in value) > 1 or any(map(_holds_table, value))
    return False


def _name(text: str) -> str:
    return exact_json(text) if _NEEDS_QUOTES.search(text) else text


def _cell(value: Any) -> str:
    if isinstance(value, str) and not _NEEDS_QUOTES.search(value) and not _SCALAR.fullmatch(value):
        return value
    return exact_json(value)


# ---------------------------------------------------------------- reading a table


def _scanned(text: str, position: int) -> tuple[Any, int]:
    try:
        return _SCAN.raw_decode(text, position)
    except (ValueError, RecursionError):
        raise NothingParsed from None


class _Rows:
    """The rows of one table, read from `position`, which is left at the line break behind the last one."""

    def __init__(self, text: str, position: int) -> None:
        self._text = text
        self.position = position

    def read(self, count: int) -> Iterator[dict[str, Any]]:
        """The rows as mappings."""
        columns = [name for _, name in self._line(bare_is_text=True)]
        for _ in range(count):
            cells = list(self._line(bare_is_text=False))
            if len(cells) != len(columns):
                raise NothingParsed
            yield {column: item for column, (there, item) in zip(columns, cells, strict=True) if there}

    def _line(self, *, bare_is_text: bool) -> Iterator[tuple[bool, Any]]:
        """The cells of the next line, each as (is there anything, its value)."""
        separator = "\n"
        while self._text[self.position : self.position + 1] == separator:
            self.position += 1
            yield self._next(bare_is_text)
            separator = ","
        if separator == "\n":
            raise NothingParsed

    def _next(self, bare_is_text: bool) -> tuple[bool, Any]:
        text, start = self._text, self.position
        if text[start : start + 1] in ('"', "[", "{"):
            item, self.position = _scanned(text, start)
            return True, item
        bare = _BARE.match(text, start)[0]  # type: ignore[index]  # it matches nothing at all too
        self.position = start + len(bare)
        if bare_is_text or not _SCALAR.fullmatch(bare):
            return bool(bare), bare
        return True, _scanned(bare, 0)[0]


# ---------------------------------------------------------------- a promise tried


def gives_back(decode: Callable[[str], Any], shown: str, result: ToolResult) -> bool:
    """True if a summarizer's own `decode` restores a result's untruncated value from the shown text, exactly but for JSON in strings.

    A promise is tried and never believed: a `decode` that raises gives nothing back.

    >>> result = ToolResult(index=0, call_id="a", function="f", data={"n": 2, "table": "[1, 2]"})
    >>> gives_back(read_tables, '{"n":2,"table":[1,2]}', result), gives_back(read_tables, '{"n":2}', result)
    (True, False)
    """
    try:
        value = parse_json(result.text) if result.data is None else result.data
        return repr(decode_strings(decode(shown))) == repr(decode_strings(value))
    except Exception:
        return False
