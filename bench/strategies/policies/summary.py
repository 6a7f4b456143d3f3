"""The engine of policies that put a summary in the place of what is old, and its presets.

A preset divides the history: what stays in front, what the writer reads, and what stays behind. Where a project does not document the text around
a summary, that text is ours.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window, Written
from ..histories import (
    AtShare,
    Count,
    PerToken,
    Portion,
    Share,
    Summarising,
    assistant_message,
    state,
    summary_message,
    system_count,
    total,
)
from ..messages import arguments_mapping, own_calls
from .outputs import middle_cut
from .units import (
    Group,
    answered,
    between_calls,
    callers,
    dense_json,
    events_of,
    gemini_tokens,
    groups_of,
    kind_of,
    langchain_tokens,
    messages_of,
    results_together,
    rounded_up,
    tool_name,
    trimmed,
    with_call,
    within,
)
from .window import PydanticAiSliding, head_of, left_of

NOTED = "Noted."
"""The fixed answer after a summary, where a project adds one that it does not document."""

Parts = tuple[Sequence[Message], Sequence[Message], Sequence[Message]]
"""What stays in front of the summary, what the writer reads, and what stays behind it."""


class Summary(Summarising):
    """The engine: `divided` gives the parts of a history that is to be summarised, and None for any other.

    `unread` stands for a summary where the writer is given nothing to read.
    """

    unread = ""

    def divided(self, window: Window) -> Parts | None:
        """The parts of the history, or None where nothing changes."""
        raise NotImplementedError

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
class PydanticAiSummarize(PydanticAiSliding, Summary):
    """Above `max_messages`: the first request, a summary of what is old, and the last `keep_messages`, more to keep calls with their results.

    `max_tokens` or `max_fraction` of the window trigger it too. The writer sees tool results cut at `tool_return_max_chars`, mark included. The
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


@register("compactor", "agent_framework.summarization")
class AgentFrameworkSummarization(Summarising):
    """Above `target_count` + `threshold` messages, system ones aside: the older groups become an assistant message with a summary.

    The last groups that together have at least `target_count` messages stay. The writer gets whole groups from the oldest on while they fit
    `max_summary_input_tokens` (characters by 4, with the 148 tokens of the original's instruction). Leading groups that do not fit alone are passed
    over. Only what the writer gets is replaced; where nothing fits, nothing changes. An empty summary, a failure in the original, stands.

    Source: agent-framework-core 1.23.0, agent_framework/_compaction.py (SummarizationStrategy)

    >>> AgentFrameworkSummarization(target_count=1, threshold=1).tried("user: 0", "user: 1", "user: 2")
    ['assistant: Summary of 2 earlier messages:', 'user: 2']
    """

    target_count: Count = 4
    threshold: Count = 2
    max_summary_input_tokens: Count | None = 8_000

    def compact(self, window: Window) -> Edits | None:
        groups = groups_of(window.messages)
        others = [group for group in groups if kind_of(group) != "system"]
        if sum(map(len, others)) <= self.target_count + self.threshold:
            return None
        kept = max(0, len(others) - 1)
        while kept and sum(map(len, others[kept:])) < self.target_count:
            kept -= 1
        chosen = self._chosen(others[:kept])
        if not chosen:
            return None
        read = [message for group in chosen for message in group]
        written = self.write(read, window)
        line = assistant_message(written.text)
        left = [(line,), *(group for group in groups if group not in chosen)]
        edits = left_of(window, left, f"{len(read)} messages summarised", {line: read[0]})
        return replace(edits, written=(written,)) if edits else None

    def _chosen(self, candidates: list[Group]) -> list[Group]:
        if self.max_summary_input_tokens is None:
            return candidates
        chosen, tokens = list[Group](), 148
        for group in candidates:
            lines = [f"{len(chosen) + 1}. [{message.role}] {_as_text(message)}" for message in group]
            more = max(1, len("\n".join(lines)) // 4) + bool(chosen)
            if tokens + more <= self.max_summary_input_tokens:
                chosen.append(group)
                tokens += more
            elif chosen:
                break
        return chosen


def _as_text(message: Message) -> str:
    calls = [f"{call.name} {json.dumps(arguments_mapping(call), default=str)}" for call in own_calls(message)]
    return "; ".join([message.text, *calls] if message.text else calls)


@register("compactor", "gemini.compress")
class GeminiCompress(AtShare, Summarising):
    """At `threshold` of the window: a summary as user, a fixed answer, and the tail from the first user message behind 70 % of the characters.

    First, tool results beyond the newest `result_tokens` become files: `output_chars` of them are left, or 4 for each token that the window still
    has, a fifth in front and the rest from the end, with the file's name. Nothing happens where the last prompt did not reach the threshold, or
    where there is no such user message: a session of one request and many tools stays. What waits to be sent is left alone. The writer reads the
    old part untruncated where that fits the window, and is asked a second time to check its summary: both are charged. Where the result would be
    larger than before, nothing changes, and from then on only results are cut. The answer and the words about a file are ours.

    Source: @google/gemini-cli-core 0.61.0, src/context/chatCompressionService.ts

    >>> GeminiCompress(preserve=0.7).tried(*["user: " + "x" * 99, "assistant: ok"] * 2)[:2]
    ['user: Summary of 2 earlier messages:', 'assistant: Noted.']
    """

    threshold: Share = 0.5
    preserve: Portion = 0.3
    result_tokens: Count = 50_000
    output_chars: Count = 40_000
    _grew: bool = state(bool)  # a summary once made the history larger

    def compact(self, window: Window) -> Edits | None:
        start = system_count(window.messages)
        end = answered(window.messages, start)
        system, told, pending = window.messages[:start], window.messages[start:end], window.messages[end:]
        tokens = window.tokens - total(window.count, [*pending, *told[-1:]])  # those of the last prompt
        if not told or tokens < self.limit(window):
            return None
        before, cut = total(window.count, told), self._cut(told, max(0, 4 * (window.max_tokens - tokens)))
        if self._grew:
            fewer = before > total(window.count, cut)
            return Edits(messages=[*system, *cut, *pending], notes=("results cut",)) if fewer else None
        contents = results_together(cut)
        place = sum(map(len, contents[: _split(contents, 1 - self.preserve)]))
        if not place:
            return None
        fits = sum(gemini_tokens(message.text) for message in told[:place]) < window.max_tokens
        first = self.write(told[:place] if fits else cut[:place], window)
        summary = summary_message(first.text)
        written = (first, Written([*first.read, summary], first.text))
        left = [summary, assistant_message(NOTED), *cut[place:]]
        self._grew = total(window.count, left) > before
        note = f"{tokens} tokens: " + (
            "the summary would make it more" if self._grew else f"{place} messages summarised"
        )
        return Edits(messages=None if self._grew else [*system, *left, *pending], written=written, notes=(note,))

    def _cut(self, messages: Sequence[Message], room_chars: int) -> list[Message]:
        calls, used, shown = callers(messages), 0.0, list[Message]()
        for message in reversed(messages):
            if message.kind == "result":
                if used + gemini_tokens(message.text) > self.result_tokens:
                    name, limit = (
                        f"{tool_name(message, calls) or 'tool'}_{message.call_id}",
                        min(self.output_chars, room_chars),
                    )
                    message = msgspec.structs.replace(message, text=_ends(message.text, limit, name))
                used += gemini_tokens(message.text)
            shown.append(message)
        return shown[::-1]


def _ends(text: str, limit: int, name: str) -> str:
    if len(text) <= limit:
        return text
    head = int(limit * 0.2)
    tail = limit - head
    note = f"[the first {head:,} and the last {tail:,} characters; the whole is in tool-outputs/{name}.txt]"
    return f"{note}\n{text[:head]}\n\n... [{len(text) - limit:,} characters omitted] ...\n\n{text[len(text) - tail :]}"


def _split(contents: Sequence[Sequence[Message]], share: float) -> int:
    """The number of contents that are old: up to the first user message that begins behind this share of the characters.

    Without one: all of them where the last is an answer without calls, else up to the last user message.
    """
    sizes = [sum(len(_json(message)) for message in content) for content in contents]
    wanted, before, last = sum(sizes) * share, 0, 0
    for place, content in enumerate(contents):
        if content[0].kind in ("user", "made") and content[0].role == "user":
            if before >= wanted:
                return place
            last = place
        before += sizes[place]
    ended = contents and contents[-1][0].role == "assistant" and not contents[-1][0].tool_calls
    return len(contents) if ended else last


def _json(message: Message) -> str:
    parts: list[dict[str, object]] = []
    if message.kind == "result":
        parts.append({"functionResponse": {"id": message.call_id, "response": {"output": message.text}}})
    elif message.text or not message.tool_calls:
        parts.append({"text": message.text})
    for call in own_calls(message):
        parts.append({"functionCall": {"id": call.id, "name": call.name, "args": arguments_mapping(call)}})
    return dense_json({"role": "model" if message.role == "assistant" else "user", "parts": parts})
