"""The code that the owners of documents 000 and 004 deployed, unchanged, on plain mappings: the reference for our versions.

These functions were held against the public code itself, and raise where it raises (Sey56/Paracore 81d3fce, li-group/scChat d8339a2).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MARKS = ("✅", "❌")
ENRICHMENT = "perform_enrichment_analyses"
STRUCTURED = (
    ENRICHMENT,
    "dea_split_by_condition",
    "process_cells",
    "compare_cell_counts",
    "search_enrichment_semantic",
)
METHODS = ("go", "kegg", "reactome", "gsea")


def _raw(raw: Mapping[str, Any]) -> tuple[Any, list[str]]:
    items, console = raw.get("structuredOutput"), raw.get("output")
    data = next(
        (item.get("data") for item in (items if isinstance(items, list) else ()) if item.get("type") == "table"), None
    )
    return data, console.strip().split("\n") if console and isinstance(console, str) else []


def first_five(raw: Mapping[str, Any]) -> Any:
    """The first deployment of 000: five rows of a longer table, else five lines of a longer log."""
    data, lines = _raw(raw)
    if data:
        try:
            rows = json.loads(data)
        except json.JSONDecodeError:
            return None
        if len(rows) > 5 and isinstance(rows, list):
            return {
                "type": "table",
                "table": {"row_count": len(rows), "truncated_rows_json": list(map(json.dumps, rows[:5]))},
            }
    lines = [line for line in lines if not line.startswith(MARKS)]
    return (
        {"type": "console", "console": {"line_count": len(lines), "truncated_lines": lines[:5]}}
        if len(lines) > 5
        else None
    )


def stored(function: str, value: Any, success: bool) -> dict[str, Any]:
    """The record that the store of 004 keeps: `result_type`, `result`, `result_summary`, `result_metadata`."""
    if success and function in STRUCTURED:
        return {"result_type": "structured", "result": value, "result_summary": _summary(function, value)}
    if success and function.startswith("display_"):
        text = value if isinstance(value, str) else ""
        seen = {
            "visualization_type": function,
            "html_length": len(text),
            "contains_html": "<div" in text or "<html" in text,
        }
        history = {"result_summary": f"Visualization generated: {function}", "result_metadata": seen}
        return {"result_type": "visualization", "result": value, **history}
    cut = [str(value)[:limit] if value else "Success" for limit in (500, 100)]
    return {"result_type": "text", "result": cut[0], "result_summary": cut[1]}


def _summary(function: str, value: Any) -> str:
    if function == ENRICHMENT and isinstance(value, dict):
        return "Enrichment: " + ", ".join(
            f"{m.upper()}: {value[m].get('total_significant', 0)} terms" for m in METHODS if m in value
        )
    if function == "process_cells":
        found = isinstance(value, str) and "discovered" in value.lower()
        return f"Process cells: {'Discovery completed' if found else str(value)[:100]}"
    if function == "dea_split_by_condition":
        return "DEA: Analysis completed"
    if function != "search_enrichment_semantic":
        return str(value)[:100]
    if not isinstance(value, str) or "enrichment terms" not in value:
        return "Semantic search: Results found"
    terms = [line for line in value.split("\n") if line.strip() and not line.startswith("##")]
    return f"Semantic search: {len(terms)} matching terms found"


def evaluated(execution: Mapping[str, Any]) -> dict[str, Any]:
    """The findings of the step evaluator of 004, without the time."""
    function, kind, error = execution["function_name"], execution["result_type"], execution["error"]
    value = execution["result_summary"] if execution["result"] is None else execution["result"]
    base = {"step_index": execution["step_index"], "function_name": function, "success": execution["success"], "result_type": kind,
            "evaluation_version": "v1_checking_only", "critical_failure": False}  # fmt: skip
    if not execution["success"]:
        names = ("ImportError", "ModuleNotFoundError", "AttributeError", "FileNotFoundError", "PermissionError")
        critical = any(name in error for name in names)
        history = {"error_category": "system_error" if critical else "analysis_error", "error_message": error,
                "suggested_action": "abort_workflow" if critical else "continue_with_caution"}  # fmt: skip
        return {**base, "failure_evaluation": history, "critical_failure": critical}
    structured, limited = kind == "structured", kind != "structured" and bool(value) and len(str(value)) >= 500
    quality = {"data_quality": "high_structured_access" if structured else "legacy_text_parsing",
               "data_completeness": "limited" if limited else "full", "parsing_issues": "truncation_likely" if limited else None}  # fmt: skip
    return {**base, **quality, **_of_function(function, value, structured)}


def _of_function(function: str, value: Any, structured: bool) -> dict[str, Any]:
    if function == ENRICHMENT:
        return _enrichment(value) if structured else {"enrichment_evaluation": {"data_quality": "legacy_text_parsing"}}
    if function == "process_cells" and isinstance(value, str):
        status = "successful" if "discovered" in value.lower() else "no_new_types"
        return {"process_cells_evaluation": {"discovery_status": status, "discovered_cell_types": []}}
    if function in ("process_cells", "dea_split_by_condition"):
        return {
            "process_cells_evaluation" if function == "process_cells" else "dea_evaluation": {"status": "completed"}
        }
    if not function.startswith("display_"):
        return {"function_evaluation": "generic_success"}
    text = value if isinstance(value, str) else ""
    html = "<div" in text or "<html" in text
    history = {"html_generated": html, "html_length": len(text), "status": "success" if html else "no_html_content"}
    return {"visualization_evaluation": {"type": function, **history}}


def _enrichment(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {"error": "no mapping"}
    methods = {name: value[name] for name in METHODS if isinstance(value.get(name), dict)}
    counts = {name: method.get("total_significant", 0) for name, method in methods.items()}
    significant, total = [name for name, count in counts.items() if count > 0], sum(counts.values())
    found: dict[str, Any] = {
        "pathway_counts": counts,
        "total_significant_pathways": total,
        "successful_methods": [name.upper() for name in significant],
        "method_count": len(significant),
        "data_quality": "high_structured_access",
        "top_pathways": {name: methods[name].get("top_terms", [])[:3] for name in significant},
    }
    if total == 0:
        found["concerns"] = [
            "No significant pathways found in any method",
            "Consider adjusting parameters or trying different approaches",
        ]
    elif total > 100:
        named = f"Successful methods: {', '.join(found['successful_methods'])}"
        found["highlights"] = [f"Rich pathway enrichment found ({total} total)", named]
    return {"enrichment_evaluation": found}
