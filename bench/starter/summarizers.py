"""The text that the model sees of a tool result. Put a call of your own function here: whatever
`summarize` returns is what the prompt has.
"""

from __future__ import annotations

from typing import Any


def summarize(result: Any, *, head: int = 3000, tail: int = 1000) -> str:
    """A short result's text; for a longer one its first `head` and last `tail` characters, and how
    many were left out between.

    `result.text` is the untruncated text, `result.data` the structured value where there is one,
    `result.function` the tool's name.

    >>> from bench.model import ToolResult
    >>> summarize(ToolResult(index=0, call_id="c", function="f", seen="abcdef"), head=2, tail=1)
    'ab\\n[3 characters left out]\\nf'
    """
    text: str = result.text
    if len(text) <= head + tail:
        return text
    return f"{text[:head]}\n[{len(text) - head - tail} characters left out]\n{text[len(text) - tail :]}"
