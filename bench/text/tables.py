"""Tables in text read back as rows: CSV, Markdown tables, aligned columns as pandas prints them,
TOON.

A line is taken for the header of a table where at least half of its names are known keys; other
lines stay text, so that prose with commas is no table. Rows follow until one does not fit; a last
row cut short keeps the cells that it has.

Types are strict. A cell is read as JSON or Python reads a scalar: `12` is the integer, `12.0` the
float, `True` and `true` the same, `None` and `null`, `NaN`; in quotes it is a string, whatever it
holds; anything else is the string as it stands; an empty cell is no value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from .decode import SCALARS, NothingParsed, parse_json

Row = dict[str, Any]
_Table = tuple[list[Row], int]  # rows, and how many lines they took, header included

_JSON = json.JSONDecoder()
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_TOON = re.compile(r"\s*[\w.\"-]*\[\d+\]\{([^{}]+)\}:\s*")
_LEFT_OUT = {"...", "..", "…"}
_MAX_COLUMNS = 200
_WORD = re.compile(r"\w+")


def find_tables(text: str, names: Collection[str]) -> tuple[list[Row], str]:
    """The rows of every table in a text, as mappings, and the lines that belong to none. Linear in
    the text.

    >>> names = {"id", "level"}
    >>> find_tables("two walls\\nid,level\\n1,L 1\\n2,\\"7\\"\\nthat is all", names)
    ([{'id': 1, 'level': 'L 1'}, {'id': 2, 'level': '7'}], 'two walls\\nthat is all')
    >>> find_tables("   id level\\n0   1   L 1\\n.. ..    ..\\n1  22  None", names)[0]
    [{'id': 1, 'level': 'L 1'}, {'id': 22, 'level': None}]
    >>> find_tables("| id | level |\\n|---|---|\\n| 1 | L 1 |", names)[0]
    [{'id': 1, 'level': 'L 1'}]
    """
    words = {max(_WORD.findall(name), key=len, default="") for name in names}
    lines = text.split("\n")
    rows: list[Row] = []
    rest: list[str] = []
    position = read_in_vain = 0
    while position < len(lines):
        table, line = None, lines[position]
        if line.strip() and (
            "" in words or "|" in line or not words.isdisjoint(_WORD.findall(line))
        ):
            table = _delimited(lines, position, names)
            if table is None and position >= read_in_vain:
                table, read_in_vain = _aligned(lines, position, names)
        if table is None:
            rest.append(line)
            position += 1
        else:
            rows += table[0]
            position += table[1]
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
    """The table of delimited cells whose header stands at a line; None where none does."""
    header = lines[start]
    toon = _TOON.fullmatch(header)
    if toon:
        columns = _fields(toon.group(1), ",")
        return _take(
            lines,
            start,
            columns,
            names,
            lambda line: _fields(line.strip(), ",") if line[:1] == " " else None,
        )
    if "|" in header:
        read_bars = lambda line: _bars(line) if "|" in line else None  # noqa: E731
        return _take(lines, start, _bars(header), names, read_bars)
    for delimiter in ("\t", ";", ","):
        if delimiter in header:
            read = partial(_fields, delimiter=delimiter)
            if (table := _take(lines, start, read(header), names, read)) is not None:
                return table
    return None


def _known(columns: Sequence[str], names: Collection[str]) -> bool:
    """True if these are the columns of a table: no two alike, and at least half of the named ones
    known, some by the end of their path.

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
    """The rows below a header of columns that are known; a row with half of their cells or fewer is
    the last one.
    """
    columns = [column.strip().strip("\"'") for column in columns]
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
        if 2 * len(cells) <= len(columns) and position + 1 < len(lines):
            break
        rows.append(_row(columns, cells))
        position += 1
    return ([row for row in rows if row], position - start) if rows else None


def _row(columns: Sequence[str], cells: Sequence[str]) -> Row:
    row: Row = {}
    for column, cell in zip(columns, cells, strict=False):
        text = cell.strip()
        # The last: a plain row number.
        if not text or text in _LEFT_OUT or (not column and text.isdigit()):
            continue
        row[column] = read_cell(text)
        if text[0] in "{[":
            with suppress(NothingParsed):
                row[column] = parse_json(text)
    return row


def _fields(line: str, delimiter: str) -> list[str]:
    """The cells of a line of CSV; one in quotes keeps them, so that its type is kept.

    Containers as JSON need no quotes around them.

    >>> _fields('"say ""yes"", then",2,"x', ","), _fields('mug,{"size":"S","lid":[1,2]},3', ",")
    (['"say "yes", then"', '2', '"x"'], ['mug', '{"size":"S","lid":[1,2]}', '3'])
    >>> _fields(',"a",', ","), _fields("", ",")
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
    """The end of the JSON container that opens at a position; the position itself where none does."""
    if line[position : position + 1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return _JSON.raw_decode(line, position)[1]
    return position


def _bars(line: str) -> list[str]:
    inner = line.strip()
    inner = inner[1:] if inner.startswith("|") else inner
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", inner)]


# ---------------------------------------------------------------- aligned columns


def _aligned(lines: Sequence[str], start: int, names: Collection[str]) -> tuple[_Table | None, int]:
    """The table at a line whose columns are told apart by blanks, and the line up to which was
    read.

    Two blanks in all of its lines part two columns, or one where that is how the header is written.
    Row numbers in front need no name.
    """
    end = start
    for gap in (2, 1):
        named = re.split(rf"\s{{{gap},}}", lines[start].strip())
        if not _known(named, names) or (
            len(named) == 2 and not _is_header(named, lines[start + 1 : start + 2], names)
        ):
            continue
        spans, end = _spans_at(lines, start, gap, len(named))
        cells = [
            [line.expandtabs()[at:stop].strip() for at, stop in spans] for line in lines[start:end]
        ]
        if len(cells) > 1 and cells[0][not cells[0][0] :] == named:
            rows = [_row(cells[0], line) for line in cells[1:]]
            return ([row for row in rows if row], end - start), end
    return None, end


def _is_header(named: Sequence[str], below: Sequence[str], names: Collection[str]) -> bool:
    """True if two cells are the names of columns, and not a key and its value as in the line below."""
    first = _WORD.findall("".join(below).split(maxsplit=1)[0]) if "".join(below).strip() else []
    return all(name in names for name in named) and not (first and first[-1] in names)


def _spans_at(
    lines: Sequence[str], start: int, gap: int, named: int
) -> tuple[list[tuple[int, int]], int]:
    """The spans of the columns of a table, and where it ends; it goes on while each name has a
    column of its own.
    """
    mask = _filled(lines[start])
    header = f"{mask:b}"[::-1]
    end = start + 1
    while end < len(lines) and lines[end].strip():
        together = mask | _filled(lines[end])
        if sum("1" in header[at:stop] for at, stop in _spans(together, gap)) < named:
            break
        mask, end = together, end + 1
    return _spans(mask, gap), end


def _filled(line: str) -> int:
    """The places of a line that is not blank where it has a character, as bits."""
    bits = re.sub(r"\S", "1", line.expandtabs().rstrip())[::-1]
    return int(re.sub(r"\s", "0", bits), 2)


def _spans(mask: int, gap: int) -> list[tuple[int, int]]:
    """The runs of filled places that at least `gap` blank ones keep apart; the last one has no end."""
    bits = bin(mask)[:1:-1]
    runs = [match.span() for match in re.finditer(rf"1(?:0{{0,{gap - 1}}}1)*", bits)]
    return [
        (at, runs[place + 1][0] if place + 1 < len(runs) else 10**9)
        for place, (at, _) in enumerate(runs)
    ]
