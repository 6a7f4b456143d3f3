"""The forms in which a slot passes its value to a user's function.

The annotation of the first parameter names the form, or `form=` in the spec (`f.form` on the
function), else it is the slot's default. Names of parameters have no meaning.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import UnionType
from typing import Any, NamedTuple

from ...model import Message, Record, ToolResult
from ...model.errors import SpecError, nearest
from ...plugins.registry import Plugin, declared_parameters
from ...plugins.spec import COMMAND
from ..slots import Execution, Window


class Lookup(dict[str, Any]):
    """A mapping that answers more keys than it lists; `find` returns their values.

    >>> given = ToolResult(index=0, call_id="c", function="f", data={"structuredOutput": [1]})
    >>> raw = raw_mapping(given)
    >>> raw.get("structured_output"), "structured_output" in raw, list(raw), raw.get("output", "")
    ([1], True, ['structuredOutput'], '')
    """

    def __init__(self, listed: Mapping[str, Any], find: Callable[[str], Any]) -> None:
        super().__init__(listed)
        self._find = find

    def __missing__(self, key: str) -> Any:
        return self._find(key)

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or self.get(str(key), self) is not self


def raw_mapping(result: ToolResult) -> dict[str, Any]:
    """A result as the recorded mapping; a plain text as document 000's script result.

    A key is also found by its other spelling, `structured_output` or `structuredOutput`.

    >>> raw_mapping(ToolResult(index=0, call_id="c", function="f", seen="done"))["output"]
    'done'
    """
    script = {
        "is_success": result.success,
        "output": result.text,
        "error_message": result.error or "",
    }
    script |= {"error_details": [], "structured_output": []}
    listed = result.data if isinstance(result.data, Mapping) else script

    def spelled_otherwise(key: str) -> Any:
        snake = re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", key)
        camel = re.sub(r"_([a-z])", lambda match: match[1].upper(), key)
        return listed[camel if "_" in key else snake]

    return Lookup(listed, spelled_otherwise)


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


_RESULT = {"ToolResult": "ToolResult", "str": "str", "dict": "mapping", "value": "value"}
_CHAT = {name: name for name in ("openai", "langchain", "anthropic")}
FORMS: dict[str, dict[str, str]] = {
    "summarizer": _RESULT,
    "store": _RESULT,
    "compactor": {**_CHAT, "state": "graph_state", "Window": "Window", "Message": "Message"},
    "evaluator": {"Record": "Record", "dict": "execution", "state": "execution_state"},
    "router": {"state": "graph_state", **_CHAT},
    "consumer": {"Execution": "Execution"},
}
"""The forms of each slot by name, its default first, each with the argument that it is."""

_STORE_004 = ("step", "value", "success", "function")
"""The parameters of document 004's store: step, result, success, name of the function."""


class Form(NamedTuple):
    """The form of one function: its name, and its arguments by the names of `functions.py`."""

    name: str
    arguments: tuple[str, ...]


def with_form(plugin: Plugin) -> Plugin:
    """A user's plug-in with the form of its values, determined once for all replays.

    Raises SpecError for a form that its slot does not have.
    """
    if plugin.spec.target == COMMAND:
        return plugin
    _, call = plugin.start()
    form = form_of(plugin.kind, call, plugin.name, plugin.attribute("form"))
    return replace(plugin, meta={**plugin.meta, "form": form})


def form_of(kind: str, function: Callable[..., Any], name: str, written: Any = None) -> Form:
    """The form of a function in a slot.

    A function gets one value. A store with three or four parameters gets those of document 004; an
    evaluator with two also gets the earlier evaluations or, as a mapping, the state of document
    004. `written` is the form in the spec. Raises SpecError for an unknown form, and for more
    parameters than the slot has values.

    >>> def short(text: str, chars: int = 300): ...
    >>> form_of("summarizer", short, "short").name, form_of("compactor", len, "len").name
    ('str', 'openai')
    """
    known, declared = FORMS[kind], declared_parameters(function)
    form, what = written, f"{kind} {name!r}"
    named = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD
    by_position = [item for item in declared or () if item.kind not in named]
    if declared is not None and not by_position:
        raise SpecError(
            f"{what}: it takes nothing, and a slot gives one value — give it a parameter"
        )
    parameters = [item for item in by_position if item.kind is not item.VAR_POSITIONAL]
    if form is None and parameters:
        annotation = _type_of(parameters[0])
        form = _form_named(kind, annotation)
        _require_given(annotation, known, what)
    form = form or next(iter(known))
    if not isinstance(form, str) or form not in known:
        raise SpecError(f"{what}: unknown form {form!r}{nearest(str(form), known)}")
    needed = [item for item in parameters if item.default is item.empty]
    if len(needed) <= 1:
        return Form(form, (known[form],))
    if kind == "store" and len(needed) in (3, 4):
        return Form(form, _STORE_004[: len(needed)])
    if kind == "evaluator" and len(needed) == 2:
        second = _form_named(kind, _type_of(needed[1]))
        wants_state = second in ("dict", "state")
        return Form(form, (known[form], known["state"] if wants_state else "evaluations"))
    names = ", ".join(item.name for item in needed)
    hint = "wrap it, or give the others defaults"
    raise SpecError(f"{what}: it takes {names}, and a slot gives one value — {hint}")


def _require_given(annotation: Any, known: Mapping[str, str], what: str) -> None:
    """Raise SpecError for a type of the bench that is not among a slot's forms."""
    for item in (annotation, *typing.get_args(annotation)):
        is_ours = isinstance(item, type) and item.__module__.startswith("bench.")
        if is_ours and item.__name__ not in known:
            forms = ", ".join(known)
            raise SpecError(f"{what}: no form is called {item.__name__} — known: {forms}")


_DIALECT = re.compile(
    r"(?<![\w.])(?:(?P<langchain>langchain|langchain_core|langgraph)|(?P<anthropic>anthropic))\."
)
"""Finds the package of the classes in a list's annotation, in the annotation's repr."""


def _form_named(kind: str, annotation: Any) -> str | None:
    """The form for an annotation in a slot; None if it names none."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _form_named(kind, typing.get_args(annotation)[0])
    if origin in (typing.Union, UnionType):
        items = (item for item in typing.get_args(annotation) if item is not type(None))
        forms = {_form_named(kind, item) for item in items}
        if len(forms) == 1:
            return forms.pop()
        return "value" if {"dict", "str"} <= forms else None
    known, plain = FORMS[kind], origin or annotation
    name = getattr(plain, "__name__", "")
    if not isinstance(plain, type) or plain in (str, ToolResult, Record, Window, Execution):
        return name if name in known else None
    if issubclass(plain, Mapping):
        has_history = "execution_history" in getattr(plain, "__annotations__", ())
        return "dict" if "dict" in known and not has_history else "state"
    is_list = issubclass(plain, Iterable) and not issubclass(plain, bytes)
    return _form_of_list(known, annotation) if is_list else None


def _form_of_list(known: Mapping[str, str], annotation: Any) -> str | None:
    """The form for a list annotation: messages if the slot has a history, else the value."""
    if "openai" not in known:
        return "value" if "value" in known else None
    if Message in typing.get_args(annotation) and "Message" in known:
        return "Message"
    dialect = _DIALECT.search(repr(annotation))
    return "openai" if dialect is None else dialect.lastgroup


def _type_of(parameter: inspect.Parameter) -> Any:
    """A parameter's declared type; None if it cannot be determined."""
    if not isinstance(parameter.annotation, str):
        return None if parameter.annotation is parameter.empty else parameter.annotation
    # a name that exists for the type checker alone
    outer = parameter.annotation.partition("[")[0].rpartition(".")[2].lower()
    types = {"dict": dict, "mapping": dict, "list": list, "sequence": list, "str": str}
    return types.get(outer)
