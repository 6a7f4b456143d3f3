"""Stores: the structure of a result kept, kept for the functions that need it, cut, or kept outside of the prompt; and summarizer `truncate`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from ...model import Record, ToolResult, as_text
from ...model.errors import StrategyError
from ...plugins.registry import register
from .. import untruncated_record
from ..histories import Count
from . import ENRICHMENT, METHODS, brief

STRUCTURED = (ENRICHMENT, "dea_split_by_condition", "process_cells", "compare_cell_counts")


@register("store", "full", lossless=True)
def full(result: ToolResult, *, summary_limit: Count = 100) -> Record:
    """The value itself, structure intact; its summary is the first `summary_limit` characters, "Success" for an empty result.

    Source: 004 Issue Analysis "Required Pattern"

    >>> full(ToolResult(index=0, call_id="a", function="f", data={"go": [1, 2]})).value
    {'go': [1, 2]}
    """
    return _record(result, brief(result.value, summary_limit))


@register("store", "by_function")
def by_function(
    result: ToolResult,
    *,
    structured: tuple[str, ...] = STRUCTURED,
    visualization_prefix: str = "display_",
    text_limit: Count = 500,
    summary_limit: Count = 100,
) -> Record:
    """The value itself for the functions that need its structure and for visualizations, anything else as cut text.

    Every record has a summary, visualizations too, which the document forgets.

    Source: 004 §2.1, §2.2

    >>> found = {"go": {"total_significant": 12}, "kegg": {"total_significant": 4}}
    >>> kept = by_function(ToolResult(index=0, call_id="a", function="perform_enrichment_analyses", data=found))
    >>> kept.result_type, kept.summary
    ('structured', 'Enrichment: GO: 12 terms, KEGG: 4 terms')
    """
    value = result.value
    if result.success and result.function in structured:
        summary = _summary(result.function, value, summary_limit) if value else "Success"
        return _record(result, summary, result_type="structured")
    if result.success and result.function.startswith(visualization_prefix):
        metadata = {"function": result.function, "html_chars": len(str(value)) if value else 0}
        return _visualization(result, metadata)
    return _record(result, brief(value, summary_limit), value=brief(value, text_limit), result_type="text")


def _record(result: ToolResult, summary: str, **fields: Any) -> Record:
    return msgspec.structs.replace(untruncated_record(result), summary=summary, **fields)


def _visualization(result: ToolResult, metadata: dict[str, Any]) -> Record:
    summary = f"Visualization generated: {result.function}"
    return _record(result, summary, result_type="visualization", metadata=metadata)


def _summary(function: str, value: Any, limit: int) -> str:
    """Return the line that stands for a structured result in a log."""
    if function == ENRICHMENT and isinstance(value, Mapping):
        counts = (f"{name.upper()}: {_significant(value[name])} terms" for name in METHODS if name in value)
        return f"Enrichment: {', '.join(counts)}"
    if function == "process_cells":
        discovered = isinstance(value, str) and "discovered" in value.lower()
        return f"Process cells: {'Discovery completed' if discovered else str(value)[:limit]}"
    return "DEA: Analysis completed" if function == "dea_split_by_condition" else str(value)[:limit]


def _significant(method: Any) -> Any:
    return method.get("total_significant", 0) if isinstance(method, Mapping) else 0


@register("summarizer", "truncate")
def truncate(result: ToolResult, *, limit: Count = 500) -> str:
    """The first `limit` characters of `str()` of the untruncated value; "Success" for an empty one. Nothing says that it was cut.

    Source: 004 §1.2

    >>> truncate(ToolResult(index=0, call_id="a", function="f", data={"go": 12}), limit=6)
    "{'go':"
    """
    return brief(result.value, limit)


@register("store", "truncate")
def truncate_stored(result: ToolResult, *, limit: Count = 500, summary_limit: Count = 100) -> Record:
    """The first `limit` characters of `str()` of the value as text; "Success" for an empty result. Structure is gone.

    Source: 004 §1.2

    >>> truncate_stored(ToolResult(index=0, call_id="a", function="f", data={"go": [1, 2]}), limit=8).value
    "{'go': ["
    """
    return _record(result, brief(result.value, summary_limit), value=brief(result.value, limit), result_type="text")


@register("store", "external", lossless=True)
class External:
    """The value in a content-addressed store, and a handle with a preview in its place; the handle resolves to the very same value.

    Equal values share a handle. An empty result has a handle and an empty preview.

    Source: MemGPT (arXiv 2310.08560): what is paged out can be paged in

    >>> store = External(preview_chars=4)
    >>> record = store.put(ToolResult(index=0, call_id="a", function="f", data={"go": [1, 2]}))
    >>> record.value, store.resolve(record.handle)
    ('[stored as mem://239a00f0f124eed7: 12 characters] {"go', {'go': [1, 2]})
    """

    def __init__(self, *, preview_chars: Count = 200, summary_limit: Count = 100) -> None:
        self.preview_chars, self.summary_limit = preview_chars, summary_limit
        self._values: dict[str, Any] = {}

    def put(self, result: ToolResult) -> Record:
        value, text = result.value, as_text(result.value)
        # repr, not JSON: it keeps apart what JSON makes equal (NaN and null, the text of a number and the number)
        handle = f"mem://{hashlib.sha256(repr(value).encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
        self._values[handle] = value
        preview = f" {text[: self.preview_chars]}" if text and self.preview_chars else ""
        return msgspec.structs.replace(
            untruncated_record(result),
            value=f"[stored as {handle}: {len(text)} characters]{preview}",
            result_type="text",
            summary=brief(value, self.summary_limit),
            handle=handle,
        )

    def resolve(self, handle: str) -> Any:
        """Return the value behind a handle; StrategyError for a handle that this store never gave."""
        if handle not in self._values:
            raise StrategyError(f"handle {handle!r} is not in this store — handles live for one case only")
        return self._values[handle]
