"""The form in which a slot hands its value to somebody's own function.

The annotation of the first parameter names it, or `form=` in the spec (`f.form` on the function).
Without either the slot has its default. Names of parameters say nothing.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from types import UnionType
from typing import Any

from ..model import Message, Record, ToolResult
from ..model.errors import SpecError, nearest
from ..plugins.registry import evaluated
from .messages import AnthropicMessages, Bridge, LangChainMessages, LangChainState, OpenAIMessages
from .slots import Execution, Window


class Recorded(dict[str, Any]):
    """A mapping as it was recorded. A key is also found by its other spelling.

    >>> raw = Recorded({"structuredOutput": [1]})
    >>> raw.get("structured_output"), "structured_output" in raw, list(raw), raw.get("output", "")
    ([1], True, ['structuredOutput'], '')
    """

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 - which `get` of a dict would not find

    def __missing__(self, key: str) -> Any:
        if dict.__contains__(self, other := _other_spelling(key)):
            return dict.__getitem__(self, other)
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return dict.__contains__(self, key) or dict.__contains__(self, _other_spelling(key))


def _other_spelling(key: Any) -> Any:
    if not isinstance(key, str):
        return key
    if "_" in key:
        return re.sub(r"_([a-z])", lambda match: match[1].upper(), key)
    return re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", key)


class WithMessages(dict[str, Any]):
    """A state that has the prompt as its `messages` too, built when they are first asked for."""

    def __init__(self, state: Mapping[str, Any], messages: Callable[[], list[Any]]) -> None:
        super().__init__(state)
        self._build = messages

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401

    def __missing__(self, key: str) -> Any:
        if key != "messages":
            raise KeyError(key)
        self[key] = self._build()
        return self[key]

    def __contains__(self, key: object) -> bool:
        return key == "messages" or super().__contains__(key)


def raw_mapping(result: ToolResult) -> dict[str, Any]:
    """A result as the mapping that was recorded; plain text as document 000's script result.

    >>> raw_mapping(ToolResult(index=0, call_id="c", function="f", seen="done"))["output"]
    'done'
    """
    if isinstance(result.data, Mapping):
        return Recorded(result.data)
    script = {"is_success": result.success, "output": result.text, "error_message": result.error or ""}
    return Recorded(script, error_details=[], structured_output=[])


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


@dataclass
class SlotCall:
    """The values of a slot at one call. `records` are those of this case so far."""

    given: tuple[Any, ...]
    records: Sequence[Record] = ()
    bridge: Bridge | None = None

    @property
    def first(self) -> Any:
        return self.given[0]

    @property
    def result(self) -> ToolResult:
        """The result of a summarizer, a store or a consumer."""
        result: ToolResult = self.first.result if isinstance(self.first, Execution) else self.first
        return result

    @cached_property
    def raw(self) -> dict[str, Any]:
        """The result as the mapping that was recorded."""
        return raw_mapping(self.result)

    @property
    def step(self) -> dict[str, Any]:
        """The call as a step of document 004."""
        return {"function_name": self.result.function, "parameters": self.result.arguments}

    def messages(self, dialect: Callable[[], OpenAIMessages]) -> list[Any]:
        """The history as messages of an interface, which an answer is read in too."""
        if self.bridge is None:
            history = self.first.messages if isinstance(self.first, Window) else self.first.get("prompt", ())
            self.bridge = Bridge(dialect(), history)
        return self.bridge.given

    def state(self, dialect: Callable[[], OpenAIMessages]) -> dict[str, Any]:
        """A graph's state with the history as its messages."""
        if isinstance(self.first, Window):
            return {"messages": self.messages(dialect)}
        return WithMessages(self.first, lambda: self.messages(dialect))

    @property
    def execution(self) -> dict[str, Any]:
        """The entry of an execution history, with the step that it executed beside it."""
        step = {"function_name": self.first.function, "parameters": self.first.arguments}
        return {**execution_mapping(self.first), "step": step}

    @property
    def execution_state(self) -> dict[str, Any]:
        """The state of document 004 at an evaluation."""
        executions = [execution_mapping(item) for item in self.records]
        evaluations = {"step_evaluation_history": list(self.given[1])}
        return {"execution_history": executions, "current_step_index": len(executions), **evaluations}


Build = Callable[[SlotCall], Any]

_CHAT: dict[str, Build] = {
    "openai": lambda call: call.messages(OpenAIMessages),
    "langchain": lambda call: call.messages(LangChainMessages),
    "anthropic": lambda call: call.messages(AnthropicMessages),
}
_STATE: dict[str, Build] = {
    "state": lambda call: call.state(LangChainState),
    "chat_state": lambda call: call.state(OpenAIMessages),
}
_RESULT: dict[str, Build] = {
    "ToolResult": attrgetter("result"),
    "str": attrgetter("result.text"),
    "dict": attrgetter("raw"),
    "value": attrgetter("result.value"),
}
FORMS: dict[str, dict[str, Build]] = {
    "summarizer": _RESULT,
    "store": _RESULT,
    "compactor": {
        **_CHAT,
        "Window": attrgetter("first"),
        "Message": lambda call: list(call.first.messages),
        **_STATE,
    },
    "evaluator": {
        "Record": attrgetter("first"),
        "dict": attrgetter("execution"),
        "str": lambda call: str(call.first.value),
        "value": attrgetter("first.value"),
        "state": attrgetter("execution_state"),
    },
    "router": {**_STATE, **_CHAT},
    "consumer": {"Execution": attrgetter("first"), "summary": attrgetter("first.summary"), **_RESULT},
}
"""The forms of each slot by name, its default first, each with the function that builds it."""

_STORE_004: tuple[Build, ...] = tuple(map(attrgetter, ("step", "result.value", "result.success", "result.function")))
"""The parameters of document 004's store, `f(step, result, success)` and perhaps the function's name."""


def form_of(kind: str, function: Callable[..., Any], name: str, written: Any = None) -> tuple[str, tuple[Build, ...]]:
    """The form of a function in a slot, and what builds each value that it is given by position.

    That is one value; a store of three or four gets those of document 004, and an evaluator of two
    the earlier evaluations or, as a mapping, the state of document 004. `written` is the form that
    the spec names. Raises SpecError for an unknown form, and for more values than the slot gives.

    >>> def short(text: str, chars: int = 300): ...
    >>> form_of("summarizer", short, "short")[0], form_of("compactor", len, "len")[0]
    ('str', 'openai')
    """
    known, parameters = FORMS[kind], _by_position(function)
    form, what = written, f"{kind} {name!r}"
    if form is None and parameters:
        declared = _annotation(function, parameters[0])
        form = _form_named(kind, declared, f"{what}: parameter {parameters[0].name!r}")
    form = form or next(iter(known))
    if not isinstance(form, str) or form not in known:
        raise SpecError(f"{what}: unknown form {form!r}{nearest(str(form), known)}")
    needed = [item for item in parameters if item.default is item.empty]
    if kind == "store" and len(needed) in (3, 4) and written is None:
        return form, _STORE_004[: len(needed)]
    if kind == "evaluator" and len(needed) == 2:
        second = _annotation(function, needed[1])
        listed = second is None or _form_named(kind, second, what) == "value"
        history: Build = (lambda call: list(call.given[1])) if listed else attrgetter("execution_state")
        return form, (known[form], history)
    if len(needed) > 1:
        names = ", ".join(item.name for item in needed)
        raise SpecError(f"{what}: it takes {names}, and a slot gives one value — wrap it, or give the others defaults")
    return form, (known[form],)


def _by_position(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters that may be given by position; none for C code that does not say."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [item for item in parameters if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]


_OURS: dict[Any, str] = {
    str: "str",
    ToolResult: "ToolResult",
    Record: "Record",
    Window: "Window",
    Execution: "Execution",
}
_LIBRARIES = {"openai": "openai", "anthropic": "anthropic"}
_LIBRARIES |= dict.fromkeys(("langchain_core", "langchain", "langgraph"), "langchain")
"""The form of a list of classes of a package."""


def _form_named(kind: str, annotation: Any, what: str) -> str | None:
    """The form that an annotation names in a slot; None where it names none.

    Raises SpecError for a class that no form gives.
    """
    chats, origin = kind in ("compactor", "router"), typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _form_named(kind, typing.get_args(annotation)[0], what)
    if origin in (typing.Union, UnionType):
        forms = {_form_named(kind, item, what) for item in typing.get_args(annotation) if item is not type(None)}
        return forms.pop() if len(forms) == 1 else "value" if {"dict", "str"} <= forms else None
    plain = origin or annotation
    if not isinstance(plain, type):
        return None
    if plain in _OURS:
        return _OURS[plain] if _OURS[plain] in FORMS[kind] else None
    if issubclass(plain, list | tuple) or plain.__name__ in ("Sequence", "Iterable", "MutableSequence"):
        return _form_of_list(annotation, what) if chats else "value"
    if issubclass(plain, dict) or plain.__name__ in ("Mapping", "MutableMapping"):
        whole_state = kind == "evaluator" and "execution_history" in getattr(plain, "__annotations__", ())
        return "state" if chats or whole_state else "dict"
    if plain.__module__ in ("builtins", "typing", "collections.abc"):
        return None
    raise SpecError(
        f"{what} asks for {plain.__module__}.{plain.__name__}, which no form gives — take a mapping instead"
    )


def _form_of_list(annotation: Any, what: str) -> str:
    for item in _inside(annotation):
        module = getattr(item, "__module__", "")
        package = module.partition(".")[0]
        if item is Message:
            return "Message"
        if package in _LIBRARIES and not module.startswith("openai.types.responses"):
            return _LIBRARIES[package]
        known = package in ("builtins", "typing", "collections", "types")
        if isinstance(item, type) and not issubclass(item, dict) and not known:
            asked = f"messages of {module}.{item.__name__}"
            raise SpecError(f"{what} asks for {asked}, which no form gives — wrap the function")
    return "openai"


def _inside(annotation: Any) -> list[Any]:
    arguments = typing.get_args(annotation)
    return [inner for item in arguments for inner in (typing.get_origin(item) or item, *_inside(item))]


def _annotation(function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """A parameter's declared type; None where nothing can be read."""
    if not isinstance(parameter.annotation, str):
        return None if parameter.annotation is parameter.empty else parameter.annotation
    inner = inspect.unwrap(getattr(function, "func", function))
    inner = inspect.unwrap(getattr(inner, "func", inner))
    inner = inner.__init__ if inspect.isclass(inner) else getattr(inner, "__func__", inner)
    inner = inner if hasattr(inner, "__globals__") else type(inner).__call__  # an object that can be called
    found = evaluated(parameter.annotation, getattr(inner, "__globals__", {}))
    if not isinstance(found, str):
        return found
    # a name that exists for the type checker alone
    outer = found.partition("[")[0].rpartition(".")[2].lower()
    return {"dict": dict, "mapping": dict, "list": list, "sequence": list, "str": str}.get(outer)
