"""Records of logs of model calls: where in them requests, answers, times and sessions stand, however deep a proxy put them."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from ..model.errors import TraceError
from .decoded import strict_json
from .documents import Node
from .nodes import moment
from .requests import bare_text, is_answer, is_request
from .streams import assembled, events_of

Found = tuple[tuple[str, ...], Any]
"""The keys that lead to a value, and the value: decoded, or put together from its stream."""


def _places(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(place.split(".")) for place in text.split())


_REQUESTS = (*_places(
    "request.parsed_body request.body_segments request.body request.postData.text request.json request.content request request_body requestBody"
    " req.body req reqPayload proxy_server_request.body proxy_server_request raw_request input kwargs"
), ())  # fmt: skip
_ANSWERS = (*_places(
    "response.parsed_body response.body_segments response.content.data response.body.string response.body response.content.text response.json"
    " response.content response response_body responseBody res.body res respPayload completion output"
), ())  # fmt: skip
_BARE = (("response",), ("completion",), ("output",))
"""Keys below which an answer may be its text alone."""
_SESSIONS = _places("session_id litellm_session_id metadata.session_id trace_id litellm_trace_id metadata.trace_id")
_USER = re.compile(r"_session_([0-9a-f-]{36})$")


def request_in(record: Any) -> Found | None:
    """The body of a record's request; None where it has none."""
    for keys in _REQUESTS:
        value = _decoded(_inside(record, keys))
        if keys[-1:] == ("body_segments",) and isinstance(value, list) and len(value) == 1:
            value = value[0]
        if is_request(value) or (keys and keys[0].startswith("req") and _is_prompt(value)):
            return keys, value
    return None


def answer_in(record: Any) -> Found | None:
    """The body of a record's answer: an object, or the bare text of one; None where it has none that can be read."""
    for keys in _ANSWERS:
        value = _inside(record, keys)
        if keys[-1:] in (("text",), ("data",)) and _inside(record, (*keys[:-1], "encoding")) == "base64":
            value = _unpacked(value)
        if isinstance(value, str) and "data:" in value[:2000]:
            value = assembled(events_of(value)) or value
        value = _decoded(value)
        if isinstance(value, list):
            value = assembled(value)
        alone = keys in _BARE and isinstance(value, str) and value.strip()
        if is_answer(value) or alone or (keys and bare_text(value) is not None):
            return keys, value
    return None


def _is_prompt(value: Any) -> bool:
    """True for a request that is one text to complete, as models on Bedrock take it."""
    held = [value.get(key) for key in ("prompt", "inputText")] if isinstance(value, dict) else []
    return any(bool(text) and isinstance(text[0] if isinstance(text, list) else text, str) for text in held)


def _inside(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = _decoded(value)
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _decoded(value: Any) -> Any:
    return strict_json(value) if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") else value


def _unpacked(value: Any) -> str | None:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, TypeError, ValueError):
        return None


def node_of(record: Node, found: Found) -> Node:
    """A value found in a record, as a node."""
    return Node(record.document, record.line, ".".join((record.path, *found[0])), found[1])


def time_in(record: Node, keys: tuple[str, ...]) -> float | None:
    """The first of some times that can be read, in seconds."""
    for key in keys:
        try:
            time = moment(record[key])
        except TraceError:
            continue
        if time is not None:
            return time
    return None


def session_in(record: Any) -> str:
    """The session that a record names, also as Claude Code does in the id of its user; `""` where it names none."""
    named = (_inside(record, keys) for keys in _SESSIONS)
    if found := next((value for value in named if isinstance(value, str) and value), ""):
        return found
    request = request_in(record)
    user = _inside(request[1], ("metadata", "user_id")) if request is not None else None
    known = _USER.search(user) if isinstance(user, str) else None
    return known.group(1) if known else ""
