"""The compression of the Gemini CLI: a summary, a fixed answer and a tail, after long results became files."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window, Written
from ..histories import (
    AtShare,
    Count,
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
from ..units import answered, callers, dense_json, gemini_tokens, results_together, tool_name

NOTED = "Noted."
"""The fixed answer after a summary, which the project does not document."""


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
