"""Messages in the interfaces that a user's function may ask for: OpenAI's, Anthropic's,
LangChain's."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ...model import Message, ToolCall, as_text
from ...model.errors import SpecError
from ...traces.intakes.messages import message
from ...traces.values import Unread


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


def messages_in(item: Any) -> list[Message]:
    """The messages in an item of any interface: results one by one, then the rest.

    Raises TypeError or ValueError for an item that is no message.

    >>> [(one.role, one.text) for one in messages_in({"role": "user", "content": [{"text": "Go."}]})]
    [('user', 'Go.')]
    """
    given = item.model_dump() if hasattr(item, "model_dump") else item
    if not isinstance(given, Mapping):
        raise TypeError(f"expected a message with role and content, got {type(item).__name__}")
    content = given.get("content")
    if content is not None and not isinstance(content, str | list):
        kind = type(content).__name__
        raise TypeError(f"its content is {kind}, expected text or a list of parts")
    read = message(dict(given), Unread())
    if not read:
        known = "system, developer, user, assistant, tool or function"
        raise ValueError(f"its role is {given.get('role')!r}, expected {known}")
    if not all(call.id for one in read for call in one.calls):
        raise ValueError("it has a call without an id")
    return [
        Message(
            role=one.role,
            kind="made",
            text=one.content,
            tool_calls=one.calls,
            call_id=one.call_id or None,
        )
        for one in read
    ]


# ---------------------------------------------------------------- interfaces


class OpenAIMessages:
    """Mappings of `role` and `content` (text, `""` for none), with `tool_calls` or `tool_call_id`.

    `beside` are the roles that an interface keeps outside the list of messages.

    An object of this class writes and reads the histories of one function. What is written and read is
    kept, since doing so at every prompt would take quadratic time.

    Source: OpenAI API reference, "Create chat completion" (messages, tool_calls)
    """

    beside: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._known: dict[tuple[Message, ...], tuple[int, Any, Any]] = {}
        self._read: dict[str, list[Message]] = {}

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
        """The messages in an item, as new objects. Raises TypeError or ValueError."""
        text = repr(item)
        if text not in self._read:
            self._read[text] = messages_in(item)
        return [msgspec.structs.replace(one) for one in self._read[text]]

    def answer(self, answer: Any, given: Sequence[Any]) -> Any:
        """The list of messages in an answer: the list itself, or `{"messages": […]}`."""
        has_messages = isinstance(answer, Mapping) and "messages" in answer
        return answer["messages"] if has_messages else answer


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
