"""The compactions of Inspect."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Window
from ..engines import AtShare, Mask, Parts, Summary
from ..histories import older, results_of
from ..settings import Count


@register("compactor", "inspect.edit")
class InspectEdit(Mask, AtShare):
    """The last `keep_tool_uses` results; above `threshold` of the window older ones are removed.

    A tool use is a call with a result; those of `exclude_tools` are not cleared and do not count.
    The original also drops older reasoning, what was written into a memory tool, and a model's
    message at the end of the history.

    Source: inspect-ai 0.3.285, inspect_ai/model/_compaction/edit.py

    >>> InspectEdit(keep_tool_uses=1).tried("call read", "tool: one", "call read", "tool: two")
    ['call read', 'tool: (Tool result removed)', 'call read', 'tool: two']
    """

    keep_tool_uses: Count = 3
    exclude_tools: tuple[str, ...] = ()
    placeholder = "(Tool result removed)"

    def old(self, window: Window) -> Sequence[Message]:
        if window.tokens <= self.limit(window):
            return []
        results, kept = results_of(window.messages), {*self.exclude_tools, "tool_search"}
        uses: list[Message] = []
        for message in window.messages:
            for call in message.tool_calls:
                if call.id in results and call.name not in kept:
                    uses.append(results[call.id])
        return older(uses, self.keep_tool_uses)


@register("compactor", "inspect.summary")
class InspectSummary(Summary, AtShare):
    """The system messages, the request, and above `threshold` of the window a summary of the rest.

    No tail is kept. The writer reads all messages, from the last summary on.

    Source: inspect-ai 0.3.285, inspect_ai/model/_compaction/summary.py

    >>> InspectSummary().tried("user: 0", "user: 1", "user: 2")
    ['user: 0', 'user: Summary of 3 earlier messages:']
    """

    def divided(self, window: Window) -> Parts | None:
        """The system messages with the request, and all that the writer reads; no end."""
        if window.tokens <= self.limit(window):
            return None
        system = [message for message in window.messages if message.kind == "system"]
        others = [message for message in window.messages if message.kind != "system"]
        kinds = [message.kind for message in others]
        start = next((n for n, kind in enumerate(kinds) if kind in ("user", "made")), len(kinds))
        if kinds[start:] and kinds[start] == "user":
            start += 1  # the request stays
        summaries = [n for n, kind in enumerate(kinds) if kind == "made" and n >= start]
        last_summary = summaries[-1] if summaries else start
        head = [*system, *others[:start]]
        return head, [*head, *others[last_summary:]], ()
