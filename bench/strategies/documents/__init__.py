"""Shared by several documents: raw script results, short texts, and the states of routers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ...model import ToolResult, as_text, lines_of
from ..parsed import json_value, parsed_value

Noise = Literal["status", "markers"]
"""The console lines that are left out: those about the execution, or all with a mark."""

_NOISE = {
    "status": re.compile(
        r"\s*(?:✅\ufe0f?\s*Code executed|❌\ufe0f?\s*Code execution)", re.IGNORECASE
    ),
    "markers": re.compile(r"\s*[✅❌]"),
}


@dataclass(frozen=True)
class ScriptOutput:
    """A raw script result: its console lines and its items."""

    lines: tuple[str, ...]
    items: tuple[Any, ...] = ()

    def without(self, noise: Noise) -> tuple[str, ...]:
        """The console lines without noise."""
        is_noise = _NOISE[noise].match
        return tuple(line for line in self.lines if not is_noise(line))

    @property
    def tables(self) -> list[Any]:
        """The data of each table item, in order."""
        items = (item for item in self.items if isinstance(item, dict))
        return [item.get("data") for item in items if item.get("type") == "table"]

    def rows(self, more_than: int = -1) -> list[Any] | None:
        """The rows of the first table with more than `more_than` rows; None without one.

        A table is a list of rows, nothing else.
        """
        read = (rows_of(data) for data in self.tables)
        return next((rows for rows in read if rows is not None and len(rows) > more_than), None)


def script_output(result: ToolResult) -> ScriptOutput:
    """The script output in a tool result; any other result's text counts as console output.

    A raw script result is a mapping with `output`, `structured_output` or `structuredOutput`, as
    data or as JSON text. Nothing here raises.
    """
    value = parsed_value(result)
    if (
        not isinstance(value, dict)
        or not {"output", "structured_output", "structuredOutput"} & value.keys()
    ):
        return ScriptOutput(tuple(lines_of(result.text)))
    output = value.get("output")
    console = "" if output is None else as_text(output)
    items = value.get("structured_output") or value.get("structuredOutput") or []
    items = json_value(items) if isinstance(items, str) else items
    if not isinstance(items, list):
        items = [items] if items else []
    return ScriptOutput(tuple(lines_of(console)), tuple(items))


def rows_of(data: Any) -> list[Any] | None:
    """The rows of a table's data, a list or a JSON text of one; None for anything else.

    >>> rows_of("[1, 2]"), rows_of("[1, 2"), rows_of({"a": 1})
    ([1, 2], None, None)
    """
    value = json_value(data) if isinstance(data, str) else data
    return value if isinstance(value, list) else None


def brief(value: Any, limit: int) -> str:
    """The first `limit` characters of `str()` of a value; "Success" for an empty one.

    >>> brief({"go": 12}, 6), brief("", 6)
    ("{'go':", 'Success')
    """
    return str(value)[:limit] if value else "Success"


# ---------------------------------------------------------------- the states of routers


def planned_steps(state: Mapping[str, Any]) -> list[Any]:
    """The steps of `execution_plan` in a state; `[]` without any."""
    plan = state.get("execution_plan")
    steps = plan.get("steps") if isinstance(plan, Mapping) else None
    return list(steps) if isinstance(steps, list | tuple) else []


def current_step_index(state: Mapping[str, Any]) -> int:
    """The number of finished steps in the state; 0 if it is not recorded."""
    index = state.get("current_step_index")
    return index if isinstance(index, int) else 0


def is_critical(state: Mapping[str, Any]) -> bool:
    """True if the last evaluation of a state is a critical failure."""
    evaluation = state.get("last_step_evaluation")
    return isinstance(evaluation, Mapping) and bool(evaluation.get("critical_failure"))
