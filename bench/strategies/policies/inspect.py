"""Compactors `inspect.*`: the compaction strategies of Inspect.

Each acts above `threshold` of the window. `edit` and `trim` act again, up to three times, while the tokens are too many and become fewer. Where that
is not enough the original ends the run; here a note says so.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection

import msgspec

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import AtShare, Count, Summarising, total
from . import exchanged, older, results_of

REMOVED = "(Tool result removed)"
PASSES = 4
"""The tries of the original: one, and up to three more while that still helps."""


class _Repeated(AtShare):
    """Base of a rule that acts again while that helps."""

    @abstractmethod
    def _shown(self, messages: list[Message]) -> list[Message]: ...

    def compact(self, window: Window) -> Edits | None:
        limit = self.limit(window)
        if window.tokens <= limit:
            return None
        messages, tokens = list(window.messages), window.tokens
        for _ in range(PASSES):
            shown = self._shown(messages)
            fewer = tokens - total(window.count, messages) + total(window.count, shown)
            helped, messages, tokens = fewer < tokens, shown, fewer
            if tokens <= limit or not helped:
                break
        note = f"{window.tokens} tokens, now {tokens}" + ("" if tokens <= limit else ": the original ends the run here")
        return Edits(messages=messages, notes=(note,))


@register("compactor", "inspect.edit")
class InspectEdit(_Repeated):
    """Above `threshold` of the window every tool result but the last `keep_tool_uses` becomes `(Tool result removed)`.

    A tool use is a call with a result; those of `exclude_tools` are not cleared and do not count. Without `keep_tool_inputs` the call goes with
    its result, and the model's message says so in our words. A model's message at the end of the history goes. The original also drops older
    reasoning and what was written into a memory tool; reasoning is no message here.

    Source: inspect-ai 0.3.285, inspect_ai/model/_compaction/edit.py

    >>> InspectEdit(keep_tool_uses=1).tried("call read", "tool: one", "call read", "tool: two")
    ['call read', 'tool: (Tool result removed)', 'call read', 'tool: two']
    """

    keep_tool_uses: Count = 3
    keep_tool_inputs: bool = True
    exclude_tools: tuple[str, ...] = ()

    def _shown(self, messages: list[Message]) -> list[Message]:
        given, kept = results_of(messages), (*self.exclude_tools, "tool_search")
        calls = [call for message in messages for call in message.tool_calls]
        cleared = older([call.id for call in calls if call.id in given and call.name not in kept], self.keep_tool_uses)
        if self.keep_tool_inputs:
            old = [given[call_id] for call_id in cleared]
            shown = exchanged(messages, {message: self.rewritten(message, REMOVED) for message in old})
        else:
            left = [message for message in messages if message.kind != "result" or message.call_id not in cleared]
            shown = [_without(message, set(cleared)) for message in left]
        while shown and shown[-1].kind == "model":
            shown.pop()
        return shown


def _without(message: Message, gone: Collection[str]) -> Message:
    """Return a model's message without these calls, each named in its text instead."""
    names = [call.name for call in message.tool_calls if call.id in gone]
    if not names:
        return message
    removed = [f"[call of {name} removed, with its result]" for name in reversed(names)]
    lines = [message.text, *removed] if message.text else removed
    calls = tuple(call for call in message.tool_calls if call.id not in gone)
    return msgspec.structs.replace(message, tool_calls=calls, text="\n".join(lines))


@register("compactor", "inspect.trim")
class InspectTrim(_Repeated):
    """Above `threshold` of the window: the system messages, the request, and the last `preserve` of the other messages.

    Results without their call and calls without their results go, and so does a model's message at the end.

    Source: inspect-ai 0.3.285, inspect_ai/model/_compaction/trim.py and inspect_ai/model/_trim.py

    >>> InspectTrim(preserve=0.5).tried("user: 0", "user: 1", "user: 2", "user: 3", "user: 4", tokens=110)
    ['user: 0', 'user: 4']
    """

    preserve: float = 0.8

    def _shown(self, messages: list[Message]) -> list[Message]:
        head, talk = _parts(messages)
        kept: list[Message] = []
        made: set[str] = set()
        for message in talk[int(len(talk) * (1 - self.preserve)) :]:
            if message.kind != "result":
                made = {call.id for call in message.tool_calls} if message.kind == "model" else set()
            if message.kind != "result" or message.call_id in made:
                kept.append(message)
        given = results_of(kept)
        kept = [_with_calls(message, given) for message in kept]
        if kept and kept[-1].kind == "model":
            kept.pop()
        return [*head, *kept]


def _with_calls(message: Message, given: Collection[str | None]) -> Message:
    calls = tuple(call for call in message.tool_calls if call.id in given)
    return message if len(calls) == len(message.tool_calls) else msgspec.structs.replace(message, tool_calls=calls)


@register("compactor", "inspect.summary")
class InspectSummary(AtShare, Summarising):
    """Above `threshold` of the window: the system messages, the request, and one user message with a summary of all the rest; no tail.

    The writer reads them all, from the last summary on. The text around the summary is ours.

    Source: inspect-ai 0.3.285, inspect_ai/model/_compaction/summary.py

    >>> InspectSummary().tried("user: 0", "user: 1", "user: 2")
    ['user: 0', 'user: Summary of 3 earlier messages:']
    """

    def compact(self, window: Window) -> Edits | None:
        if window.tokens <= self.limit(window):
            return None
        head, talk = _parts(list(window.messages))
        last = max((place for place, message in enumerate(talk) if message.kind == "made"), default=0)
        note = f"{window.tokens} tokens: {len(talk)} messages summarised"
        return self.summarised(window, head, [*head, *talk[last:]], (), note)


def _parts(messages: list[Message]) -> tuple[list[Message], list[Message]]:
    """Return (the system messages and all up to the first user message, the rest)."""
    system = [message for message in messages if message.kind == "system"]
    others = [message for message in messages if message.kind != "system"]
    end = next((place for place, message in enumerate(others) if message.kind in ("user", "made")), len(others))
    end += end < len(others) and others[end].kind == "user"
    return [*system, *others[:end]], others[end:]
