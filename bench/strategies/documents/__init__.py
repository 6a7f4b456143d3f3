"""The rules of the five documents, one file each; of common practice; and of references.

This file reads a raw script result for documents 000, 001 and 003, and applies the rule that they share.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...model import ToolResult, as_text, lines_of
from ...text.decode import NothingParsed, parse_json
from ..slots import Summary

Noise = Literal["status", "markers"]
"""The console lines that say nothing: those that report the execution itself, or every line that starts with a mark."""

_NOISE = {
    "status": re.compile(r"\s*(?:✅\ufe0f?\s*Code executed|❌\ufe0f?\s*Code execution)", re.IGNORECASE),
    "markers": re.compile(r"\s*[✅❌]"),
}


# ---------------------------------------------------------------- raw script results


@dataclass(frozen=True)
class ScriptOutput:
    """A raw script result as the rules read it: the console lines, the items of its structured output, and the console text as it came."""

    lines: tuple[str, ...]
    items: tuple[Any, ...] = ()
    console: str = ""

    def without(self, noise: Noise) -> tuple[str, ...]:
        """Return the console lines that say something."""
        is_noise = _NOISE[noise].match
        return tuple(line for line in self.lines if not (line.lstrip()[:1] in ("✅", "❌") and is_noise(line)))


def script_output(result: ToolResult) -> ScriptOutput:
    """Return the script output of a tool result; the text of any other result counts as console output.

    A raw script result is a mapping with `output`, `structured_output` or `structuredOutput`, as data or as JSON text. Nothing here raises.
    """
    return _text_output(result.text) if result.data is None else _value_output(result.data, result.text)


def _text_output(text: str) -> ScriptOutput:
    try:
        return _value_output(parse_json(text), text)
    except NothingParsed:
        return ScriptOutput(tuple(lines_of(text)), (), text)


def _value_output(value: Any, text: str) -> ScriptOutput:
    if not isinstance(value, dict) or not {"output", "structured_output", "structuredOutput"} & value.keys():
        return ScriptOutput(tuple(lines_of(text)), (), text)
    output = value.get("output")
    console = "" if output is None else as_text(output)
    items = value.get("structured_output") or value.get("structuredOutput") or []
    if isinstance(items, str):
        try:
            items = parse_json(items)
        except NothingParsed:
            items = []
    found = items if isinstance(items, list) else [items] if items else []
    return ScriptOutput(tuple(lines_of(console)), tuple(found), console)


def tables_of(output: ScriptOutput, notes: list[str]) -> list[list[Any]]:
    """Return the rows of every table item, in order. Data that is no list of rows is left out, and `notes` says so.

    >>> notes = []
    >>> tables_of(ScriptOutput((), ({"type": "table", "data": "[{\\"a\\": 1"},)), notes), notes
    ([], ['structured_output[0].data is not JSON: rule falls through'])
    """
    found: list[list[Any]] = []
    for position, item in enumerate(output.items):
        if not isinstance(item, dict) or item.get("type") != "table":
            continue
        rows = item.get("data")
        problem = "not a list"
        if isinstance(rows, str):
            try:
                rows = parse_json(rows)
            except NothingParsed:
                problem = "not JSON"
        if isinstance(rows, list):
            found.append(rows)
        else:
            notes.append(f"structured_output[{position}].data is {problem}: rule falls through")
    return found


# ---------------------------------------------------------------- their summary

Words = tuple[str, str, str]
"""The key of a summary's rows, and the messages of a table and of a console log."""


SHOWING: Words = ("truncated_rows", "Showing {shown} of {count} rows", "Showing {shown} of {count} lines")


FIRST: Words = (
    "truncated_rows_json",
    "Table with {count} rows; first {shown} shown.",
    "{count} console lines; first {shown} shown.",
)


def summarized(
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
