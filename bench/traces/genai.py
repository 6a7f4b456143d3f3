"""The messages of model calls in spans: GenAI conventions (attributes, events and their older forms), OpenInference,
OpenLLMetry, and Vercel's AI SDK."""

from __future__ import annotations

from typing import Any

from ..model import as_text
from .content import Blocks
from .decoded import as_dict, dicts, strict_json
from .messages import message, messages
from .parts import Unread
from .records import text
from .spans import OtelSpan
from .steps import ReadMessage

_ROLE_EVENTS = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}
_DETAILS = "gen_ai.client.inference.operation.details"


def prompt_in(span: OtelSpan, unread: Unread) -> list[ReadMessage]:
    """The messages that a model call was sent; `[]` where the span does not record them."""
    _add_details(span)
    system = _decoded(span, "gen_ai.system_instructions", unread)
    listed = _decoded(span, "gen_ai.input.messages", unread) or _decoded(span, "ai.prompt.messages", unread)
    if listed or system:
        instructions = Blocks().add_all(system, unread).content
        return [*([ReadMessage("system", instructions)] if instructions else []), *messages(_list(listed), unread)]
    for key in ("llm.input_messages", "gen_ai.prompt"):
        nested = span.below(key)
        if isinstance(nested, list):
            return [said for value in nested for said in message(_spread(value), unread, "user")]
    events = [_of_event(_ROLE_EVENTS[name], held, unread) for name, held in span.events if name in _ROLE_EVENTS]
    if events:
        return [said for told in events for said in told]
    old = (held.get("gen_ai.prompt") for name, held in span.events if name == "gen_ai.content.prompt")
    return messages(_list(strict_json(next(filter(None, map(text, old)), ""))), unread)


def answers_in(span: OtelSpan, unread: Unread) -> list[ReadMessage]:
    """The answer of a model call; `[]` where the span does not record it. Further answers are counted."""
    _add_details(span)
    listed = _list(_decoded(span, "gen_ai.output.messages", unread))
    spread = next((value for key in ("llm.output_messages", "gen_ai.completion") if isinstance(value := span.below(key), list)), [])  # fmt: skip
    choices = [_content_of(details) for name, details in span.events if name == "gen_ai.choice"]
    unread.add("further answer of one model call", max(len(listed or spread or choices) - 1, 0))
    if listed:
        return message(as_dict(listed[0]), unread, "assistant")[:1]
    if spread:
        return message({"role": "assistant", **_spread(spread[0])}, unread, "assistant")
    if "ai.response.text" in span.attributes or "ai.response.toolCalls" in span.attributes:
        return [_of_vercel(span, unread)]
    if "ai.response.object" in span.attributes:
        return [ReadMessage("assistant", as_text(span.attributes["ai.response.object"]))]
    if not choices:
        return []
    inner = choices[0].get("message", choices[0])
    inner = strict_json(inner) if isinstance(inner, str) else inner
    return _of_event("assistant", inner if isinstance(inner, dict) else choices[0], unread)


def tools_in_span(span: OtelSpan) -> list[Any] | None:
    """The tools that a model call was offered; None where the span does not record them."""
    for key in ("gen_ai.tool.definitions", "ai.prompt.tools"):
        defined = span.attributes.get(key)
        defined = strict_json(defined) if isinstance(defined, str) else defined
        if isinstance(defined, list) and defined:
            return [(strict_json(tool) or tool) if isinstance(tool, str) else tool for tool in defined]
    listed = span.below("llm.tools") or span.below("llm.request.functions")
    if not isinstance(listed, list):
        return None
    schemas = [tool.get("tool", tool) for tool in dicts(listed)]
    texts = [text(as_dict(schema).get("json_schema")) for schema in schemas]
    return [(strict_json(one) if one else None) or schema for one, schema in zip(texts, schemas, strict=True)]


def _of_vercel(span: OtelSpan, unread: Unread) -> ReadMessage:
    calls = _list(_decoded(span, "ai.response.toolCalls", unread))
    told = {
        "role": "assistant",
        "content": span.text("ai.response.text"),
        "reasoning": span.text("ai.response.reasoning"),
        "tool_calls": [{key: value for key, value in call.items() if key != "toolCallType"} for call in dicts(calls)],
    }
    return message(told, unread)[0]


def _add_details(span: OtelSpan) -> None:
    """Give the span the attributes that its event of the call's details holds."""
    for name, details in span.events:
        if name == _DETAILS:
            for key, value in details.items():
                if key.startswith("gen_ai."):
                    span.attributes.setdefault(key, value)


def _decoded(span: OtelSpan, key: str, unread: Unread) -> Any:
    value = span.attributes.get(key)
    if not isinstance(value, str):
        return value
    found = strict_json(value)
    if found is None and value[:1] in ("[", "{"):
        unread.add(f"attribute {key!r} that was cut: the exporter limits their length")
        return None
    return value if found is None else found


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _spread(value: Any) -> dict[str, Any]:
    """A message spread over attributes: OpenInference's `message.…`, or role, content and tool calls side by side."""
    fields = as_dict(as_dict(value).get("message", value))
    calls = [as_dict(held.get("tool_call", held)) for held in dicts(fields.get("tool_calls"))]
    blocks = [_block(part.get("message_content", part)) for part in dicts(fields.get("contents"))]
    content = fields.get("content")
    listed = strict_json(content) if isinstance(content, str) and content.startswith("[{") else None
    typed = bool(dicts(listed)) and all("type" in part for part in dicts(listed))
    return {
        **{name: fields.get(name) for name in ("role", "tool_call_id", "name") if fields.get(name) is not None},
        "content": blocks or (listed if typed else content),
        "tool_calls": [{"id": call.get("id"), "function": call.get("function") or call} for call in calls],
        "reasoning": fields.get("reasoning_content") or fields.get("reasoning"),
    }


def _block(part: Any) -> Any:
    if not isinstance(part, dict):
        return as_text(part)
    url = as_dict(as_dict(part.get("image")).get("image")).get("url")
    return {"type": "image_url", "image_url": url} if url else part


def _content_of(details: dict[str, Any]) -> dict[str, Any]:
    """The content of an event: its attributes, or the JSON that older instrumentations put into one of them."""
    inner = details.get("gen_ai.event.content")
    return as_dict(strict_json(inner)) or details if isinstance(inner, str) else details


def _of_event(role: str, details: dict[str, Any], unread: Unread) -> list[ReadMessage]:
    held = _content_of(details)
    content, calls = held.get("content"), held.get("tool_calls")
    told = {
        "role": held.get("role") or role,
        "content": content if isinstance(content, str | list | None) else as_text(content),
        "tool_calls": strict_json(calls) if isinstance(calls, str) else calls,
        "tool_call_id": held.get("id") or held.get("tool_call_id"),
    }
    return message(told, unread)
