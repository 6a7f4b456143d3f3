"""Cassettes of VCR in YAML: recorded HTTP, of which the model calls make runs."""

from __future__ import annotations

import base64
import gzip
import re
import zlib
from typing import Any
from urllib.parse import unquote

import yaml

from ...model import ModelTurn
from .. import Confidence, Document, Keeps, Near, Node, NoRun, Traces, as_dict, by_marks, dicts, register, strict_json
from ..calls import Calls, call_of
from ..nodes import at, between, first_of, moment
from ..prompts import Prompts
from ..records import answer_in, node_of, request_in
from ..steps import Ran
from ..streams import events_of_frames

_BEGINS = re.compile(
    r"^(?:http_)?interactions:\n\s*- (?:request|request_sample):\n|^requests:\n\s*- body:", re.MULTILINE
)
_INGEST = "/traces/ingest"
_ASKS = re.compile(rb"""\b(?:messages?|contents|input|inputText|prompt)\\?["']?:|^- body: !!binary""", re.MULTILINE)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORDS = {"": None, "null": None, "~": None, "true": True, "false": False}
_COHERE = {"USER": "user", "CHATBOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}
_DEEPEST, _MOST_DIGITS = 100, 300
_MODEL = re.compile(r"/models?/([^/:?]+(?::\d+)?)")


@register("reader", "http_cassette")
class HttpCassette:
    """One trace a conversation of a cassette: model calls whose prompts grow, in the interfaces of OpenAI, Anthropic, Gemini or Bedrock,
    streamed or not, packed or not, also decoded as pydantic-ai keeps them (`parsed_body`).

    What the OpenAI Agents SDK sends to its own tracing within the cassette gives answers their agents, tools their times, and each handoff is a
    RouteDecision. Other requests are counted. Cassettes in JSON are read by `request_log`.

    Source: vcrpy.readthedocs.io (serializers, cassette format); openai.github.io/openai-agents-python, "Tracing"
    """

    keeps = Keeps(
        results="untruncated",
        also=("usage", "times", "errors", "routes", "reasoning", "resets", "tools", "model"),
        never="reasoning that the interface does not send, how the run ended",
        tested="vcrpy cassettes, format 1, of OpenAI/Python 1.78, the Agents SDK 0.2.7, pydantic-ai, Gemini and Bedrock, published files",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        if not _BEGINS.search(document.opening(400)):
            return Confidence.NO
        asks = _ASKS.search(document.data) is not None
        return by_marks({"interactions as VCR lists them": True, "a request with messages, contents or input": asks})

    def read(self, document: Document) -> Traces:
        """The cassette's runs in the order in which they began."""
        whole = _whole(document)
        interactions = first_of(whole, "interactions", "http_interactions").items()
        pairs = [(node.path, node.object()) for node in interactions]
        for asked, answered in zip(whole["requests"].items(), whole["responses"].items(), strict=False):
            pairs.append((asked.path, {"request": asked.value, "response": answered.value}))
        records = [Node(whole.document, None, path, _record(pair)) for path, pair in pairs]
        told = _OwnTracing([record for record in records if _INGEST in str(record.value.get("uri"))])
        calls = Calls(document, "http_cassette")
        for record in records:
            request, answer, uri = request_in(record.value), answer_in(record.value), str(record.value.get("uri"))
            if request is None or answer is None or isinstance(answer[1], str):
                if _INGEST not in uri:
                    calls.skip("request that is no model call, or has no answer")
                continue
            call = call_of(node_of(record, request), node_of(record, answer))
            named = _MODEL.search(unquote(uri))
            call.model = call.model or (named[1] if named else None)
            for name, given, ran in told.runs:
                calls.run().ran_unnamed(name, given, ran)
            told.runs.clear()
            calls.add(call, agent=told.agents.get(call.name or ""))
            told.handoff(calls.run(), call.name or "")
        if not calls.runs:
            first = str(records[0].value.get("uri"))[:80] if records else "none"
            packed = as_dict(at(interactions[0], "response", "headers").value if interactions else None)
            how = next((str(packed[key]) for key in packed if key.lower() == "content-encoding"), "")
            how = ", packed as Brotli does, which this reader cannot unpack" if "'br'" in how else ""
            what = f"none of {len(records)} requests is a model call with an answer to read (the first: {first}{how})"
            raise NoRun(str(whole.fail(what)))
        for run in calls.runs.values():
            run.never_shown()
        yield from calls.traces(whole)


def _whole(document: Document) -> Node:
    try:
        value, document.repeated_keys[None] = yaml_value(document.text.replace("\r\n", "\n"))
    except YamlError as error:
        raise document.fail(f"no YAML as VCR writes it: {error}", line=error.line) from None
    return Node(document, None, "$", value)


def _record(interaction: dict[str, Any]) -> dict[str, Any]:
    """An interaction with its bodies as texts, unpacked, as logs of calls have them; xAI's own protocol in OpenAI's form."""
    if "request_sample" in interaction:
        asked, answered = (
            as_dict(as_dict(interaction.get(f"{side}_sample")).get("json")) for side in ("request", "response")
        )
        body = {**asked, "messages": [_message(message) for message in asked.get("messages") or ()]}
        outputs = dicts(answered.get("outputs"))
        choices = [{**output, "message": _message(output.get("message"))} for output in outputs]
        return {"uri": None, "request": {"body": body}, "response": {"body": {**answered, "choices": choices[-1:]}}}
    request, response = (as_dict(interaction.get(key)) for key in ("request", "response"))
    sent, got = (side.get("parsed_body") or _text(side.get("body")) for side in (request, response))
    if str(request.get("uri")).endswith("/v1/chat"):
        sent, got = _cohere(as_dict(strict_json(str(sent))), str(got).strip())
    return {"uri": request.get("uri"), "request": {"body": sent}, "response": {"body": got}}


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


def _text(body: Any) -> str | list[Any] | None:
    """A body as text, or as the events of binary frames; None for one that is no text, or is packed in a way that Python does not know."""
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

    def __init__(self, sent: list[Node]) -> None:
        self.agents: dict[str, str] = {}
        self.handoffs: dict[str, list[str]] = {}  # to whom, by the agent that hands over
        self.runs: list[tuple[str, Any, Ran]] = []
        spans: dict[str, tuple[Node, dict[str, Any]]] = {}
        for record in sent:
            body = as_dict(strict_json(str(record.value["request"]["body"])))
            for item in dicts(body.get("data")):
                if isinstance(item.get("span_data"), dict) and isinstance(item.get("id"), str):
                    spans[item["id"]] = (record.made(item, ".request.body"), item["span_data"])
        for span, data in spans.values():
            _, parent = spans.get(str(span.value.get("parent_id")), (span, {}))
            self._span(span, data, str(parent.get("name") or "agent"))

    def _span(self, span: Node, data: dict[str, Any], agent: str) -> None:
        kind = data.get("type")
        if kind == "response":
            self.agents[str(data.get("response_id"))] = agent
        elif kind == "handoff" and isinstance(data.get("to_agent"), str):
            self.handoffs.setdefault(str(data.get("from_agent")), []).append(data["to_agent"])
        elif kind == "function":
            start, end = (moment(span.made(span.value.get(key))) for key in ("started_at", "ended_at"))
            error = None if span.value.get("error") is None else str(span.value["error"])
            seconds = between(start, end)
            ran = Ran(output=data.get("output"), failed=error is not None, error=error, t=end, duration_s=seconds)
            self.runs.append((str(data.get("name")), strict_json(str(data.get("input"))), ran))

    def handoff(self, run: Prompts, answer: str) -> None:
        waiting = self.handoffs.get(self.agents.get(answer, ""))
        last = run.steps[-1] if run.steps else None
        if not waiting or not isinstance(last, ModelTurn):
            return
        if any(call.name.startswith("transfer_to") for call in last.tool_calls):
            run.route(waiting.pop(0), "handoff", last.agent, last.thread)


# ---------------------------------------------------------------- YAML without anchors or objects


class YamlError(ValueError):
    """A text that cannot be read as such YAML: the number of its line, and the reason."""

    def __init__(self, mark: Any, what: str) -> None:
        super().__init__(what)
        self.line: int = 1 if mark is None else mark.line + 1


def yaml_value(text: str) -> tuple[Any, int]:
    """Return the value of a YAML text, and how often a mapping repeats one of its keys: the last one counts.

    Aliases, tags but `!!binary`, several documents and more than 100 levels raise YamlError.

    >>> yaml_value("calls:\\n- body: 'it''s\\n    folded'\\n  code: 200\\n- null\\nkey: |\\n  a\\n  b\\n")
    ({'calls': [{'body': "it's folded", 'code': 200}, None], 'key': 'a\\nb\\n'}, 0)
    """
    documents: list[Any] = []
    open_: list[list[Any]] = [documents]  # the members of each collection that is not closed yet
    repeated = 0
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.AliasEvent) or len(open_) > _DEEPEST:
                deep = "is nested too deeply" if len(open_) > _DEEPEST else "an alias, which no recorder of HTTP writes"
                raise YamlError(event.start_mark, deep)
            if isinstance(event, yaml.ScalarEvent):
                open_[-1].append(_scalar(event))
            elif isinstance(event, yaml.CollectionStartEvent):
                open_.append([])
            elif isinstance(event, yaml.CollectionEndEvent):
                members = open_.pop()
                if isinstance(event, yaml.MappingEndEvent):
                    found = {str(key): value for key, value in zip(members[::2], members[1::2], strict=True)}
                    repeated += len(members) // 2 - len(found)
                    open_[-1].append(found)
                else:
                    open_[-1].append(members)
            if len(documents) > 1:
                raise YamlError(event.start_mark, "a second document")
    except yaml.MarkedYAMLError as error:
        raise YamlError(error.problem_mark, str(error.problem)) from None
    except yaml.YAMLError as error:
        raise YamlError(None, str(error)) from None
    return (documents[0] if documents else None), repeated


def _scalar(event: yaml.ScalarEvent) -> Any:
    text: str = event.value
    if event.tag in ("tag:yaml.org,2002:binary", "!binary"):  # the second is Ruby's
        try:
            return base64.b64decode(re.sub(r"\s", "", text), validate=True)
        except ValueError as error:
            raise YamlError(event.start_mark, f"is no base64 ({error})") from None
    if event.tag is not None:
        raise YamlError(event.start_mark, f"the tag {event.tag[:60]!r}, which this reader does not know")
    if not event.implicit[0]:
        return text
    if _NUMBER.fullmatch(text) and len(text) < _MOST_DIGITS:
        return float(text) if set(text) & set(".eE") else int(text)
    return _WORDS.get(text, text)
