"""The collapsed tool results of Agent Framework."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Window
from ..engines import Compactor
from ..histories import older
from ..settings import Count

_LONGEST_LINE = 4096


@register("compactor", "agent_framework.tool_result")
class AgentFrameworkToolResult(Compactor):
    """The last calls; each older one becomes an assistant line with its results.

    The line is `[Tool results: name: text; …]`, of at most 4,096 characters.

    Source: agent-framework-core 1.23.0, agent_framework/_compaction.py
    (ToolResultCompactionStrategy)

    >>> AgentFrameworkToolResult(keep_last_tool_call_groups=0).tried("call ls", "tool: a.txt")
    ['assistant: [Tool results: ls: a.txt]']
    """

    keep_last_tool_call_groups: Count = 1

    def compact(self, window: Window) -> list[Message] | None:
        groups = older(calls_of(window.messages), self.keep_last_tool_call_groups)
        lines = {group[0]: _written(results_line(group)) for group in groups}
        gone = {message for group in groups for message in group[1:]}
        shown = [lines.get(message, message) for message in window.messages if message not in gone]
        return shown if lines else None


def _written(text: str) -> Message:
    return Message(role="assistant", kind="made", text=text)


def results_line(group: Sequence[Message]) -> str:
    """The results of a group of calls on one line, cut at 4,096 characters."""
    names = {call.id: call.name for message in group for call in message.tool_calls}
    lines: list[str] = []
    for message in group:
        if message.kind == "result":
            name = names.get(message.call_id or "")
            lines.append((f"{name}: {message.text}" if name else message.text).strip())
    line = f"[Tool results: {'; '.join(lines) if lines else 'no results'}]"
    if len(line) <= _LONGEST_LINE:
        return line
    end = "... [truncated]]"
    return line[: _LONGEST_LINE - len(end)].rstrip() + end


def calls_of(messages: Sequence[Message]) -> list[list[Message]]:
    """The calls of a history, each with its results."""
    groups: dict[Message, list[Message]] = {}
    by_call: dict[str | None, list[Message]] = {}
    for message in messages:
        if message.tool_calls:
            groups[message] = [message]
            by_call |= {call.id: groups[message] for call in message.tool_calls}
        elif message.kind == "result" and message.call_id in by_call:
            by_call[message.call_id].append(message)
    return list(groups.values())
