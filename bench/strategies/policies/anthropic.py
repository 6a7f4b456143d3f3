"""The context editing of Anthropic's API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Window
from ..engines import Mask
from ..histories import callers, older, tool_name
from ..settings import Count


@register("compactor", "clear_tool_uses")
class ClearToolUses(Mask):
    """The last `keep` tool results; above `trigger` prompt tokens the older ones are cleared.

    A view, as the provider has it. With `trigger_tool_uses` the number of tool uses counts instead.
    Results of `exclude_tools` stay and do not count towards `keep`. Where clearing would free fewer
    than `clear_at_least` tokens, nothing is cleared.

    Source: Anthropic API, "Context editing", clear_tool_uses_20250919
    (https://platform.claude.com/docs/en/build-with-claude/context-editing)

    >>> ClearToolUses(trigger=10, keep=1).tried("tool: one", "tool: two")
    ['tool: [tool result cleared]', 'tool: two']
    """

    mode = "per_call"
    trigger: Count = 100_000
    trigger_tool_uses: Count | None = None
    keep: Count = 3
    clear_at_least: Count = 0
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool = False
    placeholder: str = "[tool result cleared]"

    def old(self, window: Window) -> Sequence[Message]:
        results = [message for message in window.messages if message.kind == "result"]
        uses = self.trigger_tool_uses
        if (window.tokens <= self.trigger) if uses is None else (len(results) <= uses):
            return []
        calls = callers(window.messages)
        return older(
            [m for m in results if tool_name(m, calls) not in self.exclude_tools], self.keep
        )

    def is_enough(self, window: Window, instead: Mapping[Message, Message]) -> bool:
        freed = sum(window.count(old) - window.count(new) for old, new in instead.items())
        return freed >= self.clear_at_least
