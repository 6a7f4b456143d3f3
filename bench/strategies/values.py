"""Values between the bench and somebody's own function: results and records as plain mappings, and answers as plain data."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from types import UnionType
from typing import Any

import msgspec

from ..model import Record, ToolResult
from .slots import untruncated_record


class Lookup(dict[str, Any]):
    """A mapping that finds more keys than it lists: `get` and `in` ask for what is missing as a lookup does."""

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 - which `get` of a dict would not find


class Recorded(Lookup):
    """A mapping as it was recorded. A key is also found by its other spelling: `structured_output` where `structuredOutput` was recorded, and back.

    >>> raw = Recorded({"structuredOutput": [1]})
    >>> raw.get("structured_output"), "structured_output" in raw, list(raw), raw.get("output", "")
    ([1], True, ['structuredOutput'], '')
    """

    def __missing__(self, key: str) -> Any:
        if dict.__contains__(self, other := _other(key)):
            return dict.__getitem__(self, other)
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return dict.__contains__(self, key) or dict.__contains__(self, _other(key))


def _other(key: Any) -> Any:
    if not isinstance(key, str):
        return key
    if "_" in key:
        return re.sub(r"_([a-z])", lambda found: found[1].upper(), key)
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", key)


def raw_mapping(result: ToolResult) -> dict[str, Any]:
    """A result as the mapping that was recorded; plain text as the mapping that document 000 has for a script's result.

    >>> raw_mapping(ToolResult(index=0, call_id="c", function="f", seen="done"))
    {'is_success': True, 'output': 'done', 'error_message': '', 'error_details': [], 'structured_output': []}
    """
    if isinstance(result.data, Mapping):
        return Recorded(result.data)
    told = {"is_success": result.success, "output": result.text, "error_message": result.error or ""}
    return Recorded(told, error_details=[], structured_output=[])


def execution_mapping(record: Record) -> dict[str, Any]:
    """A record as one entry of the execution history of document 004."""
    return {
        "step_index": record.step,
        "function_name": record.function,
        "success": record.success,
        "result": record.value,
        "result_type": record.result_type,
        "result_summary": record.summary,
        "error": record.error,
        "arguments": record.arguments,
    }


_RECORD_TYPES = ("structured", "visualization", "text")


def record_of_mapping(answer: Any, result: ToolResult) -> Record | None:
    """Return the record that a store described as document 004 does: `result_type`, `result` and `result_summary`; None for any other answer.

    `result_metadata` may stand beside them. So the value is what `result` holds, and not the mapping around it.

    >>> kept = {"result_type": "text", "result": "abc", "result_summary": "ab"}
    >>> record = record_of_mapping(kept, ToolResult(index=0, call_id="c", function="f", seen="abcdef"))
    >>> record and (record.value, record.summary)
    ('abc', 'ab')
    >>> record_of_mapping({"result": "abc"}, ToolResult(index=0, call_id="c", function="f")) is None
    True
    """
    if not isinstance(answer, Mapping) or not {"result_type", "result", "result_summary"} <= answer.keys():
        return None
    kind, summary = answer["result_type"], answer["result_summary"]
    if kind not in _RECORD_TYPES or not isinstance(summary, str):
        return None
    metadata = answer.get("result_metadata")
    return msgspec.structs.replace(
        untruncated_record(result),
        value=answer["result"],
        result_type=kind,
        summary=summary,
        metadata=dict(metadata) if isinstance(metadata, Mapping) else {},
    )


class WithMessages(Lookup):
    """A state that has the prompt as its `messages` too, made when they are first asked for."""

    def __init__(self, state: Mapping[str, Any], messages: Callable[[], list[Any]]) -> None:
        super().__init__(state)
        self._make = messages

    def __missing__(self, key: str) -> Any:
        if key != "messages":
            raise KeyError(key)
        self[key] = self._make()
        return self[key]

    def __contains__(self, key: object) -> bool:
        return key == "messages" or super().__contains__(key)


def class_of(declared: Any) -> type | None:
    """The dataclass or Pydantic model that an annotation names, which is made of a mapping; None for any other."""
    if typing.get_origin(declared) in (typing.Union, UnionType):
        found = [item for item in map(class_of, typing.get_args(declared)) if item is not None]
        return found[0] if len(found) == 1 else None
    made = isinstance(declared, type) and (dataclasses.is_dataclass(declared) or hasattr(declared, "model_validate"))
    return declared if made else None


def as_declared(raw: Mapping[str, Any], declared: Any) -> Any:
    """A mapping as its parameter declares it: itself, or an instance of the class, made of those fields that the mapping has."""
    made: Any = class_of(declared)
    if made is None:
        return raw
    if dataclasses.is_dataclass(made):
        fields = [field.name for field in dataclasses.fields(made) if field.init]
        return typing.cast(Any, made)(**{name: raw[name] for name in fields if name in raw})
    return made.model_validate({**raw, **{name: raw[name] for name in made.model_fields if name in raw}})


def plain(answer: Any) -> Any:
    """An answer that is a dataclass or a Pydantic model as a mapping; any other as it is.

    >>> plain(dataclasses.make_dataclass("Point", ["x"])(1))
    {'x': 1}
    """
    if isinstance(answer, type) or type(answer).__module__.startswith("bench."):
        return answer
    if callable(getattr(answer, "model_dump", None)):
        return answer.model_dump(mode="json")
    if not dataclasses.is_dataclass(answer):
        return answer
    return {field.name: getattr(answer, field.name) for field in dataclasses.fields(answer)}


def awaited(answer: Any) -> Any:
    """An answer, waited for where it is one of an async function, in a thread of its own where a loop is running already; the texts of a generator
    joined, its other values as a list.

    >>> async def answer() -> int:
    ...     return 1
    >>> awaited(answer()), awaited(2), awaited(part for part in ("a", "b"))
    (1, 2, 'ab')
    """
    if inspect.isawaitable(answer) or inspect.isasyncgen(answer):
        answer = _waited_for(answer)
    return _joined(list(answer)) if inspect.isgenerator(answer) else answer


def _waited_for(answer: Any) -> Any:
    async def wait() -> Any:
        return _joined([item async for item in answer]) if inspect.isasyncgen(answer) else await answer

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, asyncio.run, wait()).result()


def _joined(items: Sequence[Any]) -> Any:
    return "".join(items) if items and all(isinstance(item, str) for item in items) else list(items)
