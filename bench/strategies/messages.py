"""Messages in the interfaces that a user's function may ask for: OpenAI's, Anthropic's,
LangChain's."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..model import Message, ToolCall, as_text
from ..model.errors import SpecError


def role_of(message: Message) -> str:
    """The role of a message: system, user, assistant or tool; user for a result sent as one."""
    if message.kind == "result":
        return "tool" if message.role in ("tool", "function") and message.call_id else "user"
    if message.kind == "made":
        return message.role if message.role in ("system", "assistant", "tool") else "user"
    return {"model": "assistant"}.get(message.kind, message.kind)


def own_calls(message: Message) -> list[ToolCall]:
    """The calls of a message that are not written in its text."""
    return [call for call in message.tool_calls if not call.in_text]


def arguments_mapping(call: ToolCall) -> dict[str, Any]:
    """A call's arguments as the mapping that most interfaces ask for."""
    if isinstance(call.arguments, dict):
        return call.arguments
    return {} if call.arguments is None else {"arguments": call.arguments}


def decoded(arguments: Any) -> Any:
    """A call's arguments: the value of a JSON text, any other text as it is."""
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


def text_in(content: Any) -> str:
    """The text of a content that is a string, None, or parts with text. Raises TypeError."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, Sequence):
        raise TypeError(
            f"its content is {type(content).__name__}, expected text or a list of parts"
        )
    parts = [part if isinstance(part, str) else part.get("text") for part in content]
    return "\n".join(part for part in parts if isinstance(part, str))


# ---------------------------------------------------------------- interfaces


class OpenAIMessages:
    """Mappings of `role` and `content` (text, `""` for none), with `tool_calls` or `tool_call_id`.

    `beside` are the roles that an interface keeps outside the list of messages.

    An object of this class writes the messages of one function's histories. Items are reused, since
    building all items of a history at every prompt would take quadratic time.

    Source: OpenAI API reference, "Create chat completion" (messages, tool_calls)
    """

    beside: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._known: dict[tuple[Message, ...], tuple[int, Any, Any]] = {}

    def item_for(self, group: tuple[Message, ...]) -> tuple[Any, Any]:
        """The item to hand out for some messages, and an equal one to compare it with.

        It is the same item as before, unless the function changed that.
        """
        if group not in self._known:
            number = len(self._known)
            self._known[group] = number, self.write(group, number), self.write(group, number)
        number, item, same = self._known[group]
        if item != same:
            item = self.write(group, number)
            self._known[group] = number, item, same
        return item, same

    def joins(self, last: Message, message: Message) -> bool:
        """True if a message is written as one with the message before it."""
        return False

    def write(self, group: Sequence[Message], number: int) -> Any:
        """One message of the interface, the `number`-th of a list; a new object at every call."""
        (one,) = group
        role, calls = role_of(one), own_calls(one)
        written: dict[str, Any] = {"role": role, "content": one.text}
        if calls:
            written["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": _json_text(call)},
                }
                for call in calls
            ]
        return {**written, "tool_call_id": one.call_id} if role == "tool" else written

    def read(self, item: Any) -> list[Message]:
        """The messages in an item, as new objects. Raises TypeError, ValueError or KeyError."""
        given = _mapping(item)
        role = {"developer": "system", "function": "tool"}.get(
            given.get("role", ""), given.get("role")
        )
        if role not in ("system", "user", "assistant", "tool"):
            raise ValueError(
                f"its role is {given.get('role')!r}, expected system, developer, user, assistant, tool or function"
            )
        calls = tuple(
            ToolCall(
                id=call["id"],
                name=call["function"]["name"],
                arguments=decoded(call["function"].get("arguments")),
            )
            for call in given.get("tool_calls") or ()
        )
        return [_written(role, text_in(given.get("content")), calls, given.get("tool_call_id"))]

    def answer(self, answer: Any, given: Sequence[Any]) -> Any:
        """The list of messages in an answer: the list itself, or `{"messages": […]}`."""
        has_messages = isinstance(answer, Mapping) and "messages" in answer
        return answer["messages"] if has_messages else answer


def _written(
    role: str, text: str, calls: tuple[ToolCall, ...] = (), call_id: str | None = None
) -> Message:
    return Message(role=role, kind="made", text=text, tool_calls=calls, call_id=call_id)


def _mapping(item: Any) -> Mapping[str, Any]:
    """A message as a mapping. Raises TypeError for any other value."""
    given = item.model_dump() if hasattr(item, "model_dump") else item
    if not isinstance(given, Mapping):
        raise TypeError(f"expected a mapping with role and content, got {type(item).__name__}")
    return given


def _json_text(call: ToolCall) -> str:
    return "{}" if call.arguments is None else as_text(call.arguments)


class AnthropicMessages(OpenAIMessages):
    """User and assistant messages with `text`, `tool_use` and `tool_result` blocks.

    The system prompt is kept outside the list.

    Source: Anthropic API reference, "Messages" (content blocks, tool use)
    """

    beside = ("system",)

    def joins(self, last: Message, message: Message) -> bool:
        return role_of(last) == role_of(message) == "tool"

    def write(self, group: Sequence[Message], number: int) -> Any:
        """One message of the interface: results as blocks of one user message."""
        first = group[0]
        role, calls = role_of(first), own_calls(first)
        if role == "tool":
            blocks = [
                {"type": "tool_result", "tool_use_id": one.call_id, "content": one.text}
                for one in group
            ]
            return {"role": "user", "content": blocks}
        if not calls:
            return {"role": role, "content": first.text}
        text = [{"type": "text", "text": first.text}] if first.text else []
        used = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_mapping(call)}
            for call in calls
        ]
        return {"role": "assistant", "content": [*text, *used]}

    def read(self, item: Any) -> list[Message]:
        """The messages in an item: its results one by one, then its text and calls."""
        given = _mapping(item)
        role, content = given.get("role"), given.get("content")
        if role not in ("user", "assistant"):
            raise ValueError(
                f"its role is {role!r}, expected user or assistant: the system prompt stands beside the messages"
            )
        if content is None or isinstance(content, str):
            return [_written(role, content or "")]
        results, used, texts = (
            [block for block in content if block["type"] == kind]
            for kind in ("tool_result", "tool_use", "text")
        )
        messages = [
            _written("tool", text_in(one.get("content")), (), one["tool_use_id"]) for one in results
        ]
        if messages and not used and not texts:
            return messages
        calls = [ToolCall(id=c["id"], name=c["name"], arguments=c.get("input")) for c in used]
        return [*messages, _written(role, text_in(texts), tuple(calls))]


class LangChainMessages(OpenAIMessages):
    """LangChain's messages, by its own converters; each has an id that is unique within the call.

    An answer may be a list of messages, or the update of a LangGraph state: `{"messages": […]}`,
    with `RemoveMessage` in it or not, merged by id as `add_messages` does.

    Source: LangChain reference, `convert_to_messages`, `convert_to_openai_messages`; LangGraph
    reference, `langgraph.graph.message.add_messages`
    """

    def __init__(self, *beside: str) -> None:
        super().__init__()
        self.beside = beside
        try:
            self._library = importlib.import_module("langchain_core.messages")
        except ImportError as error:
            raise SpecError(
                "a function that asks for LangChain messages needs langchain-core — pip install langchain-core"
            ) from error

    def write(self, group: Sequence[Message], number: int) -> Any:
        """One message of LangChain, with an id."""
        (one,) = group
        calls = tuple(
            msgspec.structs.replace(call, arguments=arguments_mapping(call))
            for call in own_calls(one)
        )
        written = super().write([msgspec.structs.replace(one, tool_calls=calls)], number)
        (message,) = self._library.convert_to_messages([written])
        message.id = f"message-{number}"
        return message

    def read(self, item: Any) -> list[Message]:
        if not isinstance(item, self._library.BaseMessage):
            raise TypeError(f"expected a LangChain message, got {type(item).__name__}")
        return super().read(self._library.convert_to_openai_messages([item])[0])

    def answer(self, answer: Any, given: Sequence[Any]) -> Any:
        """The list of messages in an answer, after removals and replacements by id."""
        is_update = isinstance(answer, Mapping)
        items = answer.get("messages", ()) if is_update else answer
        if not isinstance(items, list | tuple):
            return items
        if not is_update and not any(_removes(item) for item in items):
            return items
        removals = [number for number, item in enumerate(items) if item.id == "__remove_all__"]
        start = removals[-1] + 1 if removals else 0
        merged = {} if removals else {item.id: item for item in given}
        for number, item in enumerate(items[start:]):
            if _removes(item):
                merged.pop(item.id, None)
            else:
                merged[item.id or f"new-{number}"] = item
        return list(merged.values())


def _removes(item: Any) -> bool:
    """True for a `RemoveMessage` of LangChain."""
    return getattr(item, "type", "") == "remove"
