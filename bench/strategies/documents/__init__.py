"""The rules of the five documents: what the model sees, what is kept, how a step is judged, and where a run goes next.

This file reads a raw script result and the results of the analysis functions, for the plug-ins beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ...model import ToolResult, as_text, lines_of
from ...text.decode import NothingParsed, parse_json

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


# ---------------------------------------------------------------- results of the analysis functions

ENRICHMENT = "perform_enrichment_analyses"
"""The function whose results hold, per method, `top_terms`, `top_pvalues` and `total_significant`."""

METHODS = ("go", "kegg", "reactome", "gsea")
"""The enrichment methods, in the order in which they are counted."""


def methods_of(value: Any, methods: tuple[str, ...] = METHODS) -> dict[str, Mapping[str, Any]]:
    """Return the findings of an enrichment result by method; `{}` where it is no mapping."""
    found = value if isinstance(value, Mapping) else {}
    return {name: found[name] for name in methods if isinstance(found.get(name), Mapping)}


def brief(value: Any, limit: int) -> str:
    """Return the first `limit` characters of `str()` of a value; "Success" for an empty one.

    >>> brief({"go": 12}, 6), brief("", 6)
    ("{'go':", 'Success')
    """
    return str(value)[:limit] if value else "Success"
