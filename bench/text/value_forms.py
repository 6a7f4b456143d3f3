"""Other forms of a structured value in which layouts write its records."""

from __future__ import annotations

from itertools import product
from typing import Any

from ..model.base import CONTAINERS, LISTS

_MOST_DEPTH, _CONTAINERS = 60, (dict, list)


def is_container(value: Any) -> bool:
    """True for a mapping or a list."""
    return isinstance(value, _CONTAINERS)


def by_rows(value: Any, depth: int = 0) -> Any:
    """A value in which lists of one length, lists below a list of their names, and lists of pairs
    are records.

    >>> by_rows({"columns": ["id", "ok"], "rows": [[1, True], [2, False]]})
    [{'id': 1, 'ok': True}, {'id': 2, 'ok': False}]
    >>> by_rows({"of": 3, "head": ["id", "ok"], "rows": [[1, True]], "page": {"id": [1, 2], "n": [3, 4]}})
    {'of': 3, 'rows': [{'id': 1, 'ok': True}], 'page': [{'id': 1, 'n': 3}, {'id': 2, 'n': 4}]}
    >>> by_rows([{"id": 1}, {"ok": True}]), by_rows([{"id": 1}, {"id": 2}])
    ({'id': 1, 'ok': True}, [{'id': 1}, {'id': 2}])
    """
    if depth > _MOST_DEPTH:
        return value
    if isinstance(value, dict):
        inner = {
            key: by_rows(item, depth + 1) if isinstance(item, CONTAINERS) else item
            for key, item in value.items()
        }
        return _with_rows(inner) if any(map(is_container, inner.values())) else inner
    if isinstance(value, LISTS):
        return _as_pairs([by_rows(item, depth + 1) for item in value])
    return value


def _as_pairs(items: list[Any]) -> Any:
    """A list of mappings with one key each, all different, as one mapping."""
    keys = [key for item in items if isinstance(item, dict) and len(item) == 1 for key in item]
    if len(keys) < 2 or len({*keys}) < len(items):
        return items
    return {key: it for item in items for key, it in item.items()}


def _with_rows(value: dict[Any, Any]) -> Any:
    lists = {key: item for key, item in value.items() if isinstance(item, list)}
    flat = [key for key in lists if lists[key] and not any(map(is_container, lists[key]))]
    sizes = {*map(len, lists.values())}
    if len(lists) == len(value) and len(flat) > 1 and len(sizes) == 1 and sizes != {1}:
        return [dict(zip(value, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    for name, key in product(filter(lambda key: _are_names(lists[key]), flat), lists):
        header, rows = lists[name], lists[key]
        if rows and all(isinstance(row, list) and len(row) == len(header) for row in rows):
            records = [dict(zip(header, row, strict=True)) for row in rows]
            rest = {other: value[other] for other in value if other != name}
            return {**rest, key: records} if len(rest) > 1 else records
    return value


def _are_names(values: list[Any]) -> bool:
    return all(isinstance(one, str) for one in values) and len({*values}) == len(values)
