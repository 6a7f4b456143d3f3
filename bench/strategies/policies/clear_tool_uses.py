"""Compactor `clear_tool_uses`: Anthropic's context editing."""

from __future__ import annotations

from ...plugins.registry import register
from .. import Window
from ..histories import Count, PromptMessages, View
from . import callers, cleared_inputs, exchanged, older, tool_name


@register("compactor", "clear_tool_uses")
class ClearToolUses(View):
    """Above `trigger` prompt tokens all tool results but the last `keep` are cleared: a placeholder stands in their place.

    A view, as the provider has it. The trigger is the whole prompt, tool definitions included; with `trigger_tool_uses` it is the number of tool
    uses. Results of `exclude_tools` stay and do not count towards `keep`. Where clearing would free fewer than `clear_at_least` tokens, nothing is
    cleared. `clear_tool_inputs` empties the arguments of the cleared calls too. The provider does not document its placeholder; this one is ours.

    Source: Anthropic API, "Context editing", clear_tool_uses_20250919 (https://platform.claude.com/docs/en/build-with-claude/context-editing)

    >>> ClearToolUses(trigger=10, keep=1).tried("tool: one", "tool: two")
    ['tool: [tool result cleared]', 'tool: two']
    """

    trigger: Count = 100_000
    trigger_tool_uses: Count | None = None
    keep: Count = 3
    clear_at_least: Count = 0
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool = False
    placeholder: str = "[tool result cleared]"

    def view(self, window: Window) -> PromptMessages:
        results = [message for message in window.messages if message.kind == "result"]
        size, limit = window.tokens, self.trigger
        if self.trigger_tool_uses is not None:
            size, limit = len(results), self.trigger_tool_uses
        if size <= limit:
            return None
        made = callers(window.messages)
        cleared = older([one for one in results if tool_name(one, made) not in self.exclude_tools], self.keep)
        instead = {message: self.rewritten(message, self.placeholder) for message in cleared}
        if self.clear_tool_inputs:
            instead |= cleared_inputs(cleared, made)
        freed = sum(window.count(message) - window.count(new) for message, new in instead.items())
        return exchanged(window.messages, instead) if instead and freed >= self.clear_at_least else None
