"""Compactors `pydantic_ai.*`: the compaction capabilities of Pydantic AI's harness.

They count its messages: one for each answer of the model, one for all that comes between two answers (the system prompt with the request, all
results of one turn). A token is 4 characters of text, calls and their arguments included, over the whole history, rounded down. The original pins
its count to the usage that a provider reported; that is left out here.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import Batched, Compactor, Count, Share, Summarising, system_count, with_text
from ..messages import arguments_mapping, own_calls
from . import callers, cleared_inputs, joined, older, tool_name

SEARCHED = 5
"""The messages around a cut that are searched for calls that it would part from their results."""

MARK = "[...]"


def requests_of(messages: Sequence[Message]) -> list[list[Message]]:
    """Return a history as Pydantic AI's messages; a summary is one of its own."""
    runs: list[list[Message]] = []
    for message in messages:
        if message.kind in ("model", "made") or not runs or runs[-1][0].kind in ("model", "made"):
            runs.append([message])
        else:
            runs[-1].append(message)
    return runs


def estimated(messages: Sequence[Message]) -> int:
    """Return the tokens of a history."""
    calls = [call for message in messages for call in own_calls(message)]
    chars = sum(len(message.text) for message in messages)
    return (chars + sum(len(call.name) + len(str(arguments_mapping(call))) for call in calls)) // 4


def safe_cut(runs: Sequence[Sequence[Message]], keep: int) -> int:
    """Return where the last `keep` messages begin, earlier where that parts a call from a result; at least one is kept, and 0 is nothing to cut."""
    return next((cut for cut in range(len(runs) - max(1, keep), 0, -1) if _is_safe(runs, cut)), 0)


def _is_safe(runs: Sequence[Sequence[Message]], cut: int) -> bool:
    for place in range(max(0, cut - SEARCHED), min(len(runs), cut + SEARCHED)):
        ids = {call.id for message in runs[place] for call in message.tool_calls}
        for later in range(max(cut, place + 1), len(runs)) if ids and place < cut else ():
            if any(message.kind == "result" and message.call_id in ids for message in runs[later]):
                return False
    return True


class _Triggered(Compactor):
    """Base of a rule that acts above some messages, some tokens, or a fraction of the window in place of these."""

    max_messages: Count | None = None
    max_tokens: Count | None = None
    max_fraction: Share | None = None

    def above_tokens(self, window: Window) -> bool:
        fraction = self.max_fraction
        limit = self.max_tokens if fraction is None else int(fraction * window.max_tokens)
        return limit is not None and estimated(window.messages) > limit


@register("compactor", "pydantic_ai.clear")
class PydanticAiClear(_Triggered, Batched):
    """Above `max_tokens`, or `max_messages` since the last clearing, every tool result but those of the last `keep_pairs` calls is cleared.

    `max_fraction` of the window may stand for `max_tokens`. Where that would free fewer than `min_clear_tokens` nothing is cleared. Results of
    `exclude_tools` stay, and use up what is kept. `clear_tool_inputs` empties the arguments of the cleared calls. It has no default trigger;
    100,000 is the one of its example.

    Source: pydantic-ai-harness 0.62.0, pydantic_ai_harness/compaction/_clear_tool_results.py (ClearToolResults)

    >>> PydanticAiClear(max_tokens=20, keep_pairs=0).tried("call read", "tool: " + "x" * 99)
    ['call read', 'tool: [tool result cleared]']
    """

    max_tokens: Count | None = 100_000
    keep_pairs: Count = 3
    min_clear_tokens: Count | None = None
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool = False
    placeholder: str = "[tool result cleared]"

    def edit(self, window: Window) -> Edits | None:
        messages = window.messages
        if not self._has_grown(messages) and not self.above_tokens(window):
            return None
        made = callers(messages)
        old = older([one for one in messages if one.kind == "result" and one.call_id in made], self.keep_pairs)
        cleared = [m for m in old if tool_name(m, made) not in self.exclude_tools and m.text != self.placeholder]
        changes: dict[Message, Message | None] = {message: with_text(message, self.placeholder) for message in cleared}
        if self.clear_tool_inputs:
            changes |= cleared_inputs(cleared, made)
        freed = estimated(messages) - estimated([changes.get(message) or message for message in messages])
        return Edits(replace=changes) if changes and freed >= (self.min_clear_tokens or 0) else None

    def _has_grown(self, messages: Sequence[Message]) -> bool:
        if self.max_messages is None:
            return False
        runs = requests_of(messages)
        cleared = {message for message in messages if message.kind == "result" and message.text == self.placeholder}
        last = max((place for place, run in enumerate(runs) if not cleared.isdisjoint(run)), default=-1)
        return len(runs) - 1 - last > self.max_messages


@register("compactor", "pydantic_ai.sliding")
class PydanticAiSliding(_Triggered):
    """Above `max_messages` the last `keep_messages` stay, more where a call would be parted from a result, and the first request.

    `max_tokens` or `max_fraction` of the window trigger it too. The original has no default trigger; 80 is the one of its example.

    Source: pydantic-ai-harness 0.62.0, pydantic_ai_harness/compaction/_sliding_window_compaction.py (SlidingWindowCompaction)

    >>> PydanticAiSliding(max_messages=4, keep_messages=2).tried(*[line for n in "012" for line in (f"user: {n}", f"assistant: {n}")])
    ['user: 0', 'user: 2', 'assistant: 2']
    """

    max_messages: Count | None = 80
    keep_messages: Count = 40
    preserve_first_user_message: bool = True

    def compact(self, window: Window) -> Edits | None:
        messages, limit = window.messages, self.max_messages
        if (limit is None or len(requests_of(messages)) <= limit) and not self.above_tokens(window):
            return None
        start = system_count(messages)
        runs = requests_of(messages[start:])
        cut = safe_cut(runs, self.keep_messages)
        first = next((place for place, run in enumerate(runs) if any(message.kind == "user" for message in run)), cut)
        request = runs[first] if self.preserve_first_user_message and first < cut else []
        old, kept = joined(runs[:cut]), joined(runs[cut:])
        note = f"{len(runs)} messages: {cut}"
        return self.left(window, [*messages[:start], *request], old, kept, note) if old else None

    def left(self, window: Window, head: list[Message], old: list[Message], kept: list[Message], note: str) -> Edits:
        """Return the history without what is old; `head` are the system messages and the first request where the cut drops it."""
        return Edits(messages=[*head, *kept], notes=(f"{note} went",))


@register("compactor", "pydantic_ai.summarize")
class PydanticAiSummarize(PydanticAiSliding, Summarising):
    """Above `max_messages`: the first request, a summary of what is old, and the last `keep_messages`, more to keep calls with their results.

    `max_tokens` or `max_fraction` of the window trigger it too. The writer sees tool results cut at `tool_return_max_chars`, mark included. The
    summary is a user message. The original has no default trigger; 60 is the one of its example. It asks again for an empty summary; here it
    stands.

    Source: pydantic-ai-harness 0.62.0, pydantic_ai_harness/compaction/_summarizing_compaction.py (SummarizingCompaction)

    >>> PydanticAiSummarize(max_messages=3, keep_messages=1).tried(*["user: go", "assistant: ok"] * 2)
    ['user: go', 'user: Summary of 3 earlier messages:', 'assistant: ok']
    """

    max_messages: Count | None = 60
    keep_messages: Count = 20
    tool_return_max_chars: Count | None = 500

    def left(self, window: Window, head: list[Message], old: list[Message], kept: list[Message], note: str) -> Edits:
        """Return the history with a summary in place of what is old."""
        later = [message for message in kept if message.kind != "made"]
        return self.summarised(window, head, list(map(self._cut, old)), later, f"{note} summarised")

    def _cut(self, message: Message) -> Message:
        limit = self.tool_return_max_chars
        if limit is None or message.kind != "result" or len(message.text) <= limit:
            return message
        return with_text(message, message.text[: limit - len(MARK)] + MARK if limit > len(MARK) else MARK[:limit])
