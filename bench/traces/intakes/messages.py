"""The intake of messages: a list of messages in any format becomes the messages of a run.

One parser for OpenAI's chat and Responses interfaces, Anthropic's, Gemini's, Converse's,
LangChain's messages (dumped in any way), the GenAI conventions and Vercel's AI SDK: a message has a
role, content sorted by `Blocks`, and perhaps calls beside it; an item of the Responses interface is
a block of an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...model import ToolCall, as_text
from ...text.decode import NothingParsed, parse_prefix
from ..steps import ReadMessage, Role, ToolRun
from ..values import Fields, Unread, as_dict, as_list, dicts, first_of, text, time_of, without_empty
from .content import ITEM_RESULTS, NAMES, Blocks, blocks_of, call_in, result_of
from .usage import usage_in

ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "human": "user", "chat": "user",
                          "assistant": "assistant", "ai": "assistant", "model": "assistant", "tool": "tool",
                          "function": "tool", "generic": "user"}  # fmt: skip
"""Our role for each role of a message, and for each of LangChain's types of messages."""
_ENDINGS = ("MessageChunk", "Message", "message")
_BESIDE_CALLS = ("tool_calls", "invalid_tool_calls", "toolCalls")
_KNOWN = {"role", "content", "parts", "name", "id", "type", "tool_call_id", "function_call", "refusal", "index",
          "reasoning_content", "reasoning", "thinking", "thinking_blocks", "annotations", "cache_control", "phase",
          "provider_specific_fields", "reasoning_item", "usage", "finish_reason", "stop_reason", "stop_sequence",
          "stop_details", "model", "container", "context_management", "additional_kwargs", "response_metadata",
          "usage_metadata", "artifact", "status", "example", "tool_call_chunks", "chunk_position", "audio",
          "toolCallId", "providerOptions", "experimental_providerMetadata", "createdAt", "error", "metadata",
          "reasoning_details", "object", "created", "internal_chat_message_metadata_passthrough", "author",
          "recipient", "tool_plan", "timestamp", "requestor", "turn_idx", "cost", "raw_data", "isError", "source", "function", "internal",
          *NAMES, *_BESIDE_CALLS}  # fmt: skip
_CALL = {"id", "type", "index", "function", "custom", "name", "args", "arguments", "input", "parameters", "toolCallId",
         "toolName", "error", "view", "internal", "parse_error", "extra_content", "requestor", "caller",
         "provider_specific_fields", "thought_signature", "namespace", "kwargs", "tool_call_id", "extra",
         *NAMES}  # fmt: skip
_REASONING = ("reasoning_content", "reasoning", "tool_plan", "thinking")
_CONTENTS = {"content", "parts", "text", "message", "refusal", "function_call", *_BESIDE_CALLS,
             *_REASONING}  # fmt: skip
_PRINTED = re.compile(r"""('(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")|\b(\w+)=""", re.DOTALL)
"""The texts in a printed model of pydantic, and the names of its fields."""
_ITEM_PARTS = {"input_text", "output_text", "input_image"}
"""Types of the parts that only messages of the Responses interface have."""


def is_langchain(value: Any) -> bool:
    """True for a message as LangChain dumps it, as `{type, data}`, or flat with its type."""
    fields, kind = as_dict(value), as_dict(value).get("type")
    if "lc" in fields and as_list(fields.get("id")):
        return str(fields["id"][-1]).endswith(_ENDINGS) and isinstance(fields.get("kwargs"), dict)
    is_known = isinstance(kind, str) and (kind in ROLES or kind.endswith("MessageChunk"))
    has_content = "content" in fields or isinstance(fields.get("data"), dict)
    return is_known and has_content and "event" not in fields


def is_item(value: Any) -> bool:
    """True for an item that only the Responses interface has."""
    fields = as_dict(value)
    kind = fields.get("type")
    if kind in ("message", None):
        parts = {str(part.get("type")) for part in dicts(fields.get("content"))}
        is_typed = kind == "message" and "role" in fields and "usage" not in fields
        return is_typed or not parts.isdisjoint(_ITEM_PARTS)
    if kind == "reasoning":
        return "text" not in fields
    return kind == "agent_message" or str(kind).endswith(("_call", *ITEM_RESULTS))


def is_message(value: Any) -> bool:
    """True for a message in any format: with a known role (or none, in Gemini's) and contents, of
    LangChain, or an item of the Responses interface."""
    fields = as_dict(value)
    role = fields.get("role", "user" if "parts" in fields else None)
    has_known_role = isinstance(role, str) and role in ROLES
    has_contents = not _CONTENTS.isdisjoint(fields)
    return (has_known_role and has_contents) or is_langchain(value) or is_item(value)


def messages(values: Iterable[Any], unread: Unread) -> list[ReadMessage]:
    """The messages in a list that may mix several formats. A bare text is a user message,
    unless it is a printed one. Values that are not messages, or have an unknown role, are counted.

    >>> values = [{"role": "user", "content": "go"}, {"type": "function_call", "name": "f"}]
    >>> [message.role for message in messages(values, Unread())]
    ['user', 'assistant']
    """
    read: list[ReadMessage] = []
    answer = Blocks()
    for value in values:
        if isinstance(value, str):
            value = _printed(value) or {"role": "user", "content": value}
        if not isinstance(value, dict):
            unread.add("message that is no object")
        elif is_item(value) and is_answers(value):
            answer.add({"type": "message", **value}, unread)
        else:
            read += _answer_of(answer)
            answer = Blocks()
            read += (_other_item if is_item(value) else message)(value, unread)
    return read + _answer_of(answer)


def answer_in_items(items: Iterable[Any], unread: Unread) -> list[ReadMessage]:
    """The answer that the items of one response make up, then the results of tools that the server
    ran. Values that are no items are counted."""
    answer = Blocks()
    for item in items:
        if is_item(item):
            answer.add({"type": "message", **item}, unread)
        else:
            unread.kind("item", as_dict(item).get("type"))
    return _answer_of(answer)


def _printed(text: str) -> Fields:
    """The fields of a message that was logged as pydantic prints it; `{}` for any other text.

    >>> _printed("role='tool' content='36\\\\nwalls' name=None tool_call_id='c' metrics=Metrics(a=1)")
    {'role': 'tool', 'content': '36\\nwalls', 'tool_call_id': 'c'}
    """
    if not text.startswith("role='"):
        return {}
    members = _PRINTED.sub(lambda match: match[1] or f',"{match[2]}":', text)
    try:
        fields, _ = parse_prefix("{" + members[1:])  # up to the first that is no plain data
    except NothingParsed:
        return {}
    return without_empty(fields, ("role", "content", "name", "tool_call_id", "tool_calls"))


def _answer_of(blocks: Blocks) -> list[ReadMessage]:
    has_answer = blocks.has_content or blocks.calls or blocks.thoughts
    return [blocks.answer(), *blocks.results] if has_answer else blocks.results


def is_answers(item: Fields) -> bool:
    """True for an item that is part of a model's answer: its own, or the result of a tool that the
    server ran."""
    kind = item.get("type")
    if kind in ("message", None):
        return item.get("role") in (None, "assistant")
    served = item.get("execution") == "server"
    return kind == "reasoning" or str(kind).endswith("_call") or served


def _other_item(item: Fields, unread: Unread) -> list[ReadMessage]:
    kind = item.get("type")
    if kind == "agent_message":
        return [blocks_of(item.get("content"), unread).message("user")]
    return message(item, unread) if kind in ("message", None) else blocks_of(item, unread).results


def unwrapped(value: Fields) -> tuple[str, Fields]:
    """The role or type of a message, as written, and its fields without LangChain's wrapping."""
    kind, data = value.get("type"), as_dict(value.get("data"))
    if "lc" in value and as_list(value.get("id")):
        kind, value = str(value["id"][-1]), as_dict(value.get("kwargs"))
    elif "content" in data and "role" not in value:
        value = data
    elif "role" in value and "content" not in value:  # as Cursor keeps them
        value = {**as_dict(value.get("message")), **value, "message": None}
    role, kind = value.get("role"), kind if isinstance(kind, str) else ""
    if isinstance(role, str) and role and (kind in ("", "message") or role.lower() in ROLES):
        return role, value
    for ending in _ENDINGS:
        kind = kind.removesuffix(ending)
    return kind.lower() or ("" if role is None else as_text(role)), value


def message(value: Fields, unread: Unread, default: Role | None = None) -> list[ReadMessage]:
    """The messages in one value: first each tool result, then the rest. `default` is the role of a
    value that names none."""
    named, fields = unwrapped(value)
    unnamed: Role | None = "user" if "parts" in fields else None
    role = ROLES.get(named.lower()) if named else default or unnamed
    if role is None:
        unread.kind("message", named)
        return []
    unread.extra_keys(fields, _KNOWN, "a message")
    blocks = blocks_of(first_of(fields, ("content", "parts")), unread)
    if not blocks.has_content:
        blocks.add_all(text(fields.get("refusal")), unread)
    if role == "assistant":
        return [_answer(fields, blocks, unread), *blocks.results]
    if blocks.results and not blocks.has_content:
        return blocks.results
    rest = blocks.message(role)
    if role == "tool":  # LangChain has the whole result beside what the model sees
        artifact = fields.get("artifact")
        ran = None if artifact is None else ToolRun(output=artifact)
        rest = replace(result_of(fields, unread, blocks), ran=ran)
    return [*blocks.results, replace(rest, time=time_of(fields.get("timestamp"), unread))]


def _answer(fields: Fields, blocks: Blocks, unread: Unread) -> ReadMessage:
    """A model's answer. LangChain has more fields, in `additional_kwargs`, `response_metadata`."""
    extra, meta = as_dict(fields.get("additional_kwargs")), as_dict(fields.get("response_metadata"))
    reasoning = first_of({key: text(fields.get(key)) for key in _REASONING}, _REASONING)
    thinking = [text(block.get("thinking")) for block in dicts(fields.get("thinking_blocks"))]
    unread.add("reasoning whose text is not recorded", 0 if reasoning else thinking.count(None))
    more = [extra.get("reasoning_content")]
    more += [part.get("text") for part in dicts(as_dict(extra.get("reasoning")).get("summary"))]
    blocks.thoughts += filter(None, [*([reasoning] if reasoning else thinking), *map(text, more)])
    reported = first_of(fields, ("usage_metadata", "usage"))
    blocks.calls = calls_beside(fields, unread) or calls_beside(extra, unread) or blocks.calls
    return blocks.answer(
        model=text(fields.get("model") or first_of(meta, ("model_name", "model", "model_id"))),
        usage=usage_in(reported or first_of(meta, ("token_usage", "usage")), unread),
        time=time_of(fields.get("timestamp"), unread),
    )


def calls_beside(fields: Fields, unread: Unread) -> list[ToolCall]:
    """The calls beside a message's content, also custom ones and the old `function_call`."""
    listed = [call for key in _BESIDE_CALLS for call in as_list(fields.get(key))]
    calls = [*dicts(listed), *dicts([fields.get("function_call")])]
    unread.add("tool call that is no object", sum(not isinstance(call, dict) for call in listed))
    for call in calls:
        unread.extra_keys(call, _CALL, "a tool call")
    return [call_in(call, unread) for call in calls]
