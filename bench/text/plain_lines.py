"""Structured values written as plain lines of `key: value`, in which facts can be searched."""

from __future__ import annotations

import re
from typing import Any

from .columnar import is_container

_HAS_FACT = re.compile(r"\d{3}|\d\.\d|[/\\@_]|\w\.\w|\w\d|\d\w|\B[A-Z]")


def plain_lines_of(value: Any) -> list[str]:
    """The lines of a value: `key: scalar` for each scalar, one line for each row of a table, and a
    text of several lines below its key.

    >>> plain_lines_of({"n": [1, 2], "rows": [{"a": 1, "b": None}]})
    ['n: 1, 2', 'rows:', 'a: 1, b: null']
    """
    lines: list[str] = []
    _append_lines(value, "", lines)
    return lines


def _scalar_text(value: Any) -> str:
    """A scalar as text; a short string is quoted if it has no fact inside, so that it is one."""
    if isinstance(value, str):
        is_phrase = 2 <= len(value) <= 80 and '"' not in value and "\n" not in value
        return f'"{value}"' if is_phrase and not _HAS_FACT.search(value) else value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def _append_lines(value: Any, key: str, lines: list[str]) -> None:
    """Append the lines of the value under a key to `lines`."""
    label = f"{key}: " if key else ""
    if isinstance(value, dict):
        if key:
            lines.append(f"{key}:")
        for name, item in value.items():
            _append_lines(item, str(name), lines)
    elif isinstance(value, list):
        if not any(map(is_container, value)):
            lines.append(label + ", ".join(map(_scalar_text, value)))
            return
        if key:
            lines.append(f"{key}:")
        for item in value:
            if isinstance(item, dict) and not any(map(is_container, item.values())):
                cells = (f"{name}: {_scalar_text(scalar)}" for name, scalar in item.items())
                lines.append(", ".join(cells))
            else:
                _append_lines(item, "", lines)
    elif isinstance(value, str) and "\n" in value:
        lines.extend([f"{key}:", value] if key else [value])
    else:
        lines.append(label + _scalar_text(value))
