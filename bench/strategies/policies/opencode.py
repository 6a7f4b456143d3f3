"""Compactor `opencode`."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import (
    Count,
    Share,
    Summarising,
    assistant_message,
    cut_to,
    summary_message,
    system_count,
    with_text,
    worth_summarising,
)
from ..messages import arguments_mapping
from . import callers, dense_json, tool_name

ASKED = "What was done so far?"
CLEARED = "[old tool result cleared]"


@register("compactor", "opencode")
class OpencodeCompaction(Summarising):
    """At the usable size: the question what was done, an assistant's summary as its answer, and a tail.

    Usable is the window without `max_output_tokens` and without another 20,000, or without the output once more where that is less. The tail is at
    most `tail_turns` turns of the user and a quarter of the usable size, at least 2,000 and at most `tail_tokens` tokens: whole turns from the
    newest back, of the one that does not fit as much of its end as does; an answer goes with its results. The writer sees results cut at
    `output_chars`. With `prune` results behind the last two turns of the user and the newest `protect_tokens` are cleared, once more than
    `prune_tokens` can go; so not in a session of one request. Tokens are characters of the messages' JSON, or of a result, by 4. Question and
    placeholder are ours.

    Source: opencode, packages/opencode/src/session/compaction.ts and overflow.ts (forked at Kilo-Org/kilocode 02bc3f21, which keeps at most 8,000)

    >>> long = "x" * 4000
    >>> [line[:21] for line in OpencodeCompaction(max_output_tokens=10).tried(*[f"user: {long}", f"assistant: {long}"] * 3)]
    ['user: What was done s', 'assistant: Summary of', 'assistant: xxxxxxxxxx']
    """

    max_output_tokens: Count = 32_000
    max_tokens: Count | None = None
    tail_turns: Count = 2
    tail_share: Share = 0.25
    tail_tokens: Count = 15_000
    output_chars: Count = 2_000
    prune: bool = False
    protect_tokens: Count = 40_000
    prune_tokens: Count = 20_000

    def compact(self, window: Window) -> Edits | None:
        limit = window.max_tokens if self.max_tokens is None else self.max_tokens
        usable = max(0, limit - self.max_output_tokens - min(20_000, self.max_output_tokens))
        start = system_count(window.messages)
        messages = list(window.messages[start:])
        if window.tokens < usable or not messages:
            return self._pruned(window) if self.prune else None
        cut = self._tail(messages, usable)
        older = [message for message in messages[:cut] if message.text != ASKED]
        old = [cut_to(message, self.output_chars) if message.kind == "result" else message for message in older]
        if not worth_summarising(old):
            return None
        written = self.write(old, window)
        summary = [summary_message(ASKED), assistant_message(written.text)]
        note = f"{window.tokens} tokens: {len(old)} messages summarised"
        shown = [*window.messages[:start], *summary, *messages[cut:]]
        return Edits(messages=shown, written=(written,), notes=(note,))

    def _tail(self, messages: list[Message], usable: int) -> int:
        budget = min(self.tail_tokens, max(2_000, int(usable * self.tail_share)))
        starts = [place for place, message in enumerate(messages) if message.kind == "user"]
        cut = end = len(messages)
        for begin in reversed(starts[max(0, len(starts) - self.tail_turns) :]):
            size = _tokens(messages[begin:end])
            if size > budget:
                inside = [place for place in range(begin + 1, end) if messages[place].kind != "result"]
                cut = next((place for place in inside if _tokens(messages[place:end]) <= budget), cut)
                break
            cut, end, budget = begin, begin, budget - size
        return cut or len(messages)

    def _pruned(self, window: Window) -> Edits | None:
        made = callers(window.messages)
        turns, seen, freed, old = 0, 0, 0, []
        for message in reversed(window.messages):
            turns += message.kind == "user"
            if turns >= 2 and message.kind == "made":
                break
            if turns < 2 or message.kind != "result" or tool_name(message, made) == "skill":
                continue
            if message.text == CLEARED:
                break
            tokens = round(len(message.text) / 4)
            seen += tokens
            if seen > self.protect_tokens:
                freed += tokens
                old.append(message)
        if freed <= self.prune_tokens:
            return None
        return Edits(replace={message: with_text(message, CLEARED) for message in old})


def _tokens(messages: Sequence[Message]) -> int:
    plain = []
    for message in messages:
        calls = [[call.name, arguments_mapping(call)] for call in message.tool_calls]
        plain.append({"role": message.role, "content": message.text, "calls": calls})
    return round(len(dense_json(plain)) / 4)
