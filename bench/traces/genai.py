"""The messages of model calls in spans: GenAI conventions (attributes and events), OpenInference,
OpenLLMetry, and Vercel's AI SDK."""

from __future__ import annotations

from typing import Any

from ..model import as_text
from .content import Blocks
from .decoded import as_dict, dicts, strict_json
from .messages import message, messages
from .parts import Unread
from .spans import Attributes, OtelSpan
from .steps import ReadMessage

_ROLE_EVENTS = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}


def prompt_in(span: OtelSpan, unread: Unread) -> list[ReadMessage]:
    """The messages that a model call was sent; `[]` where the span does not record them."""
    system = _decoded(span, "gen_ai.system_instructions", unread)
    listed = _decoded(span, "gen_ai.input.messages", unread) or _decoded(span, "ai.prompt.messages", unread)
    if listed or system:
        instructions = Blocks().add_all(system, unread).content
        first = [ReadMessage("system", instructions)] if instructions else []
        return [*first, *messages(_list(listed), unread)]
    values = _spread(span, "llm.input_messages", "gen_ai.prompt")
    if not values:
        events = [(_ROLE_EVENTS[name], details) for name, details in span.events if name in _ROLE_EVENTS]
        values = [_of_event(role, details) for role, details in events]
    return [one for value in values for one in message(value, unread, "user")]


def answers_in(span: OtelSpan, unread: Unread) -> list[ReadMessage]:
    """The answer of a model call; `[]` where the span does not record it. Further answers are
    counted."""
    answers = dicts(_decoded(span, "gen_ai.output.messages", unread))
    answers = answers or _spread(span, "llm.output_messages", "gen_ai.completion")
    vercel = {"ai.response.text", "ai.response.toolCalls"} & span.attributes.keys()
    if vercel and not answers:
        answers = [_of_vercel(span, unread)]
    if "ai.response.object" in span.attributes and not answers:
        return [ReadMessage("assistant", as_text(span.attributes["ai.response.object"]))]
    if not answers:
        choices = [_content_of(details) for name, details in span.events if name == "gen_ai.choice"]
        answers = [_of_event("assistant", _message_of(choice)) for choice in choices]
    unread.add("further answer of one model call", max(len(answers) - 1, 0))
    return message({"role": "assistant", **answers[0]}, unread)[:1] if answers else []


def tools_in_span(span: OtelSpan) -> list[Any] | None:
    """The tools that a model call was offered; None where the span does not record them."""
    for key in ("gen_ai.tool.definitions", "ai.prompt.tools"):
        defined = _from_json(span.attributes.get(key))
        if isinstance(defined, list) and defined:
            return list(map(_from_json, defined))
    listed = span.below("llm.tools") or span.below("llm.request.functions")
    if not isinstance(listed, list):
        return None
    schemas = [tool.get("tool", tool) for tool in dicts(listed)]
    return [_from_json(as_dict(schema).get("json_schema")) or schema for schema in schemas]


def _from_json(value: Any) -> Any:
    """The value that a text is in JSON; any other value as it is."""
    return (strict_json(value) or value) if isinstance(value, str) else value


def _decoded(span: OtelSpan, key: str, unread: Unread) -> Any:
    value = span.attributes.get(key)
    decoded = strict_json(value) if isinstance(value, str) else value
    if decoded is None and isinstance(value, str) and value[:1] in ("[", "{"):
        unread.add(f"attribute {key!r} that was cut: the exporter limits their length")
        return None
    return value if decoded is None else decoded


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _of_vercel(span: OtelSpan, unread: Unread) -> dict[str, Any]:
    calls = dicts(_decoded(span, "ai.response.toolCalls", unread))
    return {
        "content": span.text("ai.response.text"),
        "reasoning": span.text("ai.response.reasoning"),
        "tool_calls": [{key: value for key, value in call.items() if key != "toolCallType"} for call in calls],
    }


def _spread(span: OtelSpan, *keys: str) -> list[dict[str, Any]]:
    """The messages that are spread over attributes below the first of some keys that is there:
    OpenInference's `message.…`, or role, content and tool calls side by side."""
    below = (span.below(key) for key in keys)
    return list(map(_spread_message, next((values for values in below if isinstance(values, list)), [])))


def _spread_message(value: Any) -> dict[str, Any]:
    """A message out of attributes, in OpenAI's form."""
    fields = as_dict(as_dict(value).get("message", value))
    calls = [as_dict(call.get("tool_call", call)) for call in dicts(fields.get("tool_calls"))]
    blocks = [_block(part.get("message_content", part)) for part in dicts(fields.get("contents"))]
    content = fields.get("content")
    listed = dicts(strict_json(content)) if isinstance(content, str) and content.startswith("[{") else []
    typed = bool(listed) and all("type" in part for part in listed)
    return {
        **{name: fields[name] for name in ("role", "tool_call_id", "name") if fields.get(name) is not None},
        "content": blocks or (listed if typed else content),
        "tool_calls": [{"id": call.get("id"), "function": call.get("function") or call} for call in calls],
        "reasoning": fields.get("reasoning_content") or fields.get("reasoning"),
    }


def _block(part: Any) -> Any:
    if not isinstance(part, dict):
        return as_text(part)
    url = as_dict(as_dict(part.get("image")).get("image")).get("url")
    return {"type": "image_url", "image_url": url} if url else part


def _content_of(details: Attributes) -> Attributes:
    """The content of an event: its attributes, or the JSON that older instrumentations put into one
    of them."""
    inner = details.get("gen_ai.event.content")
    return as_dict(strict_json(inner)) or details if isinstance(inner, str) else details


def _message_of(choice: Attributes) -> Attributes:
    """The message of a choice, which may be JSON within a text; the choice itself where it has
    none."""
    inner = choice.get("message")
    return as_dict(strict_json(inner) if isinstance(inner, str) else inner) or choice


def _of_event(role: str, details: Attributes) -> dict[str, Any]:
    fields = _content_of(details)
    content, calls = fields.get("content"), fields.get("tool_calls")
    return {
        "role": fields.get("role") or role,
        "content": content if isinstance(content, str | list | None) else as_text(content),
        "tool_calls": strict_json(calls) if isinstance(calls, str) else calls,
        "tool_call_id": fields.get("id") or fields.get("tool_call_id"),
    }
