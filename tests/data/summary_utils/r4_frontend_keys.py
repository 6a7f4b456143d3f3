"""Revision 4: the frontend forwards what it has (document 003, section on summaries, Step 2), spelled `structuredOutput`; failures pass."""

import json
from typing import Any, Dict, Optional  # noqa: UP035


def generate_summary(raw_execution_result: Dict[str, Any]) -> Optional[Dict[str, Any]]:  # noqa: UP006, UP045
    if not raw_execution_result:
        return None
    if not raw_execution_result.get("is_success", True):
        return None
    structured = raw_execution_result.get("structuredOutput") or []
    tables = [json.loads(item["data"]) for item in structured if item.get("type") == "table"]
    largest = max(tables, key=len, default=[])
    if len(largest) > 5:
        return {
            "type": "table",
            "message": f"{len(largest)} rows in {len(tables)} table(s)",
            "table": {"row_count": len(largest), "truncated_rows_json": largest[:5]},
        }
    lines = (raw_execution_result.get("output") or "").strip().split("\n")
    relevant = [line for line in lines if line and "executed successfully" not in line]
    if len(relevant) > 5:
        return {
            "type": "console",
            "message": "",
            "console": {"line_count": len(relevant), "truncated_lines": relevant[:5]},
        }
    return None
