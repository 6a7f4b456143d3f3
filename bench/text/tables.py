"""Tables in text read back as rows: CSV, Markdown tables, aligned columns as pandas prints them, TOON.

A line is taken for the header of a table where at least half of its names are known keys; other lines stay text, so that prose with commas is no
table. Rows follow until one does not fit; a last row cut short keeps the cells that it has.

Types are strict. A cell is read as JSON or Python reads a scalar: `12` is the integer, `12.0` the float, `True` and `true` the same, `None` and
`null`, `NaN`; in quotes it is a string, whatever it holds; anything else is the string as it stands; an empty cell is no value. So a text
column of digits printed without quotes comes back as numbers, and as lost: a reader cannot tell either.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from .decode import SCALARS, NothingParsed, parse_json
from .texts import Remembered

Key = tuple[str, ...]
Names = Mapping[str, Key]
"""Column names by which a table is recognised, each with the keys that lead to its value in a row."""

Row = dict[str, Any]
_Found = tuple[list[Row], int]  # rows, and how many lines they took, header included

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_TOON = re.compile(r"\s*[\w.\"-]*\[\d+\]\{([^{}]+)\}:\s*")
_LEFT_OUT = {"...", "..", "…"}
_MAX_COLUMNS = 200
_WORD = re.compile(r"\w+")
_TIMES_IN_VAIN, _CHARS_IN_VAIN = 8, 1_000_000


def find_tables(text: str, names: Names) -> tuple[list[Row], str]:
    """The rows of every table in a text, as mappings, and the lines that belong to none.

    >>> names = {"id": ("id",), "level": ("level",)}
    >>> find_tables("two walls\\nid,level\\n1,L 1\\n2,\\"7\\"\\nthat is all", names)
    ([{'id': 1, 'level': 'L 1'}, {'id': 2, 'level': '7'}], 'two walls\\nthat is all')
    >>> find_tables("   id level\\n0   1   L 1\\n1  22  None", names)[0]
    [{'id': 1, 'level': 'L 1'}, {'id': 22, 'level': None}]
    >>> [find_tables(f"level   id\\nLevel 1 2\\n{text}", names)[0] for text in ("Three 3 4", "...     ..\\nThree 3 4")]
    [[{'level': 'Level 1', 'id': 2}, {'level': 'Three 3', 'id': 4}], [{'level': 'Level 1', 'id': 2}, {'level': 'Three 3', 'id': 4}]]
    >>> find_tables("| id | level |\\n|---|---|\\n| 1 | L 1 |", names)[0]
    [{'id': 1, 'level': 'L 1'}]
    """
    lines = text.split("\n")
    looked_for = _Looked(names, _CHARS_IN_VAIN + _TIMES_IN_VAIN * len(text))
    rows: list[Row] = []
    rest: list[str] = []
    position = 0
    wide: list[Row] = []  # the rows of a table that goes on with more columns below a blank line, as pandas wraps it
    while position < len(lines):
        found = _table_at(lines, position, looked_for)
        if found is None:
            wide = wide if not lines[position].strip() else []
            rest.append(lines[position])
            position += 1
            continue
        if len(wide) == len(found[0]):
            for row, more in zip(wide, found[0], strict=True):
                row.update(more)
        else:
            rows += found[0]
            wide = found[0]
        wide = wide if lines[position].rstrip().endswith("\\") else []
        position += found[1]
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


class _Looked:
    """The column names that tables are recognised by, and how many characters may still be read in vain.

    A line that looks like a header may be followed by much that turns out to be no table, again and again: that is given up once `spare`
    characters were read for nothing.
    """

    def __init__(self, names: Names, spare: int) -> None:
        self.names, self.spare = names, spare
        self.filled = Remembered(_filled)
        """The places of a line that are not blank, as bits; lines that are read in vain come again and again."""

        self._words = frozenset(max(_WORD.findall(name), key=len, default="") for name in names)

    def may_be_header(self, line: str) -> bool:
        """True if a line has a word of a column name. Cheap, and never wrong where it says no."""
        return self.spare > 0 and ("" in self._words or not self._words.isdisjoint(_WORD.findall(line)))


def _table_at(lines: Sequence[str], start: int, looked_for: _Looked) -> _Found | None:
    """The table whose header stands at a line; None where none does."""
    header, names = lines[start], looked_for.names
    if not header.strip() or not looked_for.may_be_header(header):
        return None
    toon = _TOON.fullmatch(header)
    if toon:
        columns = _fields(toon.group(1), ",")
        return _take(lines, start, columns, names, lambda line: _fields(line.strip(), ",") if line[:1] == " " else None)
    if "|" in header:
        return _take(lines, start, _bars(header), names, lambda line: _bars(line) if "|" in line else None)
    for delimiter in ("\t", ";", ","):
        if delimiter in header:
            read = partial(_fields, delimiter=delimiter)
            if (found := _take(lines, start, read(header), names, read)) is not None:
                return found
    return _aligned(lines, start, looked_for)


def _known(columns: Sequence[str], names: Names) -> bool:
    """True if these are the columns of a table: no two alike, and at least half of the named ones known.

    >>> [_known(columns, {"a": ("a",)}) for columns in (["", "a", "", "b"], ["a", "a"], ["a", "b", "c"], [""])]
    [True, False, False, False]
    """
    named = [column for column in columns if column]
    return 0 < len(named) <= _MAX_COLUMNS and len(set(named)) == len(named) and 2 * sum(c in names for c in named) >= len(named)  # fmt: skip


def _take(
    lines: Sequence[str], start: int, columns: Sequence[str], names: Names, read: Callable[[str], list[str] | None]
) -> _Found | None:
    """The rows below a header of columns that are known; a row with fewer cells is the last one."""
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
        if cells is None or len(cells) > len(columns) or (len(cells) < len(columns) and (len(cells) < 2 or position + 1 < len(lines))):  # fmt: skip
            break
        rows.append(_row(columns, cells, names))
        position += 1
    return ([row for row in rows if row], position - start) if rows else None


def _row(columns: Sequence[str], cells: Sequence[str], names: Names) -> Row:
    row: Row = {}
    for column, cell in zip(columns, cells, strict=False):
        text = cell.strip()
        if not text or text in _LEFT_OUT or (not column and text.isdigit()):  # the last: a plain row number
            continue
        *outer, last = names.get(column, (column,))
        into = row
        for key in outer:
            inner = into.setdefault(key, {})
            into = inner if isinstance(inner, dict) else {}
        into[last] = read_cell(text)
        if text[0] in "{[":
            with suppress(NothingParsed):
                into[last] = parse_json(text)
    return row


def _fields(line: str, delimiter: str) -> list[str]:
    """The cells of a line of CSV; one in quotes that would otherwise read as something else keeps them, so that its type is kept. Containers as
    JSON need no quotes around them.

    >>> _fields('"say ""yes"", then",2,"x', ",")
    ['"say "yes", then"', '2', '"x"']
    """
    if '"' not in line:
        return line.split(delimiter)
    if delimiter == "," and ("{" in line or "[" in line):
        with suppress(ValueError, RecursionError):
            return [f'"{cell}"' if isinstance(cell, str) else json.dumps(cell) for cell in json.loads(f"[{line}]")]
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
            end = line.find(delimiter, position)
            end = len(line) if end < 0 else end
            cells.append(line[position:end])
        position = end + 1
    return cells


def _bars(line: str) -> list[str]:
    inner = line.strip()
    inner = inner[1:] if inner.startswith("|") else inner
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", inner)]


# ---------------------------------------------------------------- aligned columns


def _aligned(lines: Sequence[str], start: int, looked_for: _Looked) -> _Found | None:
    """A table whose columns are told apart by what is blank in all of its lines: two blanks, or one where that fits more lines or sets row
    numbers apart.
    """
    best: _Found | None = None
    names, read = looked_for.names, 0
    for gap in (2, 1):
        named = re.split(rf"\s{{{gap},}}", lines[start].strip())
        if _known(named, names):
            spans, height = _spans_at(lines, start, gap, len(named), looked_for)
            read += sum(map(len, lines[start : start + height]))
            numbered = _numbered(lines[start : start + height], spans[0])
            if gap == 1 and len(spans) > len(named) and not numbered:
                spans = [(spans[0][0], spans[1][1]), *spans[2:]]  # no index: the first column holds texts of two words
            if height > 1 and (best is None or height > best[1] or numbered):
                best = _cells(lines[start : start + height], spans, named, names) or best
    looked_for.spare -= 0 if best else read
    return best


def _spans_at(
    lines: Sequence[str], start: int, gap: int, named: int, looked_for: _Looked
) -> tuple[list[tuple[int, int]], int]:
    """Return the column spans of an aligned table and its number of lines; it goes on while each name has a column of its own."""
    mask = looked_for.filled(lines[start])
    header = f"{mask:b}"[::-1]
    height = 1
    for place in range(start + 1, len(lines)):
        line = lines[place]
        if not line.strip():
            break
        together = mask | looked_for.filled(line)
        if together != mask and _LEFT_OUT.issuperset(line.split()):  # rows left out: they need not be aligned
            together = mask
        if together != mask and sum("1" in header[at:end] for at, end in _spans(together, gap)) < named:
            break
        mask, height = together, height + 1
    return _spans(mask, gap), height


def _numbered(lines: Sequence[str], span: tuple[int, int]) -> bool:
    """True if a column holds row numbers under no name."""
    header, *cells = [line.expandtabs()[slice(*span)].strip() for line in lines]
    return not header and all(cell.isdigit() or cell in _LEFT_OUT for cell in cells)


def _cells(lines: Sequence[str], spans: list[tuple[int, int]], named: list[str], names: Names) -> _Found | None:
    columns = [lines[0].expandtabs()[at:end].strip() for at, end in spans]
    if [column for column in columns if column] != named or not all(columns[1:]):
        return None
    body = [[line.expandtabs()[at:end].strip() for at, end in spans] for line in lines[1:]]
    if not columns[0] and body[0][0] in names and not any(body[0][1:]):  # pandas names its index on a line of its own
        columns, body = [body[0][0], *columns[1:]], body[1:]
    rows = [_row(columns, cells, names) for cells in body]
    return [row for row in rows if row], len(lines)


def _filled(line: str) -> int:
    """The places of a line that is not blank where it has a character, as bits."""
    bits = re.sub(r"\S", "1", line.expandtabs().rstrip()).replace(" ", "0")[::-1]
    return int(re.sub(r"\s", "0", bits), 2)


def _spans(mask: int, gap: int) -> list[tuple[int, int]]:
    """The runs of filled places that at least `gap` blank ones keep apart; the last one has no end."""
    bits = bin(mask)[:1:-1]
    runs = [match.span() for match in re.finditer(rf"1(?:0{{0,{gap - 1}}}1)*", bits)]
    return [(at, runs[place + 1][0] if place + 1 < len(runs) else 10**9) for place, (at, _) in enumerate(runs)]
