"""The observations of SWE-agent and mini-swe-agent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...model import Message, ToolResult
from ...plugins.registry import register
from .. import Window
from ..engines import Mask
from ..parsed import parsed_value
from ..settings import Count


@register("compactor", "swe_agent.last_n")
class SweAgentLastN(Mask):
    """The first observation and the last `n`; each one between is shown as its number of lines.

    An observation is a tool result; the first is the task, which SWE-agent counts as one (the first
    user message here, else the first result).

    Source: SWE-agent 1.1, sweagent/agent/history_processors.py (LastNObservations)

    >>> SweAgentLastN(n=1).tried("user: go", "tool: a", "tool: b")
    ['user: go', 'tool: Old environment output: (1 lines omitted)', 'tool: b']
    """

    n: Count = 5

    def old(self, window: Window) -> Sequence[Message]:
        task = next((message for message in window.messages if message.kind == "user"), None)
        seen = [m for m in window.messages if m is task or m.kind == "result"]
        return seen[1 : max(0, len(seen) - self.n)]

    def text(self, message: Message) -> str:
        return f"Old environment output: ({len(message.text.splitlines())} lines omitted)"


_OPENED, _CLOSED = re.compile(r"<output>\n?"), re.compile(r"\n?</output>")


@register("summarizer", "mini_swe_agent.output")
def mini_swe_agent_output(result: ToolResult, *, limit: Count = 10_000, end: Count = 5_000) -> Any:
    """An output below `limit` characters; for a longer one its first and last `end` characters,
    with the number left out between them.

    In a mapping, `output_head`, `output_tail` and `elided_chars` replace its `output`; text between
    `<output>` tags becomes three parts with tags of these names. Any other result counts as an
    output as a whole. The prose that the text-based original adds is left out.

    Source: mini-swe-agent 2.4.6, minisweagent/config/mini.yaml and mini_textbased.yaml
    (observation_template)

    >>> result = ToolResult(index=0, call_id="a", function="f", data={"output": "0123456789"})
    >>> shortened = mini_swe_agent_output(result, limit=5, end=2)
    >>> shortened["output_head"], shortened["elided_chars"], shortened["output_tail"]
    ('01', 6, '89')
    """
    mapping = _mapping(result)
    if mapping is not None:
        output = mapping.pop("output")
        if len(output) < limit:
            return result.text
        return {**mapping, **_ends(output, end), "warning": "Output too long."}
    text = result.text
    start, stop = _output_in(text)
    if stop - start < limit:
        return text
    parts = _ends(text[start:stop], end)
    elided = f"{parts['elided_chars']} characters elided"
    named = (
        ("output_head", parts["output_head"]),
        ("elided_chars", elided),
        ("output_tail", parts["output_tail"]),
    )
    shortened = "\n".join(f"<{name}>\n{part}\n</{name}>" for name, part in named)
    before, after = text[:start], text[stop:]
    return _OPENED.sub("", before) + shortened + _CLOSED.sub("", after, count=1)


def _output_in(text: str) -> tuple[int, int]:
    """The start and the end of the text between the first `<output>` tags, else of all of it."""
    opened = _OPENED.search(text)
    closed = opened and _CLOSED.search(text, opened.end())
    return (opened.end(), closed.start()) if opened and closed else (0, len(text))


def _ends(output: str, end: int) -> dict[str, Any]:
    """The first and last characters of an output, and the number between them."""
    tail = output[max(0, len(output) - end) :]
    elided = max(0, len(output) - 2 * end)
    return {"output_head": output[:end], "output_tail": tail, "elided_chars": elided}


def _mapping(result: ToolResult) -> dict[str, Any] | None:
    """The envelope of a command as a mapping with an output; None for any other result."""
    value = parsed_value(result)
    return {**value} if isinstance(value, dict) and isinstance(value.get("output"), str) else None
