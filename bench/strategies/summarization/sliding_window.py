"""Compactor `window`."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from . import Count, system_count


@register("compactor", "sliding_window")
def last_messages(window: Window, *, keep_last: Count = 20) -> Edits | None:
    """The system messages at the start and the last `keep_last` messages, a tool call never separated from its results.

    Where the cut would fall between a call and one of its results, it moves back to the call, so a few more may stay. A shorter history
    is unchanged (None).

    Source: common practice: a sliding window over the messages that keeps pairs together

    >>> told = [Message(role="user", text=str(step), kind="user", step=step) for step in range(3)]
    >>> edits = last_messages(Window(3, "main", told, told, 20, 100, lambda item: 4), keep_last=2)
    >>> [message.text for message in edits.replace]
    ['0']
    """
    start = system_count(window.messages)
    rest = window.messages[start:]
    cut = safe_cut(rest, max(0, len(rest) - keep_last))
    return Edits(replace=dict.fromkeys(rest[:cut])) if cut else None


def safe_cut(messages: Sequence[Message], cut: int) -> int:
    """The last position up to `cut` at which no kept result has its call among what is dropped."""
    call_at: dict[str, int] = {}
    answers: list[tuple[int, int]] = []
    for position, message in enumerate(messages):
        for call in message.tool_calls:
            call_at[call.id] = position
        if message.kind == "result" and message.call_id in call_at:
            answers.append((position, call_at[message.call_id]))
    for position, called in reversed(answers):
        if position >= cut:
            cut = min(cut, called)
    return cut
