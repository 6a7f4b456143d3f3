"""Recorded HTTP: cassettes of VCR in YAML or JSON, of nock, and HAR files, of which the model calls
make runs."""

from __future__ import annotations

import gzip
import re
import zlib
from typing import Any
from urllib.parse import unquote

from ...model import compact_json
from ...text.wording import counted
from .. import Confidence, Document, NoRun, Traces, as_dict, certain_if, dicts, register
from ..calls import Calls
from ..content import first_of
from ..exchange import request_in
from ..streams import assembled, events_of_frames

_BEGINS = re.compile(
    r"^(?:http_)?interactions:\n\s*- request:\n|^requests:\n\s*- body:", re.MULTILINE
)
_ASKS = re.compile(
    rb"""\b(?:messages?|contents|input|inputText|prompt)\\?["']?:|^- body: !!binary""", re.MULTILINE
)
_HEX = re.compile(r"(?:[0-9a-f]{2})+")
_MODEL = re.compile(r"/models?/([^/:?]+(?::\d+)?)")


@register("reader", "http")
class Http:
    """One trace a conversation of a cassette or a HAR: model calls whose prompts grow, in the
    interfaces of OpenAI, Anthropic, Gemini, or Bedrock, streamed or not, packed or not, also
    decoded as pydantic-ai keeps them.

    Other requests are counted: tracing, embeddings, and interfaces that complete a text or have a
    protocol of their own.

    Not kept: reasoning that the interface does not send, how the run ended.

    Source: vcrpy.readthedocs.io (serializers, cassette format); github.com/nock/nock
    (`nock.recorder`); the HAR 1.2 specification. Tested: vcrpy cassettes of OpenAI/Python 1.78,
    pydantic-ai, Gemini and Bedrock, published; HAR 1.2
    """

    def sniff(self, document: Document) -> Confidence:
        if listed := _listed_in_json(document):
            return certain_if(any(request_in(record) is not None for record in listed))
        return certain_if(_BEGINS.search(document.opening(400)) and _ASKS.search(document.data))

    def read(self, document: Document) -> Traces:
        """The recording's runs in the order in which they began."""
        calls = Calls(document, "http")
        records = _listed_in_json(document) or [
            _record(interaction) for interaction in _interactions(document)
        ]
        calls.add_records(records)
        if not calls.runs:
            first = first_of(records[0]["request"], ("uri", "url")) if records else "none"
            what = (
                f"no call of a chat with an answer to read among {counted(len(records), 'request')}"
            )
            raise NoRun(str(document.fail(f"{what} (the first: {str(first)[:80]})")))
        yield from calls.traces()


def _listed_in_json(document: Document) -> list[dict[str, Any]]:
    """The interactions of a cassette in JSON, nock's too, or the entries of a HAR; `[]` for
    anything else."""
    if document.problem is not None or document.is_json_lines:
        return []
    if isinstance(document.json, list):
        replies = [
            reply for reply in dicts(document.json) if {"scope", "path", "response"} <= reply.keys()
        ]
        return [_record(_with_sides(reply)) for reply in replies]
    cassette = as_dict(document.json)
    listed = (
        as_dict(cassette.get("log")).get("entries")
        or cassette.get("interactions")
        or cassette.get("http_interactions")
    )
    return [item for item in dicts(listed) if "request" in item]


def _interactions(document: Document) -> list[dict[str, Any]]:
    cassette = as_dict(document.yaml)
    listed = dicts(cassette.get("interactions") or cassette.get("http_interactions"))
    pairs = zip(dicts(cassette.get("requests")), dicts(cassette.get("responses")), strict=False)
    return [*listed, *({"request": asked, "response": answered} for asked, answered in pairs)]


def _with_sides(reply: dict[str, Any]) -> dict[str, Any]:
    """A reply as nock records it, as an interaction of a cassette."""
    request = {"uri": f"{reply['scope']}{reply['path']}", "parsed_body": reply.get("body")}
    response = reply["response"]
    if (
        reply.get("responseIsBinary") is True
        and isinstance(response, str)
        and _HEX.fullmatch(response)
    ):
        return {"request": request, "response": {"body": bytes.fromhex(response)}}
    return {"request": request, "response": {"parsed_body": response}}


def _record(interaction: dict[str, Any]) -> dict[str, Any]:
    """An interaction with its bodies as texts, unpacked, as logs of calls have them."""
    request, response = (as_dict(interaction.get(key)) for key in ("request", "response"))
    sent, got = (side.get("parsed_body") or _body(side.get("body")) for side in (request, response))
    named = _MODEL.search(unquote(str(request.get("uri"))))
    model = named[1] if named else None
    return {
        "request": {"uri": request.get("uri"), "body": sent},
        "response": {"body": got},
        "model": model,
    }


def _body(body: Any) -> str | None:
    """A body as text; None for one that is no text, or is packed in a way that Python does not
    know."""
    inner: Any = body.get("string", body.get("base64_string")) if isinstance(body, dict) else body
    if isinstance(inner, bytes):
        try:
            data = gzip.decompress(inner) if inner.startswith(b"\x1f\x8b") else inner
        except (OSError, EOFError, zlib.error):
            return None
        streamed = assembled(events_of_frames(data))
        inner = data.decode("utf-8", "replace") if streamed is None else compact_json(streamed)
    return inner if isinstance(inner, str) else None
