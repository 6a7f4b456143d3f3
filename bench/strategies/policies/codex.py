"""The compaction and the tool outputs of Codex."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from ...model import Message, ToolResult
from ...plugins.registry import register
from .. import Window
from ..engines import AtShare, Parts, Summary
from ..histories import summary_message, system_count, with_text
from ..settings import Count, Factor


@register("summarizer", "codex.output")
def codex_output(
    result: ToolResult,
    *,
    limit: Count = 10_000,
    unit: Literal["bytes", "tokens"] = "bytes",
    factor: Factor = 1.2,
) -> str:
    """A tool output without its middle above `limit` times `factor`, and the amount left out.

    The unit is the model's: bytes, or tokens of 4 bytes. What was left out is counted in characters
    for the one, in tokens for the other. The factor is what the history allows beyond the limit. A
    shorter output is shown as it is.

    Source: openai/codex, codex-rs/utils/string/src/truncate.rs and
    codex-rs/core/src/context_manager/history.rs (process_item) at b24d7f3c

    >>> result = ToolResult(index=0, call_id="a", function="f", seen="0123456789")
    >>> codex_output(result, limit=4, factor=1)
    '01…6 chars truncated…89'
    """
    tokens = unit == "tokens"
    return middle_cut(
        result.text, int(limit * factor) * (4 if tokens else 1), "tokens" if tokens else "chars"
    )


@register("compactor", "codex")
class Codex(Summary, AtShare):
    """`[system, the user's messages, summary]`, from `threshold` of the window on.

    Every assistant and tool message goes. The user's messages are taken from the newest back while
    they fit `user_tokens` (bytes by 4, rounded up); the one that does not fit loses its middle, and
    those before it go. Earlier summaries are not the user's. The writer reads the whole history. An
    empty summary becomes "(no summary)", as there.

    Source: openai/codex, codex-rs/core/src/compact.rs (build_compacted_history,
    COMPACT_USER_MESSAGE_MAX_TOKENS) at 0100b103

    >>> Codex().tried("user: go", "assistant: done")
    ['user: go', 'user: Summary of 2 earlier messages:']
    """

    user_tokens: Count = 20_000

    def divided(self, window: Window) -> Parts | None:
        """The system messages and the newest of the user's that fit; everything is summarised."""
        start = system_count(window.messages)
        if window.tokens < self.limit(window) or len(window.messages) == start:
            return None
        asked = [message for message in window.messages[start:] if message.kind == "user"]
        return [*window.messages[:start], *self._newest(asked)], window.messages, ()

    def _newest(self, asked: Sequence[Message]) -> list[Message]:
        """The user's newest messages that fit; the first that does not loses its middle."""
        room, kept = self.user_tokens, list[Message]()
        for message in reversed(asked):
            if room <= 0:
                break
            tokens = math.ceil(len(message.text.encode("utf-8", "surrogatepass")) / 4)
            if tokens > room:
                message = with_text(message, middle_cut(message.text, 4 * room, "tokens"))
            kept.append(message)
            room -= tokens
        return kept[::-1]

    def message(self, text: str) -> Message:
        return summary_message(text or "(no summary)")


def middle_cut(text: str, max_bytes: int, unit: str) -> str:
    """The ends of a text, `max_bytes` of UTF-8 together, and between them the amount left out.

    No character is cut: where a border falls inside of one, that goes.
    """
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= max_bytes:
        return text
    end = max_bytes // 2
    start = len(data) - (max_bytes - end)
    while end and _continues(data[end]):
        end -= 1
    while start < len(data) and _continues(data[start]):
        start += 1
    parts = data[:end], data[end:start], data[start:]
    head, middle, tail = (part.decode("utf-8", "surrogatepass") for part in parts)
    amount = math.ceil((len(data) - max_bytes) / 4) if unit == "tokens" else len(middle)
    return f"{head}…{amount} {unit} truncated…{tail}"


def _continues(byte: int) -> bool:
    """True for a byte of UTF-8 that is not the first of its character."""
    return byte & 0xC0 == 0x80
