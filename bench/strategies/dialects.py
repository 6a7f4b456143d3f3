"""The messages of interfaces and libraries. Raises SpecError where a library is not installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..model import ToolCall, as_text
from ..model.errors import SpecError
from .messages import Dialect, NeutralMessage, Neutrals, arguments_mapping, decoded, text_in

_WHEN = datetime(2000, 1, 1, tzinfo=UTC)  # the same for every message: a copy of one equals it


def package(module: str, messages: str, distribution: str) -> Any:
    """A module of the library whose messages these are; SpecError where it is not installed, with what to install.

    >>> package("no_such_library", "its messages", "no-such-library")
    Traceback (most recent call last):
    bench.model.errors.SpecError: a function that asks for its messages needs no-such-library — pip install no-such-library
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        what = f"a function that asks for {messages} needs {distribution}"
        raise SpecError(f"{what} — pip install {distribution}") from error


def _mapping(item: Any) -> Mapping[str, Any]:
    told = item.model_dump() if hasattr(item, "model_dump") else item
    if not isinstance(told, Mapping):
        raise TypeError(f"expected a mapping with role and content, got {type(item).__name__}")
    return told


def _json_text(call: ToolCall) -> str:
    return "{}" if call.arguments is None else as_text(call.arguments)


# ---------------------------------------------------------------- plain mappings


class OpenAIMessages(Dialect):
    """`{"role", "content"}`, with `tool_calls` on an assistant's message and `tool_call_id` on a tool's; content is text, `""` for none.

    A call that is written in the turn's own text stays there alone, and its result is the user message that it was recorded as.

    Source: OpenAI API reference, "Create chat completion" (messages, tool_calls)
    """

    _ROLES = ("system", "developer", "user", "assistant", "tool", "function")

    def write(self, group: Neutrals) -> dict[str, Any]:
        (one,) = group
        told: dict[str, Any] = {"role": one.role, "content": one.text}
        if one.calls:
            functions = [(call.id, {"name": call.name, "arguments": _json_text(call)}) for call in one.calls]
            told["tool_calls"] = [{"id": key, "type": "function", "function": function} for key, function in functions]
        return {**told, "tool_call_id": one.call_id} if one.role == "tool" else told

    def read(self, item: Any) -> list[NeutralMessage]:
        told = _mapping(item)
        role = told.get("role")
        if role not in self._ROLES:
            raise ValueError(f"its role is {role!r}, expected one of {', '.join(self._ROLES)}")
        calls = tuple(
            ToolCall(id=call["id"], name=call["function"]["name"], arguments=decoded(call["function"].get("arguments")))
            for call in told.get("tool_calls") or ()
        )
        role = {"developer": "system", "function": "tool"}.get(role, role)
        return [NeutralMessage(role, text_in(told.get("content")), calls, told.get("tool_call_id"))]


class AnthropicMessages(Dialect):
    """User and assistant messages with `text`, `tool_use` and `tool_result` blocks. The system prompt stands beside them.

    Source: Anthropic API reference, "Messages" (content blocks, tool use)
    """

    beside = ("system",)

    def joins(self, last: NeutralMessage, message: NeutralMessage) -> bool:
        return last.role == message.role == "tool"

    def write(self, group: Neutrals) -> dict[str, Any]:
        first = group[0]
        if first.role == "tool":
            blocks = [{"type": "tool_result", "tool_use_id": one.call_id, "content": one.text} for one in group]
            return {"role": "user", "content": blocks}
        if not first.calls:
            return {"role": first.role, "content": first.text}
        text = [{"type": "text", "text": first.text}] if first.text else []
        used = [{"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_mapping(call)}
                for call in first.calls]  # fmt: skip
        return {"role": "assistant", "content": [*text, *used]}

    def read(self, item: Any) -> list[NeutralMessage]:
        told = _mapping(item)
        role, content = told.get("role"), told.get("content")
        if role not in ("user", "assistant"):
            what = f"its role is {role!r}, expected user or assistant"
            raise ValueError(f"{what}: the system prompt stands beside the messages")
        if content is None or isinstance(content, str):
            return [NeutralMessage(role, content or "")]
        given, used, texts = (
            [block for block in content if block["type"] == kind] for kind in ("tool_result", "tool_use", "text")
        )
        results = [NeutralMessage("tool", text_in(one.get("content")), (), one["tool_use_id"]) for one in given]
        calls = tuple(ToolCall(id=one["id"], name=one["name"], arguments=one.get("input")) for one in used)
        return results if results and not (calls or texts) else [*results, NeutralMessage(role, text_in(texts), calls)]


class ResponsesItems(Dialect):
    """The items of OpenAI's Responses interface and of its Agents SDK: messages, `function_call` and `function_call_output`, each an item of its own.

    The instructions, our system prompt, stand beside them. An answer may be the SDK's `ModelInputData`.

    Source: OpenAI API reference, "Create a model response" (input items); OpenAI Agents SDK, `TResponseInputItem`
    """

    beside = ("system",)

    def write(self, group: Neutrals) -> tuple[dict[str, Any], ...]:
        (one,) = group
        if one.role == "tool":
            return ({"type": "function_call_output", "call_id": one.call_id, "output": one.text},)
        calls = [{"type": "function_call", "call_id": call.id, "name": call.name, "arguments": _json_text(call)}
                 for call in one.calls]  # fmt: skip
        message = {"role": one.role, "content": one.text}
        return (message, *calls) if one.text or not calls else tuple(calls)

    def units(self, items: Sequence[Any], place: Callable[[Any], int | None]) -> list[Any]:
        """An answer's text and the calls behind it are one message of ours."""
        found: list[list[Any]] = []
        before: int | None = None
        for item in items:
            here, call = place(item), isinstance(item, Mapping) and item.get("type") == "function_call"
            answers = found and isinstance(last := found[-1][-1], Mapping)
            follows = answers and (last.get("type") == "function_call" or last.get("role") == "assistant")
            if call and follows and (here is None or before is None or here == before):
                found[-1].append(item)
            else:
                found.append([item])
            before = here
        return [tuple(unit) for unit in found]

    def read(self, item: Any) -> list[NeutralMessage]:
        first, *_ = told = [_mapping(one) for one in (item if isinstance(item, tuple) else (item,))]
        if first.get("type") == "function_call_output":
            return [NeutralMessage("tool", text_in(first["output"]), (), first["call_id"])]
        called = [one for one in told if one.get("type") == "function_call"]
        calls = tuple(
            ToolCall(id=one["call_id"], name=one["name"], arguments=decoded(one["arguments"])) for one in called
        )
        if called and called[0] is first:
            return [NeutralMessage("assistant", "", calls)]
        role = {"developer": "system"}.get(first.get("role", ""), first.get("role"))
        if role not in ("system", "user", "assistant"):
            what = f"its type is {first.get('type')!r} and its role {role!r}"
            raise ValueError(f"{what}, expected a message, a function_call or a function_call_output")
        return [NeutralMessage(role, text_in(first.get("content")), calls)]

    def answer(self, answer: Any, given: Sequence[Any]) -> Any:
        return answer.input if hasattr(answer, "input") and hasattr(answer, "instructions") else answer


# ---------------------------------------------------------------- classes of libraries


class LlamaIndexMessages(OpenAIMessages):
    """`ChatMessage`, with the calls of OpenAI's chat interface among its `additional_kwargs`.

    Source: LlamaIndex reference, `llama_index.core.llms.ChatMessage`
    """

    def __init__(self) -> None:
        self._message = package("llama_index.core.llms", "LlamaIndex's messages", "llama-index-core").ChatMessage

    def write(self, group: Neutrals) -> Any:
        told = super().write(group)
        return self._message(role=told.pop("role"), content=told.pop("content"), additional_kwargs=told)

    def read(self, item: Any) -> list[NeutralMessage]:
        return super().read({"role": item.role.value, "content": item.content, **item.additional_kwargs})


class AgentFrameworkMessages(Dialect):
    """`Message` with contents of text, `function_call` and `function_result`. What a strategy marked as left out is gone.

    Source: Microsoft Agent Framework, `agent_framework.Message` and `included_messages`
    """

    def __init__(self) -> None:
        self._package = package("agent_framework", "Agent Framework's messages", "agent-framework-core")

    def write(self, group: Neutrals) -> Any:
        (one,) = group
        make = self._package.Content
        contents = [make.from_function_call(call.id, call.name, arguments=_json_text(call)) for call in one.calls]
        if one.role == "tool":
            contents = [make.from_function_result(one.call_id, result=one.text)]
        elif one.text or not contents:
            contents.insert(0, make.from_text(one.text))
        return self._package.Message(one.role, contents, message_id=one.id)

    def read(self, item: Any) -> list[NeutralMessage]:
        parts = [part for part in item.contents if part.type == "function_result"]
        if parts:
            return [NeutralMessage("tool", text_in(part.result), (), part.call_id) for part in parts]
        called = [part for part in item.contents if part.type == "function_call"]
        calls = tuple(ToolCall(id=part.call_id, name=part.name, arguments=decoded(part.arguments)) for part in called)
        return [NeutralMessage(item.role, item.text, calls)]

    def ready(self, items: list[Any]) -> None:
        self._package.annotate_message_groups(items)

    def answer(self, answer: Any, given: Sequence[Any]) -> Any:
        return self._package.included_messages(list(answer))


class LangChainMessages(Dialect):
    """`SystemMessage`, `HumanMessage`, `AIMessage` and `ToolMessage`, each with an id of its own within the call.

    An answer may be a list of messages, or the update of a LangGraph state: `{"messages": […]}`, with `RemoveMessage` in it or not, merged by id as
    `add_messages` does; `{"llm_input_messages": […]}` is the whole list.

    Source: LangChain reference, `langchain_core.messages`; LangGraph reference, `langgraph.graph.message.add_messages`
    """

    _ROLES = {"system": "system", "human": "user", "user": "user", "ai": "assistant", "tool": "tool"}

    def __init__(self) -> None:
        self._messages = package("langchain_core.messages", "LangChain messages", "langchain-core")

    def write(self, group: Neutrals) -> Any:
        (one,) = group
        own = {"content": one.text, "id": one.id}
        if one.role == "assistant":
            calls = [{"name": call.name, "args": arguments_mapping(call), "id": call.id, "type": "tool_call"}
                     for call in one.calls]  # fmt: skip
            return self._messages.AIMessage(**own, tool_calls=calls)
        if one.role == "tool":
            return self._messages.ToolMessage(**own, tool_call_id=one.call_id)
        return (self._messages.SystemMessage if one.role == "system" else self._messages.HumanMessage)(**own)

    def read(self, item: Any) -> list[NeutralMessage]:
        kind = getattr(item, "type", None)
        if kind not in self._ROLES:
            raise TypeError(f"expected a LangChain message, got {type(item).__name__}")
        called = getattr(item, "tool_calls", None) or ()
        calls = tuple(ToolCall(id=call["id"], name=call["name"], arguments=call["args"]) for call in called)
        return [NeutralMessage(self._ROLES[kind], text_in(item.content), calls, getattr(item, "tool_call_id", None))]

    def answer(self, answer: Any, given: Sequence[Any]) -> Any:
        """The messages of an answer; an update with removals is merged into what was given."""
        found, update = answer, isinstance(answer, Mapping)
        if update:
            if "llm_input_messages" in answer:
                return answer["llm_input_messages"]
            found = answer.get("messages", ())
        if not isinstance(found, list | tuple):
            return found
        if not update and not any(getattr(item, "type", "") == "remove" for item in found):
            return found
        wiped = max((n + 1 for n, item in enumerate(found) if getattr(item, "id", "") == "__remove_all__"), default=0)
        merged = {} if wiped else {item.id: item for item in given}
        for number, item in enumerate(found[wiped:]):
            if getattr(item, "type", "") == "remove":
                merged.pop(item.id, None)
            else:
                merged[item.id or f"new-{number}"] = item
        return list(merged.values())


class LangChainState(LangChainMessages):
    """The `messages` of an agent's state since LangChain 1.0: the system prompt stands beside them.

    Source: LangChain reference, `langchain.agents.create_agent` (system_prompt)
    """

    beside = ("system",)


class PydanticAIMessages(Dialect):
    """`ModelRequest` with what comes between two answers (system prompts, user turns, results of tools), `ModelResponse` with text and calls.

    Source: Pydantic AI reference, `pydantic_ai.messages`; "Messages and chat history", processing message history
    """

    def __init__(self) -> None:
        self._package = package("pydantic_ai.messages", "Pydantic AI's messages", "pydantic-ai-slim")

    def joins(self, last: NeutralMessage, message: NeutralMessage) -> bool:
        """All messages between two answers are one request."""
        return "assistant" not in (last.role, message.role)

    def write(self, group: Neutrals) -> Any:
        first = group[0]
        if first.role != "assistant":
            return self._package.ModelRequest(parts=[self._part(one) for one in group])
        text = [self._package.TextPart(first.text)] if first.text or not first.calls else []
        used = [self._package.ToolCallPart(call.name, call.arguments, call.id) for call in first.calls]
        return self._package.ModelResponse(parts=[*text, *used], timestamp=_WHEN)

    def _part(self, one: NeutralMessage) -> Any:
        if one.role == "tool":
            return self._package.ToolReturnPart(one.tool, one.text, one.call_id, timestamp=_WHEN)
        kind = self._package.SystemPromptPart if one.role == "system" else self._package.UserPromptPart
        return kind(one.text, timestamp=_WHEN)

    def read(self, item: Any) -> list[NeutralMessage]:
        """The parts of a request one by one, or a response as one."""
        parts = getattr(item, "parts", None)
        if getattr(item, "kind", None) not in ("request", "response") or parts is None:
            raise TypeError(f"expected a ModelRequest or a ModelResponse, got {type(item).__name__}")
        if item.kind == "request":
            return [self._read(part) for part in parts]
        calls = tuple(
            ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=decoded(part.args))
            for part in parts
            if part.part_kind == "tool-call"
        )
        return [NeutralMessage("assistant", "\n".join(p.content for p in parts if p.part_kind == "text"), calls)]

    def _read(self, part: Any) -> NeutralMessage:
        if part.part_kind == "tool-return":
            return NeutralMessage("tool", part.model_response_str(), (), part.tool_call_id)
        if part.part_kind == "retry-prompt" and part.tool_name is not None:
            return NeutralMessage("tool", part.model_response(), (), part.tool_call_id)
        return NeutralMessage("system" if part.part_kind == "system-prompt" else "user", text_in(part.content))


class InspectMessages(Dialect):
    """`ChatMessageSystem`, `ChatMessageUser`, `ChatMessageAssistant` and `ChatMessageTool`.

    An answer may be what `CompactionStrategy.compact` gives: the messages, and one that was added.

    Source: Inspect reference, `inspect_ai.model`, "Messages" and "Compaction"
    """

    def __init__(self) -> None:
        self._model = package("inspect_ai.model", "Inspect's messages", "inspect-ai")
        self._tool = package("inspect_ai.tool", "Inspect's messages", "inspect-ai")

    def write(self, group: Neutrals) -> Any:
        (one,) = group
        own = {"content": one.text, "id": one.id}
        if one.role == "assistant":
            calls = [self._tool.ToolCall(id=call.id, function=call.name, arguments=arguments_mapping(call))
                     for call in one.calls]  # fmt: skip
            return self._model.ChatMessageAssistant(**own, tool_calls=calls or None)
        if one.role == "tool":
            return self._model.ChatMessageTool(**own, tool_call_id=one.call_id, function=one.tool or None)
        return (self._model.ChatMessageSystem if one.role == "system" else self._model.ChatMessageUser)(**own)

    def read(self, item: Any) -> list[NeutralMessage]:
        role, content = getattr(item, "role", None), getattr(item, "content", None)
        if role not in ("system", "user", "assistant", "tool") or content is None:
            raise TypeError(f"expected a message of Inspect's, got {type(item).__name__}")
        called = getattr(item, "tool_calls", None) or ()
        calls = tuple(ToolCall(id=call.id, name=call.function, arguments=call.arguments) for call in called)
        text = content if isinstance(content, str) else text_in([getattr(part, "text", "") for part in content])
        return [NeutralMessage(role, text, calls, getattr(item, "tool_call_id", None))]

    def answer(self, answer: Any, given: Sequence[Any]) -> Any:
        pair = isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], list)
        return answer[0] if pair else super().answer(answer, given)
