"""Strategies as they are declared, each at every setting that a sweep names.

A sweep is several values of one setting in a spec, `keep_last=5|10|20`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from ..model.errors import SpecError

MOST_SETTINGS = 100
"""The most strategies that one sweep may become."""

_PART = re.compile(r'"(?:\\.|[^"\\])*"|(?P<key>[:,]\s*[^\W\d]\w*\s*=\s*)(?P<values>[^\s,+:="\[\]]*\|[^\s,+:="\[\]]*)')


def at_settings(item: Any) -> Sequence[tuple[tuple[str, ...], Any]]:
    """Every setting of a spec string, a list of them (routers), or slots: the values that it takes, and the item with these.

    Several sweeps give every combination. What is quoted is no sweep. Raises SpecError for an empty value and for more than 100
    settings.

    >>> at_settings({"compactor": "mask_observations:keep_last=5|10"})[1]
    (('10',), {'compactor': 'mask_observations:keep_last=10'})
    >>> [values for values, _ in at_settings("m=compactor=mine.py:f:share=0.5|0.6,n=1|2")]
    [('0.5', '1'), ('0.5', '2'), ('0.6', '1'), ('0.6', '2')]
    >>> at_settings('m=summarizer=mine.py:f:mark="a|b"')
    [((), 'm=summarizer=mine.py:f:mark="a|b"')]
    """
    if isinstance(item, str):
        fixed, swept = _split(item)
        each = [[((value,), value) for value in values] for values in swept]
        return [
            (values, "".join(map("".join, zip(fixed, (*found, ""), strict=True))))
            for values, found in _combined(each, item)
        ]
    if isinstance(item, Mapping):
        parts = [at_settings(part) for part in item.values()]
        return [(values, dict(zip(item, found, strict=True))) for values, found in _combined(parts, item)]
    return _combined([at_settings(part) for part in item], item) if isinstance(item, list | tuple) else [((), item)]


def _combined(
    parts: Sequence[Sequence[tuple[tuple[str, ...], Any]]], whole: object
) -> list[tuple[tuple[str, ...], list[Any]]]:
    _require_few(math.prod(map(len, parts)), whole)
    return [
        (tuple(value for values, _ in chosen for value in values), [part for _, part in chosen])
        for chosen in product(*parts)
    ]


def _split(text: str) -> tuple[list[str], list[list[str]]]:
    """A spec as the texts around its sweeps, and the values of each sweep."""
    fixed, swept, end = [""], [], 0
    for match in _PART.finditer(text):
        if match["values"] is not None:
            fixed[-1] += text[end : match.start("values")]
            fixed.append("")
            swept.append(list(_values(match["values"], text)))
            end = match.end()
    fixed[-1] += text[end:]
    return fixed, swept


def _values(written: str, whole: str) -> Iterator[str]:
    found = written.split("|")
    if not all(found):
        raise SpecError(f"spec {whole!r}: the sweep {written!r} has an empty value — write 5|10|20")
    return iter(dict.fromkeys(found))


def _require_few(count: int, whole: object) -> None:
    if count > MOST_SETTINGS:
        raise SpecError(f"spec {whole!r}: a sweep of {count} settings, above {MOST_SETTINGS} — sweep fewer values")
