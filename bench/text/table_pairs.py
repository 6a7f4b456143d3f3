"""Tables in a text written as pairs of keys and values, row by row."""

from __future__ import annotations

import re
from collections.abc import Collection

from .tables import Grid, parts_of
from .written_values import NOTHING

_NOTHING = re.compile(rf"[-–—(]*(?:{NOTHING})?\)?", re.IGNORECASE)
"""Matches a cell that says that there is no value."""

_DITTO = {'"', "″", "〃"}
"""The cells that mean "the value above"."""


def with_rows_as_pairs(text: str, names: Collection[str]) -> list[str]:
    """A text with the rows of its tables as lines of `key:value;key:value`, once with all cells and once
    without those for no value; [] if it has no table with known names.

    >>> with_rows_as_pairs("all:\\nid|n\\n1|2\\n3|-", {"id", "n"})
    ['all:\\nid:1;n:2\\nid:3;n:-', 'all:\\nid:1;n:2\\nid:3']
    """
    parts = [*parts_of(text, names)]
    if all(isinstance(part, str) for part in parts):
        return []
    texts = (
        "\n".join(
            part if isinstance(part, str) else _pairs(part, with_empty=with_empty) for part in parts
        )
        for with_empty in (True, False)
    )
    return [*dict.fromkeys(texts)]


def _pairs(grid: Grid, *, with_empty: bool) -> str:
    """The rows of a table as lines."""
    lines: list[str] = []
    above: dict[str, str] = {}
    for cells in grid.rows:
        row = dict(zip(grid.columns, cells, strict=False))
        row = {key: above.get(key, "") if cell in _DITTO else cell for key, cell in row.items()}
        shown = {key: row[key] for key in row if with_empty or not _NOTHING.fullmatch(row[key])}
        label = shown.pop("", "")
        pairs = ";".join(f"{key}:{cell}" for key, cell in shown.items())
        lines.append(f"{label} {pairs}".strip())
        above = row
    return "\n".join(lines)
