"""The compactions of Inspect."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from ...model import Message
from ...plugins.registry import register
from .. import Window
from ..engines import AtShare, Parts, Repeated, Summary
from ..histories import exchanged, older, results_of
from ..settings import Count, Portion


@register("compactor", "inspect.edit")
class InspectEdit(Repeated):
    """Above `threshold` of the window results become `(Tool result removed)`, the last excepted.

    The last `keep_tool_uses` stay. A tool use is a call with a result; those of `exclude_tools` are
    not cleared and do not count. A model's message at the end of the history goes. It acts up to
    four times while that helps. The original also drops older reasoning and what was written into a
    memory tool.

    Source: inspect-ai 0.3.285, inspect_ai/model/_compaction/edit.py

    >>> InspectEdit(keep_tool_uses=1).tried("call read", "tool: one", "call read", "tool: two")
    ['call read', 'tool: (Tool result removed)', 'call read', 'tool: two']
    """

    keep_tool_uses: Count = 3
    exclude_tools: tuple[str, ...] = ()

    def once(self, messages: list[Message]) -> list[Message]:
        results, kept = results_of(messages), (*self.exclude_tools, "tool_search")
        calls = [call for message in messages for call in message.tool_calls]
        uses = [call.id for call in calls if call.id in results and call.name not in kept]
        old = [results[call_id] for call_id in older(uses, self.keep_tool_uses)]
        left = exchanged(messages, {m: self.rewritten(m, "(Tool result removed)") for m in old})
        while left and left[-1].kind == "model":
            left.pop()
        return left


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


@register("compactor", "inspect.summary")
class InspectSummary(Summary, AtShare):
    """Above `threshold` of the window: the system messages, the request, and one user message with a summary of all the rest; no tail.

    The writer reads them all, from the last summary on.

    Source: inspect-ai 0.3.285, inspect_ai/model/_compaction/summary.py

    >>> InspectSummary().tried("user: 0", "user: 1", "user: 2")
    ['user: 0', 'user: Summary of 3 earlier messages:']
    """

    def divided(self, window: Window) -> Parts | None:
        if window.tokens <= self.limit(window):
            return None
        head, talk = head_of(window.messages)
        last = max((place for place, message in enumerate(talk) if message.kind == "made"), default=0)
        return head, [*head, *talk[last:]], ()


def head_of(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """(The system messages and all up to the first user message, the rest), as Inspect divides a history."""
    system = [message for message in messages if message.kind == "system"]
    others = [message for message in messages if message.kind != "system"]
    end = next((place for place, message in enumerate(others) if message.kind in ("user", "made")), len(others))
    end += end < len(others) and others[end].kind == "user"
    return [*system, *others[:end]], others[end:]
