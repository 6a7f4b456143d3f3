"""Tables in text read back as rows: CSV, Markdown tables, TOON.

A line counts as the header of a table if at least half of its names are known keys; other lines
stay text, so that prose with commas is not a table. Rows follow until one does not fit; a truncated
last row keeps its cells.

A cell is read as a scalar of JSON or Python: `12` is an integer, `12.0` a float, `true` and `True`
are the same, so are `null` and `None`. In quotes, and in any other form, it is a string. An empty
cell has no value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from .decode import SCALARS, NothingParsed, parse_json
from .separators import TYPES

Row = dict[str, Any]
_Table = tuple[list[Row], int]  # rows, and how many lines they took, header included

_JSON = json.JSONDecoder()
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_BEFORE_COLUMNS = re.compile(r"\s*(?:\[\d+\][\s:]+|(?:columns|fields|header): )")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_TOON = re.compile(r"\s*[\w.\"-]*\[\d+\]\{([^{}]+)\}:\s*")
_MEANING = re.compile(r"\S (?:=|->|→) \S")
_TYPE_NOTE = re.compile(rf"(?<=\w)\s*\((?:{'|'.join(sorted(TYPES))})\)$")
"""Matches the name of a type behind the name of a column."""

_LEFT_OUT = {"...", "..", "…"}
_MAX_COLUMNS = 200
_WORD = re.compile(r"\w+")


def find_tables(text: str, names: Collection[str]) -> tuple[list[Row], str]:
    """The rows of every table in a text, as mappings, and the lines outside tables. Linear in the
    text.

    >>> names = {"id", "level"}
    >>> find_tables("two walls\\nid,level\\n1,L 1\\n2,\\"7\\"\\nthat is all", names)
    ([{'id': 1, 'level': 'L 1'}, {'id': 2, 'level': '7'}], 'two walls\\nthat is all')
    >>> find_tables("| id | level (text) |\\n|---|---|\\n| 1 | L 1 |", names)[0]
    [{'id': 1, 'level': 'L 1'}]
    """
    words = {max(_WORD.findall(name), key=len, default="") for name in names}
    lines = text.split("\n")
    rows: list[Row] = []
    rest: list[str] = []
    position = 0
    while position < len(lines):
        table, line = None, lines[position]
        if line.strip() and (
            "" in words or "|" in line or not words.isdisjoint(_WORD.findall(line))
        ):
            table = _delimited(lines, position, names)
        if table is None:
            rest.append(line)
            position += 1
        else:
            found, lines_read = table
            rows += found
            position += lines_read
    return rows, "\n".join(rest)


def read_cell(text: str) -> Any:
    """The value of a cell; types are strict.

    >>> read_cell("007"), read_cell("7"), read_cell("'7'"), read_cell("''"), read_cell("'")
    ('007', 7, '7', '', "'")
    """
    if text in SCALARS:
        return SCALARS[text]
    if _NUMBER.fullmatch(text):
        return json.loads(text) if len(text) < 300 else text
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text


def _delimited(lines: Sequence[str], start: int, names: Collection[str]) -> _Table | None:
    """The table of delimited cells whose header is a line; None if that is not a header."""
    header = _BEFORE_COLUMNS.sub("", lines[start])
    toon = _TOON.fullmatch(header)
    if toon:
        columns = fields_of_line(toon.group(1), ",")
        return _take(
            lines,
            start,
            columns,
            names,
            lambda line: fields_of_line(line.strip(), ",") if line[:1] == " " else None,
        )
    if "|" in header:
        read_bars = lambda line: _bars(line) if "|" in line else None  # noqa: E731
        return _take(lines, start, _bars(header), names, read_bars)
    for delimiter in ("\t", ";", ",") if '{"' not in header else ():
        if delimiter in header:
            read = partial(fields_of_line, delimiter=delimiter)
            if (table := _take(lines, start, read(header), names, read)) is not None:
                return table
    return None


def _known(columns: Sequence[str], names: Collection[str]) -> bool:
    """True if these are the columns of a table: all different, and at least half of the named ones
    known, perhaps by the end of their path.

    >>> [_known(columns, {"a"}) for columns in (["", "a", "", "b"], ["a", "a"], ["a", "b", "c"], [""], ["a", "x.a", "b"])]
    [True, False, False, False, True]
    """
    named = [column for column in columns if column]
    if not 0 < len(named) <= _MAX_COLUMNS or len(set(named)) < len(named):
        return False
    return 2 * sum(name in names or name.rpartition(".")[2] in names for name in named) >= len(
        named
    )


def _take(
    lines: Sequence[str],
    start: int,
    columns: Sequence[str],
    names: Collection[str],
    read: Callable[[str], list[str] | None],
) -> _Table | None:
    """The rows below a header; a row with half of the cells or fewer is the last one."""
    columns = [_TYPE_NOTE.sub("", column.strip().strip("\"'")) for column in columns]
    if not _known(columns, names):
        return None
    rows: list[Row] = []
    position = start + 1
    while position < len(lines):
        line = lines[position].rstrip("\r")
        if _RULE.fullmatch(line) and "-" in line:
            position += 1
            continue
        cells = read(line) if line.strip() else None
        if cells is None or len(cells) > len(columns) or len(cells) < 2:
            break
        is_about_column = line.partition(":")[0].strip() in columns
        if is_about_column or all(map(_MEANING.search, cells)):
            break  # a legend, or a statement on the columns
        if 2 * len(cells) <= len(columns) and position + 1 < len(lines):
            break
        rows.append(_row(columns, cells))
        position += 1
    return ([row for row in rows if row], position - start) if rows else None


def _row(columns: Sequence[str], cells: Sequence[str]) -> Row:
    """The values of a row by column, without empty cells and row numbers."""
    row: Row = {}
    for column, cell in zip(columns, cells, strict=False):
        text = cell.strip()
        if not text or text in _LEFT_OUT or (not column and text.isdigit()):
            continue
        row[column] = read_cell(text)
        if text[0] in "{[":
            with suppress(NothingParsed):
                row[column] = parse_json(text)
    return row


def fields_of_line(line: str, delimiter: str) -> list[str]:
    """The cells of a line of CSV; quoted cells keep their quotes, since these show the type.

    JSON containers need no quotes around them.

    >>> fields_of_line('"say ""yes"", then",2,"x', ","), fields_of_line('mug,{"size":"S","lid":[1,2]},3', ",")
    (['"say "yes", then"', '2', '"x"'], ['mug', '{"size":"S","lid":[1,2]}', '3'])
    >>> fields_of_line(',"a",', ","), fields_of_line("", ",")
    (['', '"a"', ''], [''])
    """
    if '"' not in line:
        return line.split(delimiter)
    if delimiter == "," and ("{" in line or "[" in line):
        with suppress(ValueError, RecursionError):
            return [
                f'"{cell}"' if isinstance(cell, str) else json.dumps(cell)
                for cell in json.loads(f"[{line}]")
            ]
    cells: list[str] = []
    position = 0
    while position <= len(line):
        if line[position : position + 1] == '"':
            end = position + 1
            while end < len(line) and (line[end] != '"' or line[end : end + 2] == '""'):
                end += 2 if line[end] == '"' else 1
            inner = line[position + 1 : end].replace('""', '"')
            end = line.find(delimiter, end)
            end = len(line) if end < 0 else end
            cells.append(f'"{inner}"')
        else:
            end = line.find(delimiter, _container_end(line, position))
            end = len(line) if end < 0 else end
            cells.append(line[position:end])
        position = end + 1
    return cells


def _container_end(line: str, position: int) -> int:
    """The end of the JSON container that opens at a position; the position itself without one."""
    if line[position : position + 1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return _JSON.raw_decode(line, position)[1]
    return position


def _bars(line: str) -> list[str]:
    inner = line.strip()
    inner = inner[1:] if inner.startswith("|") else inner
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", inner)]
