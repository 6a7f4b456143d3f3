"""The intake of calls: model calls as logs keep them, each with its request and its answer, in any
interface's form."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..model import ContextReset, Trace, grouped
from .decoded import as_dict
from .documents import Document
from .exchange import (
    answer_in,
    answers_of,
    conversation_in,
    instructions_in,
    request_in,
    session_in,
    tools_in,
)
from .parts import Unread
from .prompts import Prompts
from .records import number, text, time_of
from .steps import ReadMessage

_INPUTS = ("input", "messages", "contents", "prompt", "inputText")
_STARTS = ("startTime", "start_time", "startedDateTime", "requestedAt", "started_at", "timestamp",
           "created_at", "recorded_at")  # fmt: skip
_ENDS = ("endTime", "end_time", "receivedAt", "ended_at", "completed_at")


@dataclass
class Call:
    """One model call: its instructions, its prompt, its answer (the turn, then results of tools
    that the server ran), and what is known beside them. `tools` is None where the request names
    none. `name` is the answer's own, `after` names the answer that the prompt goes on from where
    the server kept the conversation."""

    system: list[ReadMessage]
    prompt: list[ReadMessage]
    answer: list[ReadMessage]
    tools: list[Any] | None = None
    model: str | None = None
    asked: float | None = None
    answered: float | None = None
    name: str | None = None
    after: str | None = None
    usd: float = 0.0
    unread: Unread = field(default_factory=Unread)


def call_of(request: Any, answer: Any) -> Call:
    """A call out of the bodies of its request and its answer, which may be one object."""
    unread, body = Unread(), as_dict(request)
    system, prompt = instructions_in(body, unread), conversation_in(body, unread)
    answers = answers_of(answer, unread)
    unread.add("request whose input is not recorded", all(body.get(key) is None for key in _INPUTS))
    return Call(
        system,
        prompt,
        answers,
        tools=tools_in(body),
        model=text(body.get("model")),
        name=text(as_dict(answer).get("id")),
        after=text(body.get("previous_response_id")),
        unread=unread,
    )


class Calls:
    """Runs out of calls in the order they were made: one trace a session where calls share one,
    else one a conversation that grows."""

    def __init__(self, document: Document, reader: str) -> None:
        self.document, self.reader = document, reader
        self.runs: dict[str, Prompts] = {}  # by session
        self.skipped = Unread()
        # By an answer's name: the conversation that the server keeps.
        self._kept: dict[str, list[ReadMessage]] = {}
        self._unread: dict[str, Counter[str]] = {}  # by session
        self._usd: dict[tuple[str, str], float] = {}  # by session and thread

    def add(self, call: Call, session: str = "", agent: str | None = None) -> None:
        """Add a call; `agent` is who made it, where that is known."""
        run = self.runs.setdefault(session, Prompts())
        lost = call.after is not None and call.after not in self._kept
        run.unread.add("call whose earlier conversation is not in the file", lost)
        if not call.answer:
            run.unread.add("call without an answer")
            return
        turn, *results = call.answer
        conversation = [*self._kept.get(call.after or "", ()), *call.prompt]
        thread = run.ask(
            [*call.system, *conversation],
            turn.with_known(model=turn.model or call.model),
            results=results,
            agent=agent,
            tools=call.tools,
            asked=call.asked,
            answered=call.answered,
        )
        if call.name is not None:
            self._kept[call.name] = [*conversation, *call.answer]
        self._usd[session, thread] = self._usd.get((session, thread), 0.0) + call.usd
        # prompts repeat what was there before: the most of one call
        self._unread[session] = self._unread.get(session, Counter()) | Counter(call.unread.counts)

    def add_records(self, records: list[dict[str, Any]]) -> None:
        """Add the calls among records of a log, in the order of their times, each to the run of its
        session."""
        read = [(record, _call_in(record)) for record in records]
        calls = [(call, session_in(record)) for record, call in read if call is not None]
        self.skipped.add("request that is no model call, or has no answer", len(read) - len(calls))
        if all(call.asked is not None for call, _ in calls):
            calls.sort(key=lambda item: item[0].asked or 0.0)
        shared = Counter(session for _, session in calls)
        for call, session in calls:
            self.add(call, session if shared[session] > 1 else "")

    def traces(self) -> list[Trace]:
        """The runs as traces, without ids; where calls share no session each thread is one. What
        was skipped is counted on the first. TraceError where there is none."""
        traces: list[Trace] = []
        for session, run in self.runs.items():
            for what, count in self._unread.get(session, {}).items():
                run.unread.add(what, count)
            trace = run.trace(
                self.document, self.reader, meta={"session": session} if session else {}
            )
            usd = {
                thread: cost for (of, thread), cost in self._usd.items() if of == session and cost
            }
            traces += [_with_cost(trace, sum(usd.values()))] if session else _apart(trace, usd)
        if not traces:
            raise self.document.fail(
                "expected a call with its answer, got none — log requests and responses whole"
            )
        first = msgspec.structs.replace(
            traces[0], left_out={**traces[0].left_out, **self.skipped.counts}
        )
        return [first, *traces[1:]]


def _call_in(record: dict[str, Any]) -> Call | None:
    """A record as a call; None for one that is no model call, or has no answer that can be read."""
    request, answer = request_in(record), answer_in(record)
    if request is None or answer is None:
        return None
    call = call_of(request, answer)
    offered = as_dict(record.get("model_parameters")).get("tools")
    call.tools = call.tools or (offered if isinstance(offered, list) else None)
    call.asked = _first_time(record, _STARTS, call.unread)
    call.answered = _first_time(record, _ENDS, call.unread)
    seconds = number(record.get("latency_sec"))
    # OpenHands states when it was answered.
    if call.asked is not None and seconds is not None:
        call.asked, call.answered = call.asked - seconds, call.asked
    call.model = call.model or text(record.get("model"))
    call.usd = number(record.get("response_cost")) or 0.0
    return call


def _first_time(record: dict[str, Any], keys: tuple[str, ...], unread: Unread) -> float | None:
    """The first of some times that can be read, in seconds."""
    return next(
        (time for key in keys if (time := time_of(record.get(key), unread)) is not None), None
    )


def _apart(trace: Trace, usd: dict[str, float]) -> list[Trace]:
    """A trace a thread, its steps numbered anew; what was left out is counted on the first."""
    traces: list[Trace] = []
    for thread, own in grouped((step.thread, step) for step in trace.steps).items():
        index = {step.index: at for at, step in enumerate(own)}
        steps = []
        for at, step in enumerate(own):
            changes: dict[str, Any] = {"index": at, "thread": "main"}
            if isinstance(step, ContextReset):
                changes["kept"] = tuple(index[kept] for kept in step.kept if kept in index)
            steps.append(msgspec.structs.replace(step, **changes))
        part = msgspec.structs.replace(
            trace, steps=tuple(steps), left_out={} if traces else trace.left_out
        )
        traces.append(_with_cost(part, usd.get(thread, 0.0)))
    return traces


def _with_cost(trace: Trace, usd: float) -> Trace:
    return (
        msgspec.structs.replace(trace, meta={**trace.meta, "cost_usd": round(usd, 9)})
        if usd
        else trace
    )
