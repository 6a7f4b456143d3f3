"""Values that a strategy is given, copied, and what it answers as plain data."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, TypeVar

import msgspec

from ..model import MAX_DEPTH, ToolCall, compact_json
from ..model.errors import StrategyError, one_line

_Kind = TypeVar("_Kind", bound=msgspec.Struct)
_PLAIN = frozenset({str, int, float, bool, type(None)})
_EXACT: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (PurePath, str),
)


def copied(value: Any) -> Any:
    """A value that shares no list, mapping or struct with the given one.

    >>> given = {"rows": [1, 2]}
    >>> copied(given) == given, copied(given)["rows"] is given["rows"]
    (True, False)
    """
    return pickle.loads(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))


def plain_data(value: Any, levels: int = MAX_DEPTH) -> Any:
    """An answer as plain data: exact str, int, float, bool, None, dict, list and tuple.

    Whatever else JSON can hold (a date, a dataclass, a model, a set, a path, a number of numpy, a
    key that is no text) becomes that. Raises StrategyError for bytes and for what is nested more
    than 200 levels deep, TypeError for any other object.

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
        if callable(getattr(value, "model_dump", None)):
            return plain_data(value.model_dump(mode="json"), levels - 1)
        for exact, convert in _EXACT:
            if issubclass(kind, exact):
                return convert(value)
        unpack = getattr(value, "tolist", None)  # scalars and arrays of numpy
        if not callable(unpack):
            raise
        return plain_data(unpack(), levels - 1)


def _key(key: Any, levels: int) -> Any:
    return (
        compact_json(key) if key is None or isinstance(key, bool) else plain_data(key, levels - 1)
    )


def plain_struct(kind: type[_Kind], value: Any) -> _Kind:
    """A copy of exactly this type with plain data of the declared types in it. Raises
    StrategyError.
    """
    fields = {name: getattr(value, name) for name in kind.__struct_fields__}
    try:
        return msgspec.convert({name: _field(item) for name, item in fields.items()}, kind)
    except msgspec.ValidationError as error:
        raise StrategyError(f"{kind.__name__}: {one_line(error)}") from None


def _field(value: Any) -> Any:
    if isinstance(value, tuple) and value and all(isinstance(item, ToolCall) for item in value):
        names = ToolCall.__struct_fields__
        return [{name: plain_data(getattr(item, name)) for name in names} for item in value]
    return plain_data(value)
