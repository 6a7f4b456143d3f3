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

_PART = re.compile(r'"(?:\\.|[^"\\])*"|(?P<key>[:,]\s*[^\W\d]\w*\s*=\s*)(?P<values>[^\s,+:="\[\]]*\|[^\s,+:="\[\]]*)')


def at_settings(item: Any) -> Sequence[tuple[tuple[str, ...], Any]]:
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
        sweeps = [match for match in _PART.finditer(item) if match["values"] is not None]
        starts = [0, *(match.end("values") for match in sweeps)]
        choices = [
            [((value,), item[start : match.start("values")] + value) for value in _values(match["values"], item)]
            for start, match in zip(starts, sweeps, strict=False)
        ]
        rest = [((), item[starts[-1] :])]
        return [(values, "".join(parts)) for values, parts in _combined([*choices, rest], item)]
    if isinstance(item, Mapping):
        slots = [at_settings(part) for part in item.values()]
        return [(values, dict(zip(item, parts, strict=True))) for values, parts in _combined(slots, item)]
    return _combined([at_settings(part) for part in item], item) if isinstance(item, list | tuple) else [((), item)]


_Choices = Sequence[tuple[tuple[str, ...], Any]]
"""The choices for one place: the values that it takes, and the part with these."""


def _combined(places: Sequence[_Choices], item: object) -> list[tuple[tuple[str, ...], list[Any]]]:
    count = math.prod(map(len, places))
    if count > MOST_SETTINGS:
        raise SpecError(f"spec {item!r}: a sweep of {count} settings, above {MOST_SETTINGS} — sweep fewer values")
    return [
        (tuple(value for values, _ in chosen for value in values), [part for _, part in chosen])
        for chosen in product(*places)
    ]


def _values(written: str, spec: str) -> list[str]:
    values = written.split("|")
    if not all(values):
        raise SpecError(f"spec {spec!r}: the sweep {written!r} has an empty value — write 5|10|20")
    return list(dict.fromkeys(values))
