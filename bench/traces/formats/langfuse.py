"""Exports of Langfuse: a trace with its observations, of which the generations, the tools and the decisions of a graph make a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...model import Trace, compact_json
from .. import Confidence, Document, Keeps, Near, Node, as_dict, by_marks, dicts, register, strict_json, values_of
from ..langchain import agent_of
from ..nodes import first_of, inside, only_text, picked
from ..observed import Observed, ObservedRun, decoded, observed, scored, trees_of
from ..parts import ROLES, usage_of

_KINDS = {"GENERATION": "call", "TOOL": "tool", "SPAN": "chain", "CHAIN": "chain", "AGENT": "chain", "EVENT": ""}


@register("reader", "langfuse")
class Langfuse:
    """One trace a Langfuse trace: `{trace, observations}`, a trace with its `observations`, a list or lines of either or of observations alone.

    A generation is a model call with its whole prompt (`input`), its answer (`output`) and its usage; inputs and outputs may be JSON within
    texts. Tool observations, and spans named as a function that the model called, give outputs, errors and times to results. Messages that a
    library's integration keeps as generation by generation (`{id: {input: {data}, output: {data}}}`) are read too. A span that gave the
    name of a graph's node is a RouteDecision. Scores are labels, the first number the outcome.

    Source: langfuse.com/docs/observability/data-model; github.com/langfuse/langfuse (`observations.ts`)
    """

    keeps = Keeps(
        results="untruncated",
        also=("usage", "times", "errors", "outcome", "labels", "routes", "threads", "tools", "model"),
        never="prompts that an integration wrote as one text are one message; retrievals and embeddings",
        tested="exports of June 2025 to March 2026, published files",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        if _is_chatml(document.head):
            return Confidence.CERTAIN
        first = document.first
        inner = first["trace"] if isinstance(first.get("trace"), dict) else first
        listed = first.get("observations") or inner.get("observations") or first.get("data")
        held = dicts(listed) if isinstance(listed, list) else [first]
        held = [item for item in held if "type" in item and item.keys() & {"startTime", "start_time"}]
        placed = [
            item for item in held if (item is not first and "id" in inner) or item.keys() & {"traceId", "trace_id"}
        ]
        typed = any(str(item["type"]) in _KINDS for item in placed)
        what = "a 'type' such as GENERATION and a 'traceId' in them"
        return by_marks({"observations of a trace": bool(held), what: typed})

    def read(self, document: Document) -> Iterator[Trace]:
        """The file's traces in the order in which they began; id, name and session are in `meta`."""
        if not document.is_json_lines and _is_chatml(document.json):
            yield _parsed(document, document.node())
            return
        values = values_of(document)
        framed = [(_frame(value), value) for value in values]
        found: list[Node] = []
        for frame, value in framed:
            own = value["data"].items() or [value]
            found += own if frame is None else value["observations"].items() or frame["observations"].items()
        frames = {str(frame["id"].value): frame for frame, _ in framed if frame is not None}
        only = next(iter(frames), None) if len(frames) == 1 else None
        trees = trees_of((str(first_of(item, "traceId", "trace_id").value or only), _observed(item)) for item in found)
        for name, tree in trees.items():
            nodes = [node for run in tree if (node := _metadata(run.place).get("langgraph_node"))]
            said: dict[str, Any] = {"meta": {"trace_id": name}}
            if name in frames:
                said["meta"] |= picked(frames[name], "name", "userId", "tags", "version")
                if session := frames[name]["sessionId"].value:
                    said["meta"]["session"] = session
                listed = [score for score in frames[name]["scores"].items() if isinstance(score.value, dict)]
                scores = {str(score["name"].value): first_of(score, "value", "stringValue").value for score in listed}
                said |= scored("scores", scores, "Langfuse score")
            yield ObservedRun(tree, nodes).trace(document, "langfuse", tree[0].place, **said)


def _is_chatml(head: Any) -> bool:
    """True for generations by their ids, each with its input or output as parsed messages."""
    held = list(as_dict(head).values())
    sides = [as_dict(item.get(key)) for item in dicts(held) for key in ("input", "output")]
    told = [item for item in dicts(held) if item.keys() & {"input", "output"}]
    return len(told) == len(held) and any(isinstance(side.get("success"), bool) for side in sides)


def _frame(value: Node) -> Node | None:
    """The trace around observations; None for an observation alone."""
    inner = value["trace"] if isinstance(value["trace"].value, dict) else value
    return inner if inner is not value or value.has("observations") else None


def _observed(item: Node) -> Observed:
    kind, usage = item["type"].text_or_none() or "", first_of(item, "usageDetails", "usage_details", "usage")
    inputs = decoded(item["input"])
    listed = inputs.value if isinstance(inputs.value, list) else []
    answer = decoded(item["output"])
    if kind == "GENERATION" and as_dict(answer.value).keys() == {"content"}:
        answer = answer.made({"role": "assistant", **answer.value})
    return observed(
        item,
        _KINDS.get(kind, kind.lower()),
        _plain(inputs),
        _plain(answer),
        error=only_text(item["statusMessage"]) or "failed" if item["level"].value == "ERROR" else None,
        agent=agent_of(_metadata(item)) or (item["name"].text_or_none() or "" if kind == "AGENT" else ""),
        usage=usage_of(usage) if isinstance(usage.value, dict) else None,
        model=only_text(first_of(item, "model", "providedModelName")),
        tools=[message["content"] for message in listed if _is_tool(message)] or None,
    )


def _parsed(document: Document, whole: Node) -> Trace:
    """Generations whose messages were parsed, by their ids. TraceError where none has both its prompt and its answer."""
    runs: list[Observed] = []
    for name in whole.object():
        prompt, answer = (_spoken(whole[name][key]) for key in ("input", "output"))
        if answer.value:
            tools = [tool.value for tool in prompt.items()[0]["tools"].items()] if prompt.value else []
            runs.append(Observed(answer, name, "", "call", "", _plain(prompt), _plain(answer), tools=tools or None))
    runs = [run for run in runs if run.inputs.value] or runs
    if not runs:
        what = f"none of {len(whole.object())} observations has the messages of an answer — export the trace itself"
        raise whole.fail(what)
    run = ObservedRun(runs)
    run.unread.add("observation without the messages of a prompt and an answer", len(whole.object()) - len(runs))
    return run.trace(document, "langfuse", whole)


def _spoken(side: Node) -> Node:
    return side.made([message for message in dicts(inside(side, "data").value) if "role" in message])


def _metadata(item: Node) -> dict[str, Any]:
    return as_dict(decoded(item["metadata"]).value)


def _is_tool(message: Any) -> bool:
    """True for the definition of a tool that LangChain's integration lists among the messages."""
    held = as_dict(message)
    return "function" in as_dict(held.get("content")) and held.get("role") == "tool"


def _plain(held: Node) -> Node:
    """Messages as integrations write them, in OpenAI's form: without definitions of tools, a tool named as the role, calls or data as the content."""
    if not isinstance(held.value, list):
        return held.made(_message(held.value))
    if held.value and all("toolName" in as_dict(item) for item in held.value):
        parts = [_sdk_part({"type": "tool-call", **item}) for item in held.value]
        return held.made({"role": "assistant", "parts": parts})
    return held.made([_message(message) for message in held.value if not _is_tool(message)])


def _message(message: Any) -> Any:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str) or "parts" in message:
        return message
    told = {key: value for key, value in message.items() if key not in ("tools", "finish_reason")}
    if told["role"] not in ROLES:
        told |= {"role": "tool", "name": told["role"]}
    content = told.get("content")
    content = strict_json(content) if isinstance(content, str) and content.startswith('[{"function"') else content
    listed = dicts(content)
    if any(item.get("type") in ("tool-call", "tool-result") for item in listed):
        return {"role": told["role"], "parts": [_sdk_part(item) for item in listed]}
    if listed and all("function" in item for item in listed):
        return told | {"role": "assistant", "content": "", "tool_calls": listed}
    if isinstance(content, dict) or (isinstance(content, list) and not all("type" in item for item in listed)):
        told["content"] = compact_json(content)
    return told


def _sdk_part(part: dict[str, Any]) -> dict[str, Any]:
    """A part of Vercel's AI SDK, in the words of the GenAI conventions."""
    named = {"id": part.get("toolCallId"), "name": part.get("toolName")}
    if part.get("type") == "tool-call":
        given = part.get("input", part.get("args"))
        given = (strict_json(given) or given) if isinstance(given, str) else given
        return {"type": "tool_call", **named, "arguments": given}
    if part.get("type") == "tool-result":
        output = part.get("output", part.get("result"))
        shown = output["value"] if isinstance(output, dict) and output.keys() == {"type", "value"} else output
        return {"type": "tool_call_response", **named, "response": shown}
    return part if part.get("type") != "text" else {"type": "text", "content": part.get("text")}
