"""Markers of results that were truncated or cleared before a model saw them: markers.toml, with sources."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec


class Marker(msgspec.Struct, frozen=True):
    """One marker: who leaves it, the expression that finds it, what it says happened, and its source."""

    by: str
    regex: str
    effect: Literal["cut", "cleared"]
    source: str


@cache
def markers() -> tuple[Marker, ...]:
    """All markers of markers.toml."""
    data = tomllib.loads(files(__package__).joinpath("markers.toml").read_text(encoding="utf-8"))
    return tuple(msgspec.convert(data["markers"], list[Marker]))


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(marker.regex, re.MULTILINE) for marker in markers())


def cut_in(text: str) -> Marker | None:
    """The first marker that a result's text holds; None where it holds none.

    >>> marker = cut_in("line 1\\n...[OUTPUT]...\\n[Old tool result content cleared]")
    >>> marker.effect, cut_in("36 walls")
    ('cleared', None)
    """
    found = (marker for marker, pattern in zip(markers(), _patterns(), strict=True) if pattern.search(text))
    return next(found, None)
