"""Recorded HTTP: cassettes of VCR in YAML or JSON, and HAR files, of which the model calls make runs."""

from __future__ import annotations

import gzip
import re
import zlib
from typing import Any
from urllib.parse import unquote

from ...model import ModelTurn
from ...text.wording import counted
from .. import Confidence, Document, Keeps, NoRun, Traces, as_dict, certain_if, dicts, register, strict_json
from ..call_records import add_records
from ..calls import Calls, call_of
from ..exchange import answer_in, request_in
from ..parts import Unread
from ..prompts import Prompts
from ..records import text, time_of
from ..steps import Ran
from ..streams import events_of_frames
from ..yaml_values import YamlError, yaml_value

_BEGINS = re.compile(
    r"^(?:http_)?interactions:\n\s*- (?:request|request_sample):\n|^requests:\n\s*- body:", re.MULTILINE
)
_ASKS = re.compile(rb"""\b(?:messages?|contents|input|inputText|prompt)\\?["']?:|^- body: !!binary""", re.MULTILINE)
_INGEST = "/traces/ingest"
_COHERE = {"USER": "user", "CHATBOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}
_MODEL = re.compile(r"/models?/([^/:?]+(?::\d+)?)")


@register("reader", "http", also=("http_cassette",))
class Http:
    """One trace a conversation of a cassette or a HAR: model calls whose prompts grow, in the interfaces of OpenAI,
    Anthropic, Gemini, Cohere or Bedrock, streamed or not, packed or not, also decoded as pydantic-ai keeps them.

    What the OpenAI Agents SDK sends to its own tracing within the cassette gives answers their agents, tools their times,
    and each handoff is a RouteDecision. Other requests are counted.

    Source: vcrpy.readthedocs.io (serializers, cassette format); the HAR 1.2 specification;
    openai.github.io/openai-agents-python, "Tracing"
    """

    keeps = Keeps(
        results="untruncated",
        also=("usage", "times", "errors", "routes", "reasoning", "resets", "tools", "model"),
        never="reasoning that the interface does not send, how the run ended",
        tested="vcrpy cassettes of OpenAI/Python 1.78, the Agents SDK 0.2.7, pydantic-ai, Gemini and Bedrock, published; HAR 1.2",
    )

    def sniff(self, document: Document) -> Confidence:
        listed = _listed_in_json(document)
        if listed:
            asked = any(request_in(record) is not None for record in listed)
            return certain_if(asked)
        if not _BEGINS.search(document.opening(400)):
            return Confidence.NO
        asks = _ASKS.search(document.data) is not None
        return certain_if(asks)

    def read(self, document: Document) -> Traces:
        """The recording's runs in the order in which they began."""
        calls = Calls(document, "http")
        listed = _listed_in_json(document)
        if listed:
            add_records(calls, listed)
            yield from calls.traces()
            return
        records = [_record(interaction) for interaction in _interactions(document)]
        tracing = _OwnTracing([record for record in records if _INGEST in str(record["uri"])])
        for record in records:
            _add(calls, record, tracing)
        if not calls.runs:
            first = str(records[0]["uri"])[:80] if records else "none"
            brotli = records and "br" in str(records[0].get("packed"))
            how = ", packed as Brotli does, which this reader cannot unpack" if brotli else ""
            what = f"no model call with an answer to read among {counted(len(records), 'request')} (the first: {first}{how})"
            raise NoRun(str(document.fail(what)))
        for run in calls.runs.values():
            run.never_shown()
        yield from calls.traces()


def _listed_in_json(document: Document) -> list[dict[str, Any]]:
    """The interactions of a cassette in JSON, or the entries of a HAR; `[]` for anything else."""
    if document.problem is not None or document.is_json_lines:
        return []
    whole = as_dict(document.json)
    listed = as_dict(whole.get("log")).get("entries") or whole.get("interactions") or whole.get("http_interactions")
    return [item for item in dicts(listed) if "request" in item]


def _add(calls: Calls, record: dict[str, Any], tracing: _OwnTracing) -> None:
    request, answer, uri = request_in(record), answer_in(record), str(record["uri"])
    if request is None or answer is None or isinstance(answer, str):
        if _INGEST not in uri:
            calls.skip("request that is no model call, or has no answer")
        return
    call = call_of(request[1], answer)
    named = _MODEL.search(unquote(uri))
    call.model = call.model or (named[1] if named else None)
    for name, given, ran in tracing.runs:
        calls.run().ran_unnamed(name, given, ran)
    tracing.runs.clear()
    calls.add(call, agent=tracing.agents.get(call.name or ""))
    tracing.handoff(calls.run(), call.name or "")


def _interactions(document: Document) -> list[dict[str, Any]]:
    try:
        value, _ = yaml_value(document.text.replace("\r\n", "\n"))
    except YamlError as error:
        raise document.fail(f"no YAML as VCR writes it: {error}", line=error.line) from None
    whole = as_dict(value)
    found = dicts(whole.get("interactions") or whole.get("http_interactions"))
    pairs = zip(dicts(whole.get("requests")), dicts(whole.get("responses")), strict=False)
    return [*found, *({"request": asked, "response": answered} for asked, answered in pairs)]


def _record(interaction: dict[str, Any]) -> dict[str, Any]:
    """An interaction with its bodies as texts, unpacked, as logs of calls have them; xAI's own protocol in OpenAI's form."""
    if "request_sample" in interaction:
        asked, answered = (
            as_dict(as_dict(interaction.get(f"{side}_sample")).get("json")) for side in ("request", "response")
        )
        body = {**asked, "messages": [_message(message) for message in asked.get("messages") or ()]}
        choices = [{**output, "message": _message(output.get("message"))} for output in dicts(answered.get("outputs"))]
        return {"uri": None, "request": {"body": body}, "response": {"body": {**answered, "choices": choices[-1:]}}}
    request, response = (as_dict(interaction.get(key)) for key in ("request", "response"))
    sent, got = (side.get("parsed_body") or _body(side.get("body")) for side in (request, response))
    if str(request.get("uri")).endswith("/v1/chat"):
        sent, got = _cohere(as_dict(strict_json(str(sent))), str(got).strip())
    packed = next(
        (value for key, value in as_dict(response.get("headers")).items() if key.lower() == "content-encoding"), ""
    )
    return {"uri": request.get("uri"), "request": {"body": sent}, "response": {"body": got}, "packed": packed}


def _cohere(asked: dict[str, Any], got: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """A call of Cohere's first interface in the form of its second; the last line of a stream is the whole answer."""
    past = [*dicts(asked.pop("chat_history", ())), {"role": "USER", "message": asked.pop("message", "")}]
    past[:0] = [{"role": "SYSTEM", "message": asked.pop("preamble")}] if asked.get("preamble") else []
    messages = [{"role": _COHERE.get(said.get("role", "")), "content": said.get("message")} for said in past]
    last = as_dict(strict_json(got.splitlines()[-1] if got else ""))
    answer = as_dict(last.get("response", last))
    made = [{"function": {**call, "arguments": call.get("parameters")}} for call in dicts(answer.get("tool_calls"))]
    said = {"role": "assistant", "content": answer.get("text"), "tool_calls": made}
    whole = {**answer, "id": answer.get("generation_id"), "message": said, "usage": answer.get("meta")}
    return {**asked, "messages": messages}, whole if "text" in answer else None


def _message(message: Any) -> dict[str, Any]:
    """A message of xAI's protocol in OpenAI's form: parts of text as a text, the role without its prefix."""
    held = dict(as_dict(message))
    if isinstance(held.get("content"), list):
        held["content"] = "".join(str(part.get("text") or "") for part in dicts(held["content"]))
    return held | {"role": str(held.get("role", "assistant")).removeprefix("ROLE_").lower()}


def _body(body: Any) -> str | list[Any] | None:
    """A body as text, or as the events of binary frames; None for one that is no text, or is packed in a way that Python
    does not know."""
    inner: Any = body.get("string", body.get("base64_string")) if isinstance(body, dict) else body
    if isinstance(inner, bytes):
        try:
            whole = gzip.decompress(inner) if inner.startswith(b"\x1f\x8b") else inner
            inner = events_of_frames(whole) or whole.decode("utf-8", "replace")
        except (OSError, EOFError, zlib.error):
            return None
    return inner if isinstance(inner, str | list) else None


class _OwnTracing:
    """The agent's own tracing of its calls: the agent of each answer, the runs of tools, the handoffs."""

    def __init__(self, sent: list[dict[str, Any]]) -> None:
        self.agents: dict[str, str] = {}
        self.handoffs: dict[str, list[str]] = {}  # to whom, by the agent that hands over
        self.runs: list[tuple[str, Any, Ran]] = []
        spans: dict[str, dict[str, Any]] = {}
        for record in sent:
            body = as_dict(strict_json(str(record["request"]["body"])))
            spans |= {
                item["id"]: item
                for item in dicts(body.get("data"))
                if isinstance(item.get("id"), str) and "span_data" in item
            }
        for span in spans.values():
            parent = as_dict(spans.get(str(span.get("parent_id")), {}).get("span_data"))
            self._span(span, as_dict(span["span_data"]), str(parent.get("name") or "agent"))

    def _span(self, span: dict[str, Any], data: dict[str, Any], agent: str) -> None:
        kind = data.get("type")
        if kind == "response":
            self.agents[str(data.get("response_id"))] = agent
        elif kind == "handoff" and isinstance(data.get("to_agent"), str):
            self.handoffs.setdefault(str(data.get("from_agent")), []).append(data["to_agent"])
        elif kind == "function":
            start, end = (time_of(span.get(key), Unread()) for key in ("started_at", "ended_at"))
            error = None if span.get("error") is None else str(span["error"])
            took = None if start is None or end is None or end < start else round(end - start, 6)
            ran = Ran(output=data.get("output"), failed=error is not None, error=error, t=end, duration_s=took)
            self.runs.append((text(data.get("name")) or "", strict_json(str(data.get("input"))), ran))

    def handoff(self, run: Prompts, answer: str) -> None:
        """Add a RouteDecision where the last answer handed over."""
        waiting = self.handoffs.get(self.agents.get(answer, ""))
        last = run.steps[-1] if run.steps else None
        if (
            waiting
            and isinstance(last, ModelTurn)
            and any(call.name.startswith("transfer_to") for call in last.tool_calls)
        ):
            run.route(waiting.pop(0), "handoff", last.agent, last.thread)
