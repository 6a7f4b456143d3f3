"""Counts and names in sentences for people."""

from __future__ import annotations

import math
from collections.abc import Sequence

MINUS = "−"
NOT_MEASURED = "not measured"


def count(value: float | None) -> str:
    """A count with commas, whole where it is; at most four digits otherwise.

    >>> count(1698.0), count(7.25), count(-3), count(None)
    ('1,698', '7.25', '−3', 'not measured')
    """
    if value is None or not math.isfinite(value):
        return NOT_MEASURED
    is_integer = float(value).is_integer() or abs(value) >= 1000
    return (f"{value:,.0f}" if is_integer else f"{value:.4g}").replace("-", MINUS)


def counted(number: int | float, one: str, many: str = "") -> str:
    """A count with its noun.

    >>> counted(1, "run"), counted(1200, "run"), counted(2, "summary", "summaries")
    ('1 run', '1,200 runs', '2 summaries')
    """
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names in a sentence; those above `most` are counted. "" for none.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c"], 1)
    ('a', 'a, b and c', 'a and 2 more')
    """
    first_names = list(names) if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return " and ".join(filter(None, [", ".join(first_names[:-1]), *first_names[-1:]]))
