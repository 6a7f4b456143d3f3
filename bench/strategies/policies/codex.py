"""Compactor `codex` and summarizer `codex.output`: the rules of the Codex CLI."""

from __future__ import annotations

from typing import Literal

from ...model import Message, ToolResult
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import AtShare, Count, Share, Summarising, summary_message, system_count, with_text
from . import rounded_up

NO_SUMMARY = "(no summary)"


@register("compactor", "codex")
class CodexCompaction(AtShare, Summarising):
    """At `threshold` of the window: `[system, the user's messages, summary]`; every assistant and tool message goes.

    The user's messages are taken from the newest back while they fit `user_tokens` (bytes by 4, rounded up). The one that does not fit loses its
    middle, and those before it go. Earlier summaries are not the user's. The writer reads the whole history. The text around a summary is ours;
    an empty summary becomes "(no summary)", as there.

    Source: openai/codex, codex-rs/core/src/compact.rs (build_compacted_history, COMPACT_USER_MESSAGE_MAX_TOKENS) at 0100b103

    >>> CodexCompaction().tried("user: go", "assistant: done")
    ['user: go', 'user: Summary of 2 earlier messages:']
    """

    threshold: Share = 0.9
    user_tokens: Count = 20_000

    def compact(self, window: Window) -> Edits | None:
        old, start = window.messages, system_count(window.messages)
        if window.tokens < self.limit(window) or len(old) == start:
            return None
        users = self._users([message for message in old[start:] if message.kind == "user"])
        note = f"{window.tokens} tokens: {len(old) - start} messages summarised, {len(users)} of the user's kept"
        before = [*old[:start], *users]
        return self.summarised(window, before, list(old), (), note, lambda text: summary_message(text or NO_SUMMARY))

    def _users(self, messages: list[Message]) -> list[Message]:
        kept: list[Message] = []
        room = self.user_tokens
        for message in reversed(messages):
            if room <= 0:
                break
            tokens = rounded_up(len(message.text.encode("utf-8", "surrogatepass")))
            kept.append(message if tokens <= room else with_text(message, _cut(message.text, 4 * room, "tokens")))
            room -= tokens
        return kept[::-1]


@register("summarizer", "codex.output")
def codex_output(
    result: ToolResult, *, limit: Count = 10_000, unit: Literal["bytes", "tokens"] = "bytes", factor: float = 1.2
) -> str:
    """A tool output with its middle cut out above `limit` times `factor`, and the amount left out in its place.

    The unit is the model's: bytes, or tokens of 4 bytes. What was left out is counted in characters for the one, in tokens for the other. The
    factor is what the history allows beyond the limit. A shorter output is shown as it is.

    Source: openai/codex, codex-rs/utils/string/src/truncate.rs and codex-rs/core/src/context_manager/history.rs (process_item) at b24d7f3c

    >>> codex_output(ToolResult(index=0, call_id="a", function="f", seen="0123456789"), limit=4, factor=1)
    '01…6 chars truncated…89'
    """
    max_bytes = int(limit * factor) * (4 if unit == "tokens" else 1)
    return _cut(result.text, max_bytes, "tokens" if unit == "tokens" else "chars")


def _cut(text: str, max_bytes: int, unit: str) -> str:
    """Return a text with its middle cut out: `max_bytes` of UTF-8 are left, half at either end, and between them the amount that went."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= max_bytes:
        return text
    end, start = max_bytes // 2, len(data) - (max_bytes - max_bytes // 2)
    while end and data[end] & 0xC0 == 0x80:
        end -= 1
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    head, gone, tail = (part.decode("utf-8", "surrogatepass") for part in (data[:end], data[end:start], data[start:]))
    amount = rounded_up(len(data) - max_bytes) if unit == "tokens" else len(gone)
    return f"{head}…{amount} {unit} truncated…{tail}"
