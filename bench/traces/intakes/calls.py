"""The intake of calls: model calls from logs, each with its request and its answer, in the format
of any provider's interface."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from ...model import AnyStep, ContextReset, grouped
from ..steps import ReadMessage, Steps
from ..values import Unread, as_dict, as_list, number, start_and_end, text
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


@dataclass(frozen=True)
class _Call:
    """One model call of a log: its record, the request and the response in it, the messages of the
    answer, and the times of both."""

    record: dict[str, Any]
    request: dict[str, Any]
    response: Any
    answer: list[ReadMessage]
    asked: float | None
    answered: float | None
    unread: Unread


def runs_of(records: list[dict[str, Any]], unread: Unread) -> list[Steps]:
    """The runs in a log's records, in the order of their times: one per session where calls share
    one, else one per growing conversation. Records that are not calls are counted."""
    calls = [call for call in map(_call_in, records) if call is not None]
    skipped = len(records) - len(calls)
    unread.add("request that is no model call, or has no answer", skipped)
    if all(call.asked is not None for call in calls):
        calls.sort(key=lambda call: call.asked or 0.0)
    sessions = [session_in(call.record) for call in calls]
    shared = Counter(sessions)
    runs: dict[str, _Session] = {}
    kept: dict[str, list[ReadMessage]] = {}
    for call, session in zip(calls, sessions, strict=True):
        name = session if shared[session] > 1 else ""
        runs.setdefault(name, _Session()).add_call(call, kept)
    return [part for name, run in runs.items() for part in run.parts(as_one_run=name != "")]


class _Session(Prompts):
    """The calls of one session, or of none."""

    def __init__(self) -> None:
        super().__init__()
        self._usd: defaultdict[str, float] = defaultdict(float)  # by thread
        self._unread_in_call: Counter[str] = Counter()

    def add_call(self, call: _Call, kept: dict[str, list[ReadMessage]]) -> None:
        """Add a call; `kept` are the conversations that a server keeps, by the id of the last
        answer."""
        request, record = call.request, call.record
        before = text(request.get("previous_response_id"))
        lost = before is not None and before not in kept
        self.unread.add("call whose earlier conversation is not in the file", lost)
        conversation = [*kept.get(before or "", []), *conversation_in(request, call.unread)]
        offered = as_list(as_dict(record.get("model_parameters")).get("tools")) or None
        model = text(request.get("model")) or text(record.get("model"))
        turn, *results = call.answer
        thread = self.add_model_call(
            [*instructions_in(request, call.unread), *conversation],
            replace(turn, model=turn.model or model),
            results=results,
            tools=tools_in(request) or offered,
            asked=call.asked,
            answered=call.answered,
        )
        if name := text(as_dict(call.response).get("id")):
            kept[name] = [*conversation, *call.answer]
        self._usd[thread] += number(record.get("response_cost")) or 0.0
        # prompts repeat what was there before: the most of one call
        self._unread_in_call |= Counter(call.unread.counts)

    def parts(self, *, as_one_run: bool) -> list[Steps]:
        """The session as one run, or one run per thread; what was left out is counted on the
        first."""
        for what, count in self._unread_in_call.items():
            self.unread.add(what, count)
        self.cost_usd = round(sum(self._usd.values()), 9)
        if as_one_run:
            return [self]
        parts = []
        for thread, own in grouped((step.thread, step) for step in self.steps).items():
            part, index = Steps(), {step.index: at for at, step in enumerate(own)}
            part.steps = [_numbered(step, index) for step in own]
            part.cost_usd = round(self._usd[thread], 9)
            parts.append(part)
        parts[0].unread = self.unread
        return parts


def _call_in(record: dict[str, Any]) -> _Call | None:
    """A record as a call; None if it is not a model call, or its answer cannot be read."""
    request, response, unread = request_in(record), answer_in(record), Unread()
    answer = answers_of(response, unread)
    if request is None or not answer:
        return None
    asked, answered = start_and_end(record, unread)
    seconds = number(record.get("latency_sec"))
    if asked is not None and seconds is not None:  # OpenHands states when it was answered
        asked, answered = asked - seconds, asked
    nothing = all(request.get(key) is None for key in _INPUTS)
    unread.add("request whose input is not recorded", nothing)
    return _Call(record, request, response, answer, asked, answered, unread)


def _numbered(step: AnyStep, index: dict[int, int]) -> AnyStep:
    """A step with its new index, in the thread `main`."""
    changes: dict[str, Any] = {"index": index[step.index], "thread": "main"}
    if isinstance(step, ContextReset):
        changes["kept"] = tuple(index[kept] for kept in step.kept if kept in index)
    return msgspec.structs.replace(step, **changes)
