"""Strategies as they are declared, each at every setting that a sweep names.

A sweep is several values of one setting in a spec, `keep_last=5|10|20`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from ..model.errors import SpecError

MOST_SETTINGS = 100
"""The most strategies that one sweep may become."""

_PART = re.compile(
    r'"(?:\\.|[^"\\])*"'
    r'|(?P<key>[:,]\s*[^\W\d]\w*\s*=\s*)(?P<values>[^\s,+:="\[\]]*\|[^\s,+:="\[\]]*)'
)
"""A quoted value, which is no sweep; else a setting with several values."""

Setting = tuple[tuple[str, ...], Any]
"""One setting of what is swept: the values that it takes, and itself with these."""


def at_settings(item: Any) -> Sequence[Setting]:
    """Every setting of a spec string, a list of them (routers), or slots, with its values.

    Several sweeps give every combination. What is quoted is no sweep. Raises SpecError for an empty
    value and for more than 100 settings.

    >>> at_settings({"compactor": "mask_observations:keep_last=5|10"})[1]
    (('10',), {'compactor': 'mask_observations:keep_last=10'})
    >>> [values for values, _ in at_settings("m=compactor=mine.py:f:share=0.5|0.6,n=1|2")]
    [('0.5', '1'), ('0.5', '2'), ('0.6', '1'), ('0.6', '2')]
    >>> at_settings('m=summarizer=mine.py:f:mark="a|b"')
    [((), 'm=summarizer=mine.py:f:mark="a|b"')]
    """
    if isinstance(item, str):
        return [(values, "".join(parts)) for values, parts in _combined(_pieces(item), item)]
    if isinstance(item, Mapping):
        slots = [[((), part)] if key == "says" else at_settings(part) for key, part in item.items()]
        each = _combined(slots, item)
        return [(values, dict(zip(item, parts, strict=True))) for values, parts in each]
    if isinstance(item, list | tuple):
        return _combined([at_settings(part) for part in item], item)
    return [((), item)]


def _pieces(spec: str) -> list[list[Setting]]:
    """A spec in pieces, each with its settings: all up to a sweep with each of its values."""
    pieces: list[list[Setting]] = []
    start = 0
    for match in _PART.finditer(spec):
        if match["values"] is not None:
            before = spec[start : match.start("values")]
            pieces.append([((value,), before + value) for value in _values(match["values"], spec)])
            start = match.end("values")
    return [*pieces, [((), spec[start:])]]


def _combined(
    parts: Sequence[Sequence[Setting]], item: object
) -> list[tuple[tuple[str, ...], list[Any]]]:
    """Every combination of one setting of each part: all of their values, and the parts."""
    count = math.prod(map(len, parts))
    if count > MOST_SETTINGS:
        what = f"a sweep of {count} settings, above {MOST_SETTINGS}"
        raise SpecError(f"spec {item!r}: {what} — sweep fewer values")
    combined = []
    for settings in product(*parts):
        values = tuple(value for values, _ in settings for value in values)
        combined.append((values, [part for _, part in settings]))
    return combined


def _values(written: str, spec: str) -> list[str]:
    """The values of a sweep, each once."""
    values = written.split("|")
    if not all(values):
        what = f"the sweep {written!r} has an empty value"
        raise SpecError(f"spec {spec!r}: {what} — write 5|10|20")
    return list(dict.fromkeys(values))
