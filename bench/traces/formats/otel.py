"""Traces of OpenTelemetry, in the conventions of several instrumentations."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from .. import Document, Fields, register
from ..intakes.attributes import Attributes
from ..intakes.tree import Span, Tree, langchain_in, span_of, trees_of
from ..intakes.usage import usage_in
from ..values import Unread, as_dict, as_list, dicts, first_of, from_json_text, text
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
_TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
_TOOL_CALL_IDS = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id")
_TOOL_ARGUMENTS = ("gen_ai.tool.call.arguments", "ai.toolCall.args", "tool.parameters", "input.value",
          "traceloop.entity.input")  # fmt: skip
_TOOL_RESULTS = (
    "gen_ai.tool.call.result",
    "ai.toolCall.result",
    "output.value",
    "traceloop.entity.output",
)
_MODELS = ("gen_ai.response.model", "llm.model_name", "gen_ai.request.model", "ai.response.model",
           "ai.model.id")  # fmt: skip
_CONVERSATION_IDS = ("gen_ai.conversation.id", "session.id")
_PROPERTIES = "traceloop.association.properties"
_COUNTS = ("gen_ai.usage.", "llm.usage.", "llm.token_count.", "ai.usage.")
_CONVENTIONS = ("gen_ai.", "llm.", "openinference.", "traceloop.", "ai.")
"""Beginnings of the names of attributes, by which the conventions are known."""
_FAILED = (2, "STATUS_CODE_ERROR", "ERROR")
_DIGITS = re.compile(r"-?[0-9]{1,25}")
_SCALARS = ("stringValue", "boolValue", "doubleValue", "bytesValue")
_LEVELS = (
    ("resourceSpans", "resource_spans", "batches"),
    ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"),
    ("spans",),
)


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
        spans = _spans_of([head], Unread())
        return any(key.startswith(_CONVENTIONS) for span in spans for key in span.attributes)

    def runs(self, document: Document, unread: Unread) -> list[Tree]:
        spans = _spans_of(document.objects(unread), unread)
        conversations = {
            span.trace: span.text(*_CONVERSATION_IDS)
            for span in reversed(spans)
            if span.text(*_CONVERSATION_IDS)
        }
        return trees_of(
            (conversations.get(span.trace, span.trace), _span(span, unread)) for span in spans
        )


def _span(span: _Recorded, unread: Unread) -> Span:
    kind = _kind(span)
    counts = {key: value for key, value in span.attributes.items() if key.startswith(_COUNTS)}
    is_call, model = kind == "call", span.text(*_MODELS)
    return span_of(
        span.record,
        "chain" if kind in _HOLDERS else kind,
        _request(span, unread) if is_call else span.first(*_TOOL_ARGUMENTS),
        _response(span, unread) if is_call else _output(span, kind),
        unread,
        id=_id(first_of(span.record, ("spanId", "span_id"))),
        parent=_id(first_of(span.record, ("parentSpanId", "parent_span_id", "parent_id"))),
        name=(span.text(*_TOOL_NAMES) if kind == "tool" else "") or span.name,
        error=_error(span.record),
        call_id=span.text(*_TOOL_CALL_IDS),
        usage=usage_in(counts, unread) if is_call else None,
        model=None if model in ("", "unknown") else model,
        tools=span.tools() if is_call else None,
        **_places(span),
    )


def _output(span: _Recorded, kind: str) -> Any:
    output = span.first(*_TOOL_RESULTS)
    value = from_json_text(output)
    if kind in _HOLDERS:
        value = first_of(value, ("outputs", "output")) if isinstance(value, dict) else value
        return text(value) or output
    return value


def _kind(span: _Recorded) -> str:
    """`call`, `tool`, a kind of `_HOLDERS`, `other`, else the convention's own name."""
    kind = span.text(*_KINDS).lower()
    if kind in _CALLS:
        return "call"
    if kind in _TOOLS:
        return "tool"
    is_traceloop = any(key.startswith("traceloop.") for key in span.attributes)
    return kind or ("task" if is_traceloop else "other")


def _places(span: _Recorded) -> dict[str, str]:
    """The agent and the graph's node of a span."""
    noted = as_dict(from_json_text(span.attributes.get("metadata")))
    known = langchain_in({**noted, **as_dict(span.below(_PROPERTIES))})
    is_agent = span.text("openinference.span.kind") == "AGENT"
    named = span.text("gen_ai.agent.name", "agent.name") or (span.name if is_agent else "")
    return {**known, "agent": known["agent"] or named}


def _request(span: _Recorded, unread: Unread) -> Fields | None:
    system = span.instructions(unread)
    listed = span.decoded("gen_ai.input.messages", unread)
    listed = listed or span.decoded("ai.prompt.messages", unread)
    listed = as_list(listed) or _spread(span, "llm.input_messages", "gen_ai.prompt")
    return {"system": system, "messages": listed} if system or listed else None


def _response(span: _Recorded, unread: Unread) -> Any:
    answers = dicts(span.decoded("gen_ai.output.messages", unread))
    answers = answers or _spread(span, "llm.output_messages", "gen_ai.completion")
    if not answers and {"ai.response.text", "ai.response.toolCalls"} & span.attributes.keys():
        answers = [_of_vercel(span, unread)]
    choices = [{"message": {**answer, "role": "assistant"}} for answer in answers]
    return {"choices": choices} if choices else span.first("ai.response.object")


def _of_vercel(span: _Recorded, unread: Unread) -> Fields:
    calls = dicts(span.decoded("ai.response.toolCalls", unread))
    return {
        "content": span.text("ai.response.text"),
        "reasoning": span.text("ai.response.reasoning"),
        "tool_calls": [{**call, "toolCallType": None} for call in calls],
    }


def _spread(span: _Recorded, *keys: str) -> list[Fields]:
    lists = (span.below(key) for key in keys)
    listed = next((values for values in lists if isinstance(values, list)), [])
    return list(map(_message, dicts(listed)))


def _message(fields: Fields) -> Fields:
    content = fields.get("content")
    listed = dicts(from_json_text(content)) if str(content).startswith("[{") else []
    typed = bool(listed) and all("type" in part for part in listed)
    blocks = dicts(fields.get("contents"))
    kept = {key: value for key, value in fields.items() if key != "contents" and value is not None}
    return {"role": "user", **kept, "content": blocks or (listed if typed else content)}


# ---------------------------------------------------------------- spans of any exporter


class _Recorded(Attributes):
    """One recorded span, decoded. The console exporter puts its ids in a context."""

    def __init__(self, span: Fields) -> None:
        self.record = {**span, **as_dict(span.get("context"))}
        self.trace = _id(first_of(self.record, ("traceId", "trace_id")))
        self.name = text(span.get("name")) or ""
        super().__init__(_attributes(span.get("attributes")))


def _spans_of(values: Iterable[Any], unread: Unread) -> list[_Recorded]:
    spans: list[_Recorded] = []
    lists = (value if isinstance(value, list) else [value] for value in values)
    for record in dicts(list(itertools.chain.from_iterable(lists))):
        printed = [record] if as_dict(record.get("context")) else _inside(record, *_LEVELS)
        spans += map(_Recorded, printed)
        unread.add("list of log records", len(dicts(record.get("resourceLogs"))))
    return spans


def _inside(value: Fields, *levels: tuple[str, ...]) -> Iterator[Fields]:
    for item in dicts(first_of(value, levels[0])):
        yield from _inside(item, *levels[1:]) if len(levels) > 1 else [item]


def _attributes(listed: Any) -> Fields:
    if isinstance(listed, dict):
        return {key: _plain(value) for key, value in listed.items()}
    return {str(item.get("key")): _plain(item.get("value")) for item in dicts(listed)}


def _plain(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    for name in _SCALARS:
        if name in value:
            return value[name]
    if "intValue" in value:
        number = value["intValue"]
        return int(number) if isinstance(number, str) and _DIGITS.fullmatch(number) else number
    if "arrayValue" in value:
        return [_plain(item) for item in as_list(as_dict(value["arrayValue"]).get("values"))]
    if "kvlistValue" in value:
        return _attributes(as_dict(value["kvlistValue"]).get("values"))
    return value or None


def _id(value: Any) -> str:
    return (text(value) or "").removeprefix("0x").lower()


def _error(record: Fields) -> str | None:
    status = as_dict(record.get("status"))
    if first_of(status, ("code", "status_code")) not in _FAILED:
        return None
    details = [_attributes(event.get("attributes")) for event in dicts(record.get("events"))]
    reasons = [status.get("message"), status.get("description")]
    reasons += [event.get("exception.message") for event in details]
    return next(filter(None, map(text, reasons)), "failed")
