"""The values that a slot can give to somebody's own function, by name.

The annotation of a parameter names its form, or `form=` in the spec (`f.form` on the function). Without either the number of parameters does, and
else the slot has a default. Names of parameters say nothing.
"""

from __future__ import annotations

import dataclasses
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
    """A mapping as it was recorded. A key is also found by its other spelling: `structured_output` where `structuredOutput` was recorded, and back.

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
    """A state that has the prompt as its `messages` too, made when they are first asked for."""

    def __init__(self, state: Mapping[str, Any], messages: Callable[[], list[Any]]) -> None:
        super().__init__(state)
        self._make = messages

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401

    def __missing__(self, key: str) -> Any:
        if key != "messages":
            raise KeyError(key)
        self[key] = self._make()
        return self[key]

    def __contains__(self, key: object) -> bool:
        return key == "messages" or super().__contains__(key)


def raw_mapping(result: ToolResult) -> dict[str, Any]:
    """A result as the mapping that was recorded; plain text as the mapping that document 000 has for a script's result.

    >>> raw_mapping(ToolResult(index=0, call_id="c", function="f", seen="done"))
    {'is_success': True, 'output': 'done', 'error_message': '', 'error_details': [], 'structured_output': []}
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
    """The values that a slot gives at one call, from which each form is made. `records` are those of this case so far."""

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
    def call(self) -> dict[str, Any]:
        """The call as LangChain has it, and as a step of document 004."""
        result = self.result
        step = {"function_name": result.function, "parameters": result.arguments}
        return {"id": result.call_id, "name": result.function, "args": result.arguments, **step}

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
        entry = execution_mapping(self.first)
        return {**entry, "step": {"function_name": self.first.function, "parameters": self.first.arguments}}

    @property
    def execution_state(self) -> dict[str, Any]:
        """The state of document 004 at an evaluation."""
        executions = [execution_mapping(item) for item in self.records]
        done = {"current_step_index": len(executions), "step_evaluation_history": list(self.given[1])}
        return {"execution_history": executions, **done}

    @property
    def system(self) -> str:
        """The text of the system prompt."""
        return "\n\n".join(message.text for message in self.first.messages if message.kind == "system")


Make = Callable[[SlotCall], Any]

_CHAT: dict[str, Make] = {
    "openai": lambda call: call.messages(OpenAIMessages),
    "langchain": lambda call: call.messages(LangChainMessages),
    "anthropic": lambda call: call.messages(AnthropicMessages),
}
_STATE: dict[str, Make] = {
    "state": lambda call: call.state(LangChainState),
    "chat_state": lambda call: call.state(OpenAIMessages),
}
_RESULT: dict[str, Make] = {
    "ToolResult": attrgetter("result"),
    "str": attrgetter("result.text"),
    "dict": attrgetter("raw"),
    "value": attrgetter("result.value"),
    "call": attrgetter("call"),
    **{name: attrgetter(f"result.{name}") for name in ("function", "arguments", "success", "error")},
}

FORMS: dict[str, dict[str, Make]] = {
    "summarizer": _RESULT,
    "store": _RESULT,
    "compactor": {
        **_CHAT,
        "Window": attrgetter("first"),
        "Message": lambda call: list(call.first.messages),
        **_STATE,
        "system": attrgetter("system"),
        "tokens": attrgetter("first.tokens"),
        "max_tokens": attrgetter("first.max_tokens"),
        "count": attrgetter("first.count"),
        "runtime": lambda call: None,
    },
    "evaluator": {
        "Record": attrgetter("first"),
        "dict": attrgetter("execution"),
        "str": lambda call: str(call.first.value),
        "value": attrgetter("first.value"),
        "state": attrgetter("execution_state"),
        "history": lambda call: list(call.given[1]),
        **{name: attrgetter(f"first.{name}") for name in ("function", "arguments", "success", "error")},
    },
    "router": {**_STATE, **_CHAT},
    "consumer": {"Execution": attrgetter("first"), "summary": attrgetter("first.summary"), **_RESULT},
}
"""The forms of each slot by name, its default first, each with how it is made."""

BY_COUNT = {("store", 3): ("call", "value", "success"), ("store", 4): ("call", "value", "success", "function")}
"""The forms by the number of parameters: the store of document 004, `f(step, result, success)`."""


def forms_of(kind: str, function: Callable[..., Any], name: str, written: Any = None) -> list[tuple[str, Any]]:
    """The form of each parameter that a function in a slot is given a value for, with the parameter's annotation.

    `written` are the forms that the spec names. Raises SpecError for a form that is unknown, and where fewer are known than the function needs.

    >>> def short(text: str, chars: int = 300): ...
    >>> forms_of("summarizer", short, "short"), forms_of("evaluator", lambda record, history: None, "judge")
    ([('str', <class 'str'>)], [('Record', None), ('history', None)])
    """
    known, parameters = FORMS[kind], _required(function)
    declared = [_annotation(function, item) for item in parameters]
    needed = max(1, sum(item.default is item.empty for item in parameters))
    if written is not None:
        forms: list[str | None] = [written] if isinstance(written, str) else list(written)
    elif (kind, needed) in BY_COUNT:
        forms = list(BY_COUNT[kind, needed])
    else:
        forms = [
            _form_of(kind, item, f"{kind} {name!r}: parameter {place.name!r}")
            for item, place in zip(declared, parameters, strict=True)
        ]
        forms = [*forms[:needed]] or [None]
        forms[0] = forms[0] or next(iter(known))
        if kind == "evaluator" and len(forms) == 2:  # document 004: f(execution, state)
            listed = parameters[1].annotation is parameters[1].empty or forms[1] in ("value", "history")
            forms[1] = "history" if listed else "state"
    for form in forms:
        if form is not None and form not in known:
            raise SpecError(f"{kind} {name!r}: unknown form {form!r}{nearest(str(form), known)}")
    if None in forms or len(forms) < needed:
        names, shown = ", ".join(item.name for item in parameters[:needed]), [form or "…" for form in forms]
        what = f"{kind} {name!r}: it takes {needed} values ({names}), and not all of their forms are known"
        raise SpecError(
            f"{what} — write form=[{','.join([*shown, *['…'] * (needed - len(forms))])}] with {', '.join(known)}"
        )
    return [(str(form), declared[number] if number < len(declared) else None) for number, form in enumerate(forms)]


def _required(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters that are given something by position: the first one, and every other without a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # written in C, and does not say
        return []
    by_position = [item for item in parameters if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]
    return [item for number, item in enumerate(by_position) if not number or item.default is item.empty]


_OURS: dict[Any, str] = {
    str: "str",
    ToolResult: "ToolResult",
    Record: "Record",
    Window: "Window",
    Execution: "Execution",
}
_LIBRARIES = {
    "openai": "openai",
    "anthropic": "anthropic",
    "langchain_core": "langchain",
    "langchain": "langchain",
    "langgraph": "langchain",
}
"""The form of a list of classes of a package."""


def _form_of(kind: str, annotation: Any, what: str) -> str | None:
    """The form that an annotation names in a slot; None where it names none. Raises SpecError for a class that no form gives."""
    chats = kind in ("compactor", "router")
    if typing.get_origin(annotation) is typing.Annotated:
        return _form_of(kind, typing.get_args(annotation)[0], what)
    if typing.get_origin(annotation) in (typing.Union, UnionType):
        forms = {_form_of(kind, item, what) for item in typing.get_args(annotation) if item is not type(None)}
        return forms.pop() if len(forms) == 1 else "value" if {"dict", "str"} <= forms else None
    plain = typing.get_origin(annotation) or annotation
    if not isinstance(plain, type):
        return None
    if plain in _OURS:
        return _OURS[plain] if _OURS[plain] in FORMS[kind] else None
    if issubclass(plain, list | tuple) or plain.__name__ in ("Sequence", "Iterable", "MutableSequence"):
        return _form_of_list(annotation, what) if chats else "value"
    if issubclass(plain, dict) or plain.__name__ in ("Mapping", "MutableMapping"):
        keys = getattr(plain, "__annotations__", ())
        return "state" if chats or (kind == "evaluator" and "execution_history" in keys) else "dict"
    if plain.__module__.partition(".")[0] == "langgraph" and "runtime" in FORMS[kind]:
        return "runtime"
    if class_of(plain) is not None and not chats and plain.__module__.partition(".")[0] not in _LIBRARIES:
        return "dict"
    if plain.__module__ in ("builtins", "typing", "collections.abc"):
        return None
    raise SpecError(
        f"{what} asks for {plain.__module__}.{plain.__name__}, which no form gives — wrap the function, or name a form="
    )


def _form_of_list(annotation: Any, what: str) -> str:
    for item in _inside(annotation):
        package = getattr(item, "__module__", "").partition(".")[0]
        if item is Message:
            return "Message"
        if package in _LIBRARIES and not getattr(item, "__module__", "").startswith("openai.types.responses"):
            return _LIBRARIES[package]
        if (
            isinstance(item, type)
            and not issubclass(item, dict)
            and package not in ("builtins", "typing", "collections", "types")
        ):
            raise SpecError(
                f"{what} asks for messages of {item.__module__}.{item.__name__}, which no form gives — wrap the function"
            )
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


def class_of(declared: Any) -> type | None:
    """The dataclass or Pydantic model that an annotation names, which is made of a mapping; None for any other."""
    if typing.get_origin(declared) in (typing.Union, UnionType):
        classes = [item for item in map(class_of, typing.get_args(declared)) if item is not None]
        return classes[0] if len(classes) == 1 else None
    fits = isinstance(declared, type) and (dataclasses.is_dataclass(declared) or hasattr(declared, "model_validate"))
    return declared if fits else None


def as_declared(raw: Mapping[str, Any], declared: Any) -> Any:
    """A mapping as its parameter declares it: itself, or an instance of the class, made of those fields that the mapping has."""
    built: Any = class_of(declared)
    if built is None:
        return raw
    if dataclasses.is_dataclass(built):
        names = [field.name for field in dataclasses.fields(built) if field.init]
        return typing.cast(Any, built)(**{name: raw[name] for name in names if name in raw})
    return built.model_validate({**raw, **{name: raw[name] for name in built.model_fields if name in raw}})
