"""Somebody's own function or program in a slot: handed the forms that it asks for, and its answer read as the slot's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ..model import Message, Record, ToolResult
from ..model.errors import BenchError, StrategyError, one_line, raised_at
from ..plugins.command import Process
from ..plugins.registry import Plugin
from .dialects import OpenAIMessages
from .forms import FORMS, Handed, forms_of, told_of_form
from .messages import Bridge
from .offloading import offload
from .slots import Edits, Execution, Reply
from .values import as_declared, awaited as awaited, execution_mapping, plain, record_of_mapping


def started(plugin: Plugin) -> tuple[Any, Callable[..., Any]]:
    """The instance and the callable that `plugin.start()` gives; that of somebody's own is handed its forms and answers as the slot expects.

    Raises SpecError for a form that is unknown or missing.
    """
    instance, call = plugin.start()
    if not plugin.entry.own:
        return instance, call
    kind = plugin.entry.kind
    if isinstance(instance, Process):
        return instance, lambda *given: _of_process(instance, kind, given)
    return instance, OwnFunction(plugin, call)


def _of_process(process: Process, kind: str, given: tuple[Any, ...]) -> Any:
    answer = process.ask(request_of(kind, given))
    for name, value in process.handles.items():
        offload(name, value)
    return _answered(kind, answer, given)


class OwnFunction:
    """One function in one slot, for one case."""

    def __init__(self, plugin: Plugin, call: Callable[..., Any]) -> None:
        self._kind, self._call = plugin.entry.kind, call
        self._forms = forms_of(self._kind, call, plugin.entry.name, plugin.attribute("form"))
        self._names = [form for form, _ in self._forms]
        self._records: list[Record] = []
        self._called = False

    def __call__(self, *given: Any) -> Any:
        if self._kind == "evaluator":
            self._records.append(given[0])
        if "new_items" in self._names and given[0].messages[-1].kind != "user":
            return None  # a session is read once for each turn of the user
        handed, known = Handed(given, self._records), FORMS[self._kind].known
        parts = [
            as_declared(known[form].make(handed), kind) if form == "dict" else known[form].make(handed)
            for form, kind in self._forms
        ]
        answer = self._asked(parts)
        answer = answer if handed.sent is None else handed.sent
        if "dict" in self._names and isinstance(given[0], ToolResult):
            _require_untouched(handed.raw, given[0])
        if self._kind == "compactor" and handed.bridge is not None and not isinstance(answer, Edits):
            return handed.bridge.back(answer)
        return _answered(self._kind, answer, given)

    def _asked(self, parts: list[Any]) -> Any:
        before, self._called = self._called, True
        try:
            return awaited(self._call(*parts))
        except BenchError:
            raise
        except Exception as error:
            if not before:
                error.add_note(told_of_form(self._kind, [form for form, _ in self._forms]))
            raise


def _require_untouched(raw: Mapping[str, Any], result: ToolResult) -> None:
    data = result.data
    if isinstance(data, Mapping) and (raw.keys() != data.keys() or any(raw[key] is not data[key] for key in raw)):
        what = "the function changed the mapping that it was given"
        raise StrategyError(f"{what} — copy what a result holds before editing it")


def _answered(kind: str, answer: Any, given: tuple[Any, ...]) -> Any:
    if kind == "compactor":
        listed = isinstance(answer, list | tuple) and all(isinstance(item, Message) for item in answer)
        return (
            answer
            if listed or answer is None or isinstance(answer, Edits)
            else Bridge(OpenAIMessages(), given[0].messages).back(answer)
        )
    answer = plain(answer)
    if kind == "store" and (record := record_of_mapping(answer, given[0])) is not None:
        return record
    if kind == "evaluator" and isinstance(answer, Mapping):
        return answer.get("last_step_evaluation", answer)
    if kind == "router" and isinstance(answer, Mapping):
        what = "a router gives a route's name, and this one gave a mapping"
        raise StrategyError(
            f"{what} — a function that rewrites the messages is a compactor: write compactor= before it"
        )
    if kind == "router" and isinstance(answer, list) and len(answer) == 2:
        return tuple(answer)
    if kind == "consumer" and isinstance(answer, Mapping) and {"text", "state", "route"} <= answer.keys():
        return Reply(str(answer["text"]), str(answer.get("path", "function")), answer["state"], str(answer["route"]))
    return answer


# ---------------------------------------------------------------- programs


def request_of(kind: str, given: tuple[Any, ...]) -> dict[str, Any]:
    """The request of a slot as JSON data for a program, with the slot's name."""
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


# ---------------------------------------------------------------- errors


_HINTS = {
    "'ToolMessage' object has no attribute 'tool_calls'": "the newest message is a tool's result: a router that reads a model's calls decides at "
    "`:at=after_model`",
    "Only dicts with str-like or number-like keys": "the keys of an answer's mappings are text",
    "Encoding objects of type": "an answer is text, or what JSON can hold: a list, a mapping, a dataclass",
}


def told_of(error: BaseException) -> str:
    """An error that a strategy raised, on one line: file and line of the user's code, the error, and what to do next where that is known.

    >>> told_of(TypeError("Encoding objects of type set is unsupported")).partition(" — ")[2]
    'an answer is text, or what JSON can hold: a list, a mapping, a dataclass'
    """
    place = raised_at(error)
    what = f"{place}: " if place else ""
    said = one_line(error)
    if isinstance(error, MemoryError):
        return f"{what}MemoryError: it needs more memory than it may take — keep less, or raise --memory"
    if isinstance(error, SystemExit):
        return f"{what}exited with {said}"
    form = next((note for note in reversed(getattr(error, "__notes__", ())) if note.startswith("it got ")), "")
    hint = next((hint for start, hint in _HINTS.items() if said.startswith(start)), form)
    return f"{what}{type(error).__name__}{f': {said}' if said else ''}{f' — {hint}' if hint else ''}"
