"""Records of logs and proxies as calls: one request with its answer, when it was made, and of which session."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .calls import Call, Calls, call_of
from .decoded import as_dict
from .exchange import answer_in, request_in, session_in
from .parts import Unread
from .records import text, time_of

_STARTS = (
    "startTime",
    "start_time",
    "startedDateTime",
    "requestedAt",
    "started_at",
    "timestamp",
    "created_at",
    "recorded_at",
)
_ENDS = ("endTime", "end_time", "receivedAt", "ended_at", "completed_at")


def add_records(calls: Calls, records: list[dict[str, Any]]) -> None:
    """Add the calls among some records, in the order of their times, each to the run of its session."""
    made = [(record, _call(record)) for record in records]
    if all(call is None or call.asked is not None for _, call in made):
        made.sort(key=lambda pair: (pair[1].asked if pair[1] else None) or 0.0)
    shared = Counter(session_in(record) for record, call in made if call is not None)
    for record, call in made:
        session = session_in(record)
        if call is None:
            calls.skip("request that is no model call, or has no answer")
        else:
            calls.add(call, session if shared[session] > 1 else "")


def _call(record: dict[str, Any]) -> Call | None:
    """A record as a call; None for one that is no model call, or has no answer that can be read."""
    request, answer = request_in(record), answer_in(record)
    if request is None or answer is None:
        return None
    below, body = request
    call = call_of(body, answer, body=below)
    offered = as_dict(record.get("model_parameters")).get("tools")
    call.tools = call.tools or (offered if isinstance(offered, list) else None)
    call.asked, call.answered = _first_time(record, _STARTS, call.unread), _first_time(record, _ENDS, call.unread)
    call.model = call.model or text(record.get("model"))
    return call


def _first_time(record: dict[str, Any], keys: tuple[str, ...], unread: Unread) -> float | None:
    """The first of some times that can be read, in seconds."""
    return next((time for key in keys if (time := time_of(record.get(key), unread)) is not None), None)
