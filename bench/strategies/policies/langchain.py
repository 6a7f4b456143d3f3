"""The summaries of LangChain, and the outputs of deepagents."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from ...model import Message, ToolResult
from ...plugins.registry import register
from .. import Window
from ..engines import Parts, Summary
from ..histories import safe_cut, system_count, total
from ..offloading import offload
from ..settings import Count, Share
from ..user_code.messages import own_calls


@register("compactor", "langchain.summarize")
class LangchainSummarize(Summary):
    """`[system, summary, last 20]` once every given trigger is reached; without one it never acts.

    The triggers are `trigger_tokens`, `trigger_messages` and `trigger_fraction` (of the model's
    window); the system prompt does not count. Kept are the last `keep_messages`; where those would
    begin with a tool result, they begin with its call. The writer sees only the last `trim_tokens`
    of the rest, from the first user message of that part on. With one request and many tools it
    sees nothing, and the summary only says so, in our words. A token is 4 characters. The options
    to keep by tokens, and to scale by reported usage, are left out.

    Source: langchain 1.5.2, langchain/agents/middleware/summarization.py (SummarizationMiddleware)

    >>> policy = LangchainSummarize(trigger_messages=3, keep_messages=1)
    >>> policy.tried("user: 0", "user: 1", "user: 2")
    ['user: Summary of 2 earlier messages:', 'user: 2']
    """

    trigger_tokens: Count | None = None
    trigger_messages: Count | None = None
    trigger_fraction: Share | None = None
    keep_messages: Count = 20
    trim_tokens: Count | None = 4000
    unread = "[earlier messages left out, not summarised]"

    def divided(self, window: Window) -> Parts | None:
        """The system messages, what the writer reads, and the last messages."""
        start = system_count(window.messages)
        talk = window.messages[start:]
        cut = safe_cut(talk, max(0, len(talk) - self.keep_messages))
        if not cut or not self._is_due(talk, window.max_tokens):
            return None
        old: Sequence[Message] = talk[:cut]
        if self.trim_tokens is not None:
            old = readable(old, self.trim_tokens)
        return window.messages[:start], old, talk[cut:]

    def _is_due(self, talk: Sequence[Message], max_tokens: int) -> bool:
        """True if all triggers that are given are reached; False if none is given."""
        tokens = total(langchain_tokens, talk)
        reached: list[bool] = []
        if self.trigger_messages is not None:
            reached.append(len(talk) >= self.trigger_messages)
        if self.trigger_tokens is not None:
            reached.append(tokens >= self.trigger_tokens)
        if self.trigger_fraction is not None:
            reached.append(tokens >= max(1, int(max_tokens * self.trigger_fraction)))
        return bool(reached) and all(reached)


@register("summarizer", "deepagents.output")
def deepagents_output(
    result: ToolResult,
    *,
    max_chars: Count = 80_000,
    ends: Count = 5,
    line_chars: Count = 1_000,
    exclude_tools: tuple[str, ...] = (
        "ls",
        "glob",
        "grep",
        "read_file",
        "edit_file",
        "write_file",
        "delete",
    ),
) -> str:
    """The first and last `ends` lines of a result above `max_chars`, and the name of the file with
    all of it.

    The lines are numbered, and each is cut at `line_chars`. Results of `exclude_tools` stay. The
    words about the file are ours.

    Source: deepagents 0.7, deepagents/middleware/filesystem.py (tool_token_limit_before_evict)
    and _message_eviction.py

    >>> result = ToolResult(index=0, call_id="c", function="bash", seen="a\\nb\\nc\\nd")
    >>> print(deepagents_output(result, max_chars=3, ends=1))
    [shortened: the full output is in large_tool_results/c]
    1  a
    ... [2 lines truncated] ...
    4  d
    """
    if len(result.text) <= max_chars or result.function in exclude_tools:
        return result.text
    lines = [
        f"{number}  {line[:line_chars]}" for number, line in enumerate(result.text.splitlines(), 1)
    ]
    left_out = len(lines) - 2 * ends
    if left_out > 0:
        lines = [
            *lines[:ends],
            f"... [{left_out} lines truncated] ...",
            *lines[len(lines) - ends :],
        ]
    name = offload(f"large_tool_results/{result.call_id}", result.text)
    return "\n".join([f"[shortened: the full output is in {name}]", *lines])


def langchain_tokens(message: Message) -> int:
    """A message's tokens as langchain-core's `count_tokens_approximately` counts them: text, role,
    calls and call id, 4 characters a token, and 3 more.

    >>> langchain_tokens(Message(role="user", text="12345", kind="user"))
    6
    """
    roles = {"system": "system", "model": "assistant", "result": "tool"}
    calls = [
        {"name": call.name, "args": call.arguments, "id": call.id, "type": "tool_call"}
        for call in own_calls(message)
    ]
    chars = (
        len(message.text)
        + (len(repr(calls)) if calls else 0)
        + len(roles.get(message.kind, "user"))
    )
    chars += len(message.call_id or "") if message.kind == "result" else 0
    return math.ceil(chars / 4) + 3


def readable(messages: Sequence[Message], limit: int) -> list[Message]:
    """The longest end of some messages that fits a limit, starting at a user message.

    A message that does not fit is cut to as many of its last lines as do.
    """
    start = len(messages)
    while start and langchain_tokens(messages[start - 1]) <= limit:
        start -= 1
        limit -= langchain_tokens(messages[start])
    end = [*(_last_lines(messages[start - 1], limit) if start else ()), *messages[start:]]
    users = (place for place, message in enumerate(end) if message.kind in ("user", "made"))
    return end[next(users, len(end)) :]


def _last_lines(message: Message, limit: int) -> list[Message]:
    """The message cut to as many of its last lines as fit a limit; `[]` where not even one does."""
    lines = message.text.split("\n")
    for first in range(1, len(lines)):
        cut = msgspec.structs.replace(message, text="\n".join(lines[first:]))
        if langchain_tokens(cut) <= limit:
            return [cut]
    return []
