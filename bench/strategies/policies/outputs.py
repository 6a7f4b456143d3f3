"""The rules by which agents cut one tool output, and its presets."""

from __future__ import annotations

import re
from typing import Any, Literal

from ...model import ToolResult
from ...plugins.registry import register
from ...text.decode import NothingParsed, parse_json
from ..histories import Count, Factor
from ..offloading import offload
from ..units import middle_cut


@register("summarizer", "codex.output")
def codex_output(
    result: ToolResult, *, limit: Count = 10_000, unit: Literal["bytes", "tokens"] = "bytes", factor: Factor = 1.2
) -> str:
    """A tool output with its middle cut out above `limit` times `factor`, and the amount left out in its place.

    The unit is the model's: bytes, or tokens of 4 bytes. What was left out is counted in characters for the one, in tokens for the other. The
    factor is what the history allows beyond the limit. A shorter output is shown as it is.

    Source: openai/codex, codex-rs/utils/string/src/truncate.rs and codex-rs/core/src/context_manager/history.rs (process_item) at b24d7f3c

    >>> codex_output(ToolResult(index=0, call_id="a", function="f", seen="0123456789"), limit=4, factor=1)
    '01…6 chars truncated…89'
    """
    tokens = unit == "tokens"
    return middle_cut(result.text, int(limit * factor) * (4 if tokens else 1), "tokens" if tokens else "chars")


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

    Each line is cut at `line_chars`. Results of `exclude_tools` stay. The words about the file are ours.

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
    name = offload(f"large_tool_results/{result.call_id}", result.text)
    return "\n".join([f"[too long: the whole is in {name}]", *lines])


_OPENED, _CLOSED = re.compile(r"<output>\n?"), re.compile(r"\n?</output>")


@register("summarizer", "mini_swe_agent.output")
def mini_swe_agent_output(result: ToolResult, *, limit: Count = 10_000, end: Count = 5_000) -> Any:
    """An output below `limit` characters as it is; else its first and last `end`, and the number left out.

    The output is what stands in the envelope of a command. In a mapping `output_head`, `output_tail` and `elided_chars` take the place of its
    `output`. Text between `<output>` tags becomes three parts with tags of these names. Any other result is an output as a whole. The prose that
    the text-based original adds for the model is left out.

    Source: mini-swe-agent 2.4.6, minisweagent/config/mini.yaml and mini_textbased.yaml (observation_template)

    >>> mini_swe_agent_output(ToolResult(index=0, call_id="a", function="f", data={"returncode": 0, "output": "0123456789"}), limit=5, end=2)
    {'returncode': 0, 'output_head': '01', 'output_tail': '89', 'elided_chars': 6, 'warning': 'Output too long.'}
    """
    text, mapping = result.text, _mapping(result)
    opened = _OPENED.search(text)
    closed = opened and _CLOSED.search(text, opened.end())
    begin, stop = (opened.end(), closed.start()) if opened and closed else (0, len(text))
    output = text[begin:stop] if mapping is None else mapping.pop("output")
    if len(output) < limit:
        return text
    head, tail, elided = output[:end], output[max(0, len(output) - end) :], max(0, len(output) - 2 * end)
    if mapping is not None:
        told = {"output_head": head, "output_tail": tail, "elided_chars": elided, "warning": "Output too long."}
        return {**mapping, **told}
    parts = (("output_head", head), ("elided_chars", f"{elided} characters elided"), ("output_tail", tail))
    shown = "\n".join(f"<{name}>\n{part}\n</{name}>" for name, part in parts)
    return text[: opened.start()] + shown + text[closed.end() :] if opened and closed else shown


def _mapping(result: ToolResult) -> dict[str, Any] | None:
    """The envelope of a command as a mapping with an output; None for any other result."""
    value = result.data
    if value is None:
        try:
            value = parse_json(result.text)
        except NothingParsed:
            return None
    return {**value} if isinstance(value, dict) and isinstance(value.get("output"), str) else None
