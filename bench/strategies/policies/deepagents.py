"""Summarizer `deepagents.output`."""

from __future__ import annotations

from ...model import ToolResult
from ...plugins.registry import register
from ..histories import Count

FIXED_TOKENS, FIXED_KEPT, FIXED_SPARED = 170_000, 6, 20


@register("summarizer", "deepagents.output")
def deepagents_output(
    result: ToolResult,
    *,
    max_chars: Count = 80_000,
    ends: Count = 5,
    line_chars: Count = 1_000,
    exclude_tools: tuple[str, ...] = ("ls", "glob", "grep", "read_file", "edit_file", "write_file", "delete"),
) -> str:
    """A result above `max_chars` as its first and last `ends` lines, numbered, and the file that holds it.

    Each line is cut at `line_chars`. Results of `exclude_tools` stay. The words about the file are ours, and it cannot be read in a replay.

    Source: deepagents 0.7, deepagents/middleware/filesystem.py (tool_token_limit_before_evict) and _message_eviction.py

    >>> print(deepagents_output(ToolResult(index=0, call_id="c", function="bash", seen="a\\nb\\nc\\nd"), max_chars=3, ends=1))
    [too long: the whole is in large_tool_results/c]
    1  a
    ... [2 lines truncated] ...
    4  d
    """
    if len(result.text) <= max_chars or result.function in exclude_tools:
        return result.text
    lines = [f"{number}  {line[:line_chars]}" for number, line in enumerate(result.text.splitlines(), 1)]
    left_out = len(lines) - 2 * ends
    if left_out > 0:
        lines = [*lines[:ends], f"... [{left_out} lines truncated] ...", *lines[len(lines) - ends :]]
    return "\n".join([f"[too long: the whole is in large_tool_results/{result.call_id}]", *lines])
