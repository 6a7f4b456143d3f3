"""Summarizer `table_console`."""

from __future__ import annotations

from typing import Any

from ...model import ToolResult
from ...plugins.registry import register
from .. import Summary
from . import Count, Noise, long_table_or_console


@register("summarizer", "table_console")
def table_console(result: ToolResult, *, max_rows: Count = 5, max_lines: Count = 5, noise: Noise = "status") -> Summary:
    """The first rows of the first table longer than `max_rows`, else the first lines of a console log longer than `max_lines`.

    Status lines are taken out of the log before it is measured: `noise="status"` those that report the execution itself, `noise="markers"`
    every line that starts with ✅ or ❌, answers included, as first deployed. Anything shorter gives no summary. Table data that cannot be
    read never raises: the rule falls through, and a note says so.

    Source: 000 §3

    >>> log = ToolResult(index=0, call_id="a", function="f", data={"output": "✅ Code executed successfully\\na\\nb"})
    >>> table_console(log, max_lines=1).shown
    {'type': 'console', 'message': '2 console lines; first 1 shown.', 'console': {'line_count': 2, 'truncated_lines': ['a']}}
    """

    def table(rows: list[Any]) -> dict[str, Any]:
        return {
            "type": "table",
            "message": f"Table with {len(rows)} rows; first {max_rows} shown.",
            "table": {"row_count": len(rows), "truncated_rows_json": rows[:max_rows]},
        }

    def console(lines: tuple[str, ...]) -> dict[str, Any]:
        return {
            "type": "console",
            "message": f"{len(lines)} console lines; first {max_lines} shown.",
            "console": {"line_count": len(lines), "truncated_lines": list(lines[:max_lines])},
        }

    return long_table_or_console(result, max_rows, max_lines, noise, table, console)
