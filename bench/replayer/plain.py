"""The answers of a strategy as plain data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

import msgspec

from ..model import MAX_DEPTH, compact_json
from ..model.errors import StrategyError

_PLAIN = frozenset({str, int, float, bool, type(None)})
_EXACT: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (PurePath, str),
)


def plain_data(value: Any, levels: int = MAX_DEPTH) -> Any:
    """An answer as plain data: exact str, int, float, bool, None, dict, list and tuple.

    Whatever else JSON can hold (a date, a dataclass, a model, a set, a path, a number of numpy, a
    key that is no text) becomes that. Raises StrategyError for bytes, for what is nested more than
    200 levels deep, and for any other object.

    >>> plain_data({"rows": (1, {2}), "at": PurePath("a/b"), None: 1.5})
    {'rows': (1, [2]), 'at': 'a/b', 'null': 1.5}
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if not levels:
        raise StrategyError(f"an answer is nested more than {MAX_DEPTH} levels deep — flatten it")
    if issubclass(kind, dict):
        return {_key(key, levels): plain_data(item, levels - 1) for key, item in dict.items(value)}
    if issubclass(kind, list):
        return [plain_data(item, levels - 1) for item in list.__iter__(value)]
    if issubclass(kind, tuple):
        return tuple(plain_data(item, levels - 1) for item in tuple.__iter__(value))
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        return {item.name: plain_data(getattr(value, item.name), levels - 1) for item in fields}
    if issubclass(kind, bytes | bytearray):
        raise StrategyError("it answered bytes, and text is wanted — decode them")
    return _of_object(value, kind, levels)


def _of_object(value: Any, kind: type, levels: int) -> Any:
    """Plain data of any other object, by what it offers: msgspec, pydantic, numpy."""
    try:
        return plain_data(msgspec.to_builtins(value), levels - 1)
    except TypeError:
        if isinstance(value, msgspec.Struct):  # one that holds such an object
            names = value.__struct_fields__
            return {name: plain_data(getattr(value, name), levels - 1) for name in names}
        if callable(getattr(value, "model_dump", None)):
            return plain_data(value.model_dump(mode="json"), levels - 1)
        for exact, convert in _EXACT:
            if issubclass(kind, exact):
                return convert(value)
        unpack = getattr(value, "tolist", None)  # scalars and arrays of numpy
        if not callable(unpack):
            what = f"it answered a {kind.__name__}, and text or data is wanted"
            raise StrategyError(f"{what} — return what it holds") from None
        return plain_data(unpack(), levels - 1)


def _key(key: Any, levels: int) -> Any:
    return (
        compact_json(key) if key is None or isinstance(key, bool) else plain_data(key, levels - 1)
    )
