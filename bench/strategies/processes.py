"""The request of each slot as JSON data, for strategies in other languages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from ..model import Message, ToolResult
from .dialects import OpenAIMessages
from .messages import Bridge
from .slots import Execution
from .values import execution_mapping


def request_of(kind: str, given: tuple[Any, ...]) -> dict[str, Any]:
    """The request of a slot, with its name as `slot`.

    >>> told = ToolResult(index=4, call_id="c", function="ls", seen="a b")
    >>> request_of("summarizer", (told,))["result"]["text"]
    'a b'
    """
    (first, *rest) = given
    told: dict[str, Any]
    if kind == "compactor":
        told = {"messages": Bridge(OpenAIMessages(), first.messages).given}
        told |= {name: getattr(first, name) for name in ("step", "thread", "tokens", "max_tokens")}
    elif kind == "evaluator":
        told = {"record": execution_mapping(first), "history": list(rest[0])}
    elif kind == "router":
        prompt = Bridge(OpenAIMessages(), first.get("prompt", ())).given
        told = {"state": {**{key: value for key, value in first.items() if key != "prompt"}, "messages": prompt}}
    elif isinstance(first, Execution):
        told = {"result": _result(first.result), "summary": first.summary}
    else:
        told = {"result": _result(first)}
    return {"slot": kind, **_plain(told)}


def _result(result: ToolResult) -> dict[str, Any]:
    names = ("call_id", "function", "arguments", "success", "error", "text", "data")
    return {"step": result.index, **{name: getattr(result, name) for name in names}}


def _plain(value: Any) -> Any:
    """JSON data of a value; NaN and infinities, which JSON lacks, as null, and any object as its text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, Message):
        return {"role": value.role, "content": value.text}
    return _plain(msgspec.to_builtins(value)) if isinstance(value, msgspec.Struct) else str(value)
