"""Traces of MLflow: the spans of a run, with what each was given and gave."""

from __future__ import annotations

from typing import Any

from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, dicts, register, values_of
from ..nodes import filled, first_of, inside, only_text
from ..observed import Observed, ObservedRun, decoded, observed, scored, text_in
from ..parts import usage_of

_KINDS = {"LLM": "call", "CHAT_MODEL": "call", "TOOL": "tool", "PARSER": ""} | dict.fromkeys(
    ("AGENT", "CHAIN", "WORKFLOW", "TASK", "UNKNOWN", ""), "chain"
)


@register("reader", "mlflow")
class MLflow:
    """One trace an MLflow trace: `{info, data: {spans}}` as `Trace.to_json()` writes it, or a list or lines of those.

    Spans of type LLM and CHAT_MODEL are model calls with their inputs and outputs in any provider's form, tools and usage; spans of type TOOL,
    and those named as a function that the model called, give outputs, errors and times to results. Assessments are labels, the first number or
    truth value the outcome. Retrievals and embeddings are counted.

    Source: mlflow.org/docs/latest/genai/tracing, "Trace concepts"; github.com/mlflow/mlflow, `mlflow/tracing/constant.py`
    """

    keeps = Keeps(
        results="untruncated",
        also=("usage", "times", "errors", "outcome", "labels", "tools", "model"),
        never="retrievals and embeddings, contents that were only previews",
        tested="trace schemas 2 and 3, by hand after the source",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        spans = dicts(as_dict(document.first.get("data")).get("spans"))
        theirs = any(key.startswith("mlflow.") for span in spans for key in as_dict(span.get("attributes")))
        return by_marks({"data with spans": bool(spans), "attributes 'mlflow.…'": theirs})

    def read(self, document: Document) -> Traces:
        """The file's traces in order; id, tags and session are in `meta`."""
        for value in values_of(document):
            info, spans = value["info"], value["data"]["spans"].items()
            said: dict[str, Any] = {"meta": {}}
            if info.value is not None:
                name = first_of(info, "trace_id", "request_id")
                session = inside(info, "trace_metadata", "mlflow.trace.session")
                items = [(first_of(item, "assessment_name", "name"), item) for item in info["assessments"].items()]
                told = {str(name.value): inside(item, "feedback", "value").value for name, item in items}
                said = scored("assessments", told, "MLflow assessment")
                said["meta"] = filled(trace_id=name.value, tags=info["tags"].value, session=session.value)
            yield ObservedRun(map(_observed, spans)).trace(document, "mlflow", value, **said)


def _observed(span: Node) -> Observed:
    attributes = span["attributes"]
    kind, name = str(decoded(attributes["mlflow.spanType"]).value or "").upper(), only_text(span["name"]) or ""
    failed = "ERROR" in str(first_of(span, "status_code", "status").value)
    message = only_text(span["status_message"]) or only_text(inside(span, "status", "message"))
    offered, usage = decoded(attributes["mlflow.chat.tools"]).value, decoded(attributes["mlflow.chat.tokenUsage"])
    parent = text_in(first_of(span, "parent_id", "parent_span_id"))
    return observed(
        span,
        _KINDS.get(kind, kind.lower()),
        decoded(attributes["mlflow.spanInputs"]),
        decoded(attributes["mlflow.spanOutputs"]),
        id=text_in(inside(span, "context", "span_id")) or text_in(span["span_id"]),
        name=name,
        start=_seconds(first_of(span, "start_time", "start_time_unix_nano", "start_time_ns")),
        end=_seconds(first_of(span, "end_time", "end_time_unix_nano", "end_time_ns")),
        error=(message or "failed") if failed else None,
        agent=name if kind == "AGENT" and parent else "",
        usage=usage_of(usage) if isinstance(usage.value, dict) else None,
        model=only_text(decoded(attributes["mlflow.llm.model"])) or only_text(decoded(attributes["model"])),
        tools=offered if isinstance(offered, list) else None,
    )


def _seconds(node: Node) -> float | None:
    text = node.value if isinstance(node.value, str) else ""
    count = int(text) if text.isdecimal() and len(text) < 30 else node.value
    return count / 1e9 if type(count) in (int, float) else None
