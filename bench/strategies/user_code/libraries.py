"""The interfaces of messages that a user's function may ask for beside OpenAI's: LangChain's and
Anthropic's."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import msgspec

from ...model import Message, ToolCall
from ...model.errors import SpecError
from ..histories import system_count
from .messages import OpenAIMessages, messages_in, openai_message, own_calls, role_of


def _mapping_of(call: ToolCall) -> dict[str, Any]:
    """A call's arguments as a mapping, which both interfaces ask for."""
    if isinstance(call.arguments, dict):
        return call.arguments
    return {} if call.arguments is None else {"arguments": call.arguments}


class LangChainMessages(OpenAIMessages):
    """Messages of LangChain, by its own converters.

    Source: LangChain reference, `convert_to_messages`, `convert_to_openai_messages`
    """

    def __init__(self) -> None:
        super().__init__()
        try:
            library = importlib.import_module("langchain_core.messages")
        except ImportError:
            what = "a function that asks for LangChain's messages needs langchain-core"
            raise SpecError(f"{what} — pip install langchain-core") from None
        self._to_langchain = library.convert_to_messages
        self._to_openai = library.convert_to_openai_messages
        self._to_langchain([])  # imports more, here and not in the fork of each replay

    def write(self, message: Message) -> Any:
        calls = (
            msgspec.structs.replace(call, arguments=_mapping_of(call))
            for call in message.tool_calls
        )
        chat = openai_message(msgspec.structs.replace(message, tool_calls=tuple(calls)))
        (item,) = self._to_langchain([chat])
        return item

    def read(self, item: Any) -> list[Message]:
        return messages_in(self._to_openai(item) if hasattr(item, "model_dump") else item)


class AnthropicMessages(OpenAIMessages):
    """User and assistant messages with `text`, `tool_use` and `tool_result` blocks, each result in
    its own message. The system prompt is not in Anthropic's list, so it stays as it is.

    Source: Anthropic API reference, "Messages" (content blocks, tool use)

    >>> call = ToolCall(id="a", name="ls", arguments={})
    >>> chat = AnthropicMessages()
    >>> chat.write(Message(role="assistant", text="", kind="model", tool_calls=(call,)))
    {'role': 'assistant', 'content': [{'type': 'tool_use', 'id': 'a', 'name': 'ls', 'input': {}}]}
    """

    def show(self, history: Sequence[Message]) -> list[Any]:
        first = system_count(history)
        self._system = history[:first]
        return super().show(history[first:])

    def back(self, answer: Any) -> list[Message]:
        return [*self._system, *super().back(answer)]

    def write(self, message: Message) -> Any:
        role, calls = role_of(message), own_calls(message)
        if role == "tool":
            result = {"type": "tool_result", "tool_use_id": message.call_id}
            return {"role": "user", "content": [{**result, "content": message.text}]}
        if not calls:
            return {"role": "user" if role == "system" else role, "content": message.text}
        text = [{"type": "text", "text": message.text}] if message.text else []
        blocks = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": _mapping_of(call)}
            for call in calls
        ]
        return {"role": role, "content": [*text, *blocks]}


INTERFACES: dict[str, type[OpenAIMessages]] = {
    "openai": OpenAIMessages,
    "langchain": LangChainMessages,
    "anthropic": AnthropicMessages,
}
"""The converters of messages by the name of their form."""
