"""Compactor `deepagents` and summarizer `deepagents.output`."""

from __future__ import annotations

import operator

import msgspec

from ...model import Message, ToolCall, ToolResult
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import Count, Share, Summarising, summary_message, system_count, total
from . import langchain_tokens, with_call, within

WRITES = ("write_file", "edit_file")
HISTORY = "conversation_history/session.md"
FIXED_TOKENS, FIXED_KEPT, FIXED_SPARED = 170_000, 6, 20


@register("compactor", "deepagents")
class DeepagentsSummary(Summarising):
    """At `threshold` of the window: a summary that names the file with what went, and the longest end within `keep` of the window.

    With `fixed`, as where the model's window is not known: at 170,000 tokens the last 6 messages. At the same point (with `fixed`: from 20
    messages on, the last 20 spared) long arguments of older file writes are cut at 20 characters; where that is enough, nothing is summarised.
    An end that would begin with a tool result begins with its call. Tokens are characters by 4, rounded up, and 3 more a message, with system
    prompt and tool definitions. The writer sees the old part whole. The words around the summary are ours; the file cannot be read in a replay.

    Source: deepagents 0.7, deepagents/middleware/summarization.py (compute_summarization_defaults, TruncateArgsSettings)

    >>> DeepagentsSummary(keep=0.3).tried(*["user: " + "x" * 80] * 8)[0]
    'user: [the whole is in conversation_history/session.md]'
    """

    threshold: Share = 0.85
    keep: Share = 0.10
    fixed: bool = False
    max_arg_chars: Count = 2_000

    def compact(self, window: Window) -> Edits | None:
        start = system_count(window.messages)
        system, messages = list(window.messages[:start]), list(window.messages[start:])
        limit = FIXED_TOKENS if self.fixed else max(1, int(self.threshold * window.max_tokens))
        budget = max(1, int(self.keep * window.max_tokens))
        tools = max(0, window.tokens - 3 - total(window.count, window.messages)) if window.messages else 0
        beside = total(langchain_tokens, system) + tools
        shorter = self._shorter(messages, beside + total(langchain_tokens, messages) >= limit, budget)
        size = beside + total(langchain_tokens, shorter)
        changed = Edits(messages=[*system, *shorter], notes=("arguments cut",)) if shorter != messages else None
        if size < limit:
            return changed
        cut = len(shorter) - FIXED_KEPT if self.fixed else within(shorter, budget, langchain_tokens)
        cut = with_call(shorter, cut)
        if cut <= 0:
            return changed
        note = f"{size} tokens: {cut} messages summarised"
        return self.summarised(window, system, shorter[:cut], shorter[cut:], note, _named)

    def _shorter(self, messages: list[Message], full: bool, budget: int) -> list[Message]:
        if not (len(messages) >= FIXED_SPARED if self.fixed else full):
            return messages
        spared = len(messages) - FIXED_SPARED if self.fixed else within(messages, budget, langchain_tokens, least=0)
        return [*map(self._cut, messages[:spared]), *messages[spared:]]

    def _cut(self, message: Message) -> Message:
        calls = tuple(map(self._call, message.tool_calls))
        same = all(map(operator.is_, calls, message.tool_calls))
        return message if same else msgspec.structs.replace(message, tool_calls=calls)

    def _call(self, call: ToolCall) -> ToolCall:
        if call.name not in WRITES or call.in_text or not isinstance(call.arguments, dict):
            return call
        long = {k: v for k, v in call.arguments.items() if isinstance(v, str) and len(v) > self.max_arg_chars}
        cut = {**call.arguments, **{key: f"{value[:20]}...(truncated)" for key, value in long.items()}}
        return msgspec.structs.replace(call, arguments=cut) if long else call


def _named(text: str) -> Message:
    return summary_message(f"[the whole is in {HISTORY}]\n{text}")


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

    Each line is cut at `line_chars`. Results of `exclude_tools` stay. The words about the file are ours, and it cannot be read in a replay.

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
    return "\n".join([f"[too long: the whole is in large_tool_results/{result.call_id}]", *lines])
