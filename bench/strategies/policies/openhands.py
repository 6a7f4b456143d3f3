"""The condensers of OpenHands, which count events."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Window
from ..engines import Mask, Parts, Summary, View
from ..histories import older, results_of, system_count
from ..settings import Count, Share


@register("compactor", "openhands.mask")
class OpenhandsMask(Mask, View):
    """Observations older than the last `window` events become `<MASKED>`.

    A view. The class itself has a window of 5; its configuration has 100.

    Source: openhands-ai 0.62.0, openhands/memory/condenser/impl/observation_masking_condenser.py

    >>> OpenhandsMask(window=1).tried("tool: one", "tool: two")
    ['tool: <MASKED>', 'tool: two']
    """

    window: Count = 100
    placeholder = "<MASKED>"

    def replaced(self, window: Window) -> dict[Message, Message]:
        old = dict.fromkeys(older(events_of(window.messages), self.window))
        return self.cleared([message for message in old if message.kind == "result"], {})


@register("compactor", "openhands.summarize")
class OpenhandsSummarize(Summary):
    """Above `max_size` events, or above the window's tokens: the first `keep_first`, a summary of what follows, and a tail.

    The tail has `max_size` // 2 - `keep_first` - 1 events; where the tokens are too many, as many as bring them to half of the limit, and the
    smaller of both. What goes begins and ends where no call waits for its result, at the next such place; it must be at least
    `minimum_progress` of the events. Where nothing can go so and the tokens are too many, everything but the system prompt is summarised; where
    only the events are, nothing changes. Settings that leave no tail, which the original refuses, leave none here.

    Defaults are those of the preset (`default_condenser`); the class itself has 240 events and keeps the first 2.

    Source: openhands-sdk 1.58.2, openhands/sdk/context/condenser/llm_summarizing_condenser.py and openhands/sdk/context/view/properties

    >>> OpenhandsSummarize(max_size=8, keep_first=2).tried(*[f"user: {step}" for step in range(9)])
    ['user: 0', 'user: 1', 'user: Summary of 6 earlier messages:', 'user: 8']
    """

    max_size: Count = 80
    keep_first: Count = 4
    max_tokens: Count | None = None
    minimum_progress: Share = 0.1

    def divided(self, window: Window) -> Parts | None:
        events, system = events_of(window.messages), min(1, system_count(window.messages))
        limit = window.max_tokens if self.max_tokens is None else min(self.max_tokens, window.max_tokens)
        tails = [self.max_size // 2 - self.keep_first - 1] if len(events) > self.max_size else []
        if window.tokens > limit:
            tails.append(self._tail_for(window, events, window.tokens - limit // 2))
        if not tails:
            return None
        cuts = between_calls(window.messages)
        start = next((place for place in cuts if place >= max(self.keep_first, system)), len(events))
        end = next((place for place in cuts if place >= len(events) - max(0, min(tails))), 0)
        if start >= end or end - start < len(events) * self.minimum_progress:
            if window.tokens <= limit:
                return None
            start, end = system, len(events)
        head, old, tail = (list(dict.fromkeys(part)) for part in (events[:start], events[start:end], events[end:]))
        return head, old, tail

    def _tail_for(self, window: Window, events: list[Message], reduction: int) -> int:
        """The number of last events that may stay where the tokens must be this many fewer."""
        rest, gone, before = events[self.keep_first :], 0, events[self.keep_first - 1 : self.keep_first]
        if reduction <= 0:
            return len(rest)
        for place, message in enumerate(rest):
            gone += 0 if [message] == before else window.count(message)
            before = [message]
            if gone > reduction:
                return len(rest) - place - 1
        return 0


def events_of(messages: Sequence[Message]) -> list[Message]:
    """A history as OpenHands' events: a model's message once for each of its calls, any other once."""
    return [message for message in messages for _ in range(max(1, len(message.tool_calls)))]


def between_calls(messages: Sequence[Message]) -> list[int]:
    """The places between events where no call waits for its result."""
    given, waiting = results_of(messages), set[str]()
    cuts, place = [0], 0
    for message in messages:
        place += max(1, len(message.tool_calls))
        waiting.update(call.id for call in message.tool_calls if call.id in given)
        waiting.discard(message.call_id or "")
        if not waiting:
            cuts.append(place)
    return cuts
