"""Markers, with sources, of results that were truncated or cleared before a model saw them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import msgspec


class Marker(msgspec.Struct, frozen=True):
    """One marker: the program that leaves it, the expression that finds it, the texts one of which
    every match contains, and its source."""

    by: str
    regex: str
    hints: tuple[str, ...]
    source: str


@cache
def markers() -> tuple[Marker, ...]:
    """All markers of markers.toml."""
    import tomllib  # on use: it compiles patterns

    data = tomllib.loads(Path(__file__).with_name("markers.toml").read_text(encoding="utf-8"))
    return tuple(msgspec.convert(data["markers"], list[Marker]))


def cut_in(text: str) -> str:
    """The name of the program that left the first marker in a result's text; `""` without a marker.

    >>> cut_in("[Old tool result content cleared]"), cut_in("36 walls")
    ('Claude Code, opencode, OpenClaw, Qwen Code', '')
    """
    for marker in markers():
        hinted = any(hint in text for hint in marker.hints)
        if hinted and re.search(marker.regex, text, re.MULTILINE):
            return marker.by
    return ""
