"""The observations of SWE-agent and mini-swe-agent."""

from __future__ import annotations

import re
from typing import Any

from ...model import Message, ToolResult
from ...plugins.registry import register
from ...text.decode import NothingParsed, parse_json
from .. import Window
from ..engines import Mask, View
from ..settings import Count, Turns


@register("compactor", "swe_agent.last_n")
class SweAgentLastN(Mask, View):
    """All observations but the first and the last `n` become one line that says how many lines they had.

    A view. An observation is a tool result; the first is the task, which SWE-agent counts as one (the first user message here, else the first
    result). With `polling` above 1 the boundary moves only when that many more observations have come, so the cached prefix holds in between.

    Source: SWE-agent 1.1, sweagent/agent/history_processors.py (LastNObservations)

    >>> SweAgentLastN(n=1).tried("user: go", "tool: a", "tool: b")
    ['user: go', 'tool: Old environment output: (1 lines omitted)', 'tool: b']
    """

    n: Count = 5
    polling: Turns = 1

    def replaced(self, window: Window) -> dict[Message, Message]:
        task = next((message for message in window.messages if message.kind == "user"), None)
        seen = [message for message in window.messages if message is task or message.kind == "result"]
        old = seen[1 : max(0, len(seen) // self.polling * self.polling - self.n)]
        lines = {m: f"Old environment output: ({len(m.text.splitlines())} lines omitted)" for m in old}
        return {message: self.rewritten(message, line) for message, line in lines.items()}


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
