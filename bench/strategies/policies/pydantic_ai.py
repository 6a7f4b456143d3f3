"""The compactions of Pydantic AI's harness, which count requests.

A request is an answer of the model, or all that comes between two answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Window
from ..engines import Compactor, Mask, Parts, Sliding, Summary
from ..histories import callers, older, safe_cut, system_count, tool_name
from ..messages import arguments_mapping, own_calls
from ..settings import Count


@register("compactor", "pydantic_ai.clear")
class PydanticAiClear(Mask):
    """The last `keep_pairs` tool results; above `max_tokens` the older ones are cleared.

    Where that would free fewer than `min_clear_tokens` nothing is cleared. Results of
    `exclude_tools` stay, and use up what is kept. The original has no default trigger; 100,000 is
    the one of its example. Tokens are characters by 4.

    Source: pydantic-ai-harness 0.62.0, pydantic_ai_harness/compaction/_clear_tool_results.py

    >>> policy = PydanticAiClear(max_tokens=20, keep_pairs=0)
    >>> policy.tried("call read", "tool: " + "x" * 99)
    ['call read', 'tool: [tool result cleared]']
    """

    max_tokens: Count = 100_000
    keep_pairs: Count = 3
    min_clear_tokens: Count = 0
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool = False
    placeholder: str = "[tool result cleared]"

    def old(self, window: Window) -> Sequence[Message]:
        if pydantic_ai_tokens(window.messages) <= self.max_tokens:
            return []
        calls = callers(window.messages)
        pairs = [m for m in window.messages if m.kind == "result" and m.call_id in calls]
        old = older(pairs, self.keep_pairs)
        return [m for m in old if tool_name(m, calls) not in self.exclude_tools]

    def is_enough(self, window: Window, instead: Mapping[Message, Message]) -> bool:
        after = pydantic_ai_tokens([instead.get(message, message) for message in window.messages])
        return pydantic_ai_tokens(window.messages) - after >= self.min_clear_tokens


class RequestWindow(Compactor):
    """Base of both windows: above `max_messages` requests, or `max_tokens`, the first and the last.

    More than `keep_messages` stay where a call would be parted from a result.
    """

    max_messages: Count | None = None
    max_tokens: Count | None = None
    keep_messages: Count = 40
    preserve_first_user_message: bool = True

    def divided(self, window: Window) -> Parts | None:
        """The system messages and the first request with a user, what is old, and the end."""
        if not self._is_due(window.messages):
            return None
        start = system_count(window.messages)
        talk = window.messages[start:]
        kept = requests_of(talk)[-max(1, self.keep_messages) :]
        cut = safe_cut(talk, len(talk) - sum(map(len, kept)))
        if not cut:
            return None
        head = list(window.messages[:start])
        if self.preserve_first_user_message:
            with_user = (
                run for run in requests_of(talk[:cut]) if any(m.kind == "user" for m in run)
            )
            head += next(with_user, [])
        return head, talk[:cut], talk[cut:]

    def _is_due(self, messages: Sequence[Message]) -> bool:
        """True above either limit that is given."""
        if self.max_messages is not None and len(requests_of(messages)) > self.max_messages:
            return True
        return self.max_tokens is not None and pydantic_ai_tokens(messages) > self.max_tokens


@register("compactor", "pydantic_ai.sliding")
class PydanticAiSliding(RequestWindow, Sliding):
    """The first request, and above `max_messages` requests the last `keep_messages` of them.

    `max_tokens` triggers it too. More stay where a call would be parted from a result. The original
    has no default trigger; 80 is the one of its example.

    Source: pydantic-ai-harness 0.62.0,
    pydantic_ai_harness/compaction/_sliding_window_compaction.py (SlidingWindowCompaction)

    >>> talk = [line for n in "012" for line in (f"user: {n}", f"assistant: {n}")]
    >>> PydanticAiSliding(max_messages=4, keep_messages=2).tried(*talk)
    ['user: 0', 'user: 2', 'assistant: 2']
    """

    max_messages: Count | None = 80


@register("compactor", "pydantic_ai.summarize")
class PydanticAiSummarize(RequestWindow, Summary):
    """The first request; above `max_messages` requests a summary, and the last `keep_messages`.

    `max_tokens` triggers it too. The writer sees tool results cut at `tool_return_max_chars`, mark
    included. The original has no default trigger; 60 is the one of its example. It asks again for
    an empty summary; here that stands.

    Source: pydantic-ai-harness 0.62.0,
    pydantic_ai_harness/compaction/_summarizing_compaction.py (SummarizingCompaction)

    >>> policy = PydanticAiSummarize(max_messages=3, keep_messages=1)
    >>> policy.tried(*["user: go", "assistant: ok"] * 2)
    ['user: go', 'user: Summary of 3 earlier messages:', 'assistant: ok']
    """

    max_messages: Count | None = 60
    keep_messages: Count = 20
    tool_return_max_chars: Count | None = 500

    def divided(self, window: Window) -> Parts | None:
        parts = super().divided(window)
        if parts is None:
            return None
        head, old, end = parts
        return head, list(map(self._cut, old)), [m for m in end if m.kind != "made"]

    def _cut(self, message: Message) -> Message:
        limit, mark = self.tool_return_max_chars, "[...]"
        if limit is None or message.kind != "result" or len(message.text) <= limit:
            return message
        text = message.text[: limit - len(mark)] + mark if limit > len(mark) else mark[:limit]
        return self.rewritten(message, text)


def pydantic_ai_tokens(messages: Sequence[Message]) -> int:
    """The tokens of a history as the harness estimates them: characters by 4, rounded down."""
    calls = [call for message in messages for call in own_calls(message)]
    chars = sum(len(message.text) for message in messages)
    return (chars + sum(len(call.name) + len(str(arguments_mapping(call))) for call in calls)) // 4


def requests_of(messages: Sequence[Message]) -> list[list[Message]]:
    """A history as Pydantic AI's messages; a summary is one of its own."""
    runs: list[list[Message]] = []
    for message in messages:
        if message.kind in ("model", "made") or not runs or runs[-1][0].kind in ("model", "made"):
            runs.append([message])
        else:
            runs[-1].append(message)
    return runs
