"""JSON that writes a value in another form: records by columns, or their common fields once, under
labels of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def labels_of(shown: Any, value: Any) -> list[str] | None:
    """The keys in JSON data that label parts of a value; None if the data do not say the value.

    >>> rows = [{"id": 1, "ok": True}, {"id": 2, "ok": True}]
    >>> labels_of({"by column": {"id": [1, 2], "ok": [True, True]}}, rows)
    ['by column']
    >>> labels_of({"in all": {"ok": True}, "each": [{"id": 1}, {"id": 2}]}, rows)
    ['in all', 'each']
    >>> labels_of(rows, rows), labels_of({"id": [1, 2], "ok": [True, False]}, rows)
    ([], None)
    """
    if isinstance(shown, dict) and isinstance(value, dict) and shown.keys() == value.keys():
        return _together(labels_of(shown[key], value[key]) for key in value)
    if isinstance(shown, list) and isinstance(value, list) and len(shown) == len(value):
        return _together(map(labels_of, shown, value))
    if isinstance(shown, dict) and isinstance(value, list):
        found = (_together([labels, labels_of(data, value)]) for labels, data in _opened(shown))
        return next((labels for labels in found if labels is not None), None)
    return [] if type(shown) is type(value) and shown == value else None


def _together(parts: Iterable[list[str] | None]) -> list[str] | None:
    """The labels of all parts; None if a part has None."""
    labels: list[str] = []
    for part in parts:
        if part is None:
            return None
        labels += part
    return labels


def _opened(shown: dict[str, Any]) -> Iterator[tuple[list[str], Any]]:
    """Yield the lists that a mapping may write, each with the labels in the mapping."""
    if len(shown) == 1:
        yield from (([label], data) for label, data in shown.items())
    columns = [*shown.values()]
    if all(isinstance(column, list) and len(column) == len(columns[0]) for column in columns):
        yield [], [dict(zip(shown, row, strict=True)) for row in zip(*columns, strict=True)]
    if len(shown) == 2:
        (one, common), (other, rows) = sorted(shown.items(), key=lambda item: type(item[1]) is list)
        if isinstance(common, dict) and isinstance(rows, list):
            yield [one, other], [_with(row, common) for row in rows]


def _with(row: Any, common: dict[str, Any]) -> Any:
    """A record with the fields that it has in common with others, unless it has one of them."""
    is_apart = isinstance(row, dict) and common.keys().isdisjoint(row)
    return {**common, **row} if is_apart else row
