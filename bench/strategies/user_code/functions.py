"""Calls of a plug-in in a slot: the values of the slot become its arguments, and its answer becomes
the value that the slot expects."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ...model import Message, Record, ToolResult
from ...plugins.registry import Plugin
from ...plugins.spec import COMMAND
from ..offloading import offload
from ..slots import Execution, NewHistory, untruncated_record
from .forms import FORMS, Form, Inputs, execution_mapping
from .plain import plain_data

Route = tuple[str, dict[str, Any]]
"""A route's name, and details about it."""


class SlotFunction:
    """A new instance of a plug-in, called with the values of its slot.

    A user's function gets them in its form, a program as JSON, and a plug-in of the bench as they
    are. `_READ` reads the answer.
    """

    def __init__(self, plugin: Plugin) -> None:
        form = plugin.meta.get("form")
        self._plugin, self._inputs = plugin, Inputs(form.name if isinstance(form, Form) else "")
        self._is_program = plugin.spec.target == COMMAND
        self._instance, self._call = plugin.start()

    def __call__(self, *values: Any) -> Any:
        plugin = self._plugin
        self._inputs.begin_call(plugin.kind, values)
        if self._is_program:
            answer = _of_program(self._instance, plugin.kind, self._inputs)
        elif plugin.is_user:
            answer = _of_function(self._call, plugin.kind, plugin.meta["form"], self._inputs)
        else:
            answer = self._call(*values)
        is_record = plugin.kind == "store" and isinstance(answer, Record)
        if plugin.has_user_code and plugin.kind != "compactor" and not is_record:
            answer = plain_data(answer)
        return _READ[plugin.kind](answer, self._inputs)


def _of_function(call: Callable[..., Any], kind: str, form: Form, inputs: Inputs) -> Any:
    """A function's answer. An error about its arguments gets a note with the other forms; so does
    any in `value`, which is a list for one result and a mapping or a text for another."""
    arguments = [argument(inputs) for argument in form.arguments]
    try:
        return awaited(call(*arguments))
    except (AttributeError, TypeError, LookupError) as error:
        lists = (argument for argument in arguments if isinstance(argument, list))
        types = {type(item).__name__ for item in itertools.chain(arguments, *lists)}
        got = f", a {type(arguments[0]).__name__}" if form.name == "value" else ""
        if got or any(name in str(error) for name in types if not isinstance(error, LookupError)):
            others = ", ".join(name for name in FORMS[kind] if name != form.name)
            error.add_note(f"it got form={form.name}{got}; other forms: {others}")
        raise


def awaited(answer: Any) -> Any:
    """The answer of a function, awaited if it is awaitable.

    >>> async def answer() -> int:
    ...     return 1
    >>> awaited(answer()), awaited(2)
    (1, 2)
    """
    if not hasattr(type(answer), "__await__"):
        return answer
    import asyncio  # takes as much memory as all else here, and each replay forks

    async def wait() -> Any:
        return await answer

    return asyncio.run(wait())


# ---------------------------------------------------------------- programs


def _of_program(program: Any, kind: str, inputs: Inputs) -> Any:
    """A program's answer; the values that it returned by handle are offloaded."""
    answer = program.ask({"slot": kind, **_request(kind, inputs)})
    for name, value in program.handles.items():
        offload(name, value)
    return answer


def _request(kind: str, inputs: Inputs) -> dict[str, Any]:
    """The request to a program, with the values of a slot."""
    first = inputs.first
    if kind == "compactor":
        names = ("step", "thread", "tokens", "max_tokens")
        fields = {name: getattr(first, name) for name in names}
        return {"messages": inputs.messages(), **fields}
    if kind == "evaluator":
        return {"record": execution_mapping(first), "history": inputs.values[1]}
    if kind == "router":
        state = inputs.state().items()
        return {"state": {key: value for key, value in state if key != "prompt"}}
    if isinstance(first, Execution):
        return {"result": _result(first.result), "summary": first.summary}
    return {"result": _result(first)}


def _result(result: ToolResult) -> dict[str, Any]:
    names = ("call_id", "function", "arguments", "success", "error", "text", "data")
    return {"step": result.index, **{name: getattr(result, name) for name in names}}


# ---------------------------------------------------------------- answers


def record_of(answer: Any, stored: ToolResult) -> Record:
    """A store's answer as a record: a Record as it is, any other value in a new record.

    A mapping with document 004's keys (`result_type`, `result`, `result_summary`) is read as a
    record.

    >>> kept = {"result_type": "text", "result": "abc", "result_summary": "ab"}
    >>> record = record_of(kept, ToolResult(index=0, call_id="c", function="f", seen="abcdef"))
    >>> record.value, record.summary
    ('abc', 'ab')
    """
    if isinstance(answer, Record):
        return answer
    record = untruncated_record(stored)
    match answer:
        case {
            "result_type": "structured" | "visualization" | "text" as kind,
            "result": value,
            "result_summary": str(summary),
        }:
            return msgspec.structs.replace(record, value=value, result_type=kind, summary=summary)
    kind = "structured" if isinstance(answer, dict | list) else "text"
    return msgspec.structs.replace(record, value=answer, result_type=kind)


def _reply_of(answer: Any, inputs: Inputs) -> Any:
    """A consumer's answer as a Reply; it may be a mapping of a Reply's fields."""
    return {"path": "function", **answer} if isinstance(answer, Mapping) else answer


def _findings_of(answer: Any, inputs: Inputs) -> Any:
    """An evaluator's findings: its answer, or the last evaluation in an answer that is a state of
    document 004."""
    return answer.get("last_step_evaluation", answer) if isinstance(answer, Mapping) else answer


def _decision_of(answer: Any, inputs: Inputs) -> Any:
    """A router's answer as (route, detail); a route alone has no detail, and None stays."""
    return (answer, {}) if isinstance(answer, str) else answer


def _history_of(answer: Any, inputs: Inputs) -> NewHistory | None:
    """A compactor's answer as a NewHistory. It may be a list of `Message`, or of messages of the
    interface that the function was given, else OpenAI's. Raises StrategyError for anything else."""
    if isinstance(answer, NewHistory):
        return answer
    if not inputs.gave_messages:
        if answer is None:
            return None
        if isinstance(answer, list | tuple) and (not answer or isinstance(answer[0], Message)):
            return NewHistory(answer)
        inputs.messages()
    return NewHistory(inputs.chat.back(answer))


_READ: dict[str, Callable[[Any, Inputs], Any]] = {
    "summarizer": lambda answer, inputs: inputs.unframed(answer),
    "store": lambda answer, inputs: record_of(inputs.unframed(answer), inputs.first),
    "consumer": _reply_of,
    "evaluator": _findings_of,
    "router": _decision_of,
    "compactor": _history_of,
}
"""For each kind of plug-in the function that reads its answer to some inputs."""
