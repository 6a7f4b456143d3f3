"""Revision 2: the table rule comes first (document 000, Step 3, Priority 1)."""

import json


def generate_summary(raw_execution_result: dict) -> dict | None:
    for item in raw_execution_result["structured_output"] or []:
        if item["type"] == "table":
            rows = json.loads(item["data"])
            if len(rows) > 5:
                table_summary = {"row_count": len(rows), "truncated_rows_json": rows[:5]}
                return {"type": "table", "message": f"A table with {len(rows)} rows.", "table": table_summary}
    lines = raw_execution_result["output"].splitlines()
    if len(lines) > 5:
        return {
            "type": "console",
            "message": f"{len(lines)} lines.",
            "console": {"line_count": len(lines), "truncated_lines": lines[:5]},
        }
    return None
