"""What session logs of agents have in common: a tool's run beside the text that the model saw, and usage beside a cache."""

from __future__ import annotations

from typing import Any

from ..model import Usage
from .markers import cut_in
from .records import dict_in, text
from .steps import Ran


def claude_code_run(result: Any, seen: str) -> Ran:
    """A tool's run as Claude Code records it beside the text that the model saw (`toolUseResult`): the whole
    output where it is longer, the duration, and if it was cut."""
    result = dict_in(result)
    whole = "\n".join(output for key in ("stdout", "stderr") if (output := text(result.get(key))))
    times = (result.get(key) for key in ("durationMs", "totalDurationMs"))
    took = next((value / 1000 for value in times if type(value) in (int, float)), None)
    longer = len(whole) > len(seen)
    cut = cut_in(seen) is not None or result.get("truncated") is True
    return Ran(whole if longer else None, duration_s=took, cut=cut and not longer)


# ---------------------------------------------------------------- usage


def usage_beside_cache(
    fresh: int | None, output: int | None, read: int | None, written: int | None, written_1h: int | None = None
) -> Usage | None:
    """The usage of an interface that counts cached and written tokens beside the input; None where no
    input is given. `written_1h` are those of `written` that the one-hour cache keeps."""
    if fresh is None:
        return None
    return Usage(
        prompt_tokens=fresh + (read or 0) + (written or 0),
        completion_tokens=output or 0,
        cached_prompt_tokens=read,
        cache_write_tokens=written,
        cache_write_1h_tokens=written_1h or None,
    )
