"""The JSON values of texts and results, for the rules that rewrite data."""

from __future__ import annotations

from typing import Any

from ..model import ToolResult
from ..text.decode import NothingParsed, parse_json


def json_value(text: str) -> Any:
    """The value of a JSON text; None for any other text."""
    try:
        return parse_json(text)
    except NothingParsed:
        return None


def parsed_value(result: ToolResult) -> Any:
    """The value of a result: its data, else that of its JSON text; None for any other text.

    >>> parsed_value(ToolResult(index=0, call_id="c", function="f", seen="[1, 2]"))
    [1, 2]
    """
    return json_value(result.text) if result.data is None else result.data
