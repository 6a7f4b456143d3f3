"""Compactor `autogen.head_and_tail`."""

from __future__ import annotations

from ...plugins.registry import register
from .. import Window
from ..histories import Count, PromptMessages, View, summary_message, system_count
from . import joined, results_together

SKIPPED = summary_message("")


@register("compactor", "autogen.head_and_tail")
class AutogenHeadAndTail(View):
    """The first `head` and the last `tail` messages, and between them a user message with the number of skipped ones.

    A view of the messages behind the system prompt, which the original keeps apart. The results of one turn count as one message. A call at the end
    of the head goes, and so do the results at the start of the tail; they are not counted as skipped. A history with nothing between head and tail
    is shown whole.

    Source: autogen-core 0.7.5, autogen_core/model_context/_head_and_tail_chat_completion_context.py

    >>> AutogenHeadAndTail(head=1, tail=1).tried("user: a", "user: b", "user: c", "user: d")
    ['user: a', 'user: Skipped 2 messages.', 'user: d']
    """

    head: Count = 2
    tail: Count = 20

    def view(self, window: Window) -> PromptMessages:
        start = system_count(window.messages)
        groups = results_together(window.messages[start:])
        skipped = len(groups) - self.head - self.tail
        if skipped <= 0:
            return None
        head, tail = groups[: self.head], groups[len(groups) - self.tail :]
        if head and head[-1][0].tool_calls:
            head = head[:-1]
        if tail and tail[0][0].kind == "result":
            tail = tail[1:]
        note = self.rewritten(SKIPPED, f"Skipped {skipped} messages.")
        return [*window.messages[:start], *joined(head), note, *joined(tail)]
