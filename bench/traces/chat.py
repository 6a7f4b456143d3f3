"""The one parser of chat messages: what a message says, in OpenAI's form or in Anthropic's blocks.

A reader hands each recorded message over and says what comes back: `for said in said_of(message, steps.unread): steps.say(said)`. What is not
understood is counted in `unread`, never dropped. A member of the wrong type is a TraceError with its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..model import Content, TextPart, ToolCall
from .blocks import BLOCK, Blocks, of_anthropic
from .decoded import as_dict, dicts
from .documents import Node
from .parts import (  # fmt: skip
    ROLES,
    Role,
    Unread,
    arguments_of,
    content_of,
    part_of,
    reasoning_of,
    role_of,
    simple,
    simple_content,
    usage_of,
)
from .steps import Said

MESSAGE = {"role", "content", "tool_calls", "tool_call_id", "name", "function_call", "refusal", "annotations", "index", "reasoning_content",
           "reasoning", "thinking_blocks", "cache_control", "provider_specific_fields", "reasoning_item", "id", "tool_plan", "thinking"}  # fmt: skip
"""The keys of a message in OpenAI's form."""
_ANTHROPIC = {"role", "content", "id", "type", "model", "stop_reason", "stop_sequence", "stop_details", "usage", "container",
              "context_management"}  # fmt: skip
_ANTHROPIC_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}


@dataclass(frozen=True)
class Form:
    """The differences between a format and OpenAI's plain messages. `known` are the keys that are not counted as left out (None: nothing is counted).

    `keep_parts`: a content of one text part stays a part. `answers`: a message carries the `usage`, `model` and `finish_reason` of its answer.
    """

    known: Collection[str] | None = frozenset(MESSAGE)
    roles: Mapping[str, Role] = field(default_factory=lambda: ROLES)
    keep_parts: bool = False
    answers: bool = False


PLAIN = Form()


def said_of_message(message: Node, unread: Unread, form: Form = PLAIN, index: int | None = None) -> Said:
    """A message in OpenAI's form as what it says. Calls without an id have an empty one, or one made of `index`.

    TraceError for a role that is none, or a member of the wrong type.
    """
    role = role_of(message, form.roles)
    if form.known is not None:
        unread.keys(message, form.known, "a message")
    content = (content_of if form.keep_parts else simple_content)(message["content"])
    content = content or message["refusal"].text_or_none() or ""
    call_id, name = message["tool_call_id"].text_or_none() or "", message["name"].text_or_none() or ""
    if role != "assistant":
        return Said(role, content, call_id=call_id, name=name)
    calls, reasoning = calls_of(message, index), reasoning_of(message, unread)
    if not form.answers:
        return Said(role, content, calls, reasoning, call_id, name)
    model, ended = message["model"].text_or_none(), message["finish_reason"].text_or_none()
    usage = usage_of(message["usage"])
    return Said(role, content, calls, reasoning, call_id, name, model=model, finish_reason=ended, usage=usage)


def calls_of(message: Node, index: int | None = None) -> tuple[ToolCall, ...]:
    """The tool calls of a message in OpenAI's form, custom ones and the legacy `function_call` too. A call without an id has an empty one, or one
    made of `index`."""
    calls = []
    for at, call in enumerate(message["tool_calls"].items()):
        made = "" if index is None else f"call{index}.{at}"
        named = call["custom"] if call.has("custom") else call if call.has("name") else call["function"]
        arguments = arguments_of(named["input"] if call.has("custom") else named["arguments"])
        calls.append(ToolCall(id=call["id"].text_or_none() or made, name=named["name"].text(), arguments=arguments))
    legacy = message["function_call"]
    if legacy.value is not None:
        made = "" if index is None else f"function{index}"
        calls.append(ToolCall(id=made, name=legacy["name"].text(), arguments=arguments_of(legacy["arguments"])))
    return tuple(calls)


# ---------------------------------------------------------------- Anthropic's form


def blocks_of(message: Any) -> list[dict[str, Any]]:
    """The blocks of a message as far as there are any, for sniffing; `[]` for anything else."""
    return dicts(as_dict(message).get("content"))


def is_anthropic(messages: Iterable[Any]) -> bool:
    """True if some message has a block that only Anthropic's messages have."""
    return any(map(of_anthropic, messages))


def said_of(message: Node, unread: Unread) -> list[Said]:
    """A message in OpenAI's or Anthropic's form, told apart by its blocks, as what it says."""
    return said_of_anthropic(message, unread) if of_anthropic(message.value) else [said_of_message(message, unread)]


def said_of_anthropic(message: Node, unread: Unread) -> list[Said]:
    """A message in Anthropic's form as what it says: a user's tool results one by one, then the rest of the message; an assistant's turn, then the
    results of tools that the server ran in it. TraceError for a role that is none."""
    unread.keys(message, _ANTHROPIC, "a message")
    role, content = role_of(message, _ANTHROPIC_ROLES), message["content"]
    if role == "system":
        return [Said("system", system_of(content, unread))]
    if not isinstance(content.value, list):
        return [Said(role, content.text_or_none() or "")]
    found = Blocks()
    for block in content.items():
        found.add_anthropic(block, role == "assistant", unread)
    if role == "assistant":
        return [Said("assistant", found.content, tuple(found.calls), found.reasoning), *found.results]
    return [*found.results, Said("user", found.content)] if found.parts or not found.results else found.results


def joined(told: list[Said]) -> list[Said]:
    """Join the lines of one answer to one turn, and the results that came within it."""
    found = Blocks()
    for said in told:
        if said.role != "assistant":
            found.results.append(said)
            continue
        parts = (TextPart(text=said.content),) if isinstance(said.content, str) else said.content
        found.parts += [part for part in parts if part != TextPart(text="")]
        found.calls += said.calls
        found.thoughts.append(said.reasoning or "")
    return found.answer()


def system_of(node: Node, unread: Unread) -> Content:
    """The system prompt of a request: its text, or its blocks; `""` where there is none."""
    if not isinstance(node.value, list):
        return node.text_or_none() or ""
    for block in node.items():
        unread.keys(block, BLOCK, "a system block")
    return simple(tuple(part_of(block) for block in node.items()))


def tools_of(node: Node) -> list[Any]:
    """The tool definitions of a request; `[]` where there are none."""
    return [tool.object() for tool in node.items()]
