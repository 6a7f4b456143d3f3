"""The strategies of Agent Framework, which take out or replace whole groups."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..engines import Batched, Compactor, Summarising
from ..histories import assistant_message, older, total
from ..messages import arguments_mapping, own_calls
from ..settings import Count, Share

Group = tuple[Message, ...]
"""Messages that go together: one message, or a call with all of its results."""


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
        size = group_tokens if self.unit == "tokens" else len
        left = truncated(groups_of(window.messages), limit, target, size, self.preserve_first_user_group)
        return left_of(window, left, f"above {limit} {self.unit}")


@register("compactor", "agent_framework.sliding_window")
class AgentFrameworkSlidingWindow(Batched):
    """The system groups and the last `keep_last_groups` others. The original has no default number.

    Source: agent-framework-core 1.23.0, agent_framework/_compaction.py (SlidingWindowStrategy)

    >>> AgentFrameworkSlidingWindow(keep_last_groups=2).tried("system: hi", "user: 0", "user: 1", "user: 2")
    ['system: hi', 'user: 1', 'user: 2']
    """

    keep_last_groups: Count = 20

    def edit(self, window: Window) -> Edits | None:
        groups = groups_of(window.messages)
        systems = [group for group in groups if kind_of(group) == "system"]
        gone = {*older([group for group in groups if group not in systems], max(1, self.keep_last_groups))}
        return left_of(window, [group for group in groups if group not in gone], f"{len(gone)} groups went")


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
        gone = {*older(_calls(groups), self.keep_last_tool_call_groups)}
        return left_of(window, [group for group in groups if group not in gone], f"{len(gone)} calls went")


@register("compactor", "agent_framework.tool_result")
class AgentFrameworkToolResult(Batched):
    """Every call but the last `keep_last_tool_call_groups` becomes an assistant line `[Tool results: name: text; …]` of at most 4,096 characters.

    Source: agent-framework-core 1.23.0, agent_framework/_compaction.py (ToolResultCompactionStrategy)

    >>> AgentFrameworkToolResult(keep_last_tool_call_groups=0).tried("call ls", "tool: a.txt")
    ['assistant: [Tool results: ls: a.txt]']
    """

    keep_last_tool_call_groups: Count = 1

    def edit(self, window: Window) -> Edits | None:
        left, places = collapsed(groups_of(window.messages), self.keep_last_tool_call_groups)
        return left_of(window, left, "older calls are one line each", places)


@register("compactor", "agent_framework.context_window")
class AgentFrameworkContextWindow(Compactor):
    """Above half of the input budget older calls become one line each; above 80 % of it the oldest groups go until half is left.

    The budget is the window without `max_output_tokens` (for which the original has no default). The last `keep_last_tool_call_groups` calls stay
    whole.

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
        groups, places, half = (
            groups_of(window.messages),
            dict[Message, Message](),
            int(budget * self.tool_eviction_threshold),
        )
        if sum(map(group_tokens, groups)) > half:
            groups, places = collapsed(groups, self.keep_last_tool_call_groups)
        limit = int(budget * self.truncation_threshold)
        groups = truncated(groups, limit, half, group_tokens, self.preserve_first_user_group)
        return left_of(window, groups, f"above half of {budget} tokens", places)


@register("compactor", "agent_framework.summarization")
class AgentFrameworkSummarization(Summarising):
    """Above `target_count` + `threshold` messages, system ones aside: the older groups become an assistant message with a summary.

    The last groups that together have at least `target_count` messages stay. The writer gets whole groups from the oldest on while they fit
    `max_summary_input_tokens` (characters by 4, with the 148 tokens of the original's instruction). Leading groups that do not fit alone are passed
    over. Only what the writer gets is replaced; where nothing fits, nothing changes. An empty summary, a failure in the original, stands.

    Source: agent-framework-core 1.23.0, agent_framework/_compaction.py (SummarizationStrategy)

    >>> AgentFrameworkSummarization(target_count=1, threshold=1).tried("user: 0", "user: 1", "user: 2")
    ['assistant: Summary of 2 earlier messages:', 'user: 2']
    """

    target_count: Count = 4
    threshold: Count = 2
    max_summary_input_tokens: Count | None = 8_000

    def compact(self, window: Window) -> Edits | None:
        groups = groups_of(window.messages)
        others = [group for group in groups if kind_of(group) != "system"]
        if sum(map(len, others)) <= self.target_count + self.threshold:
            return None
        kept = max(0, len(others) - 1)
        while kept and sum(map(len, others[kept:])) < self.target_count:
            kept -= 1
        chosen = self._chosen(others[:kept])
        if not chosen:
            return None
        read = [message for group in chosen for message in group]
        written = self.write(read, window)
        line = assistant_message(written.text)
        left = [(line,), *(group for group in groups if group not in chosen)]
        edits = left_of(window, left, f"{len(read)} messages summarised", {line: read[0]})
        return replace(edits, written=(written,)) if edits else None

    def _chosen(self, candidates: list[Group]) -> list[Group]:
        if self.max_summary_input_tokens is None:
            return candidates
        chosen, tokens = list[Group](), 148
        for group in candidates:
            lines = [f"{len(chosen) + 1}. [{message.role}] {_as_text(message)}" for message in group]
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


def left_of(
    window: Window, groups: Sequence[Group], note: str, places: Mapping[Message, Message] | None = None
) -> Edits | None:
    """The history that some groups make up, every message in its place; None where it is the same.

    `places` says for a message that was written where it stands.
    """
    kept = {message for group in groups for message in group}
    written = {place: message for message, place in (places or {}).items() if message in kept}
    messages: list[Message] = []
    for message in window.messages:
        messages += [*([written[message]] if message in written else ()), *([message] if message in kept else ())]
    return Edits(messages=messages, notes=(note,)) if written or len(messages) != len(window.messages) else None


def truncated(
    groups: list[Group], limit: int, target: int, size: Callable[[Group], int], keep_request: bool
) -> list[Group]:
    """Groups without the oldest ones: above a limit they go until the target is reached; system groups and the last other one stay."""
    left = sum(map(size, groups))
    others = [group for group in groups if kind_of(group) != "system"]
    stay = {*others[-1:], *([group for group in others if kind_of(group) == "user"][:1] if keep_request else ())}
    gone = set[Group]()
    for group in others if left > limit else ():
        if left <= target:
            break
        if group not in stay:
            gone.add(group)
            left -= size(group)
    return [group for group in groups if group not in gone]


def collapsed(groups: Sequence[Group], keep_last: int) -> tuple[list[Group], dict[Message, Message]]:
    """Groups with every call but the last ones as one assistant line that holds its results, and where each line stands."""
    lines: dict[Group, Message] = {group: _results_line(group) for group in older(_calls(groups), keep_last)}
    places = {line: group[0] for group, line in lines.items()}
    return [(lines[group],) if group in lines else group for group in groups], places


def _calls(groups: Sequence[Group]) -> list[Group]:
    return [group for group in groups if kind_of(group) == "tool_call"]


def _results_line(group: Group) -> Message:
    names = {call.id: call.name for message in group for call in message.tool_calls}
    named = [(names.get(message.call_id or ""), message.text) for message in group if message.kind == "result"]
    label = "; ".join((f"{name}: {text}" if name else text).strip() for name, text in named) if named else "no results"
    text, marker = f"[Tool results: {label}]", "... [truncated]"
    if len(text) > 4096:
        text = f"[Tool results: {label[: 4096 - len('[Tool results: ') - len(marker) - 1].rstrip()}{marker}]"
    return assistant_message(text)


def agent_framework_tokens(message: Message) -> int:
    """A message's tokens as Agent Framework estimates them: the characters of its JSON by 4, at least 1."""
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


def group_tokens(group: Group) -> int:
    """The tokens of a group."""
    return total(agent_framework_tokens, group)


def groups_of(messages: Sequence[Message]) -> list[Group]:
    """A history as Agent Framework's groups; results that are apart from their call join its group."""
    groups: list[list[Message]] = []
    by_call: dict[str, list[Message]] = {}
    open_group: list[Message] | None = None  # results may follow
    for message in messages:
        group = by_call.get(message.call_id or "", open_group) if message.kind == "result" else None
        if group is None:
            groups.append(group := [])
        group.append(message)
        if message.kind != "result":
            by_call.update({call.id: group for call in message.tool_calls})
        open_group = group if message.tool_calls or message.kind == "result" else None
    return list(map(tuple, groups))


def kind_of(group: Group) -> str:
    """The kind of a group: system, user, tool_call or assistant_text."""
    first = group[0]
    if first.tool_calls or first.kind == "result":
        return "tool_call"
    return first.role if first.role in ("system", "user") else "assistant_text"
