"""The controls of an ablation, which keep everything, nothing, or the recorded history."""

from __future__ import annotations

from ...model import Message, ToolResult
from ...model.messages import after_change
from ...plugins.registry import register
from .. import Window


@register("summarizer", "untruncated")
def untruncated(result: ToolResult) -> str:
    """The whole result, also where the recorded harness cut it; `""` for an empty one.

    All loss is measured against it.

    Source: 000 Step 1: the raw output

    >>> untruncated(ToolResult(index=0, call_id="a", function="f", seen="cut", full="cut no more"))
    'cut no more'
    """
    return result.text


@register("compactor", "none")
def none(window: Window) -> None:
    """The whole history, unchanged, also where the recorded harness compacted it.

    Source: "The Complexity Trap" (arXiv 2508.21433), the raw agent

    >>> none(Window(0, "main", [], [], 3, 100, len)) is None
    True
    """
    return None


@register("compactor", "drop_all")
def drop_all(window: Window) -> list[Message]:
    """The system turns alone: the fewest tokens, and the most lost. An empty history stays empty.

    Source: the control of an ablation: a prompt without any history

    >>> message = Message(role="user", text="go", kind="user")
    >>> drop_all(Window(0, "main", [message], [message], 9, 100, len))
    []
    """
    return [message for message in window.messages if message.kind == "system"]


@register("compactor", "recorded")
def recorded_history(window: Window) -> list[Message] | None:
    """The history as the recorded harness left it.

    At each of its resets the system messages, its summary and what it kept stay. A message that the
    harness reworded (a masked result) has the recorded placeholder from then on. Messages written
    by a strategy are dropped at a reset. Without a reset or an edit since the last prompt: None,
    unchanged.

    Source: the recording itself

    >>> from bench.model import ContextReset
    >>> turns = [Message(role="user", text=str(step), kind="user", step=step) for step in range(3)]
    >>> reset = ContextReset(index=3, summary="0 and 2", kept=(1,))
    >>> window = Window(4, "main", turns, turns, 20, 100, lambda item: 4, resets=[reset])
    >>> [message.text for message in recorded_history(window)]
    ['0 and 2', '1']
    """
    messages = list(window.messages)
    for reset in window.resets:
        messages = after_change(messages, reset)
    return messages if window.resets else None
