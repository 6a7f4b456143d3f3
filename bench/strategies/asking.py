"""What somebody's own function asks for, read from the names and annotations of its parameters: the tables of `docs/strategies.md`."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Any

from ..errors import SpecError, nearest
from ..model import Record, ToolResult
from ..plugins.annotations import NoType, type_of
from .slots import Execution, Window

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
            told, told if told in ("openai", "anthropic", "langchain") else named or (DEFAULTS[kind] if first else None)
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
        return type_of(parameter.annotation, getattr(inner, "__globals__", {}))
    except NoType:  # a name that exists for the type checker alone
        return None
