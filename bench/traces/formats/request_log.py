"""Logs of model calls with their whole requests and answers: LiteLLM's, those of proxies (HAR, VCR as JSON), and the like."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from ...model.errors import TraceError
from .. import Confidence, Document, Keeps, Near, Node, PartOf, Traces, as_dict, by_marks, register, values_of
from ..calls import Call, Calls, call_of
from ..conversations import records
from ..nodes import at, only_text
from ..records import answer_in, node_of, request_in, session_in, time_in

_STARTS = ("startTime", "start_time", "startedDateTime", "requestedAt", "started_at", "timestamp", "created_at", "recorded_at")  # fmt: skip
_ENDS = ("endTime", "end_time", "receivedAt", "ended_at", "completed_at")
_SAMPLE = 20
GONE = "agent_gone"
"""The reason why an answer ended that the agent did not wait for: it is what the provider sent, not what the agent saw."""
_COSTS = ("response_cost", "spend", "cost_usd", "cost")


@register("reader", "request_log")
class RequestLog:
    """Runs out of a log of calls, each `{request, response}` by these or like names, as deep as proxies put them, in the form of OpenAI's chat or
    Responses interface or Anthropic's; streamed answers are put together.

    A call whose prompt begins with an earlier one's is of the same run; a prompt that is such a one shortened is a ContextReset. Calls that
    share a session (`session_id`, `trace_id`, Claude Code's user id) are one trace, with other conversations of it as threads; without one each
    conversation is a trace. In a folder, files of one call each are read together, as the first of them. Costs are in `meta` by step. What is no
    model call, has no answer or failed is counted.

    Source: docs.litellm.ai, "StandardLoggingPayload Specification"; the HAR 1.2 specification; vcrpy.readthedocs.io
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "reasoning", "threads", "resets", "tools", "model"),
        never="the untruncated result, errors and times of tools: they ran where the proxy does not see",
        tested="LiteLLM StandardLoggingPayload, HAR 1.2; written by hand after the specifications",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        asked = [record for record in _records(document)[:_SAMPLE] if request_in(record) is not None]
        answered = any(answer_in(record) is not None for record in asked)
        marks = {"the body of a request (messages or input)": bool(asked), "an answer beside a request": answered}
        return by_marks(marks, Confidence.POSSIBLE)  # other formats may wrap these in more

    def read(self, document: Document) -> Traces:
        """The file's runs in the order in which they began."""
        nodes = _nodes(document)
        if len(nodes) == 1 and len(document.beside) > 1:
            nodes = nodes + _others(document)
        calls = Calls(document, "request_log")
        made = [(record, _call(record)) for record in nodes]
        if all(call is None or call.asked is not None for _, call in made):
            made.sort(key=lambda pair: (pair[1].asked if pair[1] else None) or 0.0)
        shared = Counter(session_in(record.value) for record, call in made if call is not None)
        for record, call in made:
            session = session_in(record.value)
            if call is not None:
                calls.add(call, session if shared[session] > 1 else "")
            else:
                calls.skip("record that is no model call, or has no answer")
        yield from calls.traces(nodes[0] if nodes else document.node())


def _records(document: Document) -> list[dict[str, Any]]:
    if document.problem is not None or document.is_json_lines or isinstance(document.head, list):
        return records(document)
    try:
        return [node.value for node in _nodes(document) if isinstance(node.value, dict)]
    except TraceError:
        return []


def _nodes(document: Document) -> list[Node]:
    nodes = values_of(document)
    whole = nodes[0] if len(nodes) == 1 else Node(document, None, "$", None)
    if isinstance(whole.value, dict) and not document.is_json_lines:
        if isinstance(whole.value.get("log"), dict):
            return at(whole, "log", "entries").items()
        for key in ("interactions", "http_interactions"):
            if isinstance(whole.value.get(key), list):
                return whole[key].items()
    return nodes


def _others(document: Document) -> list[Node]:
    """The other files of a folder that hold one call each, if this is the first of them; PartOf if it is not."""
    found: list[Node] = []
    for path in document.beside:
        nodes = _nodes(document) if path == document.path else _alone(Document(path))
        if path != document.path and nodes and not found:
            what = f"is one call of a log, read together with {path.name} — name it to read it alone"
            raise PartOf(f"{document.name}: {what}")
        found.extend(nodes)
    return found[1:]


def _alone(document: Document) -> list[Node]:
    known = _records(document)
    single = len(known) == 1 and request_in(known[0]) is not None and answer_in(known[0]) is not None
    return _nodes(document) if single else []


def _call(record: Node) -> Call | None:
    """A record as a call; None for one that is no model call, or has no answer that can be read."""
    record.object()
    request, answer = request_in(record.value), answer_in(record.value)
    if request is None or answer is None:
        return None
    if isinstance(answer[1], str):
        answer = (answer[0], {"choices": [{"message": {"role": "assistant", "content": answer[1]}}]})
    call = call_of(node_of(record, request), node_of(record, answer), body=bool(request[0]))
    offered = as_dict(record["model_parameters"].value).get("tools")
    if not call.tools and isinstance(offered, list):
        call.tools = offered
    if record["agent_gone"].value is True and call.answer:
        call.answer[0] = replace(call.answer[0], finish_reason=GONE)
        call.unread.add("answer whose end the agent did not wait for")
    call.asked, call.answered = time_in(record, _STARTS), time_in(record, _ENDS)
    call.model = call.model or only_text(record["model"])
    call.cost_usd = next((float(value) for key in _COSTS if type(value := record[key].value) in (int, float)), None)
    return call
