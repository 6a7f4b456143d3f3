"""Revision 3: messages of the console that say nothing are left out (document 000, Step 3), the rules are functions."""

from __future__ import annotations

import json
from typing import Any

NOISE = ("✅ Code executed successfully", "✅ Script executed")
MAX_ROWS = 5
MAX_LINES = 5


def _table_summary(structured_output: list[dict[str, Any]]) -> dict[str, Any] | None:
    for item in structured_output:
        if item.get("type") != "table":
            continue
        try:
            rows = json.loads(item.get("data", "[]"))
        except json.JSONDecodeError:
            continue
        if isinstance(rows, list) and len(rows) > MAX_ROWS:
            return {"row_count": len(rows), "truncated_rows_json": rows[:MAX_ROWS]}
    return None


def _console_summary(output: str) -> dict[str, Any] | None:
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith(NOISE)]
    return {"line_count": len(lines), "truncated_lines": lines[:MAX_LINES]} if len(lines) > MAX_LINES else None


def generate_summary(raw_execution_result: dict[str, Any]) -> dict[str, Any] | None:
    table = _table_summary(raw_execution_result.get("structured_output", []))
    if table:
        return {"type": "table", "message": f"The table has {table['row_count']} rows.", "table": table}
    console = _console_summary(raw_execution_result.get("output", ""))
    if console:
        return {"type": "console", "message": f"The log has {console['line_count']} lines.", "console": console}
    return None
