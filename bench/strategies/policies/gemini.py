"""The masks and the compression of the Gemini CLI."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window, Written
from ..engines import AtShare, Batched, Mask, Summarising, state
from ..histories import answered, assistant_message, callers, summary_message, system_count, tool_name, total
from ..messages import arguments_mapping, own_calls
from ..settings import Count, Portion, Share


@register("compactor", "gemini.mask")
class GeminiMask(Mask, Batched):
    """Tool results beyond the newest `protect_tokens` become a preview and a file's name, once `min_prunable_tokens` of them can go.

    The result that crosses the border goes too. The preview is the first and the last 250 characters of the result's JSON, or of a shell's output
    (`shell_tools`) the first and the last 10 lines. A result that would not become smaller stays, and so do those of `exempt` tools.

    Source: @google/gemini-cli-core 0.61.0, src/context/toolOutputMaskingService.ts

    >>> GeminiMask(protect_tokens=0, min_prunable_tokens=100).tried("tool: " + "x" * 4000, "assistant: ok")
    ['tool: <tool_output_masked>', 'assistant: ok']
    """

    protect_tokens: Count = 50_000
    min_prunable_tokens: Count = 30_000
    shell_tools: tuple[str, ...] = ("run_shell_command",)
    exempt: tuple[str, ...] = ("activate_skill", "ask_user", "enter_plan_mode", "exit_plan_mode")

    def replaced(self, window: Window) -> dict[Message, Message]:
        told = window.messages[: answered(window.messages)]
        calls, used, may_go = callers(told), 0.0, 0.0
        instead: dict[Message, Message] = {}
        for message in reversed(told):
            name = tool_name(message, calls) or ""
            if message.kind != "result" or name in self.exempt or "<tool_output_masked" in message.text:
                continue
            size = len(dense_json({"output": message.text}))
            tokens = (len(name) + size) / 4
            used += tokens if used <= self.protect_tokens else 0
            if used > self.protect_tokens:
                may_go += tokens
                masked = self.rewritten(message, self._preview(message, name))
                if len(dense_json({"output": masked.text})) < size:
                    instead[message] = masked
        return {} if may_go < self.min_prunable_tokens else instead

    def _preview(self, message: Message, name: str) -> str:
        lines = message.text.split("\n")
        preview = json.dumps({"output": message.text}, indent=2, ensure_ascii=False)
        if name in self.shell_tools:
            left_out = f"\n... [{len(lines) - 20} lines omitted] ...\n"
            preview = message.text if len(lines) <= 20 else "\n".join([*lines[:10], left_out, *lines[-10:]])
        elif len(preview) > 500:
            preview = f"{preview[:250]}\n... [TRUNCATED] ...\n{preview[-250:]}"
        path = f"tool-outputs/{name or 'tool'}_{message.call_id}.txt"
        return f"<tool_output_masked>\n{preview}\n\n[the whole is in {path}]\n</tool_output_masked>"


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


def dense_json(value: Any) -> str:
    """A value as JSON without blanks, as JavaScript writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def gemini_tokens(text: str) -> float:
    """The tokens of a text as the Gemini CLI estimates them: a quarter a character, 1.5 for one beyond ASCII in up to 100,000 characters."""
    other = 0 if len(text) > 100_000 else sum(character >= "\x80" for character in text)
    return (len(text) - other) / 4 + 1.5 * other


def results_together(messages: Iterable[Message]) -> list[list[Message]]:
    """A history as Gemini's contents: lists of one message each; tool results that follow each other are one list."""
    groups: list[list[Message]] = []
    for message in messages:
        if message.kind == "result" and groups and groups[-1][0].kind == "result":
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups
