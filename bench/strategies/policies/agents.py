"""The policies of Anthropic, Codex, Gemini CLI, LangChain, deepagents and Agent Framework."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ...model import Message, ToolResult
from ...plugins.registry import register
from .. import Window
from ..engines import AtShare, Compactor, Mask, Parts, Summary, state
from ..histories import assistant_message, older, safe_cut, system_count, total, with_text
from ..offloading import offload
from ..settings import Count, Share


@register("compactor", "clear_tool_uses")
class ClearToolUses(Mask):
    """The last `keep` tool results; above `trigger` prompt tokens the older ones are cleared.

    Results of `exclude_tools` stay and do not count towards `keep`. Where clearing would free fewer
    than `clear_at_least` tokens, nothing is cleared.

    Source: Anthropic API, "Context editing", clear_tool_uses_20250919
    (https://platform.claude.com/docs/en/build-with-claude/context-editing)

    >>> ClearToolUses(trigger=10, keep=1).tried("tool: one", "tool: two")
    ['tool: [tool result cleared]', 'tool: two']
    """

    trigger: Count = 100_000
    keep: Count = 3
    clear_at_least: Count = 0
    exclude_tools: tuple[str, ...] = ()
    _names: dict[str | None, str] = state(dict)  # of the tools, by call
    _results: list[Message] = state(list)

    def old(self, window: Window) -> Sequence[Message]:
        for message in window.added:
            self._names.update((call.id, call.name) for call in message.tool_calls)
            if message.kind == "result":
                is_excluded = self._names.get(message.call_id) in self.exclude_tools
                self._results += [] if is_excluded else [message]
        return older(self._results, self.keep) if window.tokens > self.trigger else []

    def text(self, message: Message) -> str:
        return "[tool result cleared]"

    def compact(self, window: Window) -> list[Message] | None:
        cleared = super().compact(window)
        if cleared is None or not self.clear_at_least:
            return cleared
        pairs = zip(window.messages, cleared, strict=True)
        freed = sum(window.count(old) - window.count(new) for old, new in pairs if new is not old)
        return cleared if freed >= self.clear_at_least else None


@register("summarizer", "codex.output")
def codex_output(result: ToolResult, *, limit: Count = 12_000) -> str:
    """A tool output without its middle above `limit` bytes, and the number of characters left out.

    The default is Codex's 10,000 bytes and the fifth more that its history allows.

    Source: openai/codex, codex-rs/core/src/context_manager/history.rs (process_item) at b24d7f3c

    >>> codex_output(ToolResult(index=0, call_id="a", function="f", seen="0123456789"), limit=4)
    '01…6 chars truncated…89'
    """
    return _middle_cut(result.text, limit, "chars")


def _middle_cut(text: str, limit: int, unit: str) -> str:
    """The ends of a text, `limit` bytes in whole characters, and the amount between them."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    ends = data[: limit // 2], data[len(data) - (limit - limit // 2) :]
    head, tail = (part.decode("utf-8", "ignore") for part in ends)
    amount = {"chars": len(text) - len(head + tail), "tokens": -(-(len(data) - limit) // 4)}
    return f"{head}…{amount[unit]} {unit} truncated…{tail}"


@register("compactor", "codex")
class Codex(Summary, AtShare):
    """`[system, the user's newest messages, summary]`, from `threshold` of the window on.

    Every assistant and tool message goes. The user's messages stay while they fit `user_tokens`
    (bytes by 4); the one that does not fit loses its middle, and those before it go.

    Source: openai/codex, codex-rs/core/src/compact.rs (build_compacted_history) at 0100b103

    >>> Codex().tried("user: go", "assistant: done")
    ['user: go', 'user: Summary of 2 earlier messages:']
    """

    user_tokens: Count = 20_000

    def divided(self, window: Window) -> Parts | None:
        head = window.messages[: system_count(window.messages)]
        if window.tokens < self.limit(window) or head == window.messages:
            return None
        kept, room = list[Message](), self.user_tokens
        for message in reversed(window.messages):
            if message.kind == "user" and room > 0:
                cut = _middle_cut(message.text, 4 * room, "tokens")
                kept.append(message if cut == message.text else with_text(message, cut))
                room -= -(-len(message.text.encode("utf-8", "replace")) // 4)
        return [*head, *reversed(kept)], window.messages, ()


@register("compactor", "gemini.compress")
class GeminiCompress(Summary, AtShare):
    """A summary as user, a fixed answer, and the tail, from `threshold` of the window on.

    The tail begins at the first user message within the last `preserve` of the characters, else at
    the last one. That the original first moves old results into files is left out, as is its check
    of the summary. The words of the answer are ours.

    Source: @google/gemini-cli-core 0.61.0, src/context/chatCompressionService.ts

    >>> GeminiCompress(preserve=0.7).tried(*["user: " + "x" * 99, "assistant: ok"] * 2)[:2]
    ['user: Summary of 2 earlier messages:', 'assistant: Noted.']
    """

    threshold: Share = 0.5
    preserve: Share = 0.3

    def divided(self, window: Window) -> Parts | None:
        start = system_count(window.messages)
        head, talk = window.messages[:start], window.messages[start:]
        before = [*itertools.accumulate((len(message.text) for message in talk), initial=0)]
        users = [place for place, message in enumerate(talk) if message.kind == "user"]
        late = (place for place in users if before[place] >= (1 - self.preserve) * before[-1])
        cut = next(late, users[-1] if users else 0)
        if not cut or window.tokens < self.limit(window):
            return None
        return head, talk[:cut], [assistant_message("Noted."), *talk[cut:]]


@register("compactor", "langchain.summarize")
class LangchainSummarize(Summary):
    """`[system, summary, last 20]` once every given trigger is reached; without one it never acts.

    The tail begins with a call rather than its result. The writer reads only the last `trim_tokens`
    before it, from their first user message on: with one request and many tools that is nothing.
    Tokens are the bench's, and no message is cut.

    Source: langchain 1.5.2, langchain/agents/middleware/summarization.py (SummarizationMiddleware)

    >>> LangchainSummarize(trigger_messages=3, keep_messages=1).tried("user: 0", "user: 1", "user: 2")
    ['user: Summary of 2 earlier messages:', 'user: 2']
    """

    trigger_tokens: Count | None = None
    trigger_messages: Count | None = None
    keep_messages: Count = 20
    trim_tokens: Count = 4000

    def divided(self, window: Window) -> Parts | None:
        start = system_count(window.messages)
        talk = window.messages[start:]
        cut = safe_cut(talk, max(0, len(talk) - self.keep_messages))
        sizes = (self.trigger_messages, len(talk)), (self.trigger_tokens, total(window.count, talk))
        reached = [size >= trigger for trigger, size in sizes if trigger is not None]
        if not (cut and reached and all(reached)):
            return None
        room = itertools.accumulate(map(window.count, reversed(talk[:cut])))
        first = cut - sum(size <= self.trim_tokens for size in room)
        while first < cut and talk[first].kind not in ("user", "made"):
            first += 1
        return window.messages[:start], talk[first:cut], talk[cut:]


@register("summarizer", "deepagents.output", offloads=True)
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


@register("compactor", "agent_framework.tool_result")
class AgentFrameworkToolResult(Compactor):
    """The last calls; each older one becomes an assistant line with its results, cut at 4,096
    characters.

    Source: agent-framework-core 1.23.0, _compaction.py (ToolResultCompactionStrategy)

    >>> AgentFrameworkToolResult(keep_last_tool_call_groups=0).tried("call ls", "tool: a.txt")
    ['assistant: [Tool results: ls: a.txt]']
    """

    keep_last_tool_call_groups: Count = 1

    def compact(self, window: Window) -> list[Message] | None:
        callers = [message for message in window.messages if message.tool_calls]
        texts = {caller: list[str]() for caller in older(callers, self.keep_last_tool_call_groups)}
        calls: dict[str | None, tuple[Message, str]] = {}
        shown: list[Message] = []
        for message in window.messages:
            calls.update((call.id, (message, call.name)) for call in message.tool_calls)
            caller, name = calls.get(message.call_id, (message, ""))
            if message.kind == "result" and caller in texts:
                texts[caller].append(f"{name}: {message.text}".strip())
            else:
                shown.append(message)
        return [_line(texts[m]) if m in texts else m for m in shown] if texts else None


def _line(texts: Sequence[str]) -> Message:
    line = f"[Tool results: {'; '.join(texts) or 'no results'}]"
    cut = line if len(line) <= 4096 else f"{line[:4080].rstrip()}... [truncated]]"
    return assistant_message(cut)
