"""Traces of OpenTelemetry whose spans follow the GenAI conventions, OpenLLMetry's or OpenInference's."""

from __future__ import annotations

from typing import Any

from ...model.errors import TraceError
from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, register, strict_json, values_of
from ..genai import answer_of_span, prompt_of_span, tools_of_span, usage_of_span
from ..langchain import agent_of
from ..observed import Observed, ObservedRun
from ..spans import TracedSpan, spans_of

_CALLS = {"llm", "call_llm", "chat", "text_completion", "generate_content", "completion", "responses"}
_HOLDERS = {"agent", "chain", "workflow", "task", "invoke_agent", "create_agent", "invoke_workflow", "execute_task", "prompt"}  # fmt: skip
"""Kinds of spans that only hold others."""
_PROPERTIES = "traceloop.association.properties."


@register("reader", "otel_genai")
class OtelGenAI:
    """One trace a conversation (`gen_ai.conversation.id`, `session.id`), else one a trace id: from OTLP JSON, or spans as consoles print them.

    A model call's messages are read from attributes (`gen_ai.input.messages`, `gen_ai.prompt.N.…`, `llm.input_messages.N.…`) or from events and
    log records (`gen_ai.user.message`, `gen_ai.choice`). Tool spans give outputs, errors and times to the results, by the id of the call or by
    name and arguments. Spans of agents around a call, and nested graphs, have threads of their own. A span that gave the name of a graph's
    node is a RouteDecision. Calls whose messages were not captured are turns without content, and counted; so are retrievals, embeddings
    and spans of other instrumentations.

    Source: OpenTelemetry semantic conventions for generative AI (spans, events, agents); OpenInference specification
    (github.com/Arize-ai/openinference, `spec/semantic_conventions.md`); OTLP/JSON
    """

    keeps = Keeps(
        results="untruncated",
        also=("usage", "times", "errors", "routes", "threads", "tools", "model"),
        never="contents that were not captured (counted), retrievals, embeddings",
        tested="semantic conventions and OpenInference as recorded by the LangChain instrumentations 0.62.4 (OpenLLMetry) and 0.1.80 (OpenInference)",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        head = Node(document, None, "$", document.head)
        try:
            spans = spans_of([head]) if isinstance(head.value, dict | list) else []
        except TraceError:
            return Confidence.NO
        speaks = ("gen_ai.", "llm.", "openinference.", "traceloop.")
        named = any(key.startswith(speaks) for span in spans for key in span.attributes)
        what = "attributes 'gen_ai.…', 'llm.…' or 'openinference.…'"
        return by_marks({"spans of OpenTelemetry": bool(spans), what: named})

    def read(self, document: Document) -> Traces:
        """The file's conversations in the order in which they began; conversation and trace ids are in `meta`."""
        spans = spans_of(values_of(document))
        if not spans:
            raise document.fail("expected spans, got none — nothing was recorded")
        told = [(span.trace, span.text("gen_ai.conversation.id", "session.id")) for span in reversed(spans)]
        named = {trace: talk for trace, talk in told if talk}
        talks: dict[str, list[TracedSpan]] = {}
        for span in spans:
            talks.setdefault(named.get(span.trace, span.trace), []).append(span)
        runs = [(name, _run(mine), mine) for name, mine in talks.items()]
        spoken = [talk for _, talk, _ in runs if talk.spoke] or [talk for _, talk, _ in runs]
        spoken[0].unread.add("conversation without a model's or a tool's message", len(runs) - len(spoken))
        for name, talk, mine in runs:
            if talk in spoken:
                meta = {"conversation": name, "trace_ids": list(dict.fromkeys(span.trace for span in mine))}
                yield talk.trace(document, "otel_genai", mine[0].place, meta=meta)


def _run(spans: list[TracedSpan]) -> ObservedRun:
    nodes = [metadata["langgraph_node"] for metadata in map(_metadata, spans) if "langgraph_node" in metadata]
    return ObservedRun(map(_observed, spans), nodes)


def _observed(span: TracedSpan) -> Observed:
    kind = _kind(span)
    given = span.first(
        "gen_ai.tool.call.arguments", "gen_ai.tool.args", "tool.parameters", "input.value", "traceloop.entity.input"
    )
    output = span.first("gen_ai.tool.call.result", "gen_ai.output", "output.value", "traceloop.entity.output")
    value = strict_json(output.value) if isinstance(output.value, str) else None
    name = span.text("gen_ai.tool.name", "tool.name", "traceloop.entity.name") if kind == "tool" else ""
    reasons = span.attributes.get("gen_ai.response.finish_reasons")
    reason = str(reasons[0]) if isinstance(reasons, list) and reasons else span.text("llm.finish_reason")
    model = span.text("gen_ai.response.model", "llm.model_name", "gen_ai.request.model")
    if kind in _HOLDERS:
        value = (value.get("outputs") or value.get("output")) if isinstance(value, dict) else value
        value = value if isinstance(value, str) else None
        output = span.made("output", value if value or output.value is None else output.value)
    return Observed(
        place=span.place,
        id=span.id,
        parent=span.parent,
        kind="chain" if kind in _HOLDERS else kind,
        name=name or span.name,
        inputs=given,
        outputs=output if value is None else span.made("output", value),
        start=span.start,
        end=span.end,
        error=span.error,
        agent=agent_of(_metadata(span)) or _agent_name(span),
        usage=usage_of_span(span) if kind == "call" else None,
        model=model if model and model != "unknown" else None,
        tools=tools_of_span(span) if kind == "call" else None,
        call_id=span.text("gen_ai.tool.call.id", "tool_call.id", "tool.id"),
        finish_reason=reason or None,
        spoken=lambda unread: (prompt_of_span(span, unread), answer_of_span(span, unread)),
    )


def _kind(span: TracedSpan) -> str:
    """The kind of a span: `call`, `tool`, a kind that holds others, `other` for other instrumentations, else the convention's own name."""
    keys = ("openinference.span.kind", "gen_ai.operation.name", "traceloop.span.kind", "llm.request.type")
    kind = span.text(*keys).lower()
    bare = not kind and not span.attributes.keys().isdisjoint({"gen_ai.request.model", "gen_ai.usage.input_tokens"})
    if kind in _CALLS or bare:
        return "call"
    if kind in ("tool", "execute_tool"):
        return "tool"
    return kind or ("task" if any(key.startswith("traceloop.") for key in span.attributes) else "other")


def _agent_name(span: TracedSpan) -> str:
    named = span.text("gen_ai.agent.name", "agent.name")
    entity = span.text("traceloop.entity.name") if span.text("traceloop.span.kind") == "agent" else ""
    return named or entity or (span.name if span.text("openinference.span.kind") == "AGENT" else "")


def _metadata(span: TracedSpan) -> dict[str, Any]:
    """LangChain's metadata, as OpenInference or OpenLLMetry keep it."""
    held = span.attributes.get("metadata")
    value = strict_json(held) if isinstance(held, str) else held
    kept = {key.removeprefix(_PROPERTIES): item for key, item in span.attributes.items() if key.startswith(_PROPERTIES)}
    return {**as_dict(value), **kept}
