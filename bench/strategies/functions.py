"""Somebody's own function or program in a slot: its arguments built, and its answer read."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ..model import Message, Record, ToolResult
from ..model.errors import BenchError, StrategyError, one_line, raised_at
from ..plugins.command import Program
from ..plugins.registry import Plugin
from .forms import FORMS, SlotCall, execution_mapping, form_of
from .messages import Bridge, OpenAIMessages
from .offloading import offload
from .slots import Edits, Execution, Reply, untruncated_record


def started(plugin: Plugin) -> tuple[Any, Callable[..., Any]]:
    """The instance of a plug-in and a callable that takes and gives the values of the slot.

    Somebody's own function is handed its form. Raises SpecError for one that is unknown or missing.
    """
    instance, call = plugin.start()
    if not plugin.entry.own:
        return instance, call
    kind = plugin.entry.kind
    if isinstance(instance, Program):
        return instance, lambda *given: _of_program(instance, kind, given)
    return instance, OwnFunction(plugin, call)


def _of_program(program: Program, kind: str, given: tuple[Any, ...]) -> Any:
    """A program's answer, as its slot expects it; its handles are offloaded."""
    answer = program.ask(request_of(kind, given))
    for name, value in program.handles.items():
        offload(name, value)
    return _read(kind, answer, given)


class OwnFunction:
    """One function in one slot, for one run."""

    def __init__(self, plugin: Plugin, call: Callable[..., Any]) -> None:
        self._kind, self._call = plugin.entry.kind, call
        written = plugin.attribute("form")
        self._form, self._builds = form_of(self._kind, call, plugin.entry.name, written)
        self._records: list[Record] = []
        self._has_answered = False

    def __call__(self, *given: Any) -> Any:
        if self._kind == "evaluator":
            self._records.append(given[0])
        slot = SlotCall(given, self._records)
        answer = self._answer([build(slot) for build in self._builds])
        if self._kind == "compactor" and slot.bridge is not None and not isinstance(answer, Edits):
            return slot.bridge.back(answer)
        return _read(self._kind, answer, given)

    def _answer(self, arguments: list[Any]) -> Any:
        """The answer of the function. An error of its first call names the other forms."""
        try:
            answer = awaited(self._call(*arguments))
        except BenchError:
            raise
        except Exception as error:
            if not self._has_answered:
                others = ", ".join(form for form in FORMS[self._kind] if form != self._form)
                error.add_note(f"it got form={self._form}; other forms: {others}")
            raise
        self._has_answered = True
        return answer


# ---------------------------------------------------------------- answers


def awaited(answer: Any) -> Any:
    """An answer, awaited where it must be.

    >>> async def answer() -> int:
    ...     return 1
    >>> awaited(answer()), awaited(2)
    (1, 2)
    """
    if not inspect.isawaitable(answer):
        return answer
    import asyncio  # costs as much memory as all else here, and each replay forks

    async def wait() -> Any:
        return await answer

    return asyncio.run(wait())


def _read(kind: str, answer: Any, given: tuple[Any, ...]) -> Any:
    """A function's answer as its slot expects it."""
    if kind == "compactor":
        return _history_in(answer, given[0].messages)
    if kind == "store":
        return record_of_mapping(answer, given[0]) or answer
    if kind == "evaluator" and isinstance(answer, Mapping):
        return answer.get("last_step_evaluation", answer)
    if kind == "router" and isinstance(answer, Mapping):
        what = "a router gives a route's name, and this one gave a mapping"
        hint = "a function that rewrites the messages is a compactor: write compactor= before it"
        raise StrategyError(f"{what} — {hint}")
    if kind == "router" and isinstance(answer, list) and len(answer) == 2:
        return tuple(answer)
    if kind == "consumer" and isinstance(answer, Mapping):
        return _reply_in(answer)
    return answer


def _history_in(answer: Any, messages: Sequence[Message]) -> Any:
    """A compactor's answer: the bench's own values as they are, mappings as messages."""
    ours = isinstance(answer, list | tuple) and all(isinstance(item, Message) for item in answer)
    if ours or answer is None or isinstance(answer, Edits):
        return answer
    return Bridge(OpenAIMessages(), messages).back(answer)


def _reply_in(answer: Mapping[str, Any]) -> Any:
    """A consumer's answer as a reply, where it has all parts of one."""
    if not {"text", "state", "route"} <= answer.keys():
        return answer
    path = str(answer.get("path", "function"))
    return Reply(str(answer["text"]), path, answer["state"], str(answer["route"]))


def record_of_mapping(answer: Any, result: ToolResult) -> Record | None:
    """The record of a store's answer in document 004's keys; None for any other answer.

    These are `result_type`, `result` and `result_summary`. The value is that of `result`, and not
    the mapping around it.

    >>> kept = {"result_type": "text", "result": "abc", "result_summary": "ab"}
    >>> given = ToolResult(index=0, call_id="c", function="f", seen="abcdef")
    >>> record = record_of_mapping(kept, given)
    >>> record and (record.value, record.summary)
    ('abc', 'ab')
    """
    keys = {"result_type", "result", "result_summary"}
    if not isinstance(answer, Mapping) or not keys <= answer.keys():
        return None
    kind, value, summary = answer["result_type"], answer["result"], answer["result_summary"]
    if kind not in ("structured", "visualization", "text") or not isinstance(summary, str):
        return None
    record = untruncated_record(result)
    return msgspec.structs.replace(record, value=value, result_type=kind, summary=summary)


# ---------------------------------------------------------------- programs


def request_of(kind: str, given: tuple[Any, ...]) -> dict[str, Any]:
    """The request of a slot as JSON data for a program, with the slot's name."""
    (first, *rest) = given
    request: dict[str, Any]
    if kind == "compactor":
        request = {"messages": Bridge(OpenAIMessages(), first.messages).given}
        request |= {
            name: getattr(first, name) for name in ("step", "thread", "tokens", "max_tokens")
        }
    elif kind == "evaluator":
        request = {"record": execution_mapping(first), "history": list(rest[0])}
    elif kind == "router":
        prompt = Bridge(OpenAIMessages(), first.get("prompt", ())).given
        request = {
            "state": {
                **{key: value for key, value in first.items() if key != "prompt"},
                "messages": prompt,
            }
        }
    elif isinstance(first, Execution):
        request = {"result": _result(first.result), "summary": first.summary}
    else:
        request = {"result": _result(first)}
    return {"slot": kind, **_json_data(request)}


def _result(result: ToolResult) -> dict[str, Any]:
    names = ("call_id", "function", "arguments", "success", "error", "text", "data")
    return {"step": result.index, **{name: getattr(result, name) for name in names}}


def _json_data(value: Any) -> Any:
    """JSON data of a value: NaN and infinities as null, and any object as its text."""
    if isinstance(value, Mapping):
        return {str(key): _json_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_data(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, Message):
        return {"role": value.role, "content": value.text}
    return (
        _json_data(msgspec.to_builtins(value)) if isinstance(value, msgspec.Struct) else str(value)
    )


# ---------------------------------------------------------------- errors


def error_line(error: BaseException) -> str:
    """An error that a strategy raised, on one line: where the user's code raised it, and the error.

    >>> error_line(ValueError("no rows")), error_line(SystemExit(3))
    ('ValueError: no rows', 'exited with 3')
    """
    place = raised_at(error)
    before, message = f"{place}: " if place else "", one_line(error)
    if isinstance(error, MemoryError):
        return f"{before}MemoryError: it needs more memory than it may take — keep less, or raise --limit memory=N"
    if isinstance(error, SystemExit):
        return f"{before}exited with {message}"
    notes = getattr(error, "__notes__", ())
    form = next((f" — {note}" for note in reversed(notes) if note.startswith("it got ")), "")
    return f"{before}{type(error).__name__}{f': {message}' if message else ''}{form}"
