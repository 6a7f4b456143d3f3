"""Revision 1: the console rule of document 000 alone (Step 3, Priority 2)."""


def generate_summary(raw_execution_result: dict) -> dict | None:
    lines = [line for line in raw_execution_result["output"].split("\n") if line.strip()]
    line_count = len(lines)
    if line_count > 5:
        console_summary = {"line_count": line_count, "truncated_lines": lines[:5]}
        return {"type": "console", "message": f"{line_count} lines.", "console": console_summary}
    return None
