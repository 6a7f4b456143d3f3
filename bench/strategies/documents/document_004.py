"""Document 004, "Storage Format Fix and Step-by-Step Evaluator": stores, findings and routes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ...model import Record, ToolResult, as_text
from ...plugins.registry import register
from ...text.decode import NothingParsed, parse_prefix
from .. import untruncated_record
from ..settings import Count
from . import brief, current_step_index, is_critical, planned_steps

ENRICHMENT = "perform_enrichment_analyses"
"""The function whose results have terms, p-values and totals by method."""

METHODS = ("go", "kegg", "reactome", "gsea")
"""The enrichment methods, in the order in which they are counted."""

TEXT_CHARS, SUMMARY_CHARS = 500, 100
"""The most characters of a stored text, and of the summary of a record."""

STRUCTURED = (ENRICHMENT, "dea_split_by_condition", "process_cells", "compare_cell_counts")
CRITICAL = (
    "ImportError",
    "ModuleNotFoundError",
    "AttributeError",
    "FileNotFoundError",
    "PermissionError",
)

_LEADING = 5  # terms and p-values of a method that are read back
_NOTHING: dict[str, Any] = {"top_terms": [], "top_pvalues": [], "total_significant": 0}
_DISCOVERED = re.compile(r"discovered\b[^:\n]{0,1000}+:[ \t]*(?P<types>[^\n]+)", re.IGNORECASE)
_MARKUP = re.compile(r"<\w+[\s>/]")
_COUNT = re.compile(
    r"\b(?P<method>reactome|go|kegg|gsea)\b\W{0,3}"
    r"(?P<count>\d+)\s+(?:significant\s+)?(?:terms|pathways)",
    re.I,
)


def methods_of(value: Any) -> dict[str, Mapping[str, Any]]:
    """The findings of an enrichment result by method; `{}` for anything but a mapping."""
    by_name = value if isinstance(value, Mapping) else {}
    return {name: by_name[name] for name in METHODS if isinstance(by_name.get(name), Mapping)}


# ---------------------------------------------------------------- what is stored


@register("store", "full")
def full(result: ToolResult) -> Record:
    """The value itself, structure intact.

    Its summary is the first 100 characters, "Success" for an empty result.

    Source: 004 Issue Analysis "Required Pattern"

    >>> full(ToolResult(index=0, call_id="a", function="f", data={"go": [1, 2]})).value
    {'go': [1, 2]}
    """
    return _record(result, brief(result.value, SUMMARY_CHARS))


@register("store", "by_function")
def by_function(result: ToolResult) -> Record:
    """The value itself for four structured functions and visualizations; anything else as cut text.

    Text is cut at 500 characters, summaries at 100. Every record has a summary, visualizations too,
    which the document forgets.

    Source: 004 §2.1, §2.2

    >>> found = {"go": {"total_significant": 12}, "kegg": {"total_significant": 4}}
    >>> kept = by_function(ToolResult(index=0, call_id="a", function="perform_enrichment_analyses", data=found))
    >>> kept.result_type, kept.summary
    ('structured', 'Enrichment: GO: 12 terms, KEGG: 4 terms')
    """
    value = result.value
    if result.success and result.function in STRUCTURED:
        summary = _summary(result.function, value) if value else "Success"
        return _record(result, summary, result_type="structured")
    if result.success and result.function.startswith("display_"):
        summary = f"Visualization generated: {result.function}"
        return _record(result, summary, result_type="visualization")
    return _as_text(result, TEXT_CHARS)


def _as_text(result: ToolResult, limit: int) -> Record:
    value = result.value
    summary, kept = brief(value, SUMMARY_CHARS), brief(value, limit)
    return _record(result, summary, value=kept, result_type="text")


def _record(result: ToolResult, summary: str, **fields: Any) -> Record:
    return msgspec.structs.replace(untruncated_record(result), summary=summary, **fields)


def _summary(function: str, value: Any) -> str:
    """The summary line of a structured result."""
    if function == ENRICHMENT and isinstance(value, Mapping):
        counts = (
            f"{name.upper()}: {_significant(value[name])} terms"
            for name in METHODS
            if name in value
        )
        return f"Enrichment: {', '.join(counts)}"
    if function == "process_cells":
        discovered = isinstance(value, str) and "discovered" in value.lower()
        return (
            f"Process cells: {'Discovery completed' if discovered else str(value)[:SUMMARY_CHARS]}"
        )
    is_dea = function == "dea_split_by_condition"
    return "DEA: Analysis completed" if is_dea else str(value)[:SUMMARY_CHARS]


def _significant(method: Any) -> Any:
    return method.get("total_significant", 0) if isinstance(method, Mapping) else 0


@register("summarizer", "truncate")
def truncate(result: ToolResult, *, limit: Count = TEXT_CHARS) -> str:
    """The first `limit` characters of `str()` of the untruncated value; "Success" for an empty one.

    The text does not say that it was cut.

    Source: 004 §1.2

    >>> truncate(ToolResult(index=0, call_id="a", function="f", data={"go": 12}), limit=6)
    "{'go':"
    """
    return brief(result.value, limit)


@register("store", "truncate")
def truncate_stored(result: ToolResult, *, limit: Count = TEXT_CHARS) -> Record:
    """The first `limit` characters of `str()` of the value; "Success" for an empty result.

    Structure is lost.

    Source: 004 §1.2

    >>> truncate_stored(ToolResult(index=0, call_id="a", function="f", data={"go": [1, 2]}), limit=8).value
    "{'go': ["
    """
    return _as_text(result, limit)


# ---------------------------------------------------------------- what is concluded of a step


@register("evaluator", "step_v1")
def step_v1(
    record: Record | None,
    history: Sequence[Mapping[str, Any]],
    *,
    critical_errors: tuple[str, ...] = CRITICAL,
) -> dict[str, Any]:
    """The findings about one execution: a base record, its failure, or its quality and its content.

    `critical_failure` depends on the recorded error alone, so storage cannot change an abort. An
    error is critical where its text holds one of `critical_errors` anywhere, as the original
    matches. A text of 500 characters or more counts as probably truncated. Nothing executed (None)
    gives the status `no_history`.

    Source: 004 §5.1, §5.2, §5.3

    >>> failed = Record(step=4, call_id="a", function="display_umap", success=False, error="ImportError: no umap")
    >>> findings = step_v1(failed, ())
    >>> findings["critical_failure"], findings["failure_evaluation"]["recommendation"]
    (True, 'abort_workflow')
    """
    if record is None:
        return {"status": "no_history", "critical_failure": False}
    if not record.success:
        return {**_base(record), **_failure(record.error or "", critical_errors)}
    structured = record.result_type == "structured"
    quality: dict[str, Any] = {
        "data_quality": "high_structured_access",
        "data_completeness": "full",
    }
    if not structured:
        likely = len(_text(record.value)) >= TEXT_CHARS and record.value is not None
        text = {"data_completeness": "limited" if likely else "full", "truncation_likely": likely}
        quality = {"data_quality": "legacy_text_parsing", **text}
    return {**_base(record), **quality, **_by_function(record, structured)}


def _base(record: Record) -> dict[str, Any]:
    """The part of the findings that every execution has."""
    return {
        "step_index": record.step,
        "function_name": record.function,
        "success": record.success,
        "result_type": record.result_type,
        "timestamp": record.t,
        "evaluation_version": "v1_checking_only",
        "critical_failure": False,
    }


def _failure(error: str, critical_errors: tuple[str, ...]) -> dict[str, Any]:
    """The findings about a failed execution; its error is critical where it holds a listed name."""
    named = next((name for name in critical_errors if name in error), None)
    failure = {
        "error_category": "system_error" if named else "analysis_error",
        "error_name": named,
        "recommendation": "abort_workflow" if named else "continue_with_caution",
    }
    return {"failure_evaluation": failure, "critical_failure": named is not None}


def _by_function(record: Record, structured: bool) -> dict[str, Any]:
    """The findings about the value, which depend on the function that returned it."""
    if record.function == ENRICHMENT:
        return {"enrichment_evaluation": _enrichment(record.value if structured else None)}
    if record.function == "process_cells":
        return {"process_cells_evaluation": _process_cells(record.value)}
    if record.function == "dea_split_by_condition":
        return {"dea_evaluation": {"status": "completed" if record.value else "no_result"}}
    if record.function.startswith("display_"):
        html = _text(record.value)
        chars = len(html) if _MARKUP.search(html) else 0
        return {"visualization_evaluation": {"html_generated": chars > 0, "html_chars": chars}}
    return {"function_evaluation": "generic_success"}


def _enrichment(value: Any) -> dict[str, Any]:
    """The findings about an enrichment analysis: its counts, and remarks on none or many."""
    if not isinstance(value, Mapping):
        return {"data_quality": "legacy_text_parsing"}
    methods = methods_of(value)
    counts = {name: _number(method.get("total_significant")) for name, method in methods.items()}
    total, significant = sum(counts.values()), [name for name, count in counts.items() if count > 0]
    evaluation: dict[str, Any] = {
        "pathway_counts": counts,
        "total_significant_pathways": total,
        "successful_methods": [name.upper() for name in significant],
        "method_count": len(significant),
        "data_quality": "high_structured_access",
        "top_pathways": {
            name.upper(): _list(methods[name].get("top_terms"))[:3] for name in significant
        },
    }
    if total == 0:
        evaluation["concerns"] = [
            "No significant pathways found in any method",
            "Consider adjusting parameters or trying different approaches",
        ]
    elif total > 100:
        evaluation["highlights"] = [
            f"Rich pathway enrichment found ({total} total)",
            f"Successful methods: {', '.join(evaluation['successful_methods'])}",
        ]
    return evaluation


def _process_cells(value: Any) -> dict[str, Any]:
    """The discovered cell types, from a mapping or from text."""
    types = _cell_types(value)
    discovered = bool(types) or "discovered" in _text(value).lower()
    status = "discovered" if discovered else "none"
    return {"discovery_status": status, "discovered_cell_types": types}


def _cell_types(value: Any) -> list[Any]:
    """The cell types in a mapping, in a text that contains one, or after `discovered …:` in other
    texts."""
    if isinstance(value, str):
        try:
            value = parse_prefix(value)[0]
        except NothingParsed:
            match = _DISCOVERED.search(value)
            return [part.strip(" .\r") for part in match["types"].split(",")] if match else []
    return _list(value.get("discovered_cell_types")) if isinstance(value, Mapping) else []


def _text(value: Any) -> str:
    return "" if value is None else as_text(value)


def _number(value: Any) -> int | float:
    return value if isinstance(value, int | float) else 0


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


# ---------------------------------------------------------------- findings read back


def enrichment(record: Record) -> dict[str, Any] | None:
    """The findings of an enrichment analysis read back from a record: terms, p-values and totals.

    Per method the leading five of each. A structured record is read directly, and a missing total
    counts as 0. A text is parsed as Python or JSON as far as possible; if nothing can be parsed,
    counts written as `GO: 12 terms` are read. None for any other function and for a failure.

    Source: 004 §3.2, §3.3

    >>> kept = Record(step=0, call_id="a", function="perform_enrichment_analyses", success=True,
    ...     value="{'go': {'total_significant': 12, 'top_terms': ['mitosis', 'cell cy")
    >>> enrichment(kept)
    {'go': {'top_terms': ['mitosis', 'cell cy'], 'total_significant': 12}}
    """
    if record.function != ENRICHMENT or not record.success:
        return None
    if record.result_type == "structured":
        methods = methods_of(record.value)
        return {name: _read({**_NOTHING, **method}) for name, method in methods.items()}
    text = "" if record.value is None else as_text(record.value)
    try:
        parsed = parse_prefix(text)[0]
    except NothingParsed:
        parsed = {
            match["method"].lower(): {"total_significant": int(match["count"])}
            for match in _COUNT.finditer(text)
        }
    return {name: _read(method) for name, method in methods_of(parsed).items()}


def _read(method: Mapping[str, Any]) -> dict[str, Any]:
    """The leading terms and p-values of one method and its total, as far as it has them."""
    findings: dict[str, Any] = {}
    if isinstance(method.get("top_terms"), list):
        findings["top_terms"] = method["top_terms"][:_LEADING]
    if isinstance(method.get("top_pvalues"), list):
        findings["p_values"] = method["top_pvalues"][:_LEADING]
    if "total_significant" in method:
        findings["total_significant"] = method["total_significant"]
    return findings


# ---------------------------------------------------------------- the routes


@register("router", "executor", at="after_result")
def executor(state: Mapping[str, Any]) -> str:
    """`step_evaluate` while something was executed and the plan has steps left, else `complete`.

    Source: 004 §4.2

    >>> executor({"execution_history": [{}], "current_step_index": 1, "total_steps": 1})
    'step_evaluate'
    """
    within = state.get("execution_history") and current_step_index(state) <= _total_steps(state)
    return "step_evaluate" if within else "complete"


@register("router", "step_evaluator", at="after_evaluation")
def step_evaluator(state: Mapping[str, Any]) -> str:
    """`abort` after a critical failure, `complete` where the plan is done, else `continue`.

    An empty state is `complete`.

    Source: 004 §4.2

    >>> step_evaluator({"last_step_evaluation": {"critical_failure": True}, "current_step_index": 1, "total_steps": 3})
    'abort'
    """
    if is_critical(state):
        return "abort"
    return "complete" if current_step_index(state) >= _total_steps(state) else "continue"


def _total_steps(state: Mapping[str, Any]) -> int:
    """The number of steps: `total_steps` of the state, else of its plan."""
    number = state.get("total_steps")
    return number if isinstance(number, int) else len(planned_steps(state))
