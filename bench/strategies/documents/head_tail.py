"""Summarizers `head_tail`, `compact_json` and `csv_table`: the ends of a result, or the whole of it in another notation."""

from __future__ import annotations

from typing import Any, Literal

from ...model import ToolResult, lines_of
from ...plugins.registry import register
from ...text.decode import NothingParsed, decode_strings, decoded, parse_json
from ...text.lossless import exact_json, read_json, read_tables, write_tables
from ..histories import Count


@register("summarizer", "head_tail")
def head_tail(
    result: ToolResult, *, head: Count = 20, tail: Count = 20, unit: Literal["lines", "characters"] = "lines"
) -> str:
    """The first and the last lines (or characters) of a result, with a marker between that names how many were left out.

    The lines of JSON are those of what it holds: a row or a leaf each, a long string's own. Blank lines are not counted, and go where
    something is left out; a result short enough is shown untouched, an empty one as `""`.

    Source: mini-swe-agent 2.4, `minisweagent/config/mini.yaml` (observation_template): the head and the tail of a long output

    >>> head_tail(ToolResult(index=0, call_id="a", function="f", seen="1\\n2\\n3\\n4"), head=1, tail=1)
    '1\\n[2 lines left out]\\n4'
    """
    text = result.text
    if unit == "characters":
        left_out = len(text) - head - tail
        if left_out <= 0:
            return text
        return f"{text[:head]}\n[{left_out} characters left out]\n{text[len(text) - tail :]}"
    lines = lines_of(decoded(text))
    left_out = len(lines) - head - tail
    if left_out <= 0:
        return text
    return "\n".join([*lines[:head], f"[{left_out} lines left out]", *lines[len(lines) - tail :]])


def structured_value(result: ToolResult, unpack: bool) -> Any:
    """Return the mapping or list that a result holds, as data or as JSON text; with `unpack` JSON inside its strings is a value too.

    Raises NothingParsed for any other result: there is nothing to write in another way.
    """
    value = parse_json(result.text) if result.data is None else result.data
    if not isinstance(value, dict | list):
        raise NothingParsed
    return decode_strings(value) if unpack else value


@register("summarizer", "compact_json", decode=read_json)
def compact_json_text(result: ToolResult, *, unpack: bool = True) -> str:
    """The whole result as JSON without blanks: nothing is lost, `decode` gives the value back.

    `unpack` writes JSON inside strings as the value it holds. A result that is no mapping or list (data or JSON text) is shown as it is.

    Source: RFC 8259 (JSON)

    >>> compact_json_text(ToolResult(index=0, call_id="a", function="f", data={"n": 2, "data": '[{"id": 1}]'}))
    '{"n":2,"data":[{"id":1}]}'
    """
    try:
        return exact_json(structured_value(result, unpack))
    except NothingParsed:
        return result.text


@register("summarizer", "csv_table", decode=read_tables)
def csv_table(result: ToolResult, *, unpack: bool = True) -> str:
    """The whole result with its tables as CSV and the rest as compact JSON: nothing is lost, `decode` gives the value back.

    The format is that of `bench.text.lossless`: strings that would read as something else are quoted, so types are kept. `unpack` writes JSON
    inside strings as the value it holds. A result that is no mapping or list (data or JSON text) is shown as it is.

    Source: RFC 4180 (CSV)

    >>> table = {"data": '[{"id": 1, "mark": "W1"}, {"id": 2, "mark": "2"}]'}
    >>> print(csv_table(ToolResult(index=0, call_id="a", function="f", data=table)))
    {"data":{"@table":1}}
    @table 1: 2 rows
    id,mark
    1,W1
    2,"2"
    """
    try:
        return write_tables(structured_value(result, unpack))
    except NothingParsed:
        return result.text
