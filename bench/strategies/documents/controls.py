"""The controls of an ablation, which keep everything or nothing."""

from __future__ import annotations

from ...model import Message, ToolResult
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
