"""Markers of results that were truncated or cleared before a model saw them: markers.toml, with
sources."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

import msgspec

from ..model import ToolResult, Trace


class Marker(msgspec.Struct, frozen=True):
    """One marker: who leaves it, the expression that finds it and the texts of which a match holds
    one, and its source."""

    by: str
    regex: str
    hints: tuple[str, ...]
    source: str


@cache
def markers() -> tuple[Marker, ...]:
    """All markers of markers.toml."""
    import tomllib  # on use: it compiles patterns

    data = tomllib.loads(files(__package__).joinpath("markers.toml").read_text(encoding="utf-8"))
    return tuple(msgspec.convert(data["markers"], list[Marker]))


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(marker.regex, re.MULTILINE) for marker in markers())


def cut_in(text: str) -> str:
    """The name of who left the first marker that a result's text holds; `""` where it holds none.

    >>> cut_in("[Old tool result content cleared]"), cut_in("36 walls")
    ('Claude Code, opencode, OpenClaw, Qwen Code', '')
    """
    for marker, pattern in zip(markers(), _patterns(), strict=True):
        if any(hint in text for hint in marker.hints) and pattern.search(text):
            return marker.by
    return ""


def with_marked_cuts(trace: Trace) -> Trace:
    """The trace with `truncated_at_source` on each result that holds a marker and no whole text
    beside it; the trace itself where there is none."""
    marked = {step.index for step in trace.results if _is_cut(step)}
    if not marked:
        return trace
    steps = (
        msgspec.structs.replace(step, truncated_at_source=True)
        if isinstance(step, ToolResult) and step.index in marked
        else step
        for step in trace.steps
    )
    return msgspec.structs.replace(trace, steps=tuple(steps))


def _is_cut(result: ToolResult) -> bool:
    unmarked = not result.truncated_at_source and result.full is None and result.seen is not None
    return unmarked and cut_in(result.seen or "") != ""
