"""Copies of what plug-ins are given, and of what they answer, checked: nobody else sees what one of them changes, and nothing changes later."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from ..evidence.oracle import Future
from ..model import MAX_DEPTH, Record, Reply, ToolCall, ToolResult, as_text, compact_json
from ..model.errors import StrategyError, one_line
from ..strategies import Edits, Summary, untruncated_record
from ..strategies.routing import route_of

_NEVER_CHANGED = str | int | float | bytes | None
_PLAIN = frozenset({str, int, float, bool, type(None)})
_Kind = TypeVar("_Kind", bound=msgspec.Struct)


def fresh(value: Any) -> Any:
    """A copy of a value that shares nothing with it that can be changed, frozen values included: who insists can change those too.

    >>> given = {"rows": [1, 2]}
    >>> fresh(given) == given, fresh(given)["rows"] is given["rows"]
    (True, False)
    >>> call = ToolCall(id="c", name="get", arguments={"id": 3})
    >>> fresh((call,)) == (call,), fresh((call,))[0] is call
    (True, False)
    """
    if isinstance(value, _NEVER_CHANGED):
        return value
    if isinstance(value, dict):
        return {key: fresh(item) for key, item in value.items()}
    if isinstance(value, list):
        return [fresh(item) for item in value]
    if isinstance(value, tuple):
        return tuple(map(fresh, value)) if value else value
    if isinstance(value, msgspec.Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        others = {name: fresh(item) for name, item in fields.items() if not isinstance(item, _NEVER_CHANGED)}
        return msgspec.structs.replace(value, **others)
    return copy.deepcopy(value)


def can_change(step: ToolResult) -> bool:
    """True if a result holds anything that can be edited in place."""
    return not (isinstance(step.data, _NEVER_CHANGED) and isinstance(step.arguments, _NEVER_CHANGED))


def own_future(future: Future) -> Future:
    """Copy the knowledge of the whole recording for one strategy."""
    return Future.of(map(copy.copy, future.needs), MappingProxyType({**future.results}))


# ---------------------------------------------------------------- answers


def answered(value: Any) -> Any:
    """Copy an answer of user code as plain data: exact str, int, float, bool, None, dict, list and tuple, shared with nobody.

    Whatever else JSON can say of it (a date, a dataclass, a model, a set, a path, a number of numpy, a key that is no text) is said. Raises
    StrategyError for bytes, and for what is nested too deeply.

    >>> answered({"rows": (1, {2}), "at": PurePath("a/b")})
    {'rows': (1, [2]), 'at': 'a/b'}
    """
    return _answered(value, MAX_DEPTH)


def _answered(value: Any, levels: int) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if not levels:
        raise StrategyError(f"an answer is nested more than {MAX_DEPTH} levels deep — flatten it")
    if issubclass(kind, dict):
        return {_key(key, levels): _answered(item, levels - 1) for key, item in dict.items(value)}
    if issubclass(kind, list):
        return [_answered(item, levels - 1) for item in list.__iter__(value)]
    if issubclass(kind, tuple):
        return tuple(_answered(item, levels - 1) for item in tuple.__iter__(value))
    if dataclasses.is_dataclass(value):
        return {item.name: _answered(getattr(value, item.name), levels - 1) for item in dataclasses.fields(value)}
    if issubclass(kind, bytes | bytearray):
        raise StrategyError("it answered bytes, and text is wanted — decode them")
    try:
        return _answered(msgspec.to_builtins(value), levels - 1)
    except TypeError:
        if callable(getattr(value, "model_dump", None)):
            return _answered(value.model_dump(mode="json"), levels - 1)
        for exact, plain in _EXACT:
            if issubclass(kind, exact):
                return plain(value)
        unpack = getattr(value, "tolist", None)  # numpy's scalars and arrays
        if not callable(unpack):
            raise
        return _answered(unpack(), levels - 1)


def _key(key: Any, levels: int) -> Any:
    """A key of a mapping; None, true and false as their texts in JSON."""
    return compact_json(key) if key is None or isinstance(key, bool) else _answered(key, levels - 1)


_EXACT: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (PurePath, str),
)


def checked(kind: type[_Kind], value: Any) -> _Kind:
    """Copy a value that user code made as exactly this type, with plain data of the declared types in its fields. Raises StrategyError.

    >>> from bench.model import Message
    >>> checked(Message, Message(role="user", text=3, kind="made"))
    Traceback (most recent call last):
        ...
    bench.model.errors.StrategyError: Message: Expected `str`, got `int` - at `$.text`
    """
    try:
        return msgspec.convert({name: _field(getattr(value, name)) for name in kind.__struct_fields__}, kind)
    except msgspec.ValidationError as error:
        raise StrategyError(f"{kind.__name__}: {one_line(error)}") from None


def _field(value: Any) -> Any:
    if isinstance(value, tuple) and all(isinstance(item, ToolCall) for item in value):
        return [{name: answered(getattr(item, name)) for name in ToolCall.__struct_fields__} for item in value]
    return answered(value)


# ---------------------------------------------------------------- answers of each slot


def summary_of(answer: Any) -> tuple[Any, str | None, tuple[str, ...]]:
    """A summarizer's answer as (value, the text the model sees, notes); no text for "as stored"."""
    notes: tuple[str, ...] = ()
    if isinstance(answer, Summary):
        notes, answer = texts(answer.notes), answer.shown
    value = answered(answer)
    return value, None if value is None else as_text(value), notes


def texts(given: Iterable[Any]) -> tuple[str, ...]:
    """Notes: a sequence of texts. Raises StrategyError for anything else."""
    found: tuple[str, ...] = answered(tuple(given))
    if not all(isinstance(text, str) for text in found):
        raise StrategyError("notes must be texts — write notes=('what happened',)")
    return found


def record_of(kept: Any, own: ToolResult, step: ToolResult) -> Record:
    """A store's answer as a record: itself, or one that holds the value it gave. What is the data that it was handed is the trace's, held once."""
    if not isinstance(kept, Record):
        value = step.data if kept is own.data else answered(kept)
        result_type = "structured" if isinstance(value, dict | list) else "text"
        return msgspec.structs.replace(untruncated_record(step), value=value, result_type=result_type)
    pairs = {"value": (own.data, step.data), "arguments": (own.arguments, step.arguments)}
    traces = {name: ours for name, (handed, ours) in pairs.items() if getattr(kept, name) is handed}
    plain = checked(Record, msgspec.structs.replace(kept, **dict.fromkeys(traces)))
    return msgspec.structs.replace(plain, **traces)


def reply_of(answer: Any) -> Reply:
    """A consumer's answer. Raises StrategyError for anything but a Reply."""
    if not isinstance(answer, Reply):
        what = f"a consumer gives a Reply, got {type(answer).__name__}"
        raise StrategyError(f"{what} — or return a mapping with text, state and route")
    reply = checked(Reply, answer)
    compact_json(reply.state)
    return reply


def findings_of(answer: Any) -> dict[str, Any] | None:
    """An evaluator's answer: a mapping of findings, or None."""
    if answer is None:
        return None
    if not isinstance(answer, Mapping):
        raise StrategyError(f"an evaluator gives a mapping of findings, or None, got {type(answer).__name__}")
    found: dict[str, Any] = answered(dict(answer))
    compact_json(found)
    return found


def decision_of(answer: Any) -> tuple[str, dict[str, Any]]:
    """A router's answer: the route, and what it says of it."""
    route, detail = route_of(answer)
    plain = answered(dict(detail))
    compact_json(plain)
    return answered(route), plain


def edits_of(answer: Any) -> Edits | None:
    """A compactor's answer as edits. Raises StrategyError for anything but a list of messages, Edits or None."""
    edits = Edits(messages=answer) if isinstance(answer, list | tuple) else answer
    if edits is not None and not isinstance(edits, Edits):
        raise StrategyError(f"a compactor gives a list of messages, Edits or None, got {type(edits).__name__}")
    return edits


def parts_of(edits: Edits | None) -> dict[str, int]:
    """The token counts that a compactor wants on record, by name. Raises StrategyError for what is none."""
    parts: dict[str, int] = answered(dict(edits.parts)) if edits else {}
    if not all(isinstance(name, str) and isinstance(tokens, int) for name, tokens in parts.items()):
        raise StrategyError("`parts` must be whole numbers of tokens by name")
    return parts
