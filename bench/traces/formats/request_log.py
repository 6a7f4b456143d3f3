"""Logs of model calls with their whole requests and answers: LiteLLM's, those of gateways, and the like."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from .. import Confidence, Document, Keeps, Near, PartOf, Traces, as_dict, by_marks, register
from ..calls import Call, Calls, call_of
from ..exchange import answer_in, request_in, session_in
from ..parts import Unread
from ..session_log import objects_of, text, time_of

STARTS = (
    "startTime",
    "start_time",
    "startedDateTime",
    "requestedAt",
    "started_at",
    "timestamp",
    "created_at",
    "recorded_at",
)
ENDS = ("endTime", "end_time", "receivedAt", "ended_at", "completed_at")
_COSTS = ("response_cost", "spend", "cost_usd", "cost")
_SAMPLE = 20
GONE = "agent_gone"
"""The reason why an answer ended that the agent did not wait for: it is what the provider sent, not what the agent saw."""


@register("reader", "request_log")
class RequestLog:
    """Runs out of a log of calls, each `{request, response}` by these or like names, as deep as proxies put them.

    Requests and answers may be in the form of OpenAI's chat or Responses interface, Anthropic's, Gemini's or Bedrock's;
    streamed answers are put together. A call whose prompt begins with an earlier one's is of the same run; a prompt
    that is such a one shortened is a ContextReset. Calls that share a session (`session_id`, `trace_id`, Claude Code's
    user id) are one trace; without one each conversation is a trace. In a folder, files of one call each are read
    together, as the first of them. Costs are in `meta` by step.

    Source: docs.litellm.ai, "StandardLoggingPayload Specification"
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "reasoning", "threads", "resets", "tools", "model"),
        never="the untruncated result, errors and times of tools: they ran where the proxy does not see",
        tested="LiteLLM StandardLoggingPayload; written by hand after the specification",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        asked = [record for record in document.first_objects[:_SAMPLE] if request_in(record) is not None]
        answered = any(answer_in(record) is not None for record in asked)
        marks = {"the body of a request (messages or input)": bool(asked), "an answer beside a request": answered}
        return by_marks(marks, Confidence.POSSIBLE)  # other formats may wrap these in more

    def read(self, document: Document) -> Traces:
        """The file's runs in the order in which they began."""
        calls = Calls(document, "request_log")
        records = objects_of(document, calls.skipped)
        if len(records) == 1 and len(document.beside) > 1:
            records += _others(document)
        add_records(calls, records)
        yield from calls.traces()


def add_records(calls: Calls, records: list[dict[str, Any]]) -> None:
    """Add the calls among some records, in the order of their times, each to the run of its session."""
    made = [(record, _call(record)) for record in records]
    if all(call is None or call.asked is not None for _, call in made):
        made.sort(key=lambda pair: (pair[1].asked if pair[1] else None) or 0.0)
    shared = Counter(session_in(record) for record, call in made if call is not None)
    for record, call in made:
        session = session_in(record)
        if call is None:
            calls.skip("record that is no model call, or has no answer")
        else:
            calls.add(call, session if shared[session] > 1 else "")


def _others(document: Document) -> list[dict[str, Any]]:
    """The other files of a folder that hold one call each, if this is the first of them; PartOf if it is not."""
    found: list[dict[str, Any]] = []
    for path in document.beside:
        known = Document(path).first_objects if path != document.path else []
        alone = len(known) == 1 and request_in(known[0]) is not None and answer_in(known[0]) is not None
        if alone and not found and path < document.path:
            what = f"is one call of a log, read together with {path.name} — name it to read it alone"
            raise PartOf(f"{document.name}: {what}")
        found += known if alone else []
    return found


def _call(record: dict[str, Any]) -> Call | None:
    """A record as a call; None for one that is no model call, or has no answer that can be read."""
    request, answer = request_in(record), answer_in(record)
    if request is None or answer is None:
        return None
    below, body = request
    call = call_of(body, answer, body=below)
    offered = as_dict(record.get("model_parameters")).get("tools")
    call.tools = call.tools or (offered if isinstance(offered, list) else None)
    if record.get("agent_gone") is True and call.answer:
        call.answer[0] = replace(call.answer[0], finish_reason=GONE)
        call.unread.add("answer whose end the agent did not wait for")
    call.asked, call.answered = first_time(record, STARTS, call.unread), first_time(record, ENDS, call.unread)
    call.model = call.model or text(record.get("model"))
    costs: list[Any] = [record.get(key) for key in _COSTS]
    call.cost_usd = next((float(cost) for cost in costs if type(cost) in (int, float)), None)
    return call


def first_time(record: dict[str, Any], keys: tuple[str, ...], unread: Unread) -> float | None:
    """The first of some times that can be read, in seconds."""
    return next((time for key in keys if (time := time_of(record.get(key), unread)) is not None), None)
