"""The tool outputs of deepagents."""

from __future__ import annotations

from ...model import ToolResult
from ...plugins.registry import register
from ..offloading import offload
from ..settings import Count


@register("summarizer", "deepagents.output")
def deepagents_output(
    result: ToolResult,
    *,
    max_chars: Count = 80_000,
    ends: Count = 5,
    line_chars: Count = 1_000,
    exclude_tools: tuple[str, ...] = (
        "ls",
        "glob",
        "grep",
        "read_file",
        "edit_file",
        "write_file",
        "delete",
    ),
) -> str:
    """The first and last `ends` lines of a result above `max_chars`, and the name of the file with
    all of it.

    The lines are numbered, and each is cut at `line_chars`. Results of `exclude_tools` stay. The
    words about the file are ours.

    Source: deepagents 0.7, deepagents/middleware/filesystem.py (tool_token_limit_before_evict)
    and _message_eviction.py

    >>> result = ToolResult(index=0, call_id="c", function="bash", seen="a\\nb\\nc\\nd")
    >>> print(deepagents_output(result, max_chars=3, ends=1))
    [shortened: the full output is in large_tool_results/c]
    1  a
    ... [2 lines truncated] ...
    4  d
    """
    if len(result.text) <= max_chars or result.function in exclude_tools:
        return result.text
    lines = [
        f"{number}  {line[:line_chars]}" for number, line in enumerate(result.text.splitlines(), 1)
    ]
    left_out = len(lines) - 2 * ends
    if left_out > 0:
        lines = [
            *lines[:ends],
            f"... [{left_out} lines truncated] ...",
            *lines[len(lines) - ends :],
        ]
    name = offload(f"large_tool_results/{result.call_id}", result.text)
    return "\n".join([f"[shortened: the full output is in {name}]", *lines])
