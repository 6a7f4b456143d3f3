"""Model calls as spans tell them: GenAI conventions (attributes, events and their older forms) and OpenInference."""

from __future__ import annotations

import json
from typing import Any

from ..model import Usage, as_text
from .blocks import sorted_blocks
from .chat import said_of_message
from .decoded import as_dict, dicts, strict_json
from .documents import Node
from .keyed import said_of_keyed
from .parts import Unread, usage_of
from .spans import TracedSpan
from .steps import Said

_ROLE_EVENTS = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_COUNTS = ("gen_ai.usage.", "llm.usage.", "llm.token_count.")


def prompt_of_span(span: TracedSpan, unread: Unread) -> list[Said]:
    """Return the messages that a model call was sent; `[]` where the span does not tell them."""
    _add_details(span)
    parts, told = _decoded(span, "gen_ai.system_instructions").items(), _decoded(span, "gen_ai.input.messages").items()
    if told or parts:
        system = [said for part in parts for said in sorted_blocks([part]).said("system")]
        return [*system, *(said for message in told for said in said_of_keyed(message, unread))]
    for key in ("llm.input_messages", "gen_ai.prompt"):
        listed = span.below(key)
        if isinstance(listed, list):
            return [_flat(span, f"{key}.{at}", message, unread) for at, message in enumerate(listed)]
    events = [_of_event(span, _ROLE_EVENTS[name], held, unread) for name, held in span.events if name in _ROLE_EVENTS]
    old = (held.get("gen_ai.prompt") for name, held in span.events if name == "gen_ai.content.prompt")
    listed = strict_json(next((text for text in old if isinstance(text, str)), ""))
    if events or not isinstance(listed, list):
        return events
    return [said_of_message(span.made("gen_ai.prompt", message), unread) for message in listed]


def answer_of_span(span: TracedSpan, unread: Unread) -> list[Said]:
    """Return what a model call answered; `[]` where the span does not tell it. Further answers are counted."""
    _add_details(span)
    told = _decoded(span, "gen_ai.output.messages").items()
    flat = next((key for key in ("llm.output_messages", "gen_ai.completion") if isinstance(span.below(key), list)), "")
    listed = span.below(flat) if flat else []
    choices = [_content(details) for name, details in span.events if name == "gen_ai.choice"]
    unread.add("further answer of one model call", max(len(told or listed or choices) - 1, 0))
    if told:
        return said_of_keyed(told[0], unread)[:1]
    if listed:
        return [_flat(span, f"{flat}.0", listed[0], unread)]
    alone = span.attributes.get("gen_ai.output")
    if isinstance(alone, str) and not choices:  # any-agent's: a text, or calls by the tool's name
        made = [item for item in dicts(strict_json(alone)) if "tool.name" in item]
        calls = [{"function": {"name": call["tool.name"], "arguments": call.get("tool.args")}} for call in made]
        message = {"role": "assistant", "content": None if made else alone, "tool_calls": calls}
        return [said_of_message(span.made("gen_ai.output", message), unread)]
    if not choices:
        return []
    message = choices[0].get("message", choices[0])
    message = strict_json(message) if isinstance(message, str) else message
    return [_of_event(span, "assistant", message if isinstance(message, dict) else choices[0], unread)]


def _add_details(span: TracedSpan) -> None:
    """Give the span the attributes that its event of the call's details holds."""
    for name, details in span.events:
        if name == "gen_ai.client.inference.operation.details":
            for key, value in details.items():
                if key.startswith("gen_ai."):
                    span.attributes.setdefault(key, value)


def _decoded(span: TracedSpan, key: str) -> Node:
    node = span.first(key)
    if not isinstance(node.value, str):
        return node
    value = strict_json(node.value)
    if value is None and key == "gen_ai.system_instructions" and node.value[:1] not in ("[", "{"):
        return span.made(key, [{"type": "text", "content": node.value}])
    if value is None:
        why = "the attribute was cut; raise the exporter's limit on attribute lengths and record it again"
        raise node.fail(f"expected JSON — {why}")
    return span.made(key, value)


def _flat(span: TracedSpan, key: str, message: Any, unread: Unread) -> Said:
    """A message spread over attributes: OpenInference's `message.…`, or role, content and tool calls side by side."""
    fields = as_dict(as_dict(message).get("message", message))
    calls = [held.get("tool_call", held) for held in dicts(fields.get("tool_calls"))]
    blocks = [_block(part.get("message_content", part)) for part in dicts(fields.get("contents"))]
    content = fields.get("content")
    listed = strict_json(content) if isinstance(content, str) and content.startswith("[{") else None
    typed = bool(dicts(listed)) and dicts(listed) == listed and all("type" in part for part in listed)
    told = {
        **{name: fields.get(name) for name in ("role", "tool_call_id", "name")},
        "content": blocks or (listed if typed else content),
        "tool_calls": [{"id": call.get("id"), "function": call.get("function") or _function(call)} for call in calls]
        or None,
        "reasoning": fields.get("reasoning_content") or fields.get("reasoning"),
    }
    return said_of_message(span.made(key, told), unread)


def _function(call: dict[str, Any]) -> dict[str, Any]:
    return {"name": call.get("name"), "arguments": call.get("arguments")}


def _block(part: Any) -> dict[str, Any]:
    if not isinstance(part, dict):
        return {"type": "text", "text": as_text(part)}
    url = as_dict(as_dict(part.get("image")).get("image")).get("url")
    return {"type": "image_url", "image_url": url} if url else part


def _content(details: dict[str, Any]) -> dict[str, Any]:
    """The content of an event: its attributes, or the JSON that older instrumentations put into one of them."""
    held = details.get("gen_ai.event.content")
    return as_dict(strict_json(held)) or details if isinstance(held, str) else details


def _of_event(span: TracedSpan, role: str, details: dict[str, Any], unread: Unread) -> Said:
    held = _content(details)
    calls, content = held.get("tool_calls"), held.get("content")
    told = {
        "role": held.get("role") or role,
        "content": content if isinstance(content, str | list | None) else json.dumps(content),
        "tool_calls": strict_json(calls) if isinstance(calls, str) else calls,
        "tool_call_id": held.get("id") or held.get("tool_call_id"),
    }
    return said_of_message(span.made(f"gen_ai.{role}.message", told), unread)


def usage_of_span(span: TracedSpan) -> Usage | None:
    """Return the usage that a span tells; None where it tells no prompt size."""
    counts = {key: value for key, value in span.attributes.items() if key.startswith(_COUNTS)}
    return usage_of(span.place.made(counts, ".attributes"))


def tools_of_span(span: TracedSpan) -> list[Any] | None:
    """Return the tools that a model call was offered; None where the span does not tell."""
    defined = span.attributes.get("gen_ai.tool.definitions")
    defined = strict_json(defined) if isinstance(defined, str) else defined
    if isinstance(defined, list):
        return defined
    listed = span.below("llm.tools") or span.below("llm.request.functions")
    if not isinstance(listed, list):
        return None
    schemas = [tool.get("tool", tool) for tool in dicts(listed)]
    texts = [as_dict(schema).get("json_schema") for schema in schemas]
    decoded = [strict_json(text) if isinstance(text, str) else None for text in texts]
    return [found or schema for found, schema in zip(decoded, schemas, strict=True)]
