"""Compactors `swe_agent.last_n` and `complexity_trap.hybrid`, summarizer `mini_swe_agent.output`: SWE-agent and what grew out of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...model import Message, ToolResult
from ...plugins.registry import register
from ...text.decode import NothingParsed, parse_json
from .. import Edits, Window, Written
from ..histories import Compactor, Count, PromptMessages, Summarising, Turns, assistant_message, state
from . import exchanged, older


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


@register("compactor", "complexity_trap.hybrid", mode="per_call")
class ComplexityTrapHybrid(Summarising):
    """Once `n` + `keep_last_m_turns` turns are not yet summarised the oldest `n` become an assistant checkpoint; older observations are masked.

    A view that remembers its checkpoints: each joins those before. A turn is a model's message and what follows it; all before the first turn
    stays. Of the observations that are left, all but the last `last_n` become one line that says how many lines they had. The task counts as
    one and stays, as in SWE-agent. The writer reads the turns with their observations, and the last checkpoint or the task. The text around a
    checkpoint is ours.

    Source: arXiv 2508.21433 "The Complexity Trap"; its code, sweagent/agent/history_processors.py (SummarizeEveryNTurns, LastNObservations)

    >>> turns = [line for step in "0123" for line in (f"assistant: {step}", f"tool: of {step}")]
    >>> ComplexityTrapHybrid(n=2, keep_last_m_turns=1, last_n=1).tried("user: go", *turns)[1:4]
    ['assistant: Summary of 5 earlier messages:', 'assistant: 2', 'tool: Old environment output: (1 lines omitted)']
    """

    n: Count = 43
    keep_last_m_turns: Count = 10
    last_n: Count = 10
    _checkpoints: list[Message] = state(list)

    def compact(self, window: Window) -> Edits | None:
        starts = [place for place, message in enumerate(window.messages) if message.kind == "model"]
        opening = list(window.messages[: starts[0]] if starts else window.messages)
        n, done, written = max(1, self.n), len(self._checkpoints) * max(1, self.n), list[Written]()
        if len(starts) - done >= n + self.keep_last_m_turns:
            ends = [*starts, len(window.messages)]
            before = self._checkpoints[-1:] or [message for message in opening if message.kind == "user"][:1]
            written = [self.write([*before, *window.messages[ends[done] : ends[done + n]]], window)]
            self._checkpoints.append(assistant_message(written[0].text))
            done += n
        left = window.messages[starts[done] :] if done < len(starts) else []
        messages = [*opening, *self._checkpoints, *left]
        shown = _masked(self, messages, older(_observations(messages), self.last_n)[1:])
        return Edits(messages=shown, written=written, notes=(f"{n} turns summarised",) if written else ())


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
