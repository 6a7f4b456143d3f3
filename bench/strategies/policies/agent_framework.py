"""Compactors `agent_framework.*`: the compaction strategies of Microsoft's Agent Framework.

They take out whole groups: a system message, a user message, an assistant message without calls, or a call with all its results. A group that is
out stays out. A token is 4 characters of a message's JSON, rounded down, at least 1 a message.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import Batched, Compactor, Count, Share, Summarising, assistant_message, total
from ..messages import arguments_mapping, own_calls
from . import older

PROMPT_TOKENS = 148
"""The tokens that the original's instruction to its summarizer takes of the summarizer's budget."""


@dataclass(eq=False)
class MessageGroup:
    """Messages that go together, of kind system, user, assistant_text or tool_call. A written group stands at the place of `stands_at`."""

    kind: str
    messages: list[Message]
    stands_at: Message | None = None


def groups_of(messages: Sequence[Message]) -> list[MessageGroup]:
    """Return a history as groups; results that are apart from their call join its group."""
    groups: list[MessageGroup] = []
    by_call: dict[str, MessageGroup] = {}
    open_group: MessageGroup | None = None  # results may follow
    for message in messages:
        called = "tool_call" if message.tool_calls or message.kind == "result" else None
        group = by_call.get(message.call_id or "", open_group) if message.kind == "result" else None
        if group is None:
            kind = called or (message.role if message.role in ("system", "user") else "assistant_text")
            groups.append(group := MessageGroup(kind, []))
        group.messages.append(message)
        by_call.update({call.id: group for call in message.tool_calls if message.kind != "result"})
        open_group = group if called else None
    return groups


def json_tokens(message: Message) -> int:
    """Return a message's tokens: the characters of its JSON by 4."""
    contents: list[dict[str, Any]] = []
    if message.kind == "result":
        contents.append({"call_id": message.call_id, "result": message.text, "type": "function_result"})
    elif message.text or not message.tool_calls:
        contents.append({"text": message.text, "type": "text"})
    for call in own_calls(message):
        told = {"arguments": arguments_mapping(call), "call_id": call.id, "hosted": False, "name": call.name}
        contents.append({**told, "type": "function_call"})
    payload = {
        "contents": [{"additional_properties": {}, **content} for content in contents],
        "message_id": f"msg_{message.step}",
        "role": "tool" if message.kind == "result" else message.role,
    }
    return max(1, len(json.dumps(payload, ensure_ascii=False, default=str)) // 4)


def _tokens(groups: Sequence[MessageGroup]) -> int:
    return sum(total(json_tokens, group.messages) for group in groups)


def _messages(groups: Sequence[MessageGroup]) -> int:
    return sum(len(group.messages) for group in groups)


def _without(groups: Sequence[MessageGroup], gone: Sequence[MessageGroup]) -> list[MessageGroup]:
    left_out = set(gone)
    return [group for group in groups if group not in left_out]


def _edits(window: Window, groups: Sequence[MessageGroup], note: str) -> Edits | None:
    """Return the history that some groups make up, every message in its place; None where it is the same."""
    kept = {message for group in groups for message in group.messages if group.stands_at is None}
    written = {group.stands_at: group.messages for group in groups if group.stands_at is not None}
    messages: list[Message] = []
    for message in window.messages:
        messages += [*written.get(message, ()), *([message] if message in kept else ())]
    return Edits(messages=messages, notes=(note,)) if written or len(messages) != len(window.messages) else None


def _truncated(
    groups: list[MessageGroup], limit: int, target: int, unit: str, keep_request: bool
) -> list[MessageGroup]:
    """Return groups without the oldest ones: above a limit they go until the target is reached; system groups and the last other one stay."""
    size = _tokens if unit == "tokens" else _messages
    left = size(groups)
    if left <= limit:
        return groups
    others = _without(groups, _of_kind(groups, "system"))
    stay = [*others[-1:], *(_of_kind(groups, "user")[:1] if keep_request else [])]
    gone: list[MessageGroup] = []
    for group in _without(others, stay):
        if left <= target:
            break
        gone.append(group)
        left -= size([group])
    return _without(groups, gone)


def _of_kind(groups: Sequence[MessageGroup], kind: str) -> list[MessageGroup]:
    return [group for group in groups if group.kind == kind]


def _collapsed(groups: Sequence[MessageGroup], keep_last: int) -> list[MessageGroup]:
    """Return groups with every call but the last ones as one assistant line that holds its results."""
    lines = {
        group: MessageGroup("assistant_text", [_line(group)], group.messages[0])
        for group in older(_of_kind(groups, "tool_call"), keep_last)
    }
    return [lines.get(group, group) for group in groups]


def _line(group: MessageGroup) -> Message:
    names = {call.id: call.name for message in group.messages for call in message.tool_calls}
    results = [message for message in group.messages if message.kind == "result"]
    named = [(names.get(message.call_id or ""), message.text) for message in results]
    label = "; ".join((f"{name}: {text}" if name else text).strip() for name, text in named) if named else "no results"
    text, marker = f"[Tool results: {label}]", "... [truncated]"
    if len(text) > 4096:
        text = f"[Tool results: {label[: 4096 - len('[Tool results: ') - len(marker) - 1].rstrip()}{marker}]"
    return assistant_message(text)


@register("compactor", "agent_framework.truncation")
class AgentFrameworkTruncation(Compactor):
    """Above `max_n` the oldest groups go until `compact_to` is reached.

    Both are tokens, or messages with `unit="messages"`; None is 80 % and 50 % of the model's window (the original has no default). System groups
    and the last other group stay, and with `preserve_first_user_group` the first user message.

    Source: agent-framework-core 1.23.0, agent_framework/_compaction.py (TruncationStrategy)

    >>> AgentFrameworkTruncation(max_n=3, compact_to=2, unit="messages").tried("user: 0", "user: 1", "user: 2", "user: 3")
    ['user: 2', 'user: 3']
    """

    max_n: Count | None = None
    compact_to: Count | None = None
    unit: Literal["tokens", "messages"] = "tokens"
    preserve_first_user_group: bool = False

    def compact(self, window: Window) -> Edits | None:
        limit = int(0.8 * window.max_tokens) if self.max_n is None else self.max_n
        target = int(0.5 * window.max_tokens) if self.compact_to is None else self.compact_to
        left = _truncated(groups_of(window.messages), limit, target, self.unit, self.preserve_first_user_group)
        return _edits(window, left, f"above {limit} {self.unit}")


@register("compactor", "agent_framework.sliding_window")
class AgentFrameworkSlidingWindow(Batched):
    """The system groups and the last `keep_last_groups` others.

    `every` above 1 moves the boundary at every `every`-th prompt only. The original does not offer that, nor has it a default number.

    Source: agent-framework-core 1.23.0, agent_framework/_compaction.py (SlidingWindowStrategy)

    >>> AgentFrameworkSlidingWindow(keep_last_groups=2).tried("system: hi", "user: 0", "user: 1", "user: 2")
    ['system: hi', 'user: 1', 'user: 2']
    """

    keep_last_groups: Count = 20
    preserve_system: bool = True

    def edit(self, window: Window) -> Edits | None:
        groups = groups_of(window.messages)
        gone = older(_without(groups, _of_kind(groups, "system")), max(1, self.keep_last_groups))
        gone += [] if self.preserve_system else _of_kind(groups, "system")
        return _edits(window, _without(groups, gone), f"{len(gone)} groups went")


@register("compactor", "agent_framework.selective")
class AgentFrameworkSelective(Batched):
    """Every call goes with its results, but for the last `keep_last_tool_call_groups`; everything else stays.

    Source: agent-framework-core 1.23.0, agent_framework/_compaction.py (SelectiveToolCallCompactionStrategy)

    >>> AgentFrameworkSelective(keep_last_tool_call_groups=0).tried("user: go", "call ls", "tool: a.txt")
    ['user: go']
    """

    keep_last_tool_call_groups: Count = 1

    def edit(self, window: Window) -> Edits | None:
        groups = groups_of(window.messages)
        gone = older(_of_kind(groups, "tool_call"), self.keep_last_tool_call_groups)
        return _edits(window, _without(groups, gone), f"{len(gone)} calls went")


@register("compactor", "agent_framework.tool_result")
class AgentFrameworkToolResult(Batched):
    """Every call but the last `keep_last_tool_call_groups` becomes an assistant line `[Tool results: name: text; …]` of at most 4,096 characters.

    Source: agent-framework-core 1.23.0, agent_framework/_compaction.py (ToolResultCompactionStrategy)

    >>> AgentFrameworkToolResult(keep_last_tool_call_groups=0).tried("call ls", "tool: a.txt")
    ['assistant: [Tool results: ls: a.txt]']
    """

    keep_last_tool_call_groups: Count = 1

    def edit(self, window: Window) -> Edits | None:
        left = _collapsed(groups_of(window.messages), self.keep_last_tool_call_groups)
        return _edits(window, left, "older calls are one line each")


@register("compactor", "agent_framework.summarization")
class AgentFrameworkSummarization(Summarising):
    """Above `target_count` + `threshold` messages, system ones aside: the older groups become an assistant message with a summary.

    The last groups that together have at least `target_count` messages stay. The writer gets whole groups from the oldest on while they fit
    `max_summary_input_tokens` (characters by 4, with the original's instruction). Leading groups that do not fit alone are passed over. Only
    what the writer gets is replaced; where nothing fits, nothing changes. An empty summary, a failure in the original, stands.

    Source: agent-framework-core 1.23.0, agent_framework/_compaction.py (SummarizationStrategy)

    >>> AgentFrameworkSummarization(target_count=1, threshold=1).tried("user: 0", "user: 1", "user: 2")
    ['assistant: Summary of 2 earlier messages:', 'user: 2']
    """

    target_count: Count = 4
    threshold: Count = 2
    max_summary_input_tokens: Count | None = 8_000

    def compact(self, window: Window) -> Edits | None:
        groups = groups_of(window.messages)
        others = _without(groups, _of_kind(groups, "system"))
        if _messages(others) <= self.target_count + self.threshold:
            return None
        kept = max(0, len(others) - 1)
        while kept and _messages(others[kept:]) < self.target_count:
            kept -= 1
        chosen = self._chosen(others[:kept])
        if not chosen:
            return None
        read = [message for group in chosen for message in group.messages]
        written = self.write(read, window)
        summary = MessageGroup("assistant_text", [assistant_message(written.text)], read[0])
        edits = _edits(window, [summary, *_without(groups, chosen)], f"{len(read)} messages summarised")
        return replace(edits, written=(written,)) if edits else None

    def _chosen(self, candidates: list[MessageGroup]) -> list[MessageGroup]:
        if self.max_summary_input_tokens is None:
            return candidates
        chosen: list[MessageGroup] = []
        tokens = PROMPT_TOKENS
        for group in candidates:
            lines = [f"{len(chosen) + 1}. [{message.role}] {_as_text(message)}" for message in group.messages]
            more = max(1, len("\n".join(lines)) // 4) + bool(chosen)
            if tokens + more <= self.max_summary_input_tokens:
                chosen.append(group)
                tokens += more
            elif chosen:
                break
        return chosen


def _as_text(message: Message) -> str:
    calls = [f"{call.name} {json.dumps(arguments_mapping(call), default=str)}" for call in own_calls(message)]
    return "; ".join([message.text, *calls] if message.text else calls)


@register("compactor", "agent_framework.context_window")
class AgentFrameworkContextWindow(Compactor):
    """Above half of the input budget older calls become one line each; above 80 % of it the oldest groups go until half is left.

    The budget is the window without `max_output_tokens` (for which the original has no default). The last `keep_last_tool_call_groups` calls stay
    whole. The tokens are counted again before groups go.

    Source: agent-framework-core 1.23.0, agent_framework/_compaction.py (ContextWindowCompactionStrategy)

    >>> small = AgentFrameworkContextWindow(max_output_tokens=0, keep_last_tool_call_groups=0)
    >>> small.tried("call ls", "tool: " + "x" * 400, "user: go", max_tokens=180)
    ['user: go']
    """

    max_output_tokens: Count = 16_384
    tool_eviction_threshold: Share = 0.5
    truncation_threshold: Share = 0.8
    keep_last_tool_call_groups: Count = 4
    preserve_first_user_group: bool = False

    def compact(self, window: Window) -> Edits | None:
        budget = max(1, window.max_tokens - self.max_output_tokens)
        groups, half = groups_of(window.messages), int(budget * self.tool_eviction_threshold)
        if _tokens(groups) > half:
            groups = _collapsed(groups, self.keep_last_tool_call_groups)
        limit = int(budget * self.truncation_threshold)
        groups = _truncated(groups, limit, half, "tokens", self.preserve_first_user_group)
        return _edits(window, groups, f"above half of {budget} tokens")
