"""The forms in which a slot passes its value to a user's function, such as a text or a mapping.

The annotation of the first parameter names the form, or `form=` in the spec (`f.form` on the
function); otherwise it is the slot's default. The names of parameters have no meaning.
"""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, NamedTuple

from ...model import Message, Record, ToolResult
from ...model.errors import SpecError, nearest
from ...plugins.registry import Plugin, declared_parameters
from ...plugins.spec import COMMAND
from ..slots import Window

if TYPE_CHECKING:
    from .messages import OpenAIMessages


class Inputs:
    """The values that a slot gives one function: `values` in this call, `records` to an evaluator
    in this run so far."""

    def __init__(self, form: str = "") -> None:
        self._form = form
        self.values: tuple[Any, ...] = ()
        self.records: list[Record] = []
        self.gave_messages = False  # whether this call's arguments were made by `messages()`

    def begin_call(self, kind: str, values: tuple[Any, ...]) -> None:
        """Take the values of the next call."""
        self.values, self.gave_messages = values, False
        if kind == "evaluator":
            self.records.append(values[0])

    @functools.cached_property
    def chat(self) -> OpenAIMessages:
        """The converter of messages for the form's interface; OpenAI's if it names none."""
        return chat_of(self._form)

    @property
    def first(self) -> Any:
        """The first value of this call."""
        return self.values[0]

    def messages(self) -> list[Any]:
        """The history of this call as messages of the form's interface."""
        self.gave_messages = True
        first = self.first
        return self.chat.show(first.messages if isinstance(first, Window) else first["prompt"])

    def state(self) -> dict[str, Any]:
        """A router's state, with the prompt as its `messages`."""
        prompt = {"messages": self.messages()} if "prompt" in self.first else {}
        return {**self.first, **prompt}

    def unframed(self, answer: Any) -> Any:
        """An answer about a result. In place of the mapping that a function got for a text, with
        another output or fewer keys, stands its output: the rest is not recorded."""
        is_framed = self._form == "dict" and not isinstance(self.first.data, Mapping)
        if not is_framed or not isinstance(answer, dict):
            return answer
        rest = {key: value for key, value in answer.items() if key != "output"}
        if "output" in answer and rest.items() <= self.first.as_script.items():
            return answer["output"]
        return {key: self.unframed(value) for key, value in answer.items()}


def chat_of(form: str) -> OpenAIMessages:
    """A new converter of messages for a form's interface; OpenAI's if the form names none. Raises
    SpecError if a library is missing."""
    from .libraries import INTERFACES  # imports readers, which takes long

    return INTERFACES.get(form, INTERFACES["openai"])()


# ---------------------------------------------------------------- results and records


class Lookup(dict[str, Any]):
    """A mapping that also answers keys that it does not list; `find` returns their values.

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
    """A result as the recorded mapping; a plain text as the script result of document 000.

    A key is also found by its other spelling: `structured_output` and `structuredOutput`.

    >>> raw_mapping(ToolResult(index=0, call_id="c", function="f", seen="done"))["output"]
    'done'
    """
    listed = result.data if isinstance(result.data, Mapping) else result.as_script

    def in_other_spelling(key: str) -> Any:
        snake = re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", key)
        camel = re.sub(r"_([a-z])", lambda match: match[1].upper(), key)
        return listed[camel if "_" in key else snake]

    return Lookup(listed, in_other_spelling)


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


def _step(inputs: Inputs) -> dict[str, Any]:
    """The executed step, as in a plan of document 004."""
    return {"function_name": inputs.first.function, "parameters": inputs.first.arguments}


def _evaluations(inputs: Inputs) -> list[Any]:
    """The evaluations before this one."""
    return list(inputs.values[1])


def _execution_state(inputs: Inputs) -> dict[str, Any]:
    """The state of document 004 at an evaluation."""
    return {
        "execution_history": [execution_mapping(item) for item in inputs.records],
        "current_step_index": len(inputs.records),
        "step_evaluation_history": _evaluations(inputs),
    }


# ---------------------------------------------------------------- forms

Argument = Callable[[Inputs], Any]
"""A function that builds an argument of a user's function from the values of a slot."""


_RESULT: dict[str, Argument] = {
    "ToolResult": lambda inputs: inputs.first,
    "str": lambda inputs: inputs.first.text,
    "dict": lambda inputs: raw_mapping(inputs.first),
    "value": lambda inputs: inputs.first.value,
}
_OF_MESSAGES = dict.fromkeys(("openai", "langchain", "anthropic"), Inputs.messages)
FORMS: dict[str, dict[str, Argument]] = {
    "summarizer": _RESULT,
    "store": _RESULT,
    "compactor": {
        **_OF_MESSAGES,
        "Window": lambda inputs: inputs.first,
        "Message": lambda inputs: list(inputs.first.messages),
    },
    "evaluator": {
        "Record": lambda inputs: inputs.first,
        "dict": lambda inputs: {**execution_mapping(inputs.first), "step": _step(inputs)},
        "state": _execution_state,
    },
    "router": {"state": Inputs.state, **_OF_MESSAGES},
    "consumer": {"Execution": lambda inputs: inputs.first},
}
"""For each slot its forms by name, the default first, each with the argument that it passes."""

_STORE_004: tuple[Argument, ...] = (
    _step,
    _RESULT["value"],
    lambda inputs: inputs.first.success,
    lambda inputs: inputs.first.function,
)
"""The arguments of document 004's store: step, result, success, name of the function."""


class Form(NamedTuple):
    """The form of one function: its name, and how its arguments are built."""

    name: str
    arguments: tuple[Argument, ...]


def with_form(plugin: Plugin) -> Plugin:
    """A user's plug-in with the form of its values, determined once for all replays.

    Raises SpecError for a form that its slot does not have.
    """
    if plugin.spec.target == COMMAND:
        return plugin
    _, call = plugin.start()
    form = form_of(plugin.kind, call, plugin.name, plugin.attribute("form"))
    if form.name in _OF_MESSAGES:
        chat_of(form.name)  # imports its library here, not in the fork of each replay
    return replace(plugin, meta={**plugin.meta, "form": form})


def form_of(kind: str, function: Callable[..., Any], name: str, declared_form: Any = None) -> Form:
    """The form of a function in a slot.

    A function gets one value. A store with three or four parameters gets those of document 004. An
    evaluator's second parameter is the list of earlier evaluations or, if it is annotated as a
    mapping, the state of document 004. `declared_form` is the form in the spec. Raises SpecError
    for an unknown form, and for more parameters than the slot has values.

    >>> def short(text: str, chars: int = 300): ...
    >>> form_of("summarizer", short, "short").name, form_of("compactor", len, "len").name
    ('str', 'openai')
    """
    known, declared, what = FORMS[kind], declared_parameters(function), f"{kind} {name!r}"
    by_name = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD
    by_position = [item for item in declared or () if item.kind not in by_name]
    if declared is not None and not by_position:
        raise SpecError(
            f"{what}: it takes nothing, and a slot gives one value — give it a parameter"
        )
    parameters = [item for item in by_position if item.kind is not item.VAR_POSITIONAL]
    annotated = _form_named(kind, parameters[0].annotation) if parameters else None
    form = declared_form or annotated or next(iter(known))
    if not isinstance(form, str) or form not in known:
        adapters = "for messages of a library write an adapter, as docs/examples/libraries shows"
        raise SpecError(f"{what}: unknown form {form!r}{nearest(str(form), known)}; {adapters}")
    needed = [item for item in parameters if item.default is item.empty]
    if len(needed) <= 1:
        return Form(form, (known[form],))
    if kind == "store" and len(needed) in (3, 4):
        return Form(form, _STORE_004[: len(needed)])
    if kind == "evaluator" and len(needed) == 2:
        wants_state = _form_named(kind, needed[1].annotation) in ("dict", "state")
        return Form(form, (known[form], known["state"] if wants_state else _evaluations))
    names = ", ".join(item.name for item in needed)
    hint = "wrap it, or give the others defaults"
    raise SpecError(f"{what}: it takes {names}, and a slot gives one value — {hint}")


_INTERFACE = re.compile(
    r"\b(?:(?P<langchain>langchain_core\.|BaseMessage\b|AnyMessage\b)"
    r"|(?P<anthropic>anthropic\.|MessageParam\b))"
)
"""The interface of the classes in a list's annotation, by their names: it need not be installed."""

_BY_NAME = {"dict": dict, "mapping": dict, "list": list, "sequence": list, "str": str}


def _form_named(kind: str, annotation: Any) -> str | None:
    """The form in a slot that an annotation names, or None."""
    forms = {_form_of_type(FORMS[kind], item) for item in _alternatives(annotation)}
    if forms == {"openai"}:
        named = _INTERFACE.search(str(annotation))
        return named.lastgroup if named else "openai"
    if len(forms) == 1:
        return forms.pop()
    return "value" if {"dict", "str"} <= forms else None


def _alternatives(annotation: Any) -> Iterator[Any]:
    """Yield the types that an annotation allows, without None: of `str | None` the `str`."""
    origin = typing.get_origin(annotation)
    if isinstance(annotation, str):  # a name that exists for the type checker alone
        outer = annotation.partition("[")[0].rpartition(".")[2].lower()
        yield _BY_NAME.get(outer)
    elif origin is typing.Annotated:
        yield from _alternatives(typing.get_args(annotation)[0])
    elif origin in (typing.Union, UnionType):
        for item in typing.get_args(annotation):
            if item is not NoneType:
                yield from _alternatives(item)
    else:
        yield annotation


def _form_of_type(known: Mapping[str, Argument], annotation: Any) -> str | None:
    """The form that a type names, or None. A text and a type of the bench name the form with their
    own name, which the slot may not have."""
    plain, parts = typing.get_origin(annotation) or annotation, typing.get_args(annotation)
    if not isinstance(plain, type) or plain is inspect.Parameter.empty:
        return None
    if plain is str:
        return "str"
    if plain.__module__.startswith("bench."):
        return plain.__name__
    if issubclass(plain, Mapping):
        has_history = "execution_history" in getattr(plain, "__annotations__", ())
        return "dict" if "dict" in known and not has_history else "state"
    if not issubclass(plain, Iterable) or issubclass(plain, bytes):
        return None
    if Message in parts:
        return "Message"
    return "openai" if "openai" in known else "value" if "value" in known else None
