"""Traces of OpenTelemetry with spans of the GenAI conventions, OpenLLMetry, OpenInference or
Vercel's AI SDK."""

from __future__ import annotations

from typing import Any

from ...model import as_text
from .. import Confidence, Document, Traces, as_dict, certain_if, dicts, register, strict_json
from ..content import content_of
from ..messages import message, messages
from ..parts import Unread
from ..records import objects_of
from ..spans import Attributes, OtelSpan, spans_of
from ..steps import ReadMessage
from ..tree import Span, Tree, agent_in, traces_of
from ..usage import usage_in

_CALLS = {"llm", "call_llm", "chat", "text_completion", "generate_content", "completion", "responses",
          "ai.generatetext.dogenerate", "ai.streamtext.dostream", "ai.generateobject.dogenerate",
          "ai.streamobject.dostream"}  # fmt: skip
_TOOLS = {"tool", "execute_tool", "ai.toolcall"}
_HOLDERS = {"agent", "chain", "workflow", "task", "invoke_agent", "create_agent", "invoke_workflow", "execute_task",
            "prompt", "ai.generatetext", "ai.streamtext", "ai.generateobject", "ai.streamobject"}  # fmt: skip
"""Kinds of spans that only hold others."""
_KINDS = (
    "openinference.span.kind",
    "gen_ai.operation.name",
    "traceloop.span.kind",
    "llm.request.type",
    "ai.operationId",
)
_GIVEN = ("gen_ai.tool.call.arguments", "ai.toolCall.args", "tool.parameters", "input.value",
          "traceloop.entity.input")  # fmt: skip
_GAVE = ("gen_ai.tool.call.result", "ai.toolCall.result", "output.value", "traceloop.entity.output")
_PROPERTIES = "traceloop.association.properties."
_COUNTS = ("gen_ai.usage.", "llm.usage.", "llm.token_count.", "ai.usage.")
_ROLE_EVENTS = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}


@register("reader", "otel")
class Otel:
    """One trace a conversation (`gen_ai.conversation.id`, `session.id`), else one a trace id.

    From OTLP JSON, Jaeger's JSON, or spans as consoles print them. Messages are read from
    attributes (`gen_ai.input.messages`, `gen_ai.prompt.N.…`, `llm.input_messages.N.…`,
    `ai.prompt.messages`) or from events of spans. Spans of tools give outputs, errors and times to
    the results, by the id of the call or by name and arguments; where model calls record no prompt
    they are the results. Agents and nested graphs have threads of their own.

    Not kept: contents that were not captured (counted), retrievals, embeddings.

    Source: OpenTelemetry semantic conventions for generative AI; OpenInference specification
    (github.com/Arize-ai/openinference); ai-sdk.dev/docs/ai-sdk-core/telemetry "Collected data";
    OTLP/JSON. Tested: LangChain instrumentations 0.62.4 (OpenLLMetry) and 0.1.80 (OpenInference),
    recorded; AI SDK 5, by hand
    """

    def sniff(self, document: Document) -> Confidence:
        head = document.head
        spans = spans_of(head if isinstance(head, list) else [head], Unread())
        speaks = ("gen_ai.", "llm.", "openinference.", "traceloop.", "ai.")
        named = any(key.startswith(speaks) for span in spans for key in span.attributes)
        return certain_if(bool(spans) and named)

    def read(self, document: Document) -> Traces:
        """The file's conversations in the order in which they began; conversation and trace ids are
        in `meta`."""
        unread = Unread()
        spans = spans_of(objects_of(document, unread), unread)
        if not spans:
            raise document.fail("holds no spans — nothing was recorded")
        named = {
            span.trace: talk
            for span in reversed(spans)
            if (talk := span.text("gen_ai.conversation.id", "session.id"))
        }
        talks: dict[str, list[OtelSpan]] = {}
        for span in spans:
            talks.setdefault(named.get(span.trace, span.trace), []).append(span)
        runs = [(_tree(mine), {"meta": _meta(name, mine)}) for name, mine in talks.items()]
        yield from traces_of(document, "otel", runs, unread)


def _meta(name: str, spans: list[OtelSpan]) -> dict[str, Any]:
    return {"conversation": name, "trace_ids": list(dict.fromkeys(span.trace for span in spans))}


def _tree(spans: list[OtelSpan]) -> Tree:
    unread = Unread()
    nodes = [
        metadata["langgraph_node"]
        for metadata in map(_metadata, spans)
        if "langgraph_node" in metadata
    ]
    return Tree([_span(span, unread) for span in spans], nodes, unread)


def _span(span: OtelSpan, unread: Unread) -> Span:
    """A span as a run of the tree, by whichever convention it was written."""
    kind = _kind(span)
    names = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
    reasons = span.attributes.get("gen_ai.response.finish_reasons")
    reason = (
        str(reasons[0])
        if isinstance(reasons, list) and reasons
        else span.text("llm.finish_reason", "ai.response.finishReason")
    )
    model = span.text(
        "gen_ai.response.model",
        "llm.model_name",
        "gen_ai.request.model",
        "ai.response.model",
        "ai.model.id",
    )
    counts = {key: value for key, value in span.attributes.items() if key.startswith(_COUNTS)}
    call = kind == "call"
    return Span(
        id=span.id,
        parent=span.parent,
        kind="chain" if kind in _HOLDERS else kind,
        name=(span.text(*names) if kind == "tool" else "") or span.name,
        inputs=span.first(*_GIVEN),
        outputs=_output(span, kind),
        start=span.start,
        end=span.end,
        error=span.error,
        agent=agent_in(_metadata(span)) or _agent_name(span),
        usage=usage_in(counts, unread) if call else None,
        model=model if model and model != "unknown" else None,
        tools=_tools_in_span(span) if call else None,
        call_id=span.text("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id"),
        finish_reason=reason or None,
        prompt=_prompt_in(span, unread) if call else None,
        answers=_answers_in(span, unread) if call else None,
    )


def _output(span: OtelSpan, kind: str) -> Any:
    output = span.first(*_GAVE)
    value = strict_json(output) if isinstance(output, str) else output
    if kind in _HOLDERS:  # the name of a node, perhaps
        value = (value.get("outputs") or value.get("output")) if isinstance(value, dict) else value
        return value if isinstance(value, str) and value else output
    return output if value is None else value


def _kind(span: OtelSpan) -> str:
    """The kind of a span: `call`, `tool`, a kind that holds others, `other` for other
    instrumentations, else the convention's own name."""
    kind = span.text(*_KINDS).lower()
    bare = not kind and not span.attributes.keys().isdisjoint(
        {"gen_ai.request.model", "gen_ai.usage.input_tokens"}
    )
    if kind in _CALLS or bare or (not kind and span.name == "call_llm"):
        return "call"
    if kind in _TOOLS or (not kind and span.name == "ai.toolCall"):
        return "tool"
    return kind or (
        "task" if any(key.startswith("traceloop.") for key in span.attributes) else "other"
    )


def _agent_name(span: OtelSpan) -> str:
    named = span.text("gen_ai.agent.name", "agent.name")
    entity = (
        span.text("traceloop.entity.name") if span.text("traceloop.span.kind") == "agent" else ""
    )
    return named or entity or (span.name if span.text("openinference.span.kind") == "AGENT" else "")


def _metadata(span: OtelSpan) -> dict[str, Any]:
    """LangChain's metadata, as OpenInference or OpenLLMetry keep it."""
    metadata = span.attributes.get("metadata")
    value = strict_json(metadata) if isinstance(metadata, str) else metadata
    kept = {
        key.removeprefix(_PROPERTIES): item
        for key, item in span.attributes.items()
        if key.startswith(_PROPERTIES)
    }
    return {**as_dict(value), **kept}


# ---------------------------------------------------------------- messages, by the conventions


def _prompt_in(span: OtelSpan, unread: Unread) -> list[ReadMessage]:
    """The messages that a model call was sent; `[]` where the span does not record them."""
    system = _decoded(span, "gen_ai.system_instructions", unread)
    listed = _decoded(span, "gen_ai.input.messages", unread) or _decoded(
        span, "ai.prompt.messages", unread
    )
    if listed or system:
        instructions = content_of(system, unread)
        first = [ReadMessage("system", instructions)] if instructions else []
        return [*first, *messages(_list(listed), unread)]
    values = _spread(span, "llm.input_messages", "gen_ai.prompt")
    if not values:
        events = [
            (_ROLE_EVENTS[name], details) for name, details in span.events if name in _ROLE_EVENTS
        ]
        values = [_of_event(role, details) for role, details in events]
    return [one for value in values for one in message(value, unread, "user")]


def _answers_in(span: OtelSpan, unread: Unread) -> list[ReadMessage]:
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


def _tools_in_span(span: OtelSpan) -> list[Any] | None:
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
        "tool_calls": [
            {key: value for key, value in call.items() if key != "toolCallType"} for call in calls
        ],
    }


def _spread(span: OtelSpan, *keys: str) -> list[dict[str, Any]]:
    """The messages that are spread over attributes below the first of some keys that is there:
    OpenInference's `message.…`, or role, content and tool calls side by side."""
    below = (span.below(key) for key in keys)
    return list(
        map(_spread_message, next((values for values in below if isinstance(values, list)), []))
    )


def _spread_message(value: Any) -> dict[str, Any]:
    """A message out of attributes, in OpenAI's form."""
    fields = as_dict(as_dict(value).get("message", value))
    calls = [as_dict(call.get("tool_call", call)) for call in dicts(fields.get("tool_calls"))]
    blocks = [_block(part.get("message_content", part)) for part in dicts(fields.get("contents"))]
    content = fields.get("content")
    listed = (
        dicts(strict_json(content)) if isinstance(content, str) and content.startswith("[{") else []
    )
    typed = bool(listed) and all("type" in part for part in listed)
    return {
        **{
            name: fields[name]
            for name in ("role", "tool_call_id", "name")
            if fields.get(name) is not None
        },
        "content": blocks or (listed if typed else content),
        "tool_calls": [
            {"id": call.get("id"), "function": call.get("function") or call} for call in calls
        ],
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
