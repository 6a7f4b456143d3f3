"""A tool result and a record as plain mappings: what a function is given that imports nothing of the bench."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..model import Record, ToolResult


class Recorded(dict[str, Any]):
    """A mapping as it was recorded. A key is also found by its other spelling: `structured_output` where `structuredOutput` was recorded, and back.

    >>> raw = Recorded({"structuredOutput": [1]})
    >>> raw.get("structured_output"), "structured_output" in raw, list(raw), raw.get("output", "")
    ([1], True, ['structuredOutput'], '')
    """

    def __missing__(self, key: str) -> Any:
        other = _other(key)
        if dict.__contains__(self, other):
            return dict.__getitem__(self, other)
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return dict.__contains__(self, key) or dict.__contains__(self, _other(key))

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key by either spelling; the default where there is none."""
        try:
            return self[key]
        except KeyError:
            return default


def _other(key: Any) -> Any:
    if not isinstance(key, str):
        return key
    if "_" in key:
        return re.sub(r"_([a-z])", lambda found: found[1].upper(), key)
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", key)


def raw_mapping(result: ToolResult) -> dict[str, Any]:
    """A result as the mapping that was recorded; one that is none as the mapping that document 000 has for a script's result.

    >>> raw_mapping(ToolResult(index=0, call_id="c", function="f", seen="done"))
    {'is_success': True, 'output': 'done', 'error_message': '', 'error_details': [], 'structured_output': []}
    """
    if isinstance(result.data, Mapping):
        return Recorded(result.data)
    return Recorded(
        is_success=result.success,
        output=result.text,
        error_message=result.error or "",
        error_details=[],
        structured_output=[],
    )


def execution_mapping(record: Record) -> dict[str, Any]:
    """A record as one entry of the execution history of document 004.

    >>> execution_mapping(Record(step=3, call_id="c", function="f", success=True, value="ok"))["function_name"]
    'f'
    """
    return {
        "step_index": record.step,
        "function_name": record.function,
        "success": record.success,
        "result": record.value,
        "result_type": record.result_type,
        "result_summary": record.summary,
        "error": record.error,
        "arguments": record.arguments,
    }
