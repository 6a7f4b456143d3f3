"""The summary of Inspect."""

from __future__ import annotations

from ...plugins.registry import register
from .. import Window
from ..engines import AtShare, Parts, Summary


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
