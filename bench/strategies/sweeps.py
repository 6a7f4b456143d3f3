"""Strategies as they are declared, each at every setting that a sweep names.

A sweep is several values of one setting in a spec, `keep_last=5|10|20`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..model.errors import SpecError
from ..plugins.spec import QUOTED

MOST_SETTINGS = 100
"""The most strategies that one sweep may become."""

_SWEPT = re.compile(
    rf'{QUOTED}|[:,]\s*[^\W\d]\w*\s*=\s*(?P<values>[^\s,+:="\[\]|]*\|[^\s,+:="\[\]]*)'
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
    settings = [*itertools.islice(_settings(item), MOST_SETTINGS + 1)]
    if len(settings) > MOST_SETTINGS:
        what = f"a sweep of more than {MOST_SETTINGS} settings"
        raise SpecError(f"spec {item!r}: {what} — sweep fewer values")
    return settings


def _settings(item: Any) -> Iterator[Setting]:
    if isinstance(item, str):
        yield from _of_text(item)
    elif isinstance(item, Mapping):
        swept = {key: part for key, part in item.items() if key != "says"}
        for values, parts in _settings([*swept.values()]):
            yield values, {**item, **dict(zip(swept, parts, strict=True))}
    elif isinstance(item, list | tuple):
        for chosen in itertools.product(*map(at_settings, item)):
            together = (value for values, _ in chosen for value in values)
            yield tuple(together), [part for _, part in chosen]
    else:
        yield (), item


def _of_text(spec: str, start: int = 0) -> Iterator[Setting]:
    """Yield what follows a place in a spec at every setting of the sweeps in it."""
    sweep = next((found for found in _SWEPT.finditer(spec, start) if found["values"]), None)
    if sweep is None:
        yield (), spec[start:]
        return
    written, before = sweep["values"].split("|"), spec[start : sweep.start("values")]
    if not all(written):
        what = f"the sweep {sweep['values']!r} has an empty value"
        raise SpecError(f"spec {spec!r}: {what} — write 5|10|20")
    for value in dict.fromkeys(written):
        for values, after in _of_text(spec, sweep.end("values")):
            yield (value, *values), f"{before}{value}{after}"
