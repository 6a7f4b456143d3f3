"""Structured values that a result's text is: JSON, or a table of comma-separated values."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

from ..text.tables import read_cell
from .decoded import strict_json

_LONGEST_HEADER = 60


def data_of(text: str) -> Any:
    """The structured value that a text is from its first to its last character: a JSON object or
    array, or the rows of a table; None for any other text.

    A table has two rows and two columns or more, a column of numbers under a name, and in every
    line as many cells as its header has names, so that prose with commas is none.

    >>> data_of('{"count": 36}'), data_of("name,length\\nW-1,4.2\\nW-2,5.0")
    ({'count': 36}, [{'name': 'W-1', 'length': 4.2}, {'name': 'W-2', 'length': 5.0}])
    >>> data_of("Well, no\\nYes, but"), data_of("36")
    (None, None)
    """
    if text.lstrip()[:1] in ("{", "["):
        value = strict_json(text)
        return value if isinstance(value, dict | list) else None
    lines = text.strip().splitlines()
    return _comma_separated(text) if len(lines) > 2 and "," in lines[0] else None


def _comma_separated(text: str) -> list[dict[str, Any]] | None:
    """The rows of a table; None for a text that is none."""
    try:
        header, *rows = [
            row for row in csv.reader(io.StringIO(text.strip(), newline=""), strict=True) if row
        ]
    except (csv.Error, ValueError):
        return None
    named = all(0 < len(name) <= _LONGEST_HEADER for name in header)
    named = named and len(set(header)) == len(header) > 1
    if not named or len(rows) < 2 or any(len(row) != len(header) for row in rows):
        return None
    table = [{name: _cell(text) for name, text in zip(header, row, strict=True)} for row in rows]
    numbers = (all(type(row[name]) in (int, float) for row in table) for name in header)
    return table if any(numbers) else None


def _cell(text: str) -> Any:
    """A cell's value. What JSON has no number for (NaN, infinity) stays text, and so does what is
    quoted within the cell."""
    value = read_cell(text)
    is_odd = isinstance(value, float) and not math.isfinite(value)
    return text if is_odd or isinstance(value, str) else value
