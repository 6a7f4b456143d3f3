"""The intake of calls: the model calls of a log, each with its request and answer, become runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

from ..steps import ReadMessage, Steps
from ..values import Fields, Unread, as_dict, as_list, first_of, number, start_and_end, text
from . import exchange
from .prompts import Prompts


class _Call:
    """One model call of a log: its request, its response with the answer, and the times of both."""

    def __init__(self, record: Fields) -> None:
        self.record, self.unread = record, Unread()
        self.request, self.response = exchange.request_in(record) or {}, exchange.answer_in(record)
        self.answer = exchange.answers_of(self.response, self.unread) if self.request else []
        self.id = text(first_of(as_dict(self.response), ("id", "responseId"))) or ""
        self.session = exchange.session_in(record)
        asked, answered = start_and_end(record, self.unread)
        seconds = number(record.get("latency_sec"))
        if asked is not None and seconds is not None:  # OpenHands records the time of the answer
            asked, answered = asked - seconds, asked
        self.asked, self.answered = asked, answered


def runs_of(records: list[Fields], unread: Unread) -> list[Steps]:
    """The runs in a log's records, in the order of their times. Calls that share a session are one
    run; other calls are a run if each continues the last. Records that are no calls are counted."""
    calls = [call for call in map(_Call, records) if call.answer]
    if all(call.asked is not None for call in calls):
        calls.sort(key=lambda call: call.asked or 0.0)
    shared = Counter(call.session for call in calls)
    sessions: dict[str, Prompts] = {}
    kept: dict[str, list[ReadMessage]] = {}
    unread_in = defaultdict[str, Counter[str]](Counter)
    for call in calls:
        name = call.session if shared[call.session] > 1 else ""
        if name not in sessions:
            sessions[name] = Prompts(apart=not name)
        _add_call(sessions[name], call, kept, unread)
        # Prompts repeat earlier messages, so this takes the maximum over the calls, not the sum.
        unread_in[name] |= Counter(call.unread.counts)
    for counts in unread_in.values():
        unread.add_all(counts)
    unread.add("request that is no model call, or has no answer", len(records) - len(calls))
    return [run for session in sessions.values() for run in session.runs()]


def _add_call(
    session: Prompts, call: _Call, kept: dict[str, list[ReadMessage]], unread: Unread
) -> None:
    """Add a call to a session. `kept` are the conversations that the server keeps, by the id of
    their last answer."""
    request, record = call.request, call.record
    before = text(request.get("previous_response_id"))
    lost = before is not None and before not in kept
    unread.add("call whose earlier conversation is not in the file", lost)
    conversation = [*kept.get(before or "", []), *exchange.conversation_in(request, call.unread)]
    offered = as_list(as_dict(record.get("model_parameters")).get("tools")) or None
    model = text(request.get("model")) or text(record.get("model"))
    turn, *results = call.answer
    run = session.add_model_call(
        [*exchange.instructions_in(request, call.unread), *conversation],
        replace(turn, model=turn.model or model),
        results=results,
        tools=exchange.tools_in(request) or offered,
        asked=call.asked,
        answered=call.answered,
    )
    run.cost_usd = round(run.cost_usd + (number(record.get("response_cost")) or 0.0), 9)
    if call.id:
        kept[call.id] = [*conversation, *call.answer]
