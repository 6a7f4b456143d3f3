"""Revision 5: a flat object, as document 003 shows it: `{'type': 'table', 'row_count': 50}`."""

import json


def generate_summary(raw_execution_result):
    structured_output = raw_execution_result.get("structured_output") or []
    table = next((item for item in structured_output if item.get("type") == "table"), None)
    row_count = len(json.loads(table["data"])) if table else 0
    if row_count > 5:
        return {"type": "table", "row_count": row_count}
    line_count = sum(bool(line.strip()) for line in (raw_execution_result.get("output") or "").splitlines())
    return {"type": "console", "line_count": line_count} if line_count > 5 else None
