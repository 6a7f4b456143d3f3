"""Conversion of data stored by columns, such as a header with rows of cells, to records.
`FieldTable` and `layouts` convert each value first, so that everything else only sees mappings."""

from __future__ import annotations

from itertools import product
from typing import Any

from ..model.base import CONTAINERS, LISTS

_MOST_DEPTH, _CONTAINERS = 60, (dict, list)


def is_container(value: Any) -> bool:
    """True for a mapping or a list."""
    return isinstance(value, _CONTAINERS)


def columns_as_records(value: Any, depth: int = 0) -> Any:
    """The value with its columnar parts as records. Anything else is unchanged.

    Columnar are lists of the same length under several keys, rows of cells beside a list of column
    names, and a list of mappings with one key each.

    >>> columns_as_records({"columns": ["id", "ok"], "rows": [[1, True], [2, False]]})
    [{'id': 1, 'ok': True}, {'id': 2, 'ok': False}]
    >>> columns_as_records({"of": 3, "head": ["id", "ok"], "rows": [[1, True]], "page": {"id": [1, 2], "n": [3, 4]}})
    {'of': 3, 'rows': [{'id': 1, 'ok': True}], 'page': [{'id': 1, 'n': 3}, {'id': 2, 'n': 4}]}
    >>> columns_as_records([{"id": 1}, {"ok": True}]), columns_as_records([{"id": 1}, {"id": 2}])
    ({'id': 1, 'ok': True}, [{'id': 1}, {'id': 2}])
    """
    if depth > _MOST_DEPTH:
        return value
    if isinstance(value, dict):
        inner = {
            key: columns_as_records(item, depth + 1) if isinstance(item, CONTAINERS) else item
            for key, item in value.items()
        }
        return _rows_as_records(inner) if any(map(is_container, inner.values())) else inner
    if isinstance(value, LISTS):
        return _merged_pairs([columns_as_records(item, depth + 1) for item in value])
    return value


def _merged_pairs(items: list[Any]) -> Any:
    """One mapping for a list of mappings with one key each, all different; else the list itself."""
    keys = [key for item in items if isinstance(item, dict) and len(item) == 1 for key in item]
    if len(keys) < 2 or len({*keys}) < len(items):
        return items
    return {key: value for item in items for key, value in item.items()}


def _rows_as_records(mapping: dict[Any, Any]) -> Any:
    """The records of a mapping of columns, or of a header beside rows; else the mapping itself."""
    lists = {key: item for key, item in mapping.items() if isinstance(item, list)}
    flat_keys = [key for key in lists if lists[key] and not any(map(is_container, lists[key]))]
    sizes = {*map(len, lists.values())}
    if len(lists) == len(mapping) and len(flat_keys) > 1 and len(sizes) == 1 and sizes != {1}:
        all_cells = zip(*lists.values(), strict=True)
        return [dict(zip(mapping, row, strict=True)) for row in all_cells]
    header_keys = [key for key in flat_keys if _are_column_names(lists[key])]
    for header_key, rows_key in product(header_keys, lists):
        header, rows = lists[header_key], lists[rows_key]
        if rows and all(isinstance(row, list) and len(row) == len(header) for row in rows):
            records = [dict(zip(header, row, strict=True)) for row in rows]
            rest = {key: item for key, item in mapping.items() if key != header_key}
            return {**rest, rows_key: records} if len(rest) > 1 else records
    return mapping


def _are_column_names(values: list[Any]) -> bool:
    """True if the values are different strings."""
    return all(isinstance(value, str) for value in values) and len({*values}) == len(values)
