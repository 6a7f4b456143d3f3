"""How many rows and lines a result has: what a text that shows it may call all of them."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import ToolResult, nested
from ..text.decode import decode_strings


def row_counts(result: ToolResult) -> frozenset[int]:
    """The numbers of all lines of a result and of each long text in it, and of all rows of each list
    in it.

    >>> from bench.model import ToolResult
    >>> result = ToolResult(index=0, call_id="c", function="list", seen='[{"id": 1}, {"id": 2}]')
    >>> sorted(row_counts(result))
    [1, 2]
    """
    value = decode_strings(result.text if result.data is None else result.data)
    texts = result.text, *(item for item in nested(value) if isinstance(item, str))
    return frozenset(
        (*_row_counts(value), *(count for text in texts for count in line_counts(text)))
    )


def line_counts(text: str) -> tuple[int, int]:
    """The number of lines of a text with and without blank ones."""
    lines = text.split("\n")
    return len(lines), sum(map(bool, map(str.strip, lines)))


def _row_counts(value: object) -> Iterator[int]:
    """Yield the number of rows of each list in a value, of each mapping whose values are rows, and of
    all lists in a list.

    >>> [*_row_counts({"legs": [["a", "b"], ["c"]], "of": {}})]
    [2, 3, 2, 1, 0]
    """
    for item in nested(value):
        if isinstance(item, list) or (
            isinstance(item, dict) and all(isinstance(row, dict) for row in item.values())
        ):
            yield len(item)
        if isinstance(item, list) and any(isinstance(row, list) for row in item):
            yield sum(len(row) for row in item if isinstance(row, list))
