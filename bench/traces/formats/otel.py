"""Traces of OpenTelemetry with spans of the GenAI conventions, OpenLLMetry, OpenInference or
Vercel's AI SDK."""

from __future__ import annotations

from typing import Any

from .. import Confidence, Document, Traces, as_dict, certain_if, register, strict_json
from ..genai import answers_in, prompt_in, tools_in_span
from ..parts import Unread
from ..records import objects_of
from ..spans import OtelSpan, spans_of
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


@register("reader", "otel")
class Otel:
    """One trace a conversation (`gen_ai.conversation.id`, `session.id`), else one a trace id.

    From OTLP JSON, Jaeger's JSON, or spans as consoles print them. Messages are read from attributes
    (`gen_ai.input.messages`, `gen_ai.prompt.N.…`, `llm.input_messages.N.…`, `ai.prompt.messages`)
    or from events of spans. Spans of tools give outputs, errors and times to the results, by
    the id of the call or by name and arguments; where model calls record no prompt they are the
    results. Agents and nested graphs have threads of their own.

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
            span.trace: talk for span in reversed(spans) if (talk := span.text("gen_ai.conversation.id", "session.id"))
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
    nodes = [metadata["langgraph_node"] for metadata in map(_metadata, spans) if "langgraph_node" in metadata]
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
        "gen_ai.response.model", "llm.model_name", "gen_ai.request.model", "ai.response.model", "ai.model.id"
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
        tools=tools_in_span(span) if call else None,
        call_id=span.text("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id"),
        finish_reason=reason or None,
        prompt=prompt_in(span, unread) if call else None,
        answers=answers_in(span, unread) if call else None,
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
    bare = not kind and not span.attributes.keys().isdisjoint({"gen_ai.request.model", "gen_ai.usage.input_tokens"})
    if kind in _CALLS or bare or (not kind and span.name == "call_llm"):
        return "call"
    if kind in _TOOLS or (not kind and span.name == "ai.toolCall"):
        return "tool"
    return kind or ("task" if any(key.startswith("traceloop.") for key in span.attributes) else "other")


def _agent_name(span: OtelSpan) -> str:
    named = span.text("gen_ai.agent.name", "agent.name")
    entity = span.text("traceloop.entity.name") if span.text("traceloop.span.kind") == "agent" else ""
    return named or entity or (span.name if span.text("openinference.span.kind") == "AGENT" else "")


def _metadata(span: OtelSpan) -> dict[str, Any]:
    """LangChain's metadata, as OpenInference or OpenLLMetry keep it."""
    metadata = span.attributes.get("metadata")
    value = strict_json(metadata) if isinstance(metadata, str) else metadata
    kept = {key.removeprefix(_PROPERTIES): item for key, item in span.attributes.items() if key.startswith(_PROPERTIES)}
    return {**as_dict(value), **kept}
