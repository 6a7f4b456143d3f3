"""The middleware of LangChain, its `trim_messages`, and the outputs of deepagents."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from ...model import Message, ToolResult
from ...plugins.registry import register
from .. import Window
from ..engines import Mask, Parts, PromptMessages, Summary, View
from ..histories import system_count, total, within, without_inputs
from ..messages import own_calls
from ..offloading import offload
from ..settings import Count, PerToken, Share


@register("compactor", "langchain.clear_tool_uses")
class LangchainClearToolUses(Mask, View):
    """Above `trigger` tokens every tool result but the last `keep` becomes `placeholder`, from the oldest on.

    A view. System prompt and tool definitions count with `count="model"` alone. With `clear_at_least` it stops once that many are freed. Results
    of `exclude_tools` are not cleared but use up `keep`; so does a result whose call is not in the model message before it.

    Source: langchain 1.5.2, langchain/agents/middleware/context_editing.py (ClearToolUsesEdit)

    >>> LangchainClearToolUses(trigger=10, keep=1).tried("call read", "tool: one", "call read", "tool: two")
    ['call read', 'tool: [cleared]', 'call read', 'tool: two']
    """

    trigger: Count = 100_000
    clear_at_least: Count = 0
    keep: Count = 3
    clear_tool_inputs: bool = False
    exclude_tools: tuple[str, ...] = ()
    placeholder: str = "[cleared]"
    count: Literal["approximate", "model"] = "approximate"

    def replaced(self, window: Window) -> dict[Message, Message]:
        approximate, caller, freed = self.count == "approximate", None, 0
        count = langchain_tokens if approximate else window.count
        talk = window.messages[system_count(window.messages) :]
        if (total(count, talk) if approximate else window.tokens) <= self.trigger:
            return {}
        instead: dict[Message, Message] = {}
        left = sum(message.kind == "result" for message in window.messages) - self.keep
        for message in window.messages:
            caller = message if message.kind == "model" else caller
            if message.kind != "result":
                continue
            left -= 1
            call = next((call for call in caller.tool_calls if call.id == message.call_id), None) if caller else None
            if left < 0 or (self.clear_at_least and freed >= self.clear_at_least):
                break
            if call is None or caller is None or call.name in self.exclude_tools:
                continue
            changed = {message: self.rewritten(message, self.placeholder)}
            if self.clear_tool_inputs:
                changed[caller] = without_inputs(instead.get(caller, caller), [call.id])
            freed += sum(count(instead.get(old, old)) - count(new) for old, new in changed.items())
            instead |= changed
        return instead


@register("compactor", "langchain.trim")
class LangchainTrim(View):
    """The longest end of the history within `max_tokens`, then without what comes before the first message of type `start_on`.

    A view. `count="model"` counts the model's tokens. None for `max_tokens` is the model's window.
    The system message is kept only with `include_system`, and only the first; its tokens are taken
    off first. Calls and results are not kept together.

    Source: langchain-core 1.8.3, langchain_core/messages/utils.py (trim_messages, strategy "last")

    >>> LangchainTrim(max_tokens=12).tried("user: first", "user: second", "user: third")
    ['user: second', 'user: third']
    """

    max_tokens: Count | None = None
    start_on: Literal["human", "ai", "tool", "system"] | None = None
    include_system: bool = False
    count: Literal["approximate", "model"] = "approximate"

    def view(self, window: Window) -> PromptMessages:
        count = window.count if self.count == "model" else langchain_tokens
        kinds = {"human": "user", "ai": "model", "tool": "result", "system": "system", None: None}
        limit = window.max_tokens if self.max_tokens is None else self.max_tokens
        start_on = kinds[self.start_on]
        return trimmed(window.messages, limit, count, start_on=start_on, include_system=self.include_system)


@register("compactor", "langchain.summarize")
class LangchainSummarize(Summary):
    """`[system, summary, last 20]` once every given trigger is reached; without a trigger it never acts.

    The triggers are `trigger_tokens`, `trigger_messages` and `trigger_fraction` (of the model's window); the system prompt does not count. Kept are
    the last `keep_messages`, or the longest end within `keep_tokens` or `keep_fraction`; where that would begin with a tool result, it begins with
    its call. The writer sees only the last `trim_tokens` of the rest, from the first user message of that part on. With one request and many
    tools it sees nothing, and the summary says that alone, in our words. A token is `chars_per_token` characters; the original scales by the usage
    that the provider last reported, which is left out here.

    Source: langchain 1.5.2, langchain/agents/middleware/summarization.py (SummarizationMiddleware)

    >>> LangchainSummarize(trigger_messages=3, keep_messages=1).tried("user: 0", "user: 1", "user: 2")
    ['user: Summary of 2 earlier messages:', 'user: 2']
    """

    trigger_tokens: Count | None = None
    trigger_messages: Count | None = None
    trigger_fraction: Share | None = None
    keep_messages: Count = 20
    keep_tokens: Count | None = None
    keep_fraction: Share | None = None
    trim_tokens: Count | None = 4000
    chars_per_token: PerToken = 4.0
    unread = "[the earlier conversation is too long to be summarised]"

    def divided(self, window: Window) -> Parts | None:
        start = system_count(window.messages)
        messages = list(window.messages[start:])
        tokens, size = total(self._tokens, messages), len(messages)
        fraction = None if self.trigger_fraction is None else max(1, int(window.max_tokens * self.trigger_fraction))
        triggers = ((self.trigger_messages, size), (self.trigger_tokens, tokens), (fraction, tokens))
        reached = [limit <= value for limit, value in triggers if limit is not None]
        budget = self.keep_tokens if self.keep_fraction is None else int(window.max_tokens * self.keep_fraction)
        if not reached or not all(reached):
            return None
        cut = size - self.keep_messages if budget is None else within(messages, max(1, budget), self._tokens)
        cut = with_call(messages, cut)
        if cut <= 0:
            return None
        old, trim = messages[:cut], self.trim_tokens
        seen = (
            old
            if trim is None
            else trimmed(old, trim, self._tokens, start_on="user", include_system=True, partial=True)
        )
        return window.messages[:start], seen, messages[cut:]

    def _tokens(self, message: Message) -> int:
        return langchain_tokens(message, self.chars_per_token)


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

    Each line is cut at `line_chars`. Results of `exclude_tools` stay. The words about the file are ours.

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
    name = offload(f"large_tool_results/{result.call_id}", result.text)
    return "\n".join([f"[too long: the whole is in {name}]", *lines])


def langchain_tokens(message: Message, chars_per_token: float = 4) -> int:
    """A message's tokens as langchain-core's `count_tokens_approximately` counts them: text, role, calls and call id, and 3 more.

    >>> langchain_tokens(Message(role="user", text="12345", kind="user"))
    6
    """
    roles = {"system": "system", "model": "assistant", "result": "tool"}
    calls = [
        {"name": call.name, "args": call.arguments, "id": call.id, "type": "tool_call"} for call in own_calls(message)
    ]
    chars = len(message.text) + (len(repr(calls)) if calls else 0) + len(roles.get(message.kind, "user"))
    chars += len(message.call_id or "") if message.kind == "result" else 0
    return math.ceil(chars / chars_per_token) + 3


def trimmed(
    messages: Sequence[Message],
    max_tokens: int,
    count: Callable[[Message], int],
    *,
    start_on: str | None = None,
    include_system: bool = False,
    partial: bool = False,
) -> list[Message]:
    """The longest end of a history that fits, as langchain-core's `trim_messages` cuts it with strategy "last".

    `start_on` is a kind (user, model, result): that end begins with the first message of it. `partial`: of the message that does not fit
    whole, as many of its last lines as do. A call may be cut from its results.
    """
    system = [message for message in messages[:1] if include_system and message.kind == "system"]
    rest = list(messages[len(system) :])
    room = max(0, max_tokens - sum(map(count, system))) if system else max_tokens
    start = within(rest, room, count, least=0)
    kept = rest[start:]
    if partial and start:
        lines, left = rest[start - 1].text.split("\n"), room - sum(map(count, kept))
        ends = (msgspec.structs.replace(rest[start - 1], text="\n".join(lines[n:])) for n in range(1, len(lines)))
        kept = [*next(([cut] for cut in ends if count(cut) <= left), []), *kept]
    kinds = {"user": ("user", "made")}.get(start_on or "", (start_on,))
    first = next((place for place, message in enumerate(kept) if message.kind in kinds), len(kept))
    return [*system, *(kept if start_on is None else kept[first:])]


def with_call(messages: Sequence[Message], cut: int) -> int:
    """The cut moved back to the call of the results that it would begin with; behind them where no message makes it."""
    if not 0 <= cut < len(messages) or messages[cut].kind != "result":
        return cut
    behind = next((place for place in range(cut, len(messages)) if messages[place].kind != "result"), len(messages))
    ids = {message.call_id for message in messages[cut:behind]}
    called = (place for place in range(cut - 1, -1, -1) if ids & {call.id for call in messages[place].tool_calls})
    return next(called, behind)
