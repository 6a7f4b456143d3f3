"""The tool outputs of Codex."""

from __future__ import annotations

from ...model import ToolResult
from ...plugins.registry import register
from ..settings import Count

_BEYOND = 1.2
"""What the history allows beyond the limit."""


@register("summarizer", "codex.output")
def codex_output(result: ToolResult, *, limit: Count = 10_000) -> str:
    """A tool output without its middle above `limit` bytes and a fifth, and the number of characters
    left out.

    A shorter output is shown as it is. No character is cut: where a border falls inside of one, that
    goes.

    Source: openai/codex, codex-rs/utils/string/src/truncate.rs and
    codex-rs/core/src/context_manager/history.rs (process_item) at b24d7f3c

    >>> result = ToolResult(index=0, call_id="a", function="f", seen="0123456789")
    >>> codex_output(result, limit=4)
    '01…6 chars truncated…89'
    """
    data, most = result.text.encode("utf-8", "surrogatepass"), int(limit * _BEYOND)
    if len(data) <= most:
        return result.text
    end = most // 2
    start = len(data) - (most - end)
    while end and _continues(data[end]):
        end -= 1
    while start < len(data) and _continues(data[start]):
        start += 1
    parts = data[:end], data[end:start], data[start:]
    head, middle, tail = (part.decode("utf-8", "surrogatepass") for part in parts)
    return f"{head}…{len(middle)} chars truncated…{tail}"


def _continues(byte: int) -> bool:
    """True for a byte of UTF-8 that is not the first of its character."""
    return byte & 0xC0 == 0x80
