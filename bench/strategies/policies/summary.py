"""The engine of policies that put a summary in the place of what is old, and its presets.

A preset divides the history: what stays in front, what the writer reads, and what stays behind. Where a project does not document the text around
a summary, that text is ours.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import (
    AtShare,
    Count,
    PerToken,
    RequestWindow,
    Share,
    Summarising,
    summary_message,
    system_count,
    total,
)
from ..units import (
    between_calls,
    events_of,
    head_of,
    langchain_tokens,
    messages_of,
    middle_cut,
    rounded_up,
    trimmed,
    with_call,
    within,
)

Parts = tuple[Sequence[Message], Sequence[Message], Sequence[Message]]
"""What stays in front of the summary, what the writer reads, and what stays behind it."""


class Summary(Summarising):
    """The engine: `divided` gives the parts of a history that is to be summarised, and None for any other.

    `unread` stands for a summary where the writer is given nothing to read.
    """

    unread = ""

    @abstractmethod
    def divided(self, window: Window) -> Parts | None:
        """The parts of the history, or None where nothing changes."""

    def message(self, text: str) -> Message:
        """The message that holds a summary: the user's."""
        return summary_message(text)

    def compact(self, window: Window) -> Edits | None:
        parts = self.divided(window)
        if parts is None:
            return None
        if not parts[1]:
            return Edits(messages=[*parts[0], self.message(self.unread), *parts[2]])
        note = f"{window.tokens} tokens: {len(parts[1])} messages summarised"
        return self.summarised(window, *parts, note, self.message)


@register("compactor", "codex")
class Codex(Summary, AtShare):
    """At `threshold` of the window: `[system, the user's messages, summary]`; every assistant and tool message goes.

    The user's messages are taken from the newest back while they fit `user_tokens` (bytes by 4, rounded up). The one that does not fit loses its
    middle, and those before it go. Earlier summaries are not the user's. The writer reads the whole history. An empty summary becomes
    "(no summary)", as there.

    Source: openai/codex, codex-rs/core/src/compact.rs (build_compacted_history, COMPACT_USER_MESSAGE_MAX_TOKENS) at 0100b103

    >>> Codex().tried("user: go", "assistant: done")
    ['user: go', 'user: Summary of 2 earlier messages:']
    """

    threshold: Share = 0.9
    user_tokens: Count = 20_000

    def divided(self, window: Window) -> Parts | None:
        start, room, kept = system_count(window.messages), self.user_tokens, list[Message]()
        if window.tokens < self.limit(window) or len(window.messages) == start:
            return None
        for message in reversed([message for message in window.messages[start:] if message.kind == "user"]):
            if room <= 0:
                break
            tokens = rounded_up(len(message.text.encode("utf-8", "surrogatepass")))
            kept.append(
                message if tokens <= room else self.rewritten(message, middle_cut(message.text, 4 * room, "tokens"))
            )
            room -= tokens
        return [*window.messages[:start], *reversed(kept)], list(window.messages), ()

    def message(self, text: str) -> Message:
        return summary_message(text or "(no summary)")


@register("compactor", "inspect.summary")
class InspectSummary(Summary, AtShare):
    """Above `threshold` of the window: the system messages, the request, and one user message with a summary of all the rest; no tail.

    The writer reads them all, from the last summary on.

    Source: inspect-ai 0.3.285, inspect_ai/model/_compaction/summary.py

    >>> InspectSummary().tried("user: 0", "user: 1", "user: 2")
    ['user: 0', 'user: Summary of 3 earlier messages:']
    """

    def divided(self, window: Window) -> Parts | None:
        if window.tokens <= self.limit(window):
            return None
        head, talk = head_of(window.messages)
        last = max((place for place, message in enumerate(talk) if message.kind == "made"), default=0)
        return head, [*head, *talk[last:]], ()


@register("compactor", "langchain.summarize")
class LangchainSummarize(Summary):
    """`[system, summary, last 20]` once every given trigger is reached; without a trigger it never acts.

    The triggers are `trigger_tokens`, `trigger_messages` and `trigger_fraction` (of the model's window); the system prompt does not count. Kept are
    the last `keep_messages`, or the longest end within `keep_tokens` or `keep_fraction`; where that would begin with a tool result, it begins with
    its call. The writer sees only the last `trim_tokens` of the rest, from the first user message of that part on. With one request and many
    tools it sees nothing, and the summary says that alone, in our words. A token is `chars_per_token` characters; the original scales by the usage
    that the provider last reported, which is left out here.

    Source: langchain 1.5.2, langchain/agents/middleware/summarization.py (SummarizationMiddleware)

    >>> LangchainSummarize(trigger_messages=3, keep_messages=1).tried("user: 0", "user: 1", "user: 2")
    ['user: Summary of 2 earlier messages:', 'user: 2']
    """

    trigger_tokens: Count | None = None
    trigger_messages: Count | None = None
    trigger_fraction: Share | None = None
    keep_messages: Count = 20
    keep_tokens: Count | None = None
    keep_fraction: Share | None = None
    trim_tokens: Count | None = 4000
    chars_per_token: PerToken = 4.0
    unread = "[the earlier conversation is too long to be summarised]"

    def divided(self, window: Window) -> Parts | None:
        start = system_count(window.messages)
        messages = list(window.messages[start:])
        tokens, size = total(self._tokens, messages), len(messages)
        fraction = None if self.trigger_fraction is None else max(1, int(window.max_tokens * self.trigger_fraction))
        triggers = ((self.trigger_messages, size), (self.trigger_tokens, tokens), (fraction, tokens))
        reached = [limit <= value for limit, value in triggers if limit is not None]
        budget = self.keep_tokens if self.keep_fraction is None else int(window.max_tokens * self.keep_fraction)
        if not reached or not all(reached):
            return None
        cut = size - self.keep_messages if budget is None else within(messages, max(1, budget), self._tokens)
        cut = with_call(messages, cut)
        if cut <= 0:
            return None
        old, trim = messages[:cut], self.trim_tokens
        seen = (
            old
            if trim is None
            else trimmed(old, trim, self._tokens, start_on="user", include_system=True, partial=True)
        )
        return window.messages[:start], seen, messages[cut:]

    def _tokens(self, message: Message) -> int:
        return langchain_tokens(message, self.chars_per_token)


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
        return messages_of(events[:start]), messages_of(events[start:end]), messages_of(events[end:])

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


@register("compactor", "pydantic_ai.summarize")
class PydanticAiSummarize(RequestWindow, Summary):
    """Above `max_messages`: the first request, a summary of what is old, and the last `keep_messages`, more to keep calls with their results.

    `max_tokens` triggers it too. The writer sees tool results cut at `tool_return_max_chars`, mark included. The
    original has no default trigger; 60 is the one of its example. It asks again for an empty summary; here it stands.

    Source: pydantic-ai-harness 0.62.0, pydantic_ai_harness/compaction/_summarizing_compaction.py (SummarizingCompaction)

    >>> PydanticAiSummarize(max_messages=3, keep_messages=1).tried(*["user: go", "assistant: ok"] * 2)
    ['user: go', 'user: Summary of 3 earlier messages:', 'assistant: ok']
    """

    max_messages: Count | None = 60
    keep_messages: Count = 20
    tool_return_max_chars: Count | None = 500

    def compact(self, window: Window) -> Edits | None:
        return Summary.compact(self, window)

    def divided(self, window: Window) -> Parts | None:
        parts = self.parts(window)
        return parts and (parts[0], list(map(self._cut, parts[1])), [m for m in parts[2] if m.kind != "made"])

    def _cut(self, message: Message) -> Message:
        limit, mark = self.tool_return_max_chars, "[...]"
        if limit is None or message.kind != "result" or len(message.text) <= limit:
            return message
        return self.rewritten(message, message.text[: limit - len(mark)] + mark if limit > len(mark) else mark[:limit])
