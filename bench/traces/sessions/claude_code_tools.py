"""Runs of tools as Claude Code records them, also within recordings of others."""

from __future__ import annotations

from typing import Any

from ..steps import ToolRun
from ..values import dict_in, text


def tool_run(result: Any, seen: str) -> ToolRun:
    """A tool's execution as Claude Code records it beside the text that the model saw
    (`toolUseResult`): the output if it is longer; `cut` if Claude Code says so, or saved more in a
    file.

    >>> run = tool_run({"stdout": "36 walls", "persistedOutputSize": 86_332}, "36")
    >>> run.output, run.cut
    ('36 walls', True)
    """
    result = dict_in(result)
    output = "\n".join(filter(None, (text(result.get(key)) for key in ("stdout", "stderr"))))
    longer, size = len(output) > len(seen), result.get("persistedOutputSize")
    kept = type(size) is int and size > len(output.encode("utf-8", "replace"))
    cut = kept or (result.get("truncated") is True and not longer)
    return ToolRun(output if longer else None, cut=cut)
