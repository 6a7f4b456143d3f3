"""The intake of calls: model calls as logs keep them, each with its request and its answer, in any
interface's form."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from ...model import AnyStep, ContextReset, Trace, grouped
from ..documents import Document
from ..records import Unread, time_of
from ..steps import ReadMessage
from ..values import as_dict, as_list, number, text
from .exchange import (  # fmt: skip
    answer_in,
    answers_of,
    conversation_in,
    instructions_in,
    request_in,
    session_in,
    tools_in,
)
from .prompts import Prompts

_INPUTS = ("input", "messages", "contents", "prompt", "inputText")
_STARTS = ("startTime", "start_time", "startedDateTime", "requestedAt", "started_at", "timestamp",
           "created_at", "recorded_at")  # fmt: skip
_ENDS = ("endTime", "end_time", "receivedAt", "ended_at", "completed_at")


@dataclass(frozen=True)
class _Call:
    """One model call of a log: its record, the request and the response in it, the messages of the
    answer, and when it was asked and answered."""

    record: dict[str, Any]
    request: dict[str, Any]
    response: Any
    answer: list[ReadMessage]
    asked: float | None
    answered: float | None
    unread: Unread


class Calls:
    """Runs out of the calls of a log: one trace a session where calls share one, else one a
    conversation that grows."""

    def __init__(self, document: Document, reader: str) -> None:
        self.document, self.reader = document, reader
        self.runs: dict[str, Prompts] = {}  # by session
        self.skipped = Unread()
        # By an answer's name: the conversation that the server keeps.
        self._kept: dict[str, list[ReadMessage]] = {}
        self._unread: dict[str, Counter[str]] = {}  # by session
        self._usd: dict[tuple[str, str], float] = {}  # by session and thread

    def add_records(self, records: list[dict[str, Any]]) -> None:
        """Add the calls among records of a log, in the order of their times, each to the run of its
        session."""
        calls = [call for call in map(_call_in, records) if call is not None]
        skipped = len(records) - len(calls)
        self.skipped.add("request that is no model call, or has no answer", skipped)
        if all(call.asked is not None for call in calls):
            calls.sort(key=lambda call: call.asked or 0.0)
        sessions = [session_in(call.record) for call in calls]
        shared = Counter(sessions)
        for call, session in zip(calls, sessions, strict=True):
            self._add(call, session if shared[session] > 1 else "")

    def _add(self, call: _Call, session: str) -> None:
        """Add a call to the run of a session, after what the server kept of the conversation."""
        run, request, record = self.runs.setdefault(session, Prompts()), call.request, call.record
        before = text(request.get("previous_response_id"))
        lost = before is not None and before not in self._kept
        run.unread.add("call whose earlier conversation is not in the file", lost)
        known = self._kept.get(before or "", [])
        conversation = [*known, *conversation_in(request, call.unread)]
        offered = as_list(as_dict(record.get("model_parameters")).get("tools")) or None
        model = text(request.get("model")) or text(record.get("model"))
        turn, *results = call.answer
        thread = run.ask(
            [*instructions_in(request, call.unread), *conversation],
            replace(turn, model=turn.model or model),
            results=results,
            tools=tools_in(request) or offered,
            asked=call.asked,
            answered=call.answered,
        )
        if name := text(as_dict(call.response).get("id")):
            self._kept[name] = [*conversation, *call.answer]
        cost = number(record.get("response_cost")) or 0.0
        self._usd[session, thread] = self._usd.get((session, thread), 0.0) + cost
        # prompts repeat what was there before: the most of one call
        self._unread[session] = self._unread.get(session, Counter()) | Counter(call.unread.counts)

    def traces(self) -> list[Trace]:
        """The runs as traces, without ids; where calls share no session each thread is one. What
        was skipped is counted on the first. TraceError where there is none."""
        traces: list[Trace] = []
        for session, run in self.runs.items():
            for what, count in self._unread.get(session, {}).items():
                run.unread.add(what, count)
            trace = run.trace(self.document, self.reader)
            usd = {thread: cost for (own, thread), cost in self._usd.items() if own == session}
            traces += [_with_cost(trace, sum(usd.values()))] if session else _apart(trace, usd)
        if not traces:
            raise self.document.fail(
                "expected a call with its answer, got none — log requests and responses whole"
            )
        left_out = {**traces[0].left_out, **self.skipped.counts}
        return [msgspec.structs.replace(traces[0], left_out=left_out), *traces[1:]]


def _call_in(record: dict[str, Any]) -> _Call | None:
    """A record as a call; None for one that is no model call, or has no answer that can be read."""
    request, response, unread = request_in(record), answer_in(record), Unread()
    answer = answers_of(response, unread)
    if request is None or not answer:
        return None
    asked, answered = (_first_time(record, keys, unread) for keys in (_STARTS, _ENDS))
    seconds = number(record.get("latency_sec"))
    if asked is not None and seconds is not None:  # OpenHands states when it was answered
        asked, answered = asked - seconds, asked
    nothing = all(request.get(key) is None for key in _INPUTS)
    unread.add("request whose input is not recorded", nothing)
    return _Call(record, request, response, answer, asked, answered, unread)


def _first_time(record: dict[str, Any], keys: tuple[str, ...], unread: Unread) -> float | None:
    """The first of some times that can be read, in seconds."""
    times = (time_of(record.get(key), unread) for key in keys)
    return next((time for time in times if time is not None), None)


def _apart(trace: Trace, usd: dict[str, float]) -> list[Trace]:
    """A trace a thread, its steps numbered anew; what was left out is counted on the first."""
    traces: list[Trace] = []
    for thread, own in grouped((step.thread, step) for step in trace.steps).items():
        index = {step.index: at for at, step in enumerate(own)}
        steps = tuple(_numbered(step, index) for step in own)
        left_out = {} if traces else trace.left_out
        part = msgspec.structs.replace(trace, steps=steps, left_out=left_out)
        traces.append(_with_cost(part, usd.get(thread, 0.0)))
    return traces


def _numbered(step: AnyStep, index: dict[int, int]) -> AnyStep:
    """A step of the one thread that a trace has, with its new index."""
    changes: dict[str, Any] = {"index": index[step.index], "thread": "main"}
    if isinstance(step, ContextReset):
        changes["kept"] = tuple(index[kept] for kept in step.kept if kept in index)
    return msgspec.structs.replace(step, **changes)


def _with_cost(trace: Trace, usd: float) -> Trace:
    meta = {**trace.meta, "cost_usd": round(usd, 9)}
    return msgspec.structs.replace(trace, meta=meta) if usd else trace
