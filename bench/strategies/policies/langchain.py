"""Compactors `langchain.*`: LangChain's context editing, its summarization middleware, and `trim_messages`.

Tokens are characters by 4, rounded up, and 3 more a message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import (
    Count,
    PromptMessages,
    Share,
    Summarising,
    View,
    summary_message,
    system_count,
    total,
    with_text,
)
from . import langchain_tokens, with_call, within, without_inputs

TOO_LONG = "[the earlier conversation is too long to be summarised]"
KINDS = {"human": "user", "ai": "model", "tool": "result", "system": "system"}


@register("compactor", "langchain.clear_tool_uses")
class LangchainClearToolUses(View):
    """Above `trigger` tokens every tool result but the last `keep` becomes `placeholder`, from the oldest on.

    A view. The system prompt and the tool definitions do not count; with `count="model"` tokens are the model's, and both count. With
    `clear_at_least` it stops once that many are freed: the oldest results go, where the provider's rule of that name skips the edit. Results of
    `exclude_tools` are not cleared but use up `keep`; so does a result whose call is not in the model message before it. `clear_tool_inputs`
    empties the arguments of the cleared calls.

    Source: langchain 1.4.7, langchain/agents/middleware/context_editing.py (ClearToolUsesEdit)

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

    def view(self, window: Window) -> PromptMessages:
        shown, start = list(window.messages), system_count(window.messages)
        count = langchain_tokens if self.count == "approximate" else window.count
        if (total(count, shown[start:]) if self.count == "approximate" else window.tokens) <= self.trigger:
            return None
        places = [place for place, message in enumerate(shown) if message.kind == "result"]
        freed = 0
        for place in places[: max(0, len(places) - self.keep)]:
            message = shown[place]
            caller = next((before for before in range(place - 1, -1, -1) if shown[before].kind == "model"), place)
            call = next((call for call in shown[caller].tool_calls if call.id == message.call_id), None)
            if call is None or call.name in self.exclude_tools:
                continue
            changed = {place: self.rewritten(message, self.placeholder)}
            if self.clear_tool_inputs:
                changed[caller] = without_inputs(shown[caller], [call.id])
            for at, new in changed.items():
                freed += count(shown[at]) - count(new)
                shown[at] = new
            if self.clear_at_least and max(0, freed) >= self.clear_at_least:
                break
        return shown


@register("compactor", "langchain.summarize")
class LangchainSummarize(Summarising):
    """`[system, summary, last 20]` once every given trigger is reached; without a trigger it never acts.

    The triggers are `trigger_tokens`, `trigger_messages` and `trigger_fraction` (of the model's window); the system prompt does not count. Kept are
    the last `keep_messages`, or the longest end within `keep_tokens` or `keep_fraction`; where that would begin with a tool result, it begins with
    its call. Everything older, the first request included, becomes one user message. The writer sees only the last `trim_tokens` of it, from the
    first user message of that part on. With one request and many tools it sees nothing, and the summary says that alone, in our words. A token is
    `chars_per_token` characters; the original scales by the usage that the provider last reported, which is left out here.

    Source: langchain 1.4.7, langchain/agents/middleware/summarization.py (SummarizationMiddleware)

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
    chars_per_token: float = 4.0

    def compact(self, window: Window) -> Edits | None:
        start = system_count(window.messages)
        messages = list(window.messages[start:])
        tokens = total(self._tokens, messages)
        fraction = None if self.trigger_fraction is None else max(1, int(window.max_tokens * self.trigger_fraction))
        triggers = ((self.trigger_messages, len(messages)), (self.trigger_tokens, tokens), (fraction, tokens))
        reached = [limit <= size for limit, size in triggers if limit is not None]
        if not reached or not all(reached):
            return None
        cut = self._cut(messages, window.max_tokens)
        if cut <= 0:
            return None
        seen = old = messages[:cut]
        if self.trim_tokens is not None:
            seen = trimmed(old, self.trim_tokens, self._tokens, start_on="user", include_system=True, partial=True)
        note = f"{tokens} tokens, {len(messages)} messages: {cut} summarised, of which the writer saw {len(seen)}"
        system, kept = window.messages[:start], messages[cut:]
        if not seen:
            return Edits(messages=[*system, summary_message(TOO_LONG), *kept], notes=(note,))
        return self.summarised(window, system, seen, kept, note)

    def _tokens(self, message: Message) -> int:
        return langchain_tokens(message, self.chars_per_token)

    def _cut(self, messages: list[Message], max_tokens: int) -> int:
        budget = self.keep_tokens if self.keep_fraction is None else int(max_tokens * self.keep_fraction)
        if budget is None:
            return with_call(messages, len(messages) - self.keep_messages)
        return with_call(messages, within(messages, max(1, budget), self._tokens))


@register("compactor", "langchain.trim")
class LangchainTrim(View):
    """The longest end of the history within `max_tokens`, then without what comes before the first message of type `start_on`.

    A view. `count="model"` counts the model's tokens, "messages" one a message. None for `max_tokens` is the model's window. The system message is
    kept only with `include_system`, and only the first; its tokens are taken off first. Calls and results are not kept together.

    Source: langchain-core 1.7.2, langchain_core/messages/utils.py (trim_messages, strategy "last")

    >>> LangchainTrim(max_tokens=12).tried("user: first", "user: second", "user: third")
    ['user: second', 'user: third']
    """

    max_tokens: Count | None = None
    start_on: Literal["human", "ai", "tool", "system"] | None = None
    include_system: bool = False
    count: Literal["approximate", "model", "messages"] = "approximate"

    def view(self, window: Window) -> PromptMessages:
        counts: dict[str, Callable[[Message], int]] = {
            "approximate": langchain_tokens,
            "model": window.count,
            "messages": lambda message: 1,
        }
        return trimmed(
            window.messages,
            window.max_tokens if self.max_tokens is None else self.max_tokens,
            counts[self.count],
            start_on=None if self.start_on is None else KINDS[self.start_on],
            include_system=self.include_system,
        )


def trimmed(
    messages: Sequence[Message],
    max_tokens: int,
    count: Callable[[Message], int],
    *,
    start_on: str | None = None,
    include_system: bool = False,
    partial: bool = False,
) -> list[Message]:
    """Return the longest end of a history that fits, as langchain-core's `trim_messages` cuts it with strategy "last".

    `start_on` is a kind (user, model, result): that end begins with the first message of it. `partial`: of the message that does not fit
    whole, as many of its last lines as do. A call may be cut from its results.
    """
    system = [message for message in messages[:1] if include_system and message.kind == "system"]
    rest = list(messages[len(system) :])
    room = max(0, max_tokens - total(count, system)) if system else max_tokens
    start = within(rest, room, count, least=0)
    kept = rest[start:]
    if partial and start:
        kept = [*_last_lines(rest[start - 1], room - total(count, kept), count), *kept]
    kinds = {"user": ("user", "made")}.get(start_on or "", (start_on,))
    first = next((place for place, message in enumerate(kept) if message.kind in kinds), len(kept))
    return [*system, *(kept if start_on is None else kept[first:])]


def _last_lines(message: Message, room: int, count: Callable[[Message], int]) -> list[Message]:
    lines = message.text.split("\n")
    ends = (with_text(message, "\n".join(lines[first:])) for first in range(1, len(lines)))
    return next(([cut] for cut in ends if count(cut) <= room), [])
