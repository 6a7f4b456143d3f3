"""Markers, with sources, of results that were truncated or cleared before a model saw them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import msgspec

from ..model import Trace


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


def with_marked_cuts(trace: Trace) -> Trace:
    """The trace with `truncated_at_source` set on each result that has a marker and no recorded
    full text; the trace itself where there is none."""
    whole = [one for one in trace.results if one.full is None and not one.truncated_at_source]
    cut = {result.index for result in whole if cut_in(result.seen or "")}
    if not cut:
        return trace
    steps = (
        msgspec.structs.replace(step, **{"truncated_at_source": True} if step.index in cut else {})
        for step in trace.steps
    )
    return msgspec.structs.replace(trace, steps=tuple(steps))
