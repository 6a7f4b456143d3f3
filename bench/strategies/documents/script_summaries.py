"""Summarizers of a raw script result, as documents 000, 001 and 003 and two later revisions of their owners have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ...model import ToolResult
from ...plugins.registry import register
from ...text.decode import NothingParsed, parse_json
from .. import Summary
from ..histories import Count
from . import Noise, ScriptOutput, script_output, tables_of

MARKS = ("✅", "❌")
STATUS = ("✅ Code executed", "❌ Code execution")
Shows = Literal["headers", "result"]
"""The part of a result that a later revision shows beside its count."""

Words = tuple[str, str, str]
"""The key of a summary's rows, and the messages of a table and of a console log."""

SHOWING: Words = ("truncated_rows", "Showing {shown} of {count} rows", "Showing {shown} of {count} lines")
FIRST: Words = (
    "truncated_rows_json",
    "Table with {count} rows; first {shown} shown.",
    "{count} console lines; first {shown} shown.",
)


# ---------------------------------------------------------------- the rules of the documents


@register("summarizer", "output_summary")
def output_summary(result: ToolResult, *, max_rows: Count = 5, max_lines: Count = 5) -> Summary:
    """The first rows of a table, however short it is; without one, the first lines of a console log longer than `max_lines`.

    Where there is a table the console text is ignored. A short log or an empty result gives no summary (`shown` is None). Table data that
    cannot be read counts as no table, and a note says so.

    Source: 001 §1

    >>> table = {"output": "done", "structured_output": [{"type": "table", "data": "[1,2,3]"}]}
    >>> output_summary(ToolResult(index=0, call_id="a", function="f", data=table), max_rows=2).shown
    {'type': 'table', 'message': 'Showing 2 of 3 rows', 'table': {'row_count': 3, 'truncated_rows': [1, 2]}}
    """
    return _by_document(result, max_rows, max_lines, None, SHOWING, any_table=True)


@register("summarizer", "table_console")
def table_console(result: ToolResult, *, max_rows: Count = 5, max_lines: Count = 5, noise: Noise = "status") -> Summary:
    """The first rows of the first table longer than `max_rows`, else the first lines of a console log longer than `max_lines`.

    Status lines are taken out of the log before it is measured: `noise="status"` those that report the execution itself, `noise="markers"` every
    line that starts with ✅ or ❌, answers included. Where table data cannot be read, the rule falls through, and a note says so.

    Source: 000 Step 3

    >>> log = ToolResult(index=0, call_id="a", function="f", data={"output": "✅ Code executed successfully\\na\\nb"})
    >>> table_console(log, max_lines=1).shown
    {'type': 'console', 'message': '2 console lines; first 1 shown.', 'console': {'line_count': 2, 'truncated_lines': ['a']}}
    """
    return _by_document(result, max_rows, max_lines, noise, FIRST)


@register("summarizer", "count_only")
def count_only(result: ToolResult, *, max_rows: Count = 5, max_lines: Count = 5, noise: Noise = "status") -> Summary:
    """The number of rows or console lines alone, under the conditions of `table_console`; None where those are not met.

    Source: 003 §4.1

    >>> table = {"structured_output": [{"type": "table", "data": "[1,2,3,4,5,6]"}]}
    >>> count_only(ToolResult(index=0, call_id="a", function="f", data=table)).shown
    {'type': 'table', 'row_count': 6}
    """
    return _by_document(result, max_rows, max_lines, noise, None)


def _by_document(
    result: ToolResult,
    max_rows: int,
    max_lines: int,
    noise: Noise | None,
    words: Words | None,
    *,
    any_table: bool = False,
) -> Summary:
    """Return the summary of the first table longer than `max_rows`, else of a console longer than `max_lines`, else nothing."""
    notes: list[str] = []
    output = script_output(result)
    for rows in tables_of(output, notes):
        if any_table or len(rows) > max_rows:
            return Summary(_table(rows, max_rows, words), tuple(notes))
    lines = output.lines if noise is None else output.without(noise)
    return Summary(_console(lines, max_lines, words) if len(lines) > max_lines else None, tuple(notes))


def _table(rows: Sequence[Any], limit: int, words: Words | None) -> dict[str, Any]:
    return {"type": "table", **_first(rows, limit, "table", "row_count", words and words[:2])}


def _console(lines: Sequence[str], limit: int, words: Words | None) -> dict[str, Any]:
    return {"type": "console", **_first(lines, limit, "console", "line_count", words and ("truncated_lines", words[2]))}


def _first(items: Sequence[Any], limit: int, kind: str, counted: str, words: tuple[str, str] | None) -> dict[str, Any]:
    if words is None:
        return {counted: len(items)}
    (key, message), shown = words, list(items[:limit])
    return {"message": message.format(count=len(items), shown=len(shown)), kind: {counted: len(items), key: shown}}


# ---------------------------------------------------------------- the later revisions


@register("summarizer", "first_result_line")
def first_result_line(result: ToolResult) -> Summary:
    """Of a console log the first line that states a result, and the number of lines.

    A log without such a line gives its first one, one with lines that begin with `SUMMARY:` these instead, one of status lines alone the first of
    them, up to a `|`. A table, which comes first, is shown as `headers_preview` shows it. Nothing at all gives no summary.

    Source: 000 Step 3, the latest revision by the same owners

    >>> log = {"output": "looking for level 2\\n✅ Wall created.\\n✅ Code executed successfully | 12:03"}
    >>> first_result_line(ToolResult(index=0, call_id="a", function="f", data=log)).shown
    {'type': 'console', 'line_count': 2, 'preview': ['✅ Wall created.']}
    """
    return _by_revision(*_read(script_output(result)), "result")


@register("summarizer", "headers_preview")
def headers_preview(result: ToolResult, *, preview: Count = 2) -> Summary:
    """A table as its row count, its column names and the first `preview` rows; else a console log as what it calls its summary.

    Lines that start with ✅ or ❌ are left out and not counted; a log of nothing else gives the first of them, up to a `|`. Only the first table item
    is looked at; data that is no list counts as no table, with a note. A short result is summarised too.

    Source: 000 Step 3, a later revision by the same owners

    >>> table = {"structured_output": [{"type": "table", "data": '[{"a": 1}, {"a": 2}, {"a": 3}]'}]}
    >>> headers_preview(ToolResult(index=0, call_id="a", function="f", data=table)).shown
    {'type': 'table', 'row_count': 3, 'headers': ['a'], 'preview': [{'a': 1}, {'a': 2}]}
    """
    return _by_revision(*_read(script_output(result)), "headers", preview)


def _by_revision(rows: list[Any] | None, problem: str, lines: Sequence[str], shows: Shows, preview: int = 2) -> Summary:
    """Return the summary of the rows of the first table, else of the console lines that start with no mark."""
    if rows is not None:
        named = rows and isinstance(rows[0], dict)
        more = {"headers": list(rows[0]), "preview": rows[:preview]} if named else {}
        return Summary({"type": "table", "row_count": len(rows), **more})
    notes, said = _fell_through(problem), _unmarked(lines, STATUS if shows == "result" else MARKS)
    if said:
        return Summary({"type": "console", "line_count": len(said), **_preview(said, shows, preview)}, notes)
    status = next((line for line in lines if line.startswith(MARKS)), None)
    if status is None:
        return Summary(None, notes)
    message = status.partition("|")[0].replace("✅", "").replace("❌", "").strip()
    return Summary({"type": "default", "message": message}, notes)


def _preview(lines: list[str], shows: Shows, preview: int) -> dict[str, Any]:
    own = [line.replace("SUMMARY:", "").strip() for line in lines if line.strip().startswith("SUMMARY:")]
    if own:
        return {"summary_text": " ".join(own)}
    if shows == "headers":
        return {"preview": lines[:preview]}
    return {"preview": [line for line in lines if line.startswith(MARKS)][:1] or lines[:1]}


def _fell_through(problem: str) -> tuple[str, ...]:
    return (f"{problem}: rule falls through",) if problem else ()


def _unmarked(lines: Sequence[str], marks: tuple[str, ...]) -> list[str]:
    return [line for line in lines if not line.startswith(marks)]


def _read(output: ScriptOutput) -> tuple[list[Any] | None, str, list[str]]:
    """Return the rows of the first table item alone, what is wrong with its data, and the console lines, split at line feeds alone."""
    console = output.console.strip()
    lines = console.split("\n") if console else []
    data = _first_data(output)
    try:
        rows = parse_json(data) if isinstance(data, str) and data else data or None
    except NothingParsed:
        return None, "the first table's data is not JSON", lines
    known = rows is None or isinstance(rows, list)
    return (rows, "", lines) if known else (None, "the first table's data is not a list", lines)


def _first_data(output: ScriptOutput) -> Any:
    tables = (item for item in output.items if isinstance(item, dict) and item.get("type") == "table")
    return next(tables, {}).get("data")
