"""Forms: the shape in which a slot hands something to somebody's own function.

The annotation of a parameter names its form, or `form=` in the spec (`f.form` on the function). Without either the slot has a default. A function
with more parameters without a default may name what each is given: `form=[dict,function]`. Names of parameters say nothing.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from types import UnionType
from typing import Any, NamedTuple

from ..model import Message, Record, ToolResult
from ..model.errors import SpecError, nearest
from ..plugins.annotations import NoType, type_of
from .dialects import (
    AgentFrameworkMessages,
    AnthropicMessages,
    InspectMessages,
    LangChainMessages,
    LangChainState,
    LlamaIndexMessages,
    OpenAIMessages,
    PydanticAIMessages,
    ResponsesItems,
    package,
)
from .messages import Bridge, Dialect
from .slots import Execution, Window
from .values import WithMessages, class_of, execution_mapping, raw_mapping


@dataclass
class Handed:
    """The values that a slot is given at one call, from which each form is made. `records` are those of this case so far, `sent` the messages with
    which a function called the handler that it was given."""

    given: tuple[Any, ...]
    records: Sequence[Record] = ()
    bridge: Bridge | None = None
    sent: list[Any] | None = None

    @property
    def first(self) -> Any:
        return self.given[0]

    @property
    def result(self) -> ToolResult:
        """The result of a summarizer, a store or a consumer."""
        found: ToolResult = self.first.result if isinstance(self.first, Execution) else self.first
        return found

    @cached_property
    def raw(self) -> dict[str, Any]:
        """The result as the mapping that was recorded."""
        return raw_mapping(self.result)

    def messages(self, dialect: Callable[[], Dialect]) -> list[Any]:
        """The history in a dialect, which an answer is read in too."""
        if self.bridge is None:
            told = self.first.messages if isinstance(self.first, Window) else self.first.get("prompt", ())
            self.bridge = Bridge(dialect(), told)
        return self.bridge.given

    def state(self, dialect: Callable[[], Dialect]) -> dict[str, Any]:
        """A graph's state with the history as its messages."""
        if isinstance(self.first, Window):
            return {"messages": self.messages(dialect)}
        return WithMessages(self.first, lambda: self.messages(dialect))

    def execution_state(self) -> dict[str, Any]:
        executions = [execution_mapping(item) for item in self.records]
        done = {"current_step_index": len(executions), "step_evaluation_history": list(self.given[1])}
        return {"execution_history": executions, **done}

    @property
    def system(self) -> str:
        return "\n\n".join(message.text for message in self.first.messages if message.kind == "system")

    def session(self) -> tuple[list[Any], list[Any]]:
        """The items of a session, and those of the user's turn that joins it."""
        messages = self.first.messages
        new = len(messages)
        while new and messages[new - 1].kind == "user":
            new -= 1
        items, joined = self.messages(ResponsesItems), Bridge(ResponsesItems(), messages[new:]).given
        cut = len(items) - len(joined)
        return items[:cut], items[cut:]

    def model_data(self) -> Any:
        run = package("agents.run", "the data of a model's call", "openai-agents")
        data = run.ModelInputData(input=self.messages(ResponsesItems), instructions=self.system or None)
        return run.CallModelData(model_data=data, agent=None, context=None)

    def model_request(self) -> Any:
        middleware = package("langchain.agents.middleware", "the request of a model's call", "langchain")
        state = self.state(LangChainState)
        return middleware.ModelRequest(model=None, system_prompt=self.system or None, state=state, **state)

    def handler(self) -> Callable[[Any], Any]:
        """The handler beside it, which keeps what it is called with; its answer is empty."""
        types = package("langchain.agents.middleware.types", "the answer of a model's call", "langchain")

        def send(request: Any) -> Any:
            self.sent = list(request.messages)
            return types.ModelResponse(result=[types.AIMessage("")])

        return send

    def run_context(self) -> Any:
        """The context that Pydantic AI hands to a history processor: the tokens of the prompt are its usage."""
        run = package("pydantic_ai", "the context of a run", "pydantic-ai-slim")
        models = package("pydantic_ai.models.test", "the context of a run", "pydantic-ai-slim")
        usage = run.RunUsage(input_tokens=self.first.tokens)
        return run.RunContext(deps=None, model=models.TestModel(), usage=usage)


class HandedForm(NamedTuple):
    """The words for a form, and how it is made."""

    words: str
    make: Callable[[Handed], Any]


@dataclass(frozen=True)
class Forms:
    """The forms of one slot: `default` for each parameter in order, and `known` by name, the usual ones first."""

    default: tuple[str, ...]
    known: Mapping[str, HandedForm]


def _messages(words: str, dialect: Callable[[], Dialect]) -> HandedForm:
    return HandedForm(words, lambda handed: handed.messages(dialect))


_CHAT = {
    "openai": _messages("chat mappings (role, content, tool_calls)", OpenAIMessages),
    "langchain": _messages("LangChain's messages", LangChainMessages),
    "anthropic": _messages("Anthropic's messages", AnthropicMessages),
    "items": _messages("the items of OpenAI's Responses interface", ResponsesItems),
    "pydantic_ai": _messages("Pydantic AI's messages", PydanticAIMessages),
    "inspect": _messages("Inspect's messages", InspectMessages),
    "llama_index": _messages("LlamaIndex's messages", LlamaIndexMessages),
    "agent_framework": _messages("Agent Framework's messages", AgentFrameworkMessages),
}
_STATE = {
    "state": HandedForm("a state with LangChain's messages", lambda handed: handed.state(LangChainState)),
    "chat_state": HandedForm("a state with chat mappings as its messages", lambda handed: handed.state(OpenAIMessages)),
}


def _call(of: str) -> dict[str, HandedForm]:
    words = {
        "function": "the name of the tool",
        "arguments": "the arguments of the call",
        "success": "True if it succeeded",
        "error": "its error, or None",
    }
    return {name: HandedForm(text, attrgetter(f"{of}.{name}")) for name, text in words.items()}


_RESULT = {
    "ToolResult": HandedForm("our ToolResult", attrgetter("result")),
    "str": HandedForm("its text", attrgetter("result.text")),
    "dict": HandedForm("its mapping", attrgetter("raw")),
    "value": HandedForm("its structured value, else its text", attrgetter("result.value")),
    **_call("result"),
    "call": HandedForm(
        "a mapping of id, name and args",
        lambda handed: {"id": handed.result.call_id, "name": handed.result.function, "args": handed.result.arguments},
    ),
}

FORMS: dict[str, Forms] = {
    "summarizer": Forms(("ToolResult",), _RESULT),
    "store": Forms(("ToolResult",), _RESULT),
    "compactor": Forms(
        ("openai",),
        {
            **_CHAT,
            "Window": HandedForm("our Window", attrgetter("first")),
            "Message": HandedForm("our messages", lambda handed: list(handed.first.messages)),
            **_STATE,
            "model_data": HandedForm("the CallModelData of the Agents SDK", Handed.model_data),
            "session_items": HandedForm("the items before the user's turn", lambda handed: handed.session()[0]),
            "new_items": HandedForm("the items of the user's turn", lambda handed: handed.session()[1]),
            "system": HandedForm("the text of the system prompt", attrgetter("system")),
            "tokens": HandedForm("the tokens of the prompt", attrgetter("first.tokens")),
            "max_tokens": HandedForm("the model's context window, in tokens", attrgetter("first.max_tokens")),
            "count": HandedForm("a function that counts the tokens of a text", attrgetter("first.count")),
            "model_request": HandedForm("the ModelRequest of LangChain's wrap_model_call", Handed.model_request),
            "handler": HandedForm("the handler beside a ModelRequest", Handed.handler),
            "run_context": HandedForm("the RunContext of Pydantic AI", Handed.run_context),
            "runtime": HandedForm("None: no graph or agent runs", lambda handed: None),
        },
    ),
    "evaluator": Forms(
        ("Record", "history"),
        {
            "Record": HandedForm("our Record", attrgetter("first")),
            "dict": HandedForm("the entry of an execution history", lambda handed: execution_mapping(handed.first)),
            "str": HandedForm("the text of its value", lambda handed: str(handed.first.value)),
            "value": HandedForm("its value", attrgetter("first.value")),
            "state": HandedForm("a state with the execution history", Handed.execution_state),
            "history": HandedForm("the earlier evaluations", lambda handed: list(handed.given[1])),
            **_call("first"),
        },
    ),
    "router": Forms(("state",), {**_STATE, **_CHAT}),
    "consumer": Forms(
        ("Execution",),
        {
            "Execution": HandedForm("our Execution", attrgetter("first")),
            "summary": HandedForm("what the summarizer gave, or None", attrgetter("first.summary")),
            **_RESULT,
        },
    ),
}
"""The only place that says what a function can be handed, slot by slot."""

_LIBRARIES = {"openai": "openai", "anthropic": "anthropic", "langchain_core": "langchain", "langgraph": "langchain", "langchain": "langchain",
              "pydantic_ai": "pydantic_ai", "inspect_ai": "inspect", "agents": "items", "llama_index": "llama_index",
              "agent_framework": "agent_framework"}  # fmt: skip
"""The form of a list of classes of a package."""

_CLASSES = {
    "CallModelData": "model_data",
    "Runtime": "runtime",
    "ModelRequest": "model_request",
    "RunContext": "run_context",
    "RunContextWrapper": "runtime",
}
"""The form of one class of such a package."""

_OURS: dict[Any, str] = {kind: kind.__name__ for kind in (ToolResult, Window, Record, Execution)}
_LISTS = ("Sequence", "Iterable", "MutableSequence", "Collection")


def forms_of(kind: str, function: Callable[..., Any], name: str, written: Any = None) -> list[tuple[str, Any]]:
    """The form of each value that a function is handed, with the parameter's annotation (None: none that can be read).

    `written` is what `form=` says, a name or several. Raises SpecError for an unknown form, for parameters that no form is named for, and for an
    annotation of a class that no form hands over.

    >>> def short(result: str, chars: int = 300) -> str: ...
    >>> forms_of("summarizer", short, "short"), forms_of("evaluator", lambda record, history: None, "judge")
    ([('str', <class 'str'>)], [('Record', None), ('history', None)])
    """
    slot, parameters = FORMS[kind], _handed(function)
    declared = [_annotation(function, item) for item in parameters]
    needed = max(1, sum(item.default is item.empty for item in parameters))
    if written is None:
        what = f"{kind} {name!r}: parameter"
        named = [
            _form_of(kind, item, f"{what} {parameter.name!r}")
            for item, parameter in zip(declared, parameters, strict=True)
        ]
        first = named[0] if named else None
        later = slot.default[1:] or (named[1:] if first else ())
        forms = [form for form in (first or slot.default[0], *later)[:needed] if form is not None]
    else:
        forms = [written] if isinstance(written, str) else list(written)
    for form in forms:
        if form not in slot.known:
            raise SpecError(f"{kind} {name!r}: unknown form {form!r}{nearest(str(form), slot.known)}")
    if len(forms) < needed:
        names = ", ".join(item.name for item in parameters[:needed])
        what = f"{kind} {name!r}: it takes {needed} values ({names}), and a form is known for {len(forms)}"
        others = ",".join("…" for _ in range(needed - len(forms)))
        raise SpecError(f"{what} — write form=[{','.join(forms)},{others}] with {', '.join(slot.known)}")
    return [(form, declared[number] if number < len(declared) else None) for number, form in enumerate(forms)]


def told_of_form(kind: str, forms: Sequence[str]) -> str:
    """The sentence for a function that fails on its first call: the form that it was handed, and the two nearest ones.

    >>> told_of_form("summarizer", ["ToolResult"])
    'it got ToolResult; form=str would hand over its text, form=dict its mapping'
    """
    (one, first), (other, second) = [item for item in FORMS[kind].known.items() if item[0] != forms[0]][:2]
    got = forms[0] if len(forms) == 1 else f"[{','.join(forms)}]"
    return f"it got {got}; form={one} would hand over {first.words}, form={other} {second.words}"


def _handed(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters that can be handed something by position: the first one, and every other without a default."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # written in C, and does not say
        return []
    by_position = [item for item in found if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]
    return [item for number, item in enumerate(by_position) if not number or item.default is item.empty]


def _form_of(kind: str, annotation: Any, what: str) -> str | None:
    """The form that an annotation names in a slot; None where it names none."""
    chats = kind in ("compactor", "router")
    named = _named(annotation, what, chats)
    if named == "list":
        return "openai" if chats else "value"
    if named == "dict" and "dict" not in FORMS[kind].known:
        return "state"
    return named if named in FORMS[kind].known else None


def _named(annotation: Any, what: str, chats: bool) -> str | None:
    """A form by an annotation alone; `list` is any list. Raises SpecError for a class that nobody can hand over: with `chats` of a message too."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _named(typing.get_args(annotation)[0], what, chats)
    if typing.get_origin(annotation) in (typing.Union, UnionType):
        named = {_named(item, what, chats) for item in typing.get_args(annotation) if item is not type(None)}
        return named.pop() if len(named) == 1 else "value" if {"dict", "str"} <= named else None
    plain = typing.get_origin(annotation) or annotation
    if plain is Callable:
        return "handler"
    if not isinstance(plain, type):
        return None
    if plain is str or plain in _OURS:
        return "str" if plain is str else _OURS[plain]
    if issubclass(plain, list | tuple) or plain.__name__ in _LISTS:
        return _listed(annotation, what, chats)
    if issubclass(plain, dict) or plain.__name__ in ("Mapping", "MutableMapping"):
        return "state" if "messages" in getattr(plain, "__annotations__", ()) else "dict"
    if _package(plain) in _LIBRARIES and plain.__name__ in _CLASSES:
        return _CLASSES[plain.__name__]
    if _package(plain) in _LIBRARIES:
        what = f"{what} asks for one {plain.__module__}.{plain.__name__}, which no form hands over"
        raise SpecError(f"{what} — name a form=")
    return "dict" if class_of(plain) is not None else None


def _listed(annotation: Any, what: str, chats: bool) -> str:
    inside = _inside(annotation)
    for item in inside:
        if item is Message:
            return "Message"
        if getattr(item, "__module__", "").startswith("openai.types.responses"):
            return "items"
        if _package(item) in _LIBRARIES:
            return _LIBRARIES[_package(item)]
    foreign = next((item for item in inside if isinstance(item, type) and not _plain(item)), None)
    if foreign is not None and chats:
        told = f"{what} asks for messages of the class {foreign.__module__}.{foreign.__name__}"
        raise SpecError(f"{told}, which no form hands over — name a form=, and convert what it gives")
    return "list"


def _plain(item: type) -> bool:
    return issubclass(item, dict) or _package(item) in ("builtins", "typing", "collections", "bench", "types")


def _package(item: Any) -> str:
    return getattr(item, "__module__", "").partition(".")[0]


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
    try:
        return type_of(parameter.annotation, getattr(inner, "__globals__", {}))
    except NoType:  # a name that exists for the type checker alone
        return None
