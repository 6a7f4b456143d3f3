"""Runs of Codex's tools: by the output that the model saw, and by the event that says how a run
ended."""

from __future__ import annotations

import re
from typing import Any

from ..model import compact_json
from .decoded import as_dict, strict_json
from .markers import cut_in
from .records import dict_in, text
from .steps import Ran

ENDS = ("exec_command_end", "mcp_tool_call_end", "patch_apply_end")
"""Events that say how a tool's run ended."""
_CODE = re.compile(r"^(?:Process exited with code|Exit code:) *(-?\d{1,9})$", re.MULTILINE)
_TOOK = re.compile(r"^Wall time: *(\d{1,9}(?:\.\d{1,9})?) seconds$", re.MULTILINE)
_BODY = re.compile(r"^Output:\n", re.MULTILINE)


def tool_run(seen: str, end: dict[str, Any]) -> Ran:
    """A tool's run by its output and the event of its end (`{}` without one): exit code, time,
    structured value, and the whole output where it was cut."""
    envelope = as_dict(strict_json(seen)) if seen.startswith("{") else {}
    metadata, body = dict_in(envelope, "metadata"), _BODY.search(seen)
    head = body.end() if body else 0
    stated, wall = _CODE.search(seen, 0, head), _TOOK.search(seen, 0, head)
    code = int(stated.group(1)) if stated else metadata.get("exit_code")
    code = code if end.get("exit_code") is None else end["exit_code"]
    took = float(wall.group(1)) if wall else metadata.get("duration_seconds")
    result = dict_in(end, "result", "Ok")
    error = text(dict_in(end, "result").get("Err"))
    broken = end.get("success") is False or True in (result.get("isError"), result.get("is_error"))
    output, full = text(end.get("aggregated_output")), None
    if output and len(output) > len(seen) - head and cut_in(seen) and not cut_in(output):
        full = compact_json({**envelope, "output": output}) if envelope else seen[:head] + output
    return Ran(
        data=result.get("structuredContent") or result.get("structured_content"),
        full=full,
        failed=broken or code not in (0, None) or error is not None,
        error=error,
        duration_s=_seconds(end.get("duration"), took),
    )


def _seconds(*values: Any) -> float | None:
    """The first of some durations that can be read: seconds, or whole seconds and nanoseconds."""
    for value in values:
        if type(value) in (int, float):
            return float(value)
        seconds, nanos = dict_in(value).get("secs"), dict_in(value).get("nanos")
        if type(seconds) is int and type(nanos) is int:
            return float(seconds + nanos / 1e9)
    return None
