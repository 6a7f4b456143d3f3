"""Other forms of a structured value in which layouts write its records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

_MOST_DEPTH = 60

EVERY = frozenset({"all", "always", "common", "constant", "each", "every", "one", "same", "shared"})
"""The words by which a text says that a value is that of every record."""


def is_container(value: Any) -> bool:
    """True for a mapping or a list."""
    return isinstance(value, dict | list)


def with_constants_once(value: Any) -> Any:
    """A value in which the fields that are equal in all records of a list or mapping stand once,
    before the records, which have the key "".

    >>> with_constants_once([{"id": 1, "at": {"x": 5, "y": 2}}, {"id": 2, "at": {"x": 5, "y": 3}}])
    {'at': {'x': 5}, '': [{'id': 1, 'at': {'y': 2}}, {'id': 2, 'at': {'y': 3}}]}
    >>> with_constants_once([{"id": 1}, {"id": 2}])
    [{'id': 1}, {'id': 2}]
    """
    if not (records := _records_in(value)):
        is_mapping = isinstance(value, dict)
        return {key: with_constants_once(value[key]) for key in value} if is_mapping else value
    common, rows = _parted(records)
    if not common or not all(rows):
        return value
    is_list = isinstance(value, list)
    return {**common, "": rows if is_list else dict(zip(value, rows, strict=True))}


def by_columns(value: Any) -> Any:
    """A value in which each list of records with the same keys is a list for each key.

    >>> by_columns({"of": [{"id": 1, "at": {"x": 5}}, {"id": 2, "at": {"x": 6}}]})
    {'of': {'id': [1, 2], 'at': {'x': [5, 6]}}}
    """
    if not (records := _records_in(value)):
        return {key: by_columns(value[key]) for key in value} if isinstance(value, dict) else value
    columns = {key: by_columns([row[key] for row in records]) for key in records[0]}
    return columns if isinstance(value, list) else {"key": [*value], **columns}


def by_rows(value: Any, depth: int = 0) -> Any:
    """A value in which lists of one length, and lists below a list of their names, are records.

    >>> by_rows({"columns": ["id", "ok"], "rows": [[1, True], [2, False]]})
    [{'id': 1, 'ok': True}, {'id': 2, 'ok': False}]
    >>> by_rows({"of": 3, "head": ["id", "ok"], "rows": [[1, True]], "page": {"id": [1, 2], "n": [3, 4]}})
    {'of': 3, 'rows': [{'id': 1, 'ok': True}], 'page': [{'id': 1, 'n': 3}, {'id': 2, 'n': 4}]}
    """
    if depth > _MOST_DEPTH:
        return value
    if isinstance(value, Mapping):
        return _with_rows({key: by_rows(item, depth + 1) for key, item in value.items()})
    return (
        [by_rows(item, depth + 1) for item in value] if isinstance(value, list | tuple) else value
    )


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


def _records_in(value: Any) -> list[dict[str, Any]]:
    """The records of a list or mapping of several with the same keys; [] for any other value."""
    records = [*value.values()] if isinstance(value, dict) else value
    if not isinstance(records, list) or len(records) < 2:
        return []
    are_alike = all(isinstance(row, dict) and row for row in records)
    return records if are_alike and all(row.keys() == records[0].keys() for row in records) else []


def _parted(rows: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The fields that are equal in all of some records, and the records without them."""
    common: dict[str, Any] = {}
    rest: list[dict[str, Any]] = [{} for _ in rows]
    for key in rows[0]:
        column = [row[key] for row in rows]
        if all(repr(item) == repr(column[0]) for item in column):  # 1 is neither 1.0 nor True
            common[key] = column[0]
            continue
        if _records_in(column):
            within, column = _parted(column)
            common |= {key: within} if within else {}
        for row, item in zip(rest, column, strict=True):
            row[key] = item
    return common, rest
