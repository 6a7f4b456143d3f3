"""Raw script results of documents 000, 001 and 003, and the rule that they share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ...model import ToolResult, as_text, lines_of
from ...text.decode import NothingParsed, parse_json

Noise = Literal["status", "markers"]
"""The console lines that are left out: those about the execution, or all with a mark."""

MARKS = ("✅", "❌")
_NOISE = {
    "status": re.compile(
        r"\s*(?:✅\ufe0f?\s*Code executed|❌\ufe0f?\s*Code execution)", re.IGNORECASE
    ),
    "markers": re.compile(r"\s*[✅❌]"),
}


# ---------------------------------------------------------------- raw script results


@dataclass(frozen=True)
class ScriptOutput:
    """A raw script result as the rules read it."""

    lines: tuple[str, ...]
    items: tuple[Any, ...] = ()
    console: str = ""

    def without(self, noise: Noise) -> tuple[str, ...]:
        """The console lines but those of noise."""
        is_noise = _NOISE[noise].match
        return tuple(
            line for line in self.lines if not (line.lstrip().startswith(MARKS) and is_noise(line))
        )

    @property
    def tables(self) -> list[Any]:
        """The data of each table item, in order."""
        items = (item for item in self.items if isinstance(item, dict))
        return [item.get("data") for item in items if item.get("type") == "table"]


def script_output(result: ToolResult) -> ScriptOutput:
    """The script output of a tool result; the text of any other result counts as console output.

    A raw script result is a mapping with `output`, `structured_output` or `structuredOutput`, as
    data or as JSON text. Nothing here raises.
    """
    value = result.data if result.data is not None else _parsed(result.text)
    if (
        not isinstance(value, dict)
        or not {"output", "structured_output", "structuredOutput"} & value.keys()
    ):
        return ScriptOutput(tuple(lines_of(result.text)), (), result.text)
    output = value.get("output")
    console = "" if output is None else as_text(output)
    items = value.get("structured_output") or value.get("structuredOutput") or []
    items = _parsed(items) if isinstance(items, str) else items
    listed = items if isinstance(items, list) else [items] if items else []
    return ScriptOutput(tuple(lines_of(console)), tuple(listed), console)


def _parsed(text: str) -> Any:
    try:
        return parse_json(text)
    except NothingParsed:
        return None


def rows_of(data: Any) -> list[Any] | None:
    """The rows of a table's data, a list or JSON text of one; None for any other.

    >>> rows_of("[1, 2]"), rows_of("[1, 2"), rows_of({"a": 1})
    ([1, 2], None, None)
    """
    value = _parsed(data) if isinstance(data, str) else data
    return value if isinstance(value, list) else None


# ---------------------------------------------------------------- their summary


class Words(NamedTuple):
    """The words of a summary: the key of its rows, the messages of a table and of a log."""

    rows: str
    table: str
    console: str


SHOWING = Words(
    "truncated_rows", "Showing {shown} of {count} rows", "Showing {shown} of {count} lines"
)
FIRST = Words(
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
) -> dict[str, Any] | None:
    """The summary of the first table above `max_rows`, else of a console above `max_lines`.

    With `any_table` of the first table, however short. Without `words` it has the counts alone.
    Data that is no list of rows is no table.
    """
    output = script_output(result)
    for data in output.tables:
        rows = rows_of(data)
        if rows is not None and (any_table or len(rows) > max_rows):
            return _of_table(rows, max_rows, words)
    lines = output.lines if noise is None else output.without(noise)
    return _of_console(lines, max_lines, words) if len(lines) > max_lines else None


def _of_table(rows: list[Any], limit: int, words: Words | None) -> dict[str, Any]:
    """A table as the document describes it: its first rows and their number, or the number alone."""
    if words is None:
        return {"type": "table", "row_count": len(rows)}
    message = words.table.format(count=len(rows), shown=min(limit, len(rows)))
    return {
        "type": "table",
        "message": message,
        "table": {"row_count": len(rows), words.rows: rows[:limit]},
    }


def _of_console(lines: Sequence[str], limit: int, words: Words | None) -> dict[str, Any]:
    """A console log in the same way: its first lines and their number, or the number alone."""
    if words is None:
        return {"type": "console", "line_count": len(lines)}
    message = words.console.format(count=len(lines), shown=min(limit, len(lines)))
    first = {"line_count": len(lines), "truncated_lines": list(lines[:limit])}
    return {"type": "console", "message": message, "console": first}
