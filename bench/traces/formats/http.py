"""Recorded HTTP: cassettes of VCR in YAML or JSON, and HAR files, with model calls."""

from __future__ import annotations

import contextlib
import re
from typing import Any
from urllib.parse import unquote

from ...model.errors import TraceError
from .. import Document, Fields, register
from ..intakes.calls import runs_of
from ..intakes.exchange import request_in
from ..steps import Steps
from ..unpacked import unpacked
from ..values import Unread, as_dict, dicts
from . import Format

_BEGINS = re.compile(r"^interactions:\n\s*- request:\n", re.MULTILINE)
_ASKS = re.compile(rb"""\b(?:messages?|contents|input|inputText|prompt)\\?["']?:""")
_MODEL = re.compile(r"/models?/([^/:?]+(?::\d+)?)")


@register("reader", "http")
class Http(Format):
    """One trace per conversation of a cassette or a HAR: model calls whose prompts grow, in the
    interfaces of OpenAI, Anthropic, Gemini, or Bedrock, streamed or not, packed or not, also
    decoded as pydantic-ai keeps them.

    Other requests are counted: tracing, embeddings, and interfaces that complete a text or have a
    protocol of their own.

    Not kept: streams of Bedrock, which are binary; reasoning that the interface does not send.

    Source: vcrpy.readthedocs.io (serializers, cassette format); the HAR 1.2 specification. Tested:
    vcrpy cassettes of OpenAI/Python 1.78, pydantic-ai, Gemini and Bedrock, published; HAR 1.2
    """

    def marked(self, document: Document) -> object:
        if document.problem is None:
            return any(map(request_in, _listed_in_json(document)))
        return _BEGINS.search(document.opening(400)) and _ASKS.search(document.data)

    def runs(self, document: Document, unread: Unread) -> list[Steps]:
        listed_in = _listed_in_json if document.problem is None else _listed_in_yaml
        return runs_of(listed_in(document), unread)


def _listed_in_json(document: Document) -> list[Fields]:
    cassette = {} if document.is_json_lines else as_dict(document.json)
    listed = dicts(as_dict(cassette, "log").get("entries") or cassette.get("interactions"))
    return [item for item in listed if "request" in item]


def _listed_in_yaml(document: Document) -> list[Fields]:
    records = []
    for interaction in dicts(as_dict(document.yaml).get("interactions")):
        named = _MODEL.search(unquote(str(as_dict(interaction, "request").get("uri"))))
        sides = ("request", "response")
        bodies = {side: {"body": _body(as_dict(interaction, side))} for side in sides}
        records.append({**bodies, "model": named[1] if named else None})
    return records


def _body(side: Fields) -> Any:
    body = side.get("body")
    body = body.get("string") if isinstance(body, dict) else body
    if isinstance(body, bytes):
        with contextlib.suppress(TraceError):
            body = unpacked(body, "").decode("utf-8", "replace")
    return side.get("parsed_body") or (body if isinstance(body, str) else None)
