"""Traces of OpenTelemetry with spans of the GenAI conventions, OpenLLMetry, OpenInference or
Vercel's AI SDK."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import Document, register
from ..intakes.spans import OtelSpan, spans_of
from ..intakes.tree import Span, Tree, langchain_in, trees_of
from ..intakes.usage import usage_in
from ..values import Unread, as_dict, as_list, dicts, first_of, from_json_text
from . import Format

_CALLS = {"llm", "call_llm", "chat", "text_completion", "generate_content", "completion", "responses",
          "ai.generatetext.dogenerate", "ai.streamtext.dostream", "ai.generateobject.dogenerate",
          "ai.streamobject.dostream"}  # fmt: skip
_TOOLS = {"tool", "execute_tool", "ai.toolcall"}
_HOLDERS = {"agent", "chain", "workflow", "task", "invoke_agent", "create_agent", "invoke_workflow", "execute_task",
            "prompt", "ai.generatetext", "ai.streamtext", "ai.generateobject", "ai.streamobject"}  # fmt: skip
"""Kinds of spans that only hold others."""
_KINDS = ("openinference.span.kind", "gen_ai.operation.name", "traceloop.span.kind",
          "llm.request.type", "ai.operationId")  # fmt: skip
_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
_IDS = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id")
_GIVEN = ("gen_ai.tool.call.arguments", "ai.toolCall.args", "tool.parameters", "input.value",
          "traceloop.entity.input")  # fmt: skip
_GAVE = ("gen_ai.tool.call.result", "ai.toolCall.result", "output.value", "traceloop.entity.output")
_MODELS = ("gen_ai.response.model", "llm.model_name", "gen_ai.request.model", "ai.response.model",
           "ai.model.id")  # fmt: skip
_PROPERTIES = "traceloop.association.properties."
_COUNTS = ("gen_ai.usage.", "llm.usage.", "llm.token_count.", "ai.usage.")
_SPEAKS = ("gen_ai.", "llm.", "openinference.", "traceloop.", "ai.")
"""Beginnings of the names of attributes, by which the conventions are known."""


@register("reader", "otel")
class Otel(Format):
    """One trace per conversation (`gen_ai.conversation.id`, `session.id`), else one per trace id.

    From OTLP JSON, or spans as Python's console exporter prints them. Messages are read from
    attributes (`gen_ai.input.messages`, `gen_ai.prompt.N.…`, `llm.input_messages.N.…`,
    `ai.prompt.messages`). Spans of tools give outputs, errors and times to the results, by the id
    of the call or by name and arguments. Agents and nested graphs have threads of their own.

    Not kept: contents that were not captured (counted) or are in events, retrievals, embeddings.

    Source: OpenTelemetry semantic conventions for generative AI; OpenInference specification
    (github.com/Arize-ai/openinference); ai-sdk.dev/docs/ai-sdk-core/telemetry "Collected data";
    OTLP/JSON. Tested: LangChain instrumentations 0.62.4 (OpenLLMetry) and 0.1.80 (OpenInference),
    recorded; AI SDK 5, by hand
    """

    def marked(self, document: Document) -> object:
        head = document.head
        spans = spans_of(head if isinstance(head, list) else [head], Unread())
        return any(key.startswith(_SPEAKS) for span in spans for key in span.attributes)

    def runs(self, document: Document, unread: Unread) -> list[Tree]:
        spans = spans_of(document.objects(unread), unread)
        named = {
            span.trace: talk
            for span in reversed(spans)
            if (talk := span.text("gen_ai.conversation.id", "session.id"))
        }
        return trees_of((named.get(span.trace, span.trace), _span(span, unread)) for span in spans)


def _span(span: OtelSpan, unread: Unread) -> Span:
    """A span of any convention as a run of the tree."""
    kind, known = _kind(span), langchain_in(_metadata(span))
    counts = {key: value for key, value in span.attributes.items() if key.startswith(_COUNTS)}
    is_call, model = kind == "call", span.text(*_MODELS)
    return replace(
        span.place,
        kind="chain" if kind in _HOLDERS else kind,
        name=(span.text(*_NAMES) if kind == "tool" else "") or span.place.name,
        inputs=_request(span, unread) if is_call else span.first(*_GIVEN),
        outputs=_response(span, unread) if is_call else _output(span, kind),
        agent=known["agent"] or _agent_name(span),
        node=known["node"],
        call_id=span.text(*_IDS),
        usage=usage_in(counts, unread) if is_call else None,
        model=None if model in ("", "unknown") else model,
        tools=_tools_in(span) if is_call else None,
    )


def _output(span: OtelSpan, kind: str) -> Any:
    """The output of a span; for a span around others only the text in it, if there is one."""
    output = span.first(*_GAVE)
    value = from_json_text(output)
    if kind in _HOLDERS:
        value = first_of(value, ("outputs", "output")) if isinstance(value, dict) else value
        return value if isinstance(value, str) and value else output
    return value


def _kind(span: OtelSpan) -> str:
    """The kind of a span: `call`, `tool`, a kind of `_HOLDERS`, `other` for other instrumentations,
    else the convention's own name."""
    kind = span.text(*_KINDS).lower()
    if kind in _CALLS:
        return "call"
    if kind in _TOOLS:
        return "tool"
    is_traceloop = any(key.startswith("traceloop.") for key in span.attributes)
    return kind or ("task" if is_traceloop else "other")


def _agent_name(span: OtelSpan) -> str:
    named = span.text("gen_ai.agent.name", "agent.name")
    is_agent = span.text("traceloop.span.kind") == "agent"
    entity = span.text("traceloop.entity.name") if is_agent else ""
    return (
        named
        or entity
        or (span.place.name if span.text("openinference.span.kind") == "AGENT" else "")
    )


def _metadata(span: OtelSpan) -> dict[str, Any]:
    """LangChain's metadata, as OpenInference or OpenLLMetry keep it."""
    given = span.attributes
    kept = {
        key.removeprefix(_PROPERTIES): given[key] for key in given if key.startswith(_PROPERTIES)
    }
    return {**as_dict(from_json_text(given.get("metadata"))), **kept}


# ---------------------------------------------------------------- messages, by the conventions


def _request(span: OtelSpan, unread: Unread) -> dict[str, Any] | None:
    """The request of a model call; None where the span does not record it."""
    system = _decoded(span, "gen_ai.system_instructions", unread)
    listed = _decoded(span, "gen_ai.input.messages", unread)
    listed = listed or _decoded(span, "ai.prompt.messages", unread)
    listed = as_list(listed) or _spread(span, "llm.input_messages", "gen_ai.prompt")
    return {"system": system, "messages": listed} if system or listed else None


def _response(span: OtelSpan, unread: Unread) -> Any:
    """The response to a model call; None where the span does not record it."""
    answers = dicts(_decoded(span, "gen_ai.output.messages", unread))
    answers = answers or _spread(span, "llm.output_messages", "gen_ai.completion")
    if not answers and {"ai.response.text", "ai.response.toolCalls"} & span.attributes.keys():
        answers = [_of_vercel(span, unread)]
    choices = [{"message": {**answer, "role": "assistant"}} for answer in answers]
    return {"choices": choices} if choices else span.first("ai.response.object")


def _tools_in(span: OtelSpan) -> list[Any] | None:
    """The tools that a model call was offered; None if the span does not record them."""
    defined = from_json_text(span.first("gen_ai.tool.definitions", "ai.prompt.tools"))
    if isinstance(defined, list) and defined:
        return list(map(from_json_text, defined))
    listed = dicts(span.below("llm.tools") or span.below("llm.request.functions"))
    return [from_json_text(tool.get("json_schema")) or tool for tool in listed] or None


def _decoded(span: OtelSpan, key: str, unread: Unread) -> Any:
    """The value of an attribute, decoded if it is JSON; None, and counted, if the JSON was
    truncated."""
    value = from_json_text(span.attributes.get(key))
    if isinstance(value, str) and value[:1] in ("[", "{"):
        unread.add(f"attribute {key!r} that was cut: the exporter limits their length")
        return None
    return value


def _of_vercel(span: OtelSpan, unread: Unread) -> dict[str, Any]:
    calls = dicts(_decoded(span, "ai.response.toolCalls", unread))
    return {
        "content": span.text("ai.response.text"),
        "reasoning": span.text("ai.response.reasoning"),
        "tool_calls": [{**call, "toolCallType": None} for call in calls],
    }


def _spread(span: OtelSpan, *keys: str) -> list[dict[str, Any]]:
    """The messages that are spread over numbered attributes below the first of `keys` that is
    present."""
    lists = (span.below(key) for key in keys)
    listed = next((values for values in lists if isinstance(values, list)), [])
    return list(map(_message, dicts(listed)))


def _message(fields: dict[str, Any]) -> dict[str, Any]:
    """A message from attributes in OpenAI's format; its content may be JSON, or blocks in
    `contents`."""
    content = fields.get("content")
    listed = dicts(from_json_text(content)) if str(content).startswith("[{") else []
    typed = bool(listed) and all("type" in part for part in listed)
    blocks = list(map(_block, dicts(fields.get("contents"))))
    kept = {key: value for key, value in fields.items() if key != "contents" and value is not None}
    return {"role": "user", **kept, "content": blocks or (listed if typed else content)}


def _block(part: dict[str, Any]) -> dict[str, Any]:
    url = as_dict(part.get("image")).get("url")
    return {"type": "image_url", "image_url": url} if url else part
