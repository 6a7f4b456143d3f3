"""The intake of messages: whatever form a list of messages is written in, the messages of a run.

One parser for OpenAI's chat and Responses interfaces, Anthropic's, Gemini's, Converse's,
LangChain's messages (dumped in any way), the GenAI conventions and Vercel's AI SDK: a message has a
role, content sorted by `Blocks`, and perhaps calls beside it; an item of the Responses interface is
a block of an answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..model import Content, ToolCall, as_text, text_of
from .content import Blocks, call_in, first_of
from .decoded import as_dict, dicts, strict_json
from .parts import Role, Unread
from .records import text
from .steps import Ran, ReadMessage
from .usage import usage_in

ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "human": "user", "chat": "user",
                          "assistant": "assistant", "ai": "assistant", "model": "assistant", "tool": "tool",
                          "function": "tool", "generic": "user"}  # fmt: skip
"""The roles of messages, and LangChain's types of them, by ours."""
_ENDINGS = ("MessageChunk", "Message", "message")
_BESIDE_CALLS = ("tool_calls", "invalid_tool_calls", "toolCalls")
_KNOWN = {"role", "content", "parts", "name", "id", "type", "tool_call_id", "function_call", "refusal", "index",
          "reasoning_content", "reasoning", "thinking", "thinking_blocks", "annotations", "cache_control", "phase",
          "provider_specific_fields", "reasoning_item", "usage", "finish_reason", "stop_reason", "stop_sequence",
          "stop_details", "model", "container", "context_management", "additional_kwargs", "response_metadata",
          "usage_metadata", "artifact", "status", "example", "tool_call_chunks", "chunk_position", "audio",
          "toolCallId", "providerOptions", "experimental_providerMetadata", "createdAt", "error", "metadata",
          "reasoning_details", "object", "created", "internal_chat_message_metadata_passthrough", "author",
          "recipient", "tool_plan", *_BESIDE_CALLS}  # fmt: skip
_CALL = {"id", "type", "index", "function", "custom", "name", "args", "arguments", "input", "parameters", "toolCallId",
         "toolName", "error", "view", "internal", "parse_error", "extra_content", "requestor", "caller",
         "provider_specific_fields", "thought_signature", "namespace", "kwargs"}  # fmt: skip
_REASONING = ("reasoning_content", "reasoning", "tool_plan", "thinking")
_FINISHED = ("finish_reason", "stop_reason")


_CONTENTS = {
    "content",
    "parts",
    "text",
    "message",
    "refusal",
    "function_call",
    *_BESIDE_CALLS,
    *_REASONING,
}


def is_langchain(value: Any) -> bool:
    """True for a message of LangChain's: in its own serialization, as `{type, data}`, or flat with
    type and content."""
    if not isinstance(value, dict):
        return False
    if "lc" in value and isinstance(value.get("id"), list):
        ending = str(value["id"][-1]) if value["id"] else ""
        return ending.endswith(_ENDINGS) and isinstance(value.get("kwargs"), dict)
    kind = value.get("type")
    known = isinstance(kind, str) and (kind in ROLES or kind.endswith("MessageChunk"))
    return (
        known
        and ("content" in value or isinstance(value.get("data"), dict))
        and "event" not in value
    )


def is_item(value: Any) -> bool:
    """True for an item that only the Responses interface has."""
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "message" or (kind is None and isinstance(value, dict)):
        parts = {str(part.get("type")) for part in dicts(value.get("content"))}
        own = not parts.isdisjoint({"input_text", "output_text", "input_image"})
        return own or ("role" in value and kind == "message" and "usage" not in value)
    if not isinstance(kind, str):
        return False
    return (
        kind.endswith(("_call", "_call_output"))
        or kind == "agent_message"
        or (kind == "reasoning" and "text" not in value)
    )


def is_message(value: Any) -> bool:
    """True for a message in any form: a known role with contents beside it, a message of
    LangChain's, or an item."""
    if not isinstance(value, dict):
        return False
    known = (
        isinstance(value.get("role"), str)
        and value["role"] in ROLES
        and not _CONTENTS.isdisjoint(value)
    )
    return known or is_langchain(value) or is_item(value)


def messages(values: Iterable[Any], unread: Unread) -> list[ReadMessage]:
    """A list of messages, in any mixture of forms, as messages of ours. A bare text is the user's.
    What is no message, or of a role that is none, is counted.

    >>> values = [{"role": "user", "content": "go"}, {"type": "function_call", "name": "f"}]
    >>> [message.role for message in messages(values, Unread())]
    ['user', 'assistant']
    """
    read: list[ReadMessage] = []
    answer = Blocks()
    for value in values:
        if isinstance(value, str):
            value = {"role": "user", "content": value}
        if not isinstance(value, dict):
            unread.add("message that is no object")
        elif is_item(value) and is_answers(value):
            _add_item(answer, value, unread)
        else:
            read += [
                *_answer_of(answer),
                *(_other_item if is_item(value) else message)(value, unread),
            ]
            answer = Blocks()
    return read + _answer_of(answer)


def answer_of_items(items: Any, unread: Unread) -> list[ReadMessage]:
    """The `output` of a response of the Responses interface as its turn, then results of tools that
    the server ran."""
    unread.add("output that is no list of items", not isinstance(items, list | None))
    return messages(items if isinstance(items, list) else (), unread)


def _answer_of(blocks: Blocks) -> list[ReadMessage]:
    """The turn that blocks make up, if any, and the results among them."""
    if not (blocks.parts or blocks.calls or blocks.thoughts):
        return blocks.results
    return [
        ReadMessage("assistant", blocks.content, tuple(blocks.calls), blocks.reasoning),
        *blocks.results,
    ]


def is_answers(item: dict[str, Any]) -> bool:
    """True for an item of which an answer is made."""
    kind = item.get("type", "message")
    if kind in ("message", None):
        return item.get("role") in (None, "assistant")
    return kind == "reasoning" or str(kind).endswith("_call")


def _add_item(answer: Blocks, item: dict[str, Any], unread: Unread) -> None:
    if item.get("type") in ("message", None):
        unread.extra_keys(item, _KNOWN, "an item")
        answer.add_all(item.get("content"), unread)
    else:
        answer.add(item, unread)


def _other_item(item: dict[str, Any], unread: Unread) -> list[ReadMessage]:
    """The messages that an item stands for which is not of an answer."""
    kind = item.get("type")
    if kind in ("message", None):
        return message(item, unread)
    if kind == "agent_message":
        content = Blocks().add_all(item.get("content"), unread).content
        return [ReadMessage("user", content, name=text(item.get("author")) or "")]
    if str(kind).endswith(("_output", "_result")):
        return Blocks().add_all([item], unread).results
    unread.kind("item", kind)
    return []


def unwrapped(value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The role or type of a message, as it is written, and its fields, whatever LangChain wrapped
    them in."""
    kind = value.get("type")
    if "lc" in value and isinstance(value.get("id"), list) and value["id"]:
        kind, value = str(value["id"][-1]), as_dict(value.get("kwargs"))
    elif isinstance(value.get("data"), dict) and "content" in value["data"] and "role" not in value:
        value = value["data"]
    inner = value.get("message")
    # As Cursor keeps them.
    if "role" in value and isinstance(inner, dict) and "content" not in value:
        value = {**inner, **{key: member for key, member in value.items() if key != "message"}}
    role = value.get("role")
    if (
        isinstance(role, str)
        and role
        and (not isinstance(kind, str) or kind == "message" or role.lower() in ROLES)
    ):
        return role, value
    named = kind if isinstance(kind, str) else ""
    for ending in _ENDINGS:
        named = named.removesuffix(ending)
    return named.lower() or ("" if role is None else as_text(role)), value


def message(
    value: dict[str, Any], unread: Unread, default: Role | None = None
) -> list[ReadMessage]:
    """One message: results of tools one by one, then the rest. `default` is the role of a message
    that names none."""
    named, fields = unwrapped(value)
    role = ROLES.get(named) or ROLES.get(named.lower()) or (default if not named else None)
    if role is None and not named and "parts" in fields:
        role = "user"
    if role is None:
        unread.kind("message", named)
        return []
    unread.extra_keys(fields, _KNOWN, "a message")
    blocks = Blocks().add_all(first_of(fields, ("content", "parts")), unread)
    if not blocks.parts and text(fields.get("refusal")):
        blocks.add_all(fields["refusal"], unread)
    name = text(fields.get("name")) or ""
    if role == "assistant":
        return [_answer(fields, blocks, name, unread), *blocks.results]
    if blocks.results and not blocks.parts:
        return blocks.results
    rest = (
        _tool_message(fields, blocks.content, name)
        if role == "tool"
        else ReadMessage(role, blocks.content, name=name)
    )
    return [*blocks.results, rest]


def _tool_message(fields: dict[str, Any], seen: Content, name: str) -> ReadMessage:
    artifact, failed = fields.get("artifact"), fields.get("status") == "error"
    call_id = as_text(first_of(fields, ("tool_call_id", "toolCallId")) or "")
    error = (text_of(seen) or None) if failed else None
    ran = None if artifact is None else Ran(output=artifact)
    return ReadMessage(
        "tool", seen, call_id=call_id, name=name, failed=failed, error=error, ran=ran
    )


def _answer(fields: dict[str, Any], blocks: Blocks, name: str, unread: Unread) -> ReadMessage:
    """An answer out of its fields and blocks, with reasoning, calls, model and usage."""
    extra, meta = as_dict(fields.get("additional_kwargs")), as_dict(fields.get("response_metadata"))
    own = next((one for key in _REASONING if (one := text(fields.get(key)))), None)
    signed = [
        text(as_dict(block).get("thinking")) or "" for block in dicts(fields.get("thinking_blocks"))
    ]
    unread.add(
        "reasoning whose text is not recorded", sum(not one for one in signed) if not own else 0
    )
    beside = [text(extra.get("reasoning_content"))]
    beside += [
        text(part.get("text")) for part in dicts(as_dict(extra.get("reasoning")).get("summary"))
    ]
    thoughts = [*blocks.thoughts, *([own] if own else signed), *beside]
    reported = first_of(fields, ("usage_metadata", "usage")) or first_of(
        meta, ("token_usage", "usage")
    )
    return ReadMessage(
        "assistant",
        blocks.content,
        calls_beside(fields, unread) or calls_beside(extra, unread) or tuple(blocks.calls),
        "\n".join(filter(None, thoughts)) or None,
        name=name,
        model=text(fields.get("model"))
        or text(first_of(meta, ("model_name", "model", "model_id"))),
        finish_reason=text(first_of(fields, _FINISHED))
        or text(first_of(meta, (*_FINISHED, "done_reason"))),
        usage=usage_in(reported, unread),
    )


def calls_beside(fields: dict[str, Any], unread: Unread) -> tuple[ToolCall, ...]:
    """The calls that a message has beside its content: tool calls, custom ones, and the legacy
    `function_call`."""
    listed: list[Any] = []
    for key in _BESIDE_CALLS:
        value = fields.get(key)
        value = strict_json(value) if isinstance(value, str) else value
        listed += value if isinstance(value, list) else []
    calls = dicts(listed)
    unread.add("tool call that is no object", len(listed) - len(calls))
    if isinstance(fields.get("function_call"), dict):
        calls.append(fields["function_call"])
    for call in calls:
        unread.extra_keys(call, _CALL, "a tool call")
    return tuple(call_in(call, unread) for call in calls)


def without_ids(read: ReadMessage) -> ReadMessage:
    """A message without the ids of calls: Gemini gives none with its answers, and some clients make
    them up for its prompts. Calls are then matched by name and order."""
    calls = tuple(ToolCall(id="", name=call.name, arguments=call.arguments) for call in read.calls)
    return replace(read, call_id="", calls=calls)
