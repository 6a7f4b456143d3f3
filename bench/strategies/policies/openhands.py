"""Compactors `openhands.*`: the condensers of OpenHands.

They count events, not messages: a model's message is one event for each of its calls (one without a call), any other message is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import Compactor, Count, PromptMessages, Share, Summarising, View, state, system_count
from . import exchanged, older, results_of


def events_of(messages: Sequence[Message]) -> list[Message]:
    """Return a history as OpenHands' events: each message as often as it is an event."""
    return [message for message in messages for _ in range(max(1, len(message.tool_calls)))]


def messages_of(events: Sequence[Message]) -> list[Message]:
    """Return the messages of which at least one event is among some events."""
    return list(dict.fromkeys(events))


@register("compactor", "openhands.summarize")
class OpenhandsSummarize(Summarising):
    """Above `max_size` events, or above the window's tokens: the first `keep_first`, a summary of what follows, and a tail.

    The tail has `max_size` // 2 - `keep_first` - 1 events; where the tokens are too many, as many as bring them to half of the limit, and the
    smaller of both. What goes begins and ends where no call waits for its result, at the next such place; it must be at least
    `minimum_progress` of the events. Where nothing can go so and the tokens are too many, everything but the system prompt is summarised; where
    only the events are, nothing changes. The summary is a user message. Settings that leave no tail, which the original refuses, leave none here.

    Defaults are those of the preset (`default_condenser`); the class itself has 240 events and keeps the first 2.

    Source: openhands-sdk 1.58.2, openhands/sdk/context/condenser/llm_summarizing_condenser.py and openhands/sdk/context/view/properties

    >>> OpenhandsSummarize(max_size=8, keep_first=2).tried(*[f"user: {step}" for step in range(9)])
    ['user: 0', 'user: 1', 'user: Summary of 6 earlier messages:', 'user: 8']
    """

    max_size: Count = 80
    keep_first: Count = 4
    max_tokens: Count | None = None
    minimum_progress: Share = 0.1

    def compact(self, window: Window) -> Edits | None:
        messages, events = list(window.messages), events_of(window.messages)
        limit = window.max_tokens if self.max_tokens is None else min(self.max_tokens, window.max_tokens)
        tails = [self.max_size // 2 - self.keep_first - 1] if len(events) > self.max_size else []
        if window.tokens > limit:
            tails.append(self._tail_for(window, events, window.tokens - limit // 2))
        if not tails:
            return None
        allowed = _cuts(messages)
        head = max(self.keep_first, min(1, system_count(messages)))
        start = next((place for place in allowed if place >= head), len(events))
        end = next((place for place in allowed if place >= len(events) - max(0, min(tails))), 0)
        if start >= end or end - start < len(events) * self.minimum_progress:
            if window.tokens <= limit:
                return Edits(notes=(f"{len(events)} events, but too little can go",))
            start, end = min(1, system_count(messages)), len(events)
        before, old, after = (messages_of(part) for part in (events[:start], events[start:end], events[end:]))
        note = f"{len(events)} events, {window.tokens} tokens: {end - start} events summarised"
        return self.summarised(window, before, old, after, note)

    def _tail_for(self, window: Window, events: list[Message], reduction: int) -> int:
        """Return how many of the last events may stay where the tokens must be this many fewer."""
        rest, gone, before = events[self.keep_first :], 0, events[self.keep_first - 1 : self.keep_first]
        if reduction <= 0:
            return len(rest)
        for place, message in enumerate(rest):
            gone += 0 if [message] == before else window.count(message)
            before = [message]
            if gone > reduction:
                return len(rest) - place - 1
        return 0


def _cuts(messages: list[Message]) -> list[int]:
    """Return the places between events where no call waits for its result."""
    given, waiting = results_of(messages), set[str]()
    cuts, place = [0], 0
    for message in messages:
        place += max(1, len(message.tool_calls))
        waiting.update(call.id for call in message.tool_calls if call.id in given)
        waiting.discard(message.call_id or "")
        if not waiting:
            cuts.append(place)
    return cuts


@register("compactor", "openhands.mask")
class OpenhandsMask(View):
    """Observations older than the last `window` events become `<MASKED>`.

    A view. With `calls="dropped"` a masked result takes its call with it, as in the original where the model calls tools natively: the call and all
    results of that message go, and a user's `<MASKED>` is left for each. By default the call stays, as there where calls are text. The class itself
    has a window of 5.

    Source: openhands-ai 0.62.0, openhands/memory/condenser/impl/observation_masking_condenser.py; its configuration has 100

    >>> OpenhandsMask(window=1).tried("tool: one", "tool: two")
    ['tool: <MASKED>', 'tool: two']
    """

    window: Count = 100
    calls: Literal["kept", "dropped"] = "kept"
    _alone: dict[Message, Message] = state(dict)

    def view(self, window: Window) -> PromptMessages:
        old = messages_of(older(events_of(window.messages), self.window))
        masked = {message: self._masked(message) for message in old if message.kind == "result"}
        if not masked:
            return None
        shown = exchanged(window.messages, masked)
        if self.calls == "kept":
            return shown
        gone = {message.call_id for message in masked}
        broken = {m for m in shown if any(call.id in gone and not call.in_text for call in m.tool_calls)}
        lost = {call.id for message in broken for call in message.tool_calls}
        return [m for m in shown if m not in broken and not (m.kind == "result" and m.call_id in lost)]

    def _masked(self, message: Message) -> Message:
        masked = self.rewritten(message, "<MASKED>")
        if self.calls == "kept":
            return masked
        return self._alone.setdefault(message, msgspec.structs.replace(masked, role="user", call_id=None))


@register("compactor", "openhands.recent")
class OpenhandsRecent(View):
    """The first `keep_first` events and the last ones, `max_events` in all.

    A view. The first request is put behind the system prompt where it is not there. A model's message of which a call or a result is gone goes
    with all its results, as in the original when it makes messages of events. A shorter history stays as it is; the original repeats its head
    there. The class itself keeps 10 events.

    Source: openhands-ai 0.62.0, openhands/memory/condenser/impl/recent_events_condenser.py and openhands/memory/conversation_memory.py

    >>> OpenhandsRecent(max_events=3).tried(*[f"user: {step}" for step in range(9)])
    ['user: 0', 'user: 7', 'user: 8']
    """

    keep_first: Count = 1
    max_events: Count = 100

    def view(self, window: Window) -> PromptMessages:
        events = events_of(window.messages)
        if len(events) <= max(self.keep_first, self.max_events):
            return None
        tail = max(0, self.max_events - self.keep_first)
        return _with_request([*events[: self.keep_first], *events[len(events) - tail :]], _first_user(window))


@register("compactor", "openhands.amortized")
class OpenhandsAmortized(Compactor):
    """Above `max_size` events the first `keep_first` and the last ones stay, half of `max_size` in all.

    What goes is forgotten for good. The first request is put behind the system prompt where it is not there. A model's message of which a call or a
    result is gone goes with all its results, as in the original when it makes messages of events.

    Source: openhands-ai 0.62.0, openhands/memory/condenser/impl/amortized_forgetting_condenser.py; its configuration keeps the first 1

    >>> OpenhandsAmortized(max_size=8).tried(*[f"user: {step}" for step in range(9)])
    ['user: 0', 'user: 6', 'user: 7', 'user: 8']
    """

    max_size: Count = 100
    keep_first: Count = 1
    _request: list[Message] = state(list)

    def compact(self, window: Window) -> Edits | None:
        self._request = self._request or _first_user(window)
        events = events_of(window.messages)
        if len(events) <= self.max_size:
            return None
        tail = max(self.keep_first, len(events) - max(0, self.max_size // 2 - self.keep_first))
        kept = _with_request([*events[: self.keep_first], *events[tail:]], self._request)
        return Edits(messages=kept, notes=(f"{len(events)} events: {len(kept)} messages stay",))


def _first_user(window: Window) -> list[Message]:
    return [message for message in window.messages if message.kind == "user"][:1]


def _with_request(events: list[Message], request: list[Message]) -> list[Message]:
    """Return the messages of some events that have all their calls and results, the first request of a history in front of them."""
    shown = messages_of(events)
    start = system_count(shown)
    if len(shown) <= start or shown[start].kind != "user":
        shown[start:start] = request
    shown = messages_of(shown)
    given = results_of(shown).keys()
    native = {message: {call.id for call in message.tool_calls if not call.in_text} for message in shown}
    broken = {message for message, ids in native.items() if not ids <= given}
    lost = {call_id for message in broken for call_id in native[message]}
    made = {call.id for message in shown for call in message.tool_calls} - lost
    return [
        message for message in shown if message not in broken and (message.kind != "result" or message.call_id in made)
    ]
