"""Structured values that a result's text is: JSON, a table of comma-separated values, a Markdown table."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from ..text.tables import read_cell
from .decoded import strict_json

_RULE = re.compile(r"\s*+(?:\|\s*+)?:?-{2,}+:?\s*+(\|\s*+:?-{2,}+:?\s*+)+\|?\s*")
_LONGEST_HEADER = 60


def data_of(text: str) -> Any:
    """The structured value of a text that is one as a whole: a JSON object or array, or the rows of
    a table; None for any other text.

    A table has two columns or more, and in every line as many cells as its header has names.
    Comma-separated values need two rows and a column of numbers under a name, so that prose with
    commas is none.

    >>> data_of('{"count": 36}'), data_of("name,length\\nW-1,4.2\\nW-2,5.0")
    ({'count': 36}, [{'name': 'W-1', 'length': 4.2}, {'name': 'W-2', 'length': 5.0}])
    >>> data_of("| a | b |\\n|---|---|\\n| 1 | x |")
    [{'a': 1, 'b': 'x'}]
    >>> data_of("Well, no\\nYes, but"), data_of("36")
    (None, None)
    """
    start = text.lstrip()[:1]
    if start in ("{", "["):
        value = strict_json(text)
        return value if isinstance(value, dict | list) else None
    lines = text.strip().splitlines()
    if start == "|":
        return _markdown(lines)
    return comma_separated(text) if len(lines) > 2 and "," in lines[0] else None


def comma_separated(text: str) -> list[dict[str, Any]] | None:
    """The rows of comma-separated values below a header line, each cell typed as it is written;
    None where the text is no such table."""
    try:
        header, *rows = [row for row in csv.reader(io.StringIO(text.strip(), newline=""), strict=True) if row]
    except (csv.Error, ValueError):
        return None
    table = _rows(header, rows)
    if table is None or len(table) < 2:
        return None
    numbers = any(all(type(row[name]) in (int, float) for row in table) for name in header)
    return table if numbers else None


def _markdown(lines: list[str]) -> list[dict[str, Any]] | None:
    if len(lines) < 3 or not _RULE.fullmatch(lines[1]) or not all("|" in line for line in lines):
        return None
    header, *rows = [
        [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        for line in (lines[0], *lines[2:])
    ]
    return _rows(header, rows)


def _rows(header: list[str], rows: list[list[str]]) -> list[dict[str, Any]] | None:
    named = (
        len(header) > 1 and len(set(header)) == len(header) and all(0 < len(name) <= _LONGEST_HEADER for name in header)
    )
    if not named or not rows or any(len(row) != len(header) for row in rows):
        return None
    return [{name: _cell(text) for name, text in zip(header, row, strict=True)} for row in rows]


def _cell(text: str) -> Any:
    """A cell's value; what JSON has no number for (NaN, infinity) stays text, and so does what is
    quoted within the cell."""
    value = read_cell(text)
    return text if (isinstance(value, float) and value - value != 0) or isinstance(value, str) else value
