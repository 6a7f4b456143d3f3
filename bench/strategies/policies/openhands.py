"""The condenser of OpenHands, which counts events."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Window
from ..engines import Parts, Summary
from ..histories import system_count
from ..settings import Count, Share


@register("compactor", "openhands.summarize")
class OpenhandsSummarize(Summary):
    """The first `keep_first` events, a summary of the next, and a tail; above `max_size` events.

    The tail has `max_size` // 2 - `keep_first` - 1 events. The dropped part is moved forward so
    that it does not separate a call from its result; if it is then less than `minimum_progress` of
    the events, nothing changes. Defaults are those of the preset (`default_condenser`); the class
    itself has 240 events and keeps the first 2. The original also acts where a provider refuses a
    prompt as too long, which is left out.

    Source: openhands-sdk 1.58.2, openhands/sdk/context/condenser/llm_summarizing_condenser.py

    >>> events = [f"user: {step}" for step in range(9)]
    >>> OpenhandsSummarize(max_size=8, keep_first=2).tried(*events)
    ['user: 0', 'user: 1', 'user: Summary of 6 earlier messages:', 'user: 8']
    """

    max_size: Count = 80
    keep_first: Count = 4
    minimum_progress: Share = 0.1

    def divided(self, window: Window) -> Parts | None:
        """The first events, those between them and the tail, and the tail."""
        events = events_of(window.messages)
        if len(events) <= self.max_size:
            return None
        system = min(1, system_count(window.messages))
        tail = max(0, self.max_size // 2 - self.keep_first - 1)
        cuts = between_calls(window.messages)
        start = next((cut for cut in cuts if cut >= max(self.keep_first, system)), len(events))
        end = next((cut for cut in cuts if cut >= len(events) - tail), 0)
        if end - start < max(1, len(events) * self.minimum_progress):
            return None
        head, old, after = events[:start], events[start:end], events[end:]
        return _once(head), _once(old), _once(after)


def _once(events: Sequence[Message]) -> list[Message]:
    """The messages of some events, without repetitions."""
    return list(dict.fromkeys(events))


def events_of(messages: Sequence[Message]) -> list[Message]:
    """A history as OpenHands' events: a model's message once for each call, any other once."""
    return [message for message in messages for _ in range(max(1, len(message.tool_calls)))]


def between_calls(messages: Sequence[Message]) -> list[int]:
    """The places between events where no call waits for its result."""
    answered = {message.call_id for message in messages if message.kind == "result"}
    waiting: set[str] = set()  # calls whose result comes later
    cuts, place = [0], 0
    for message in messages:
        place += max(1, len(message.tool_calls))
        waiting.update(call.id for call in message.tool_calls if call.id in answered)
        waiting.discard(message.call_id or "")
        if not waiting:
            cuts.append(place)
    return cuts
