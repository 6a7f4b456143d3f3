"""The context editing of Anthropic's API."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Window
from ..engines import Mask, state
from ..histories import older
from ..settings import Count


@register("compactor", "clear_tool_uses")
class ClearToolUses(Mask):
    """The last `keep` tool results; above `trigger` prompt tokens the older ones are cleared.

    Results of `exclude_tools` stay and do not count towards `keep`. Where clearing would free fewer than `clear_at_least` tokens, nothing is cleared.

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
