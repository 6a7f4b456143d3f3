"""Traces of the OpenAI Agents SDK: the spans that its processors export."""

from __future__ import annotations

from .. import Confidence, Document, Keeps, Near, Node, Traces, by_marks, dicts, register, values_of
from ..conversations import records
from ..nodes import inside, only_text, picked
from ..observed import Observed, ObservedRun, decoded, observed, trees_of
from ..parts import usage_of

_KINDS = {"generation": "call", "function": "tool", "agent": "chain", "handoff": "route"} | dict.fromkeys(
    ("custom", "guardrail", "task", "turn"), ""
)


@register("reader", "openai_agents")
class OpenAIAgents:
    """One trace a `trace_id`: a list or lines of `{object: "trace"}` and `{object: "trace.span"}`, or an object with them as `data`.

    A `generation` span is a model call with its input, output and usage, and so is a `response` span where the exporter wrote its input and
    response; one that only names a response is counted. `function` spans give outputs, errors and times to results; a `handoff` is a
    RouteDecision. Each call is its agent's. Sessions of the SDK are lists of items, which `openai_responses` reads.

    Source: openai.github.io/openai-agents-python, "Tracing"; github.com/openai/openai-agents-python, `src/agents/tracing/span_data.py`
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "errors", "routes", "threads", "tools", "model"),
        never="contents that only OpenAI's server has (`response_id` alone), guardrails",
        tested="openai-agents 0.2 and later, by hand after the source",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        held = document.head.get("data") if isinstance(document.head, dict) else None
        listed = dicts(held) if isinstance(held, list) else records(document)
        found = [item for item in listed if str(item.get("object", "")).startswith("trace")]
        data = any("span_data" in item for item in found)
        return by_marks({"objects of a trace": bool(found), "the data of a span ('span_data')": data})

    def read(self, document: Document) -> Traces:
        """The file's traces in the order in which they began; id and workflow are in `meta`."""
        values = values_of(document)
        items = [item for value in values for item in (value["data"].items() if value.has("data") else [value])]
        frames = {str(item["id"].value): item for item in items if item["object"].value == "trace"}
        spans = [item for item in items if isinstance(item["span_data"].value, dict)]
        agents = [span for span in spans if span["span_data"]["type"].value == "agent"]
        names = {str(span["id"].value): only_text(span["span_data"]["name"]) or "" for span in agents}
        for trace, tree in trees_of((str(span["trace_id"].value), _observed(span, names)) for span in spans).items():
            frame = picked(frames[trace], "workflow_name", "group_id") if trace in frames else {}
            run = ObservedRun(tree)
            yield run.trace(document, "openai_agents", tree[0].place, meta={"trace_id": trace, **frame})


def _observed(span: Node, agents: dict[str, str]) -> Observed:
    data, error = span["span_data"], span["error"]
    kind, usage, response = data["type"].text(), data["usage"], data["response"]
    inputs, outputs = decoded(data["input"]), decoded(data["to_agent"] if kind == "handoff" else data["output"])
    whole = kind == "response" and isinstance(response.value, dict)
    if whole:
        beside = {key: response[key].value for key in ("instructions", "tools")}
        inputs, outputs = data.made({**beside, "input": data["input"].value}), response
    parent = span["parent_id"].text_or_none() or ""
    return observed(
        span,
        "call" if whole else _KINDS.get(kind, kind),
        inputs,
        outputs,
        name=only_text(data["name"]) or kind,
        error=only_text(inside(error, "message")) or (None if error.value is None else str(error.value)),
        agent=agents.get(span["id"].text(), agents.get(parent, "")),
        usage=usage_of(usage) if isinstance(usage.value, dict) else None,
        model=only_text(data["model"]),
    )
