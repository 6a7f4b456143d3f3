"""Keys that join the keys of nested mappings, such as `price.net` or `price_net`, with which a table
shows `{"price": {"net": 5}}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..model import nested
from .keys import plain_key

_MOST_KEYS = 4
"""The most keys that are joined."""

Path = tuple[str, ...]


def joined_keys(value: Any) -> dict[str, Path]:
    """The keys of the nested mappings in a value, by their joined key as `plain_key` spells it.

    >>> joined_keys([{"id": "W1", "price": {"net": 5, "gross": 6}}])
    {'price net': ('price', 'net'), 'price gross': ('price', 'gross')}
    """
    mappings = (item for item in nested(value) if isinstance(item, dict))
    every = dict.fromkeys(path for mapping in mappings for path in _paths(mapping, _MOST_KEYS))
    paths = (path for path in every if len(path) > 1)
    return {plain_key(" ".join(path)): path for path in paths}


def _paths(mapping: Mapping[Any, Any], most: int) -> Iterator[Path]:
    for key, item in mapping.items():
        if isinstance(item, dict) and most > 1:
            yield from ((str(key), *path) for path in _paths(item, most - 1))
        else:
            yield (str(key),)


def spellings(paths: Mapping[str, Path]) -> Iterator[str]:
    """Yield the usual spellings of joined keys.

    >>> [*spellings({"price net": ("price", "net")})]
    ['price.net', 'price_net', 'price net']
    """
    for path in paths.values():
        yield from (".".join(path), "_".join(path), " ".join(path))


def with_nested_keys(value: Any, paths: Mapping[str, Path]) -> Any:
    """A value with joined keys as nested mappings.

    >>> paths = joined_keys({"price": {"net": 5, "gross": 6}})
    >>> with_nested_keys([{"id": "W1", "price_net": 5, "price.gross": 6}], paths)
    [{'id': 'W1', 'price': {'net': 5, 'gross': 6}}]
    """
    if isinstance(value, list):
        return [with_nested_keys(item, paths) for item in value]
    if not isinstance(value, dict) or not paths:
        return value
    mapping: dict[Any, Any] = {}
    for key, item in value.items():
        *outer, last = paths.get(plain_key(str(key)), (key,))
        inner = mapping
        for part in outer:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                return value  # the value itself has the first key
        inner[last] = with_nested_keys(item, paths)
    return mapping
