"""Values as plain lines, without JSON inside their strings."""

from __future__ import annotations

import re
from typing import Any

from .value_forms import is_container

_HOLDS_FACT = re.compile(r"\d{3}|\d\.\d|[/\\@_]|\w\.\w|\w\d|\d\w|\B[A-Z]")


def lines_of(value: Any) -> list[str]:
    """A value as lines: `key: leaf` for each leaf, one line for each row of a table, long texts
    below their key.

    >>> lines_of({"n": [1, 2], "rows": [{"a": 1, "b": None}]})
    ['n: 1, 2', 'rows:', 'a: 1, b: null']
    """
    lines: list[str] = []
    _emit(value, "", lines)
    return lines


def _leaf(value: Any) -> str:
    """A scalar as `plain_lines` writes it; short words are quoted, so that they are one fact."""
    if isinstance(value, str):
        if (
            2 <= len(value) <= 80
            and '"' not in value
            and "\n" not in value
            and not _HOLDS_FACT.search(value)
        ):
            return f'"{value}"'
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def _emit(value: Any, key: str, lines: list[str]) -> None:
    """Append the lines of a value: one line for a row or a list of scalars, else one line for each
    leaf."""
    label = f"{key}: " if key else ""
    if isinstance(value, dict):
        if key:
            lines.append(f"{key}:")
        for name, item in value.items():
            _emit(item, str(name), lines)
    elif isinstance(value, list):
        if not any(map(is_container, value)):
            lines.append(label + ", ".join(_leaf(item) for item in value))
            return
        if key:
            lines.append(f"{key}:")
        for item in value:
            if isinstance(item, dict) and not any(map(is_container, item.values())):
                lines.append(", ".join(f"{name}: {_leaf(leaf)}" for name, leaf in item.items()))
            else:
                _emit(item, "", lines)
    elif isinstance(value, str) and "\n" in value:
        lines.extend([f"{key}:", value] if key else [value])
    else:
        lines.append(label + _leaf(value))
