"""Conversion of the answers of user code to plain data, which the process boundary can pass."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

import msgspec

from ...model import Reply
from ...model.errors import StrategyError, one_line, raised_at

_EXACT: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (PurePath, str),
)
_BYTES = (bytes, bytearray, memoryview)
_encoded = json.JSONEncoder(check_circular=False).encode


def plain_data(value: Any) -> Any:
    """An answer in the types of JSON, not of their subclasses; a dict has texts as keys.

    Values that JSON can represent (a date, a dataclass, a pydantic model, a set, a path, a number
    of numpy) are converted. Raises StrategyError for bytes, for values of the bench (other than a
    Reply or a mapping) and for any other object. Errors of the object's own code are raised as they are.

    >>> plain_data({1: (1, {2}), "at": PurePath("a/b")})
    {'1': [1, [2]], 'at': 'a/b'}
    """
    if type(value) is str:
        return value
    if type(value).__module__.startswith("bench.") and not isinstance(value, Reply | Mapping):
        raise _no_data(value)  # such as the result that the function was given
    try:
        data = msgspec.to_builtins(value, enc_hook=_plain, builtin_types=_BYTES)
        return json.loads(_encoded(data))
    except (RecursionError, TypeError, ValueError) as error:
        if raised_at(error):
            raise
        what = f"its answer cannot be written as JSON: {one_line(error)}"
        raise StrategyError(f"{what} — return text or plain data") from None


def encoded(data: Any) -> bytes:
    """A struct or other plain data as JSON."""
    data = data if type(data) is str else msgspec.to_builtins(data, enc_hook=_plain)
    return _encoded(data).encode("ascii")


def _plain(value: Any) -> Any:
    """The plain value of a subclass, a path, a mapping, a pydantic model or a numpy value."""
    for kind, exact in _EXACT:
        if isinstance(value, kind):
            return exact(value)
    if isinstance(value, Mapping):
        return dict(value)
    if callable(getattr(value, "model_dump", None)):
        return value.model_dump(mode="json")
    if callable(getattr(value, "tolist", None)):  # scalars and arrays of numpy
        return value.tolist()
    raise _no_data(value)


def _no_data(value: Any) -> StrategyError:
    what = f"its answer has the type {type(value).__name__}, and text or data is wanted"
    return StrategyError(f"{what} — return what it holds, such as its text")
