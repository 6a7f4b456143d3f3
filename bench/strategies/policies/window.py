"""The engine of policies that show an end of the history, and perhaps its head, and drop the rest; and its presets."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

import msgspec

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import (
    AtShare,
    Compactor,
    Count,
    Portion,
    PromptMessages,
    Repeated,
    RequestWindow,
    View,
    state,
    system_count,
)
from ..units import (
    events_of,
    head_of,
    langchain_tokens,
    messages_of,
    results_of,
    trimmed,
)

# ---------------------------------------------------------------- the longest end that fits


@register("compactor", "langchain.trim")
class LangchainTrim(View):
    """The longest end of the history within `max_tokens`, then without what comes before the first message of type `start_on`.

    A view. `count="model"` counts the model's tokens, "messages" one a message. None for `max_tokens` is the model's window. The system message is
    kept only with `include_system`, and only the first; its tokens are taken off first. Calls and results are not kept together.

    Source: langchain-core 1.8.3, langchain_core/messages/utils.py (trim_messages, strategy "last")

    >>> LangchainTrim(max_tokens=12).tried("user: first", "user: second", "user: third")
    ['user: second', 'user: third']
    """

    max_tokens: Count | None = None
    start_on: Literal["human", "ai", "tool", "system"] | None = None
    include_system: bool = False
    count: Literal["approximate", "model", "messages"] = "approximate"

    def view(self, window: Window) -> PromptMessages:
        counts: dict[str, Callable[[Message], int]] = {
            "approximate": langchain_tokens,
            "model": window.count,
            "messages": lambda _: 1,
        }
        kinds = {"human": "user", "ai": "model", "tool": "result"}
        limit = window.max_tokens if self.max_tokens is None else self.max_tokens
        start_on = None if self.start_on is None else kinds.get(self.start_on, self.start_on)
        return trimmed(
            window.messages, limit, counts[self.count], start_on=start_on, include_system=self.include_system
        )


@register("compactor", "inspect.trim")
class InspectTrim(Repeated, AtShare):
    """Above `threshold` of the window: the system messages, the request, and the last `preserve` of the other messages.

    Results without their call and calls without their results go, and so does a model's message at the end. It acts up to four times while that
    helps.

    Source: inspect-ai 0.3.285, inspect_ai/model/_compaction/trim.py and inspect_ai/model/_trim.py

    >>> InspectTrim(preserve=0.5).tried("user: 0", "user: 1", "user: 2", "user: 3", "user: 4", tokens=110)
    ['user: 0', 'user: 4']
    """

    preserve: Portion = 0.8

    def shown(self, messages: list[Message]) -> list[Message]:
        head, talk = head_of(messages)
        kept, made = list[Message](), set[str]()
        for message in talk[int(len(talk) * (1 - self.preserve)) :]:
            if message.kind != "result":
                made = {call.id for call in message.tool_calls} if message.kind == "model" else set()
            if message.kind != "result" or message.call_id in made:
                kept.append(message)
        results = results_of(kept)
        kept = [_with_calls(message, results) for message in kept]
        return [*head, *(kept[:-1] if kept and kept[-1].kind == "model" else kept)]


def _with_calls(message: Message, results: Collection[str | None]) -> Message:
    calls = tuple(call for call in message.tool_calls if call.id in results)
    return message if len(calls) == len(message.tool_calls) else msgspec.structs.replace(message, tool_calls=calls)


@register("compactor", "pydantic_ai.sliding")
class PydanticAiSliding(RequestWindow):
    """Above `max_messages` the last `keep_messages` stay, more where a call would be parted from a result, and the first request.

    `max_tokens` or `max_fraction` of the window trigger it too. The original has no default trigger; 80 is the one of its example. A message is an
    answer of the model, or all that comes between two answers.

    Source: pydantic-ai-harness 0.62.0, pydantic_ai_harness/compaction/_sliding_window_compaction.py (SlidingWindowCompaction)

    >>> PydanticAiSliding(max_messages=4, keep_messages=2).tried(*[line for n in "012" for line in (f"user: {n}", f"assistant: {n}")])
    ['user: 0', 'user: 2', 'assistant: 2']
    """

    max_messages: Count | None = 80
    keep_messages: Count = 40

    def compact(self, window: Window) -> Edits | None:
        parts = self.parts(window)
        return (
            None if parts is None else Edits(messages=[*parts[0], *parts[2]], notes=(f"{len(parts[1])} messages went",))
        )


# ---------------------------------------------------------------- OpenHands: the first and the last events


def _with_request(events: list[Message], request: list[Message]) -> list[Message]:
    """The messages of some events that have all their calls and results, the first request of a history in front of them."""
    shown = messages_of(events)
    start = system_count(shown)
    if len(shown) <= start or shown[start].kind != "user":
        shown[start:start] = request
    shown = messages_of(shown)
    results = results_of(shown).keys()
    native = {message: {call.id for call in message.tool_calls if not call.in_text} for message in shown}
    broken = {message for message, ids in native.items() if not ids <= results}
    lost = {call_id for message in broken for call_id in native[message]}
    made = {call.id for message in shown for call in message.tool_calls} - lost
    return [m for m in shown if m not in broken and (m.kind != "result" or m.call_id in made)]


def _first_user(window: Window) -> list[Message]:
    return [message for message in window.messages if message.kind == "user"][:1]


@register("compactor", "openhands.recent")
class OpenhandsRecent(View):
    """The first `keep_first` events and the last ones, `max_events` in all.

    A view. The first request is put behind the system prompt where it is not there. A model's message of which a call or a result is gone goes
    with all its results. A shorter history stays; the original repeats its head there. The class itself keeps 10 events.

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

    The first request is put behind the system prompt where it is not there. A model's message of which a call or a result is gone goes with all
    its results, as in the original when it makes messages of events.

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
