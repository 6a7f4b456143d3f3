"""Somebody's own function as a strategy: given what its parameters ask for, and its answer turned into what the slot expects.

What a parameter asks for is read from its name first, then from its annotation; `docs/strategies.md` has the table.
"""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import UnionType
from typing import Any

from ..errors import SpecError, StrategyError, nearest, one_line, raised_at
from ..model import Message, Record, ToolResult
from ..plugins.command import Process
from ..plugins.registry import Plugin
from . import Edits, Execution, Reply, Window
from .dialects import Bridge, Dialect
from .dialects.anthropic import Anthropic
from .dialects.langchain import LangChain
from .dialects.openai import OpenAI
from .recorded_mapping import execution_mapping, raw_mapping
from .requests import request_of

DIALECTS: dict[str, Callable[[], Dialect]] = {"openai": OpenAI, "anthropic": Anthropic, "langchain": LangChain}

RESULT = {
    "result": ("result", "tool_result", "step"),
    "raw": ("raw", "raw_result", "raw_execution_result", "execution_result", "raw_response", "response", "response_data", "payload"),
    "text": ("text", "content", "output", "tool_output", "observation", "stdout", "console", "message"),
    "value": ("value", "data"),
    "function": ("function", "function_name", "tool", "tool_name", "name"),
    "arguments": ("arguments", "args", "tool_args", "tool_input", "parameters"),
    "success": ("success", "is_success", "ok"),
    "error": ("error", "error_message"),
}  # fmt: skip
"""What a summarizer's or a store's parameters ask for, by name."""

WINDOW = {
    "window": ("window",),
    "messages": ("messages", "history", "conversation", "msgs", "chat_history", "message_history"),
    "openai": ("openai_messages",),
    "anthropic": ("anthropic_messages",),
    "langchain": ("langchain_messages",),
    "state": ("state",),
    "system": ("system", "system_prompt"),
    "max_tokens": ("max_tokens", "token_limit", "context_window", "limit", "budget"),
    "tokens": ("tokens", "token_count", "total_tokens"),
    "count": ("count", "count_tokens", "token_counter"),
}
"""What a compactor's parameters ask for."""

RECORD = {
    "record": ("record", "stored"),
    "execution": ("execution", "entry", "last_execution", "step"),
    "value": ("value", "result", "data"),
    "text": ("text", "content", "output"),
    "history": ("history", "evaluations", "evaluation_history"),
    "state": ("state",),
    "function": RESULT["function"],
    "arguments": RESULT["arguments"],
    "success": RESULT["success"],
    "error": RESULT["error"],
}
"""What an evaluator's parameters ask for."""

STATE = {
    "state": ("state",),
    "messages": WINDOW["messages"],
    "openai": ("openai_messages",),
    "anthropic": ("anthropic_messages",),
    "langchain": ("langchain_messages",),
}
"""What a router's parameters ask for."""

EXECUTION = {"execution": ("execution",), "summary": ("summary", "execution_summary"), **RESULT}
"""What a consumer's parameters ask for."""

ASKED: dict[str, Mapping[str, Sequence[str]]] = {
    "summarizer": RESULT,
    "store": RESULT,
    "compactor": WINDOW,
    "evaluator": RECORD,
    "router": STATE,
    "consumer": EXECUTION,
}
DEFAULTS = {"summarizer": "result", "store": "result", "compactor": "window", "evaluator": "record", "router": "state",
            "consumer": "execution"}  # fmt: skip
"""What the first parameter is where neither its name nor its annotation says it."""


# ---------------------------------------------------------------- what a function asks for


def slot_of(function: Callable[..., Any]) -> str:
    """The slot that a function fills, by its first parameter: messages make a compactor, a record an evaluator, a state a router; else a summarizer.

    >>> slot_of(lambda messages: messages[-5:]), slot_of(lambda text: text[:80]), slot_of(lambda state: "end")
    ('compactor', 'summarizer', 'routers')
    """
    method = next(
        (name for name, slot in _METHODS.items() if inspect.isclass(function) and hasattr(function, name)), None
    )
    if method is not None:
        return _METHODS[method]
    first = next(iter(_parameters(function)), None)
    if first is None:
        return "summarizer"
    kind = _kind_of(_annotation(function, first))
    if kind in ("window", "list", "anthropic", "langchain", "openai") or any(
        first.name in WINDOW[name] for name in _HISTORIES
    ):
        return "compactor"
    if kind in ("record", "execution"):
        return {"record": "evaluator", "execution": "consumer"}[kind]
    return {"record": "evaluator", "state": "routers", "execution": "consumer"}.get(first.name, "summarizer")


_HISTORIES = ("window", "messages", "openai", "anthropic", "langchain")
_METHODS = {"summarize": "summarizer", "compact": "compactor", "put": "store", "evaluate": "evaluator", "decide": "routers",
            "consume": "consumer"}  # fmt: skip


def asked_of(kind: str, function: Callable[..., Any]) -> list[tuple[inspect.Parameter, str]]:
    """What each parameter asks for that is no setting: the first one, and every other without a default.

    Raises SpecError for one that names nothing the slot has.

    >>> [what for _, what in asked_of("summarizer", lambda raw_execution_result, tool_name, chars=300: None)]
    ['raw', 'function']
    """
    found = []
    for number, parameter in enumerate(_parameters(function)):
        if number and (parameter.default is not parameter.empty or parameter.kind is parameter.KEYWORD_ONLY):
            continue
        what = _asked(kind, parameter, _annotation(function, parameter), first=not number)
        if what is None:
            names = [name for known in ASKED[kind].values() for name in known]
            told = f"{kind} {getattr(function, '__name__', function)!r}: parameter {parameter.name!r} asks for nothing"
            raise SpecError(f"{told} that this slot has{nearest(parameter.name, names)}; a setting needs a default")
        found.append((parameter, what))
    return found


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # written in C, and does not say
        return [inspect.Parameter("given", inspect.Parameter.POSITIONAL_ONLY)]
    return [item for item in parameters if item.kind not in (item.VAR_KEYWORD, item.VAR_POSITIONAL)]


def _asked(kind: str, parameter: inspect.Parameter, annotation: Any, first: bool) -> str | None:
    named = next((what for what, names in ASKED[kind].items() if parameter.name in names), None)
    told = _kind_of(annotation)
    if kind == "compactor":
        if told in ("window", "openai", "anthropic", "langchain"):
            return told
        return "messages" if told == "list" else named or (DEFAULTS[kind] if first else None)
    if named in ("function", "arguments", "success", "error", "history", "summary", "state") and not (first and told):
        return named
    if kind == "router":
        return {"list": "messages"}.get(
            told, told if told in DIALECTS else named or (DEFAULTS[kind] if first else None)
        )
    by_type = {
        "evaluator": {"record": "record", "dict": "execution", "str": "text"},
        "consumer": {"execution": "execution", "result": "result", "dict": "raw", "str": "text", "list": "value"},
    }.get(kind, {"result": "result", "dict": "raw", "str": "text", "list": "value", "both": "value"})
    if told in by_type:
        return named if named in ("value", "summary") and told != "result" else by_type[told]
    return named or (DEFAULTS[kind] if first else None)


_OURS: dict[Any, str] = {ToolResult: "result", Window: "window", Record: "record", Execution: "execution"}


def _kind_of(annotation: Any) -> str:
    """What an annotation says: one of ours, a dialect, dict, str, list, both (a dict or a str); `""` for anything else."""
    if annotation in _OURS if isinstance(annotation, type) else False:
        return _OURS[annotation]
    arguments = typing.get_args(annotation)
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, UnionType):
        kinds = {_kind_of(item) for item in arguments if item is not type(None)}
        return kinds.pop() if len(kinds) == 1 else "both" if {"dict", "str"} <= kinds else ""
    if origin is typing.Annotated:
        return _kind_of(arguments[0])
    plain = origin or annotation
    modules = {getattr(item, "__module__", "").partition(".")[0] for item in (annotation, *_inside(annotation))}
    for module, name in (
        ("anthropic", "anthropic"),
        ("langchain_core", "langchain"),
        ("langgraph", "langchain"),
        ("openai", "openai"),
    ):
        if module in modules:
            return name
    if plain is str:
        return "str"
    if not isinstance(plain, type):
        return ""
    if issubclass(plain, dict) or plain.__name__ in ("Mapping", "MutableMapping"):
        return "dict"
    return (
        "list"
        if issubclass(plain, list | tuple) or plain.__name__ in ("Sequence", "Iterable", "MutableSequence")
        else ""
    )


def _inside(annotation: Any) -> list[Any]:
    arguments = typing.get_args(annotation)
    return [inner for item in arguments for inner in (item, *_inside(item))]


def _annotation(function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """What a parameter is declared as; None where nothing can be read."""
    if not isinstance(parameter.annotation, str):
        return None if parameter.annotation is parameter.empty else parameter.annotation
    inner = inspect.unwrap(getattr(function, "func", function))
    inner = inspect.unwrap(getattr(inner, "func", inner))
    inner = inner.__init__ if inspect.isclass(inner) else getattr(inner, "__func__", inner)
    try:
        return eval(parameter.annotation, getattr(inner, "__globals__", {}))
    except Exception:  # a name that exists for the type checker alone
        return None


# ---------------------------------------------------------------- giving it, and reading its answer


def started(plugin: Plugin) -> tuple[Any, Callable[..., Any]]:
    """What `plugin.start()` gives; of somebody's own function a callable that is given what the slot has and answers what the slot expects.

    Raises SpecError for a parameter that cannot be filled.
    """
    instance, call = plugin.start()
    if not plugin.entry.own:
        return instance, call
    kind = plugin.entry.kind
    if isinstance(instance, Process):
        return instance, lambda *given: _answered(kind, call(request_of(kind, given)), given)
    return instance, _Given(kind, call, plugin.attribute("dialect"))


class _Given:
    """One function in one slot."""

    def __init__(self, kind: str, call: Callable[..., Any], dialect: str | None) -> None:
        self._kind, self._call, self._asked = kind, call, asked_of(kind, call)
        if dialect is not None and dialect not in DIALECTS:
            raise SpecError(f"{kind}: unknown dialect {dialect!r}{nearest(dialect, DIALECTS)}")
        in_graph = kind == "compactor" and any(what == "state" for _, what in self._asked)
        self._dialect = dialect or ("langchain" if in_graph else "openai")
        self._records: list[Record] = []

    def __call__(self, *given: Any) -> Any:
        if self._kind == "compactor":
            return self._compact(given[0])
        handed: dict[str, Any] = {}
        if self._kind == "evaluator":
            self._records.append(given[0])
        answer = self._ask(lambda what: self._part(what, given, handed))
        if "raw" in handed:
            _require_untouched(handed["raw"], given[0].result if self._kind == "consumer" else given[0])
        return _answered(self._kind, answer, given)

    def _ask(self, part: Callable[[str], Any]) -> Any:
        """Call the function with a part for each parameter; one of keyword alone is given by name."""
        return awaited(self._call(*[part(what) for _, what in self._asked]))

    def _part(self, what: str, given: tuple[Any, ...], handed: dict[str, Any]) -> Any:
        if self._kind == "router":
            return _of_state(what, given[0], self._dialect)
        if self._kind == "evaluator":
            return _of_record(what, given[0], list(given[1]), self._records)
        if self._kind == "consumer":
            if what in ("execution", "summary"):
                return given[0] if what == "execution" else given[0].summary
            given = (given[0].result,)
        if what == "raw":
            return handed.setdefault("raw", raw_mapping(given[0]))
        return given[0] if what == "result" else getattr(given[0], what)

    def _compact(self, window: Window) -> Any:
        bridges: list[Bridge] = []

        def part(what: str) -> Any:
            if what == "window":
                return window
            if what == "system":
                return "\n\n".join(message.text for message in window.messages if message.kind == "system")
            if what not in ("messages", "state", *DIALECTS):
                return getattr(window, what)
            bridges.append(Bridge(DIALECTS[what if what in DIALECTS else self._dialect](), window.messages))
            return {"messages": bridges[-1].given} if what == "state" else bridges[-1].given

        answer = self._ask(part)
        if not bridges or isinstance(answer, Edits):
            return answer
        return bridges[0].back(answer)


def _of_state(what: str, state: Mapping[str, Any], dialect: str) -> Any:
    if what == "state":
        return state
    return Bridge(DIALECTS[dialect if what == "messages" else what](), state.get("prompt", ())).given


def _of_record(what: str, record: Record, history: list[Any], records: Sequence[Record]) -> Any:
    if what == "record":
        return record
    if what == "execution":
        return execution_mapping(record)
    if what == "history":
        return history
    if what == "state":
        executions = [execution_mapping(item) for item in records]
        return {"execution_history": executions, "current_step_index": len(records), "step_evaluation_history": history}
    return str(record.value) if what == "text" else getattr(record, what)


def awaited(answer: Any) -> Any:
    """An answer, waited for where it is one of an async function; in a thread of its own where a loop is running already.

    >>> async def answer() -> int:
    ...     return 1
    >>> awaited(answer()), awaited(2)
    (1, 2)
    """
    if not inspect.isawaitable(answer):
        return answer

    async def wait() -> Any:
        return await answer

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, wait()).result()


def _require_untouched(raw: Mapping[str, Any], result: ToolResult) -> None:
    if isinstance(result.data, Mapping) and (
        raw.keys() != result.data.keys() or any(raw[key] is not result.data[key] for key in raw)
    ):
        raise StrategyError(
            "the function changed the mapping that it was given — copy what a result holds before editing it"
        )


def _answered(kind: str, answer: Any, given: tuple[Any, ...]) -> Any:
    """What a slot expects, of what a function gave."""
    if kind == "compactor" and answer is not None and not isinstance(answer, Edits) and not _is_messages(answer):
        return Bridge(OpenAI(), given[0].messages).back(answer)  # message dicts for a window
    if kind == "evaluator" and isinstance(answer, Mapping):
        return answer.get("last_step_evaluation", answer)
    if kind == "router" and isinstance(answer, list) and len(answer) == 2:
        return tuple(answer)
    if kind != "consumer" or isinstance(answer, Reply):
        return answer
    if isinstance(answer, str):
        return Reply(answer, "function")
    if isinstance(answer, Mapping) and isinstance(answer.get("text"), str):
        return Reply(
            answer["text"],
            str(answer.get("path", "function")),
            answer.get("state") or {},
            str(answer.get("route", "END")),
        )
    return answer


def _is_messages(answer: Any) -> bool:
    return isinstance(answer, list | tuple) and all(isinstance(item, Message) for item in answer)


_HINTS = {
    "'ToolResult' object": "it was given our result; declare the parameter as `dict` for the recorded mapping, as `str` for the text",
    "'Window' object": "it was given our window; call the parameter `messages` for a list of message dicts",
    "'Record' object": "it was given our record; declare the parameter as `dict` for the entry of an execution history",
}


def told_of(error: BaseException) -> str:
    """An error that a strategy raised, on one line: file and line of the user's code, what it was, and what next where that is known.

    >>> told_of(AttributeError("'ToolResult' object has no attribute 'get'")).partition(" — ")[2]
    'it was given our result; declare the parameter as `dict` for the recorded mapping, as `str` for the text'
    """
    place = raised_at(error)
    what = f"{place}: " if place else ""
    hint = next((hint for start, hint in _HINTS.items() if str(error).startswith(start)), "")
    return f"{what}{type(error).__name__}: {one_line(error)}{f' — {hint}' if hint else ''}"
