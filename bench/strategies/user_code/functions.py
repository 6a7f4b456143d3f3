"""The call of one plug-in in a slot: its arguments, its answer as the value of the slot."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ...model import Message, Record, Reply, ToolResult
from ...model.errors import StrategyError
from ...plugins.registry import Plugin
from ...plugins.spec import COMMAND
from ..offloading import offload
from ..slots import Execution, NewHistory, Window, untruncated_record
from .bridge import Bridge
from .forms import FORMS, Form, Lookup, execution_mapping, raw_mapping
from .messages import AnthropicMessages, LangChainMessages, OpenAIMessages
from .plain import plain_data

Route = tuple[str, dict[str, Any]]
"""A route, and its detail."""


class SlotFunction:
    """A function from the values of a slot to the plug-in's answer; the plug-in starts at the first
    call."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin

    @functools.cached_property
    def _started(self) -> tuple[Any, Callable[..., Any]]:
        """The plug-in's instance, and its function."""
        plugin = self._plugin
        instance, call = plugin.start()
        if plugin.spec.target == COMMAND:
            call = functools.partial(_of_program, instance, plugin.kind)
        elif plugin.is_user:
            call = UserFunction(plugin, call)
        return instance, call

    def __call__(self, *given: Any) -> Any:
        kind, (_, call) = self._plugin.kind, self._started
        answer = call(*given)
        if self._plugin.has_user_code and kind != "compactor" and not isinstance(answer, Record):
            answer = plain_data(answer)
        return _READ[kind](answer, given[0])

    def finish(self) -> None:
        """End a program that was called, as `Program.finish` does; nothing for any other plug-in."""
        if self._plugin.spec.target == COMMAND:
            self._started[0].finish()


# ---------------------------------------------------------------- functions


class UserFunction:
    """A user's function in one slot, for one run; calling it converts the values and the answer.

    `given` are the values of the slot at this call, `records` those of this run so far.
    """

    def __init__(self, plugin: Plugin, call: Callable[..., Any]) -> None:
        self._kind, self._call = plugin.kind, call
        self._form: Form = plugin.meta["form"]
        self._dialects: dict[type, OpenAIMessages] = {}
        self._bridge: Bridge | None = None
        self.records: list[Record] = []
        self.given: tuple[Any, ...] = ()

    def __call__(self, *given: Any) -> Any:
        self.given, self._bridge = given, None
        if self._kind == "evaluator":
            self.records.append(given[0])
        answer = self._answer([_ARGUMENTS[name](self) for name in self._form.arguments])
        if self._bridge is None or self._kind == "router" or isinstance(answer, NewHistory):
            return answer
        return self._bridge.back(answer)

    def _answer(self, arguments: list[Any]) -> Any:
        """The answer of the function. An error about its arguments gets a note that lists the other
        forms."""
        try:
            return awaited(self._call(*arguments))
        except (AttributeError, TypeError) as error:
            lists = (argument for argument in arguments if isinstance(argument, list))
            given = itertools.chain(arguments, *lists)
            if any(type(value).__name__ in str(error) for value in given):
                others = ", ".join(form for form in FORMS[self._kind] if form != self._form.name)
                error.add_note(f"it got form={self._form.name}; other forms: {others}")
            raise

    def messages(self, dialect: type[OpenAIMessages], *beside: str) -> list[Any]:
        """The history as messages of a dialect; the answer is read as that dialect too."""
        if self._bridge is None:
            (first,) = self.given
            history = first.messages if isinstance(first, Window) else first.get("prompt", ())
            if dialect not in self._dialects:
                self._dialects[dialect] = dialect(*beside)
            self._bridge = Bridge(self._dialects[dialect], history)
        return self._bridge.given


def _graph_state(call: UserFunction) -> dict[str, Any]:
    """A graph's state, with the history as its `messages`, without the system prompt.

    A router's messages are built only when its function asks for them.
    """
    (first,) = call.given

    def messages(key: str) -> Any:
        if key != "messages":
            raise KeyError(key)
        return call.messages(LangChainMessages, "system")

    return (
        {"messages": messages("messages")} if isinstance(first, Window) else Lookup(first, messages)
    )


def _step(call: UserFunction) -> dict[str, Any]:
    """The step of a plan of document 004 that was executed."""
    return {"function_name": call.given[0].function, "parameters": call.given[0].arguments}


def _execution_state(call: UserFunction) -> dict[str, Any]:
    """The state of document 004 at an evaluation."""
    return {
        "execution_history": [execution_mapping(item) for item in call.records],
        "current_step_index": len(call.records),
        "step_evaluation_history": list(call.given[1]),
    }


_ARGUMENTS: dict[str, Callable[[UserFunction], Any]] = {
    **dict.fromkeys(("ToolResult", "Record", "Window", "Execution"), lambda call: call.given[0]),
    "str": lambda call: call.given[0].text,
    "value": lambda call: call.given[0].value,
    "mapping": lambda call: raw_mapping(call.given[0]),
    "success": lambda call: call.given[0].success,
    "function": lambda call: call.given[0].function,
    "step": _step,
    "Message": lambda call: list(call.given[0].messages),
    "openai": lambda call: call.messages(OpenAIMessages),
    "anthropic": lambda call: call.messages(AnthropicMessages),
    "langchain": lambda call: call.messages(LangChainMessages),
    "graph_state": _graph_state,
    "execution": lambda call: {**execution_mapping(call.given[0]), "step": _step(call)},
    "execution_state": _execution_state,
    "evaluations": lambda call: list(call.given[1]),
}
"""The arguments that a form may have, each with the function that builds it at a call."""


def awaited(answer: Any) -> Any:
    """The value of an answer, awaited if it is awaitable.

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


# ---------------------------------------------------------------- programs


def _of_program(program: Any, kind: str, *given: Any) -> Any:
    """A program's answer; the values of its handles are offloaded."""
    answer = program.ask({"slot": kind, **_request(kind, *given)})
    for name, value in program.handles.items():
        offload(name, value)
    return answer


def _request(kind: str, first: Any, *rest: Any) -> dict[str, Any]:
    """The request to a program, with the values of a slot."""
    if kind == "compactor":
        names = ("step", "thread", "tokens", "max_tokens")
        about = {name: getattr(first, name) for name in names}
        return {"messages": Bridge(OpenAIMessages(), first.messages).given, **about}
    if kind == "evaluator":
        return {"record": execution_mapping(first), "history": rest[0]}
    if kind == "router":
        state = dict(first)
        prompt = Bridge(OpenAIMessages(), state.pop("prompt", ())).given
        return {"state": {**state, "messages": prompt}}
    if isinstance(first, Execution):
        return {"result": _result(first.result), "summary": first.summary}
    return {"result": _result(first)}


def _result(result: ToolResult) -> dict[str, Any]:
    names = ("call_id", "function", "arguments", "success", "error", "text", "data")
    return {"step": result.index, **{name: getattr(result, name) for name in names}}


# ---------------------------------------------------------------- answers


def record_of(answer: Any, given: ToolResult) -> Record:
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
    record, value = untruncated_record(given), answer
    match value:
        case {
            "result_type": "structured" | "visualization" | "text" as kind,
            "result": kept,
            "result_summary": str(summary),
        }:
            return msgspec.structs.replace(record, value=kept, result_type=kind, summary=summary)
    kind = "structured" if isinstance(value, dict | list) else "text"
    return msgspec.structs.replace(record, value=value, result_type=kind)


def reply_of(answer: Any, given: Any) -> Reply:
    """A consumer's answer as a Reply; it may be a mapping of a Reply's fields. Raises StrategyError
    for anything else."""
    if isinstance(answer, Reply):
        return answer
    if not isinstance(answer, Mapping) or not {"text", "state", "route"} <= answer.keys():
        what = f"a consumer gives a Reply, got {type(answer).__name__}"
        raise StrategyError(f"{what} — or return a mapping with text, state and route")
    text, route = str(answer["text"]), str(answer["route"])
    path = str(answer.get("path", "function"))
    return Reply(text, path, answer["state"], route)


def findings_of(answer: Any, given: Any) -> dict[str, Any] | None:
    """The findings in an evaluator's answer, a mapping or None; the last ones in a state of
    document 004."""
    findings = dict(answer) if isinstance(answer, Mapping) else answer
    if isinstance(findings, dict):
        findings = findings.get("last_step_evaluation", findings)
    if findings is not None and not isinstance(findings, dict):
        what = "an evaluator gives a mapping of findings, or None"
        raise StrategyError(f"{what}, got {type(findings).__name__}")
    return findings


def decision_of(answer: Any, given: Any) -> Route | None:
    """A router's answer, a route or (route, detail), as (route, detail); None if it does not decide
    here.

    Raises StrategyError for anything else.
    """
    match answer:
        case None:
            return None
        case str():
            return answer, {}
        case [str() as route, Mapping() as detail]:
            return route, dict(detail)
    what = "a router gives a route's name or (name, detail), the detail a mapping"
    raise StrategyError(f"{what}, got {answer!r:.80}")


def history_of(answer: Any, given: Window) -> NewHistory | None:
    """A compactor's answer as a NewHistory; it may be messages, ours or OpenAI's. Raises
    StrategyError."""
    if answer is None or isinstance(answer, NewHistory):
        return answer
    if isinstance(answer, list | tuple) and (not answer or isinstance(answer[0], Message)):
        return NewHistory(answer)
    return NewHistory(Bridge(OpenAIMessages(), given.messages).back(answer))


_READ: dict[str, Callable[[Any, Any], Any]] = {
    "summarizer": lambda answer, given: answer,
    "store": record_of,
    "consumer": reply_of,
    "evaluator": findings_of,
    "router": decision_of,
    "compactor": history_of,
}
"""For each kind of plug-in the function from an answer and its input to the value of the slot."""
