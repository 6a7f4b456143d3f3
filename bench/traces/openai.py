"""Chat messages in OpenAI's form: a list, an object that holds one, or JSON Lines of messages or of whole conversations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..files.documents import Document, Node
from ..model import ModelTurn, ToolCall, ToolsChanged, Trace, UserTurn, text_of
from ..plugins.registry import register
from . import Confidence, source_of
from .reading.chat import ROLES, Conversation, content_of, tool_calls_of, unknown_role, usage_of
from .reading.commands import calls_in, is_observation, observation

_SAYS = {"content", "tool_calls", "function_call", "refusal"}
_MESSAGE = _SAYS | {"role", "name", "tool_call_id", "audio", "annotations", "reasoning_content", "reasoning", "usage",
                    "finish_reason", "model", "id"}  # fmt: skip
_CONVERSATION = {"messages", "tools", "functions", "tool_choice", "parallel_tool_calls", "model", "id", "metadata", "usage",
                 "temperature", "top_p", "max_tokens", "max_completion_tokens", "response_format", "seed"}  # fmt: skip


@register("reader", "openai")
class OpenAI:
    """Conversations as OpenAI's chat interface takes them, one trace each.

    A file is a list of messages, `{"messages": […]}` with `tools`, `model`, `id`, `metadata`, a list of those, or JSON Lines of either.
    Tool definitions become a step before the first message; indices count the steps so made. A tool message must answer a call
    made before it.

    Source: OpenAI API reference, "Create chat completion" (messages, tool_calls, legacy function_call); issue 1 "Readers"
    """

    def sniff(self, document: Document) -> Confidence:
        """CERTAIN where tools were called and nothing is foreign to the format, POSSIBLE for other lists of messages with roles."""
        found = _sample(document)
        if found is None or not found[1] or not all(_is_message(item) for item in found[1]):
            return Confidence.NO
        frame, messages = found
        called = any(item.get("tool_calls") or item.get("function_call") or item["role"] == "tool" for item in messages)
        foreign = not frame <= _CONVERSATION or not all(item.keys() <= _MESSAGE for item in messages)
        texts = (item.get("content") for item in messages if item["role"] == "user")
        in_text = any(isinstance(text, str) and is_observation(text) for text in texts)
        return Confidence.CERTAIN if called and not foreign and not in_text else Confidence.POSSIBLE

    def read(self, document: Document) -> Iterator[Trace]:
        """Each conversation of the file as a trace; its id is the conversation's own, or empty."""
        for frame, messages in _conversations(document):
            yield _trace(document, frame, messages)


def _sample(document: Document) -> tuple[set[str], list[Any]] | None:
    """The keys of the first conversation's object and its messages, as far as they can be read; None where there is none."""
    head = document.head
    if isinstance(head, list) and head and isinstance(head[0], dict) and "messages" in head[0]:
        head = head[0]
    if isinstance(head, list):
        return set(), head
    if not isinstance(head, dict):
        return None
    if isinstance(head.get("messages"), list):
        return set(head), head["messages"]
    return set(), [value for _, value in document.readable_lines()]


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and value.get("role") in ROLES and not _SAYS.isdisjoint(value)


def _conversations(document: Document) -> Iterator[tuple[Node | None, list[Node]]]:
    if document.is_json_lines:
        lines = list(document.line_nodes())
        if lines[0].has("messages"):
            yield from ((line, line["messages"].items()) for line in lines)
        else:
            yield None, lines
        return
    whole = document.node()
    if whole.has("messages"):
        yield whole, whole["messages"].items()
    elif whole.has("role"):
        yield None, [whole]
    elif isinstance(whole.value, list):
        items = whole.items()
        if items and items[0].has("messages"):
            yield from ((item, item["messages"].items()) for item in items)
        else:
            yield None, items
    else:
        raise whole.fail('expected a list of messages or {"messages": […]} — not a chat')


def _trace(document: Document, frame: Node | None, messages: list[Node]) -> Trace:
    if not messages:
        raise (frame or document.node()).fail("expected messages, got none — nothing was recorded")
    chat = Conversation()
    model, own_id, meta = None, "", {}
    if frame is not None:
        model, meta = frame["model"].text_or_none(), frame["metadata"].value
        own_id = "" if frame["id"].value is None else str(frame["id"].value)
        tools = frame["tools"].items() or frame["functions"].items()
        if tools:
            chat.add(ToolsChanged(index=0, tools=tuple(tool.value for tool in tools)))
    waiting: list[ToolCall] = []
    for position, message in enumerate(messages):
        answer = messages[position + 1] if position + 1 < len(messages) else None
        waiting = _add(chat, message, model, waiting, answer)
    return Trace(
        id=own_id,
        source=source_of(document, "openai"),
        steps=tuple(chat.steps),
        meta=meta if isinstance(meta, dict) else {},
    )


def _add(
    chat: Conversation, message: Node, model: str | None, waiting: list[ToolCall], answer: Node | None
) -> list[ToolCall]:
    """Add one message; gives the commands, written in text, that still wait for their output."""
    role = message["role"].text()
    if role in ("system", "developer"):
        chat.system(message)
    elif role == "user":
        content = content_of(message["content"])
        if waiting and is_observation(text_of(content)):
            chat.add(observation(chat.index, waiting[0], text_of(content)))
            return waiting[1:]
        chat.add(UserTurn(index=chat.index, content=content))
    elif role == "assistant":
        content = content_of(message["content"]) or message["refusal"].text_or_none() or ""
        calls = tool_calls_of(message, chat.index)
        if not calls and answer is not None and answer["role"].value == "user":
            # a command block is a call only if its output follows: a chat may merely show one
            reply = answer["content"].value
            calls = calls_in(text_of(content), chat.index) if isinstance(reply, str) and is_observation(reply) else ()
        turn = ModelTurn(
            index=chat.index,
            agent=message["name"].text_or_none() or "agent",
            content=content,
            tool_calls=calls,
            model=message["model"].text_or_none() or model,
            reasoning=message["reasoning_content"].text_or_none() or message["reasoning"].text_or_none(),
            finish_reason=message["finish_reason"].text_or_none(),
            usage=usage_of(message["usage"]),
        )
        chat.add(turn, calls)
        return [call for call in calls if call.in_text]
    elif role in ("tool", "function"):
        chat.add(chat.result(message))
    else:
        raise unknown_role(message)
    return []
