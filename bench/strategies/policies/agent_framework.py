"""The strategies of Agent Framework, which take out or replace whole groups of messages."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..engines import Compactor, Parts, Summary
from ..histories import assistant_message, older
from ..messages import arguments_mapping, own_calls
from ..settings import Count

Group = tuple[Message, ...]
"""Messages that go together: one message, or a call with all of its results."""

_INSTRUCTION_TOKENS = 148
_LONGEST_LINE = 4096


@register("compactor", "agent_framework.tool_result")
class AgentFrameworkToolResult(Compactor):
    """The last calls; of an older one an assistant line of its results.

    The line is `[Tool results: name: text; …]`, of at most 4,096 characters.

    Source: agent-framework-core 1.23.0, agent_framework/_compaction.py
    (ToolResultCompactionStrategy)

    >>> AgentFrameworkToolResult(keep_last_tool_call_groups=0).tried("call ls", "tool: a.txt")
    ['assistant: [Tool results: ls: a.txt]']
    """

    keep_last_tool_call_groups: Count = 1

    def compact(self, window: Window) -> Edits | None:
        calls = [
            group
            for group in talk_of(window.messages)
            if group[0].tool_calls or group[0].kind == "result"
        ]
        replace: dict[Message, Message | None] = {}
        for group in older(calls, self.keep_last_tool_call_groups):
            replace |= dict.fromkeys(group)
            replace[group[0]] = assistant_message(results_line(group))
        return Edits(replace=replace) if replace else None


@register("compactor", "agent_framework.summarization")
class AgentFrameworkSummarization(Summary):
    """The last messages, about `target_count`; the older ones as a summary in an assistant message.

    It acts above `target_count` + `threshold` messages, system ones aside, and keeps whole groups.
    The writer gets groups from the oldest on while they fit `max_summary_input_tokens` (characters
    by 4, with the 148 tokens of the original's instruction). Leading groups that do not fit alone
    are passed over; only what the writer gets is replaced. An empty summary, a failure in the
    original, stands here. Of a session with one request no message of a user is left, and a
    provider may refuse such a prompt. The original writes it all the same.

    Source: agent-framework-core 1.23.0, agent_framework/_compaction.py (SummarizationStrategy)

    >>> policy = AgentFrameworkSummarization(target_count=1, threshold=1)
    >>> policy.tried("user: 0", "user: 1", "user: 2")
    ['assistant: Summary of 2 earlier messages:', 'user: 2']
    """

    target_count: Count = 4
    threshold: Count = 2
    max_summary_input_tokens: Count = 8_000

    def message(self, text: str) -> Message:
        return assistant_message(text)

    def divided(self, window: Window) -> Parts | None:
        """The messages before the groups that the writer reads, those of the groups, and the rest."""
        groups = talk_of(window.messages)
        if sum(map(len, groups)) <= self.target_count + self.threshold:
            return None
        read = [message for group in self._read(self._older(groups)) for message in group]
        if not read:
            return None
        start, old = window.messages.index(read[0]), set(read)
        rest = [message for message in window.messages[start:] if message not in old]
        return window.messages[:start], read, rest

    def _older(self, groups: list[Group]) -> list[Group]:
        """All groups but the last ones, which have `target_count` messages or more together."""
        kept = 0
        while groups and (kept == 0 or kept < self.target_count):
            kept += len(groups[-1])
            groups = groups[:-1]
        return groups

    def _read(self, groups: list[Group]) -> list[Group]:
        """The groups that fit the writer's input, from the oldest that fits on."""
        read: list[Group] = []
        tokens = _INSTRUCTION_TOKENS
        for group in groups:
            lines = [f"{len(read) + 1}. [{message.role}] {_as_text(message)}" for message in group]
            tokens_of_group = max(1, len("\n".join(lines)) // 4) + bool(read)
            if tokens + tokens_of_group <= self.max_summary_input_tokens:
                read.append(group)
                tokens += tokens_of_group
            elif read:
                break
        return read


def _as_text(message: Message) -> str:
    """A message as one line: its text, then its calls."""
    calls = [
        f"{call.name} {json.dumps(arguments_mapping(call), default=str)}"
        for call in own_calls(message)
    ]
    return "; ".join([message.text, *calls] if message.text else calls)


def results_line(group: Group) -> str:
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


def talk_of(messages: Sequence[Message]) -> list[Group]:
    """A history in groups, without its system messages.

    A result joins the group of its call; one whose call is not known that of the calls or results
    just before it.
    """
    groups: list[list[Message]] = []
    by_call: dict[str, list[Message]] = {}
    before: list[Message] | None = None  # the group of the calls or results just before
    for message in messages:
        is_result = message.kind == "result"
        group = by_call.get(message.call_id or "", before) if is_result else None
        if group is None:
            group = []
            groups.append(group)
        group.append(message)
        if not is_result:
            by_call.update({call.id: group for call in message.tool_calls})
        before = group if message.tool_calls or is_result else None
    return [tuple(group) for group in groups if group[0].role != "system" or group[0].tool_calls]
