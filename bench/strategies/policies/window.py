"""The engine of policies that show an end of the history, and perhaps its head, and drop the rest; and its presets."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import msgspec

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import Count, Portion, PromptMessages, Repeated, RequestWindow, View
from ..units import head_of, langchain_tokens, results_of, trimmed


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


@register("compactor", "inspect.trim")
class InspectTrim(Repeated):
    """Above `threshold` of the window: the system messages, the request, and the last `preserve` of the other messages.

    Results without their call and calls without their results go, and so does a model's message at the end. It acts up to four times while that
    helps.

    Source: inspect-ai 0.3.285, inspect_ai/model/_compaction/trim.py and inspect_ai/model/_trim.py

    >>> InspectTrim(preserve=0.5).tried("user: 0", "user: 1", "user: 2", "user: 3", "user: 4", tokens=110)
    ['user: 0', 'user: 4']
    """

    preserve: Portion = 0.8

    def once(self, messages: list[Message]) -> list[Message]:
        head, talk = head_of(messages)
        kept, made = list[Message](), set[str]()
        for message in talk[int(len(talk) * (1 - self.preserve)) :]:
            if message.kind != "result":
                made = {call.id for call in message.tool_calls} if message.kind == "model" else set()
            if message.kind != "result" or message.call_id in made:
                kept.append(message)
        results = results_of(kept)
        kept = [_with_calls(message, results) for message in kept]
        return [*head, *(kept[:-1] if kept and kept[-1].kind == "model" else kept)]


def _with_calls(message: Message, results: Collection[str | None]) -> Message:
    calls = tuple(call for call in message.tool_calls if call.id in results)
    return message if len(calls) == len(message.tool_calls) else msgspec.structs.replace(message, tool_calls=calls)


@register("compactor", "pydantic_ai.sliding")
class PydanticAiSliding(RequestWindow):
    """Above `max_messages` the last `keep_messages` stay, and the first request.

    More stay where a call would be parted from a result. `max_tokens` triggers it too. The original
    has no default trigger; 80 is the one of its example. A message is an answer of the model, or
    all that comes between two answers.

    Source: pydantic-ai-harness 0.62.0, pydantic_ai_harness/compaction/_sliding_window_compaction.py (SlidingWindowCompaction)

    >>> PydanticAiSliding(max_messages=4, keep_messages=2).tried(*[line for n in "012" for line in (f"user: {n}", f"assistant: {n}")])
    ['user: 0', 'user: 2', 'assistant: 2']
    """

    max_messages: Count | None = 80
    keep_messages: Count = 40

    def compact(self, window: Window) -> Edits | None:
        parts = self.parts(window)
        return (
            None if parts is None else Edits(messages=[*parts[0], *parts[2]], notes=(f"{len(parts[1])} messages went",))
        )
