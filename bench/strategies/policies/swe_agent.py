"""Compactor `swe_agent.last_n`, summarizer `mini_swe_agent.output`: SWE-agent and what grew out of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...model import Message, ToolResult
from ...plugins.registry import register
from ...text.decode import NothingParsed, parse_json
from .. import Window
from ..histories import Compactor, Count, PromptMessages, Turns
from . import exchanged


@register("compactor", "swe_agent.last_n", mode="per_call")
class SweAgentLastN(Compactor):
    """All observations but the first and the last `n` become one line that says how many lines they had.

    A view. An observation is a tool result; the first is the task, which SWE-agent counts as one (the first user message here, else the first
    result). With `polling` above 1 the boundary moves only when that many more observations have come: between `n` and `n + polling` stay, and
    the prefix that a provider has cached holds in between.

    Source: SWE-agent 1.1, sweagent/agent/history_processors.py (LastNObservations)

    >>> SweAgentLastN(n=1).tried("user: go", "tool: a", "tool: b")
    ['user: go', 'tool: Old environment output: (1 lines omitted)', 'tool: b']
    """

    n: Count = 5
    polling: Turns = 1

    def compact(self, window: Window) -> PromptMessages:
        seen = _observations(window.messages)
        old = seen[1 : max(0, len(seen) // self.polling * self.polling - self.n)]
        return _masked(self, window.messages, old) if old else None


def _masked(compactor: Compactor, messages: Sequence[Message], old: Sequence[Message]) -> list[Message]:
    """Return a history with a line in place of each old observation."""
    lines = {message: f"Old environment output: ({len(message.text.splitlines())} lines omitted)" for message in old}
    return exchanged(messages, {message: compactor.rewritten(message, line) for message, line in lines.items()})


def _observations(messages: Sequence[Message]) -> list[Message]:
    """Return the observations of a history as SWE-agent counts them: the first user message, which is the task, and all tool results."""
    task = next((message for message in messages if message.kind == "user"), None)
    return [message for message in messages if message is task or message.kind == "result"]


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
    >>> mini_swe_agent_output(ToolResult(index=0, call_id="a", function="f", seen="<output>\\n0123456789\\n</output>"), limit=5, end=2)
    '<output_head>\\n01\\n</output_head>\\n<elided_chars>\\n6 characters elided\\n</elided_chars>\\n<output_tail>\\n89\\n</output_tail>'
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
    """Return the envelope of a command as a mapping with an output; None for any other result."""
    value = result.data
    if value is None:
        try:
            value = parse_json(result.text)
        except NothingParsed:
            return None
    return {**value} if isinstance(value, dict) and isinstance(value.get("output"), str) else None
