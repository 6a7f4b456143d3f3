"""What a metric is: declared data plus a pure function `(trace, run) → samples`. One function, one metric, one row a case.

`better` is lower or higher. `aggregate` says how samples add up, within a case and over all cases: `sum`, `max`, or `pooled` (Σ numerator / Σ
denominator). No samples means there was nothing to measure; a Sample with `numerator=None` and a reason means it could not be measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from ..model import MetricInfo, Run, Sample, Trace
from ..registry import Entry, register

MetricFunction = Callable[[Trace, Run], Sequence[Sample]]


def metric(
    name: str,
    *,
    unit: str,
    better: Literal["lower", "higher"],
    aggregate: Literal["sum", "max", "pooled"],
) -> Callable[[MetricFunction], MetricFunction]:
    """Decorator that registers a metric. `unit` is what one value is counted in: tokens, usd, fraction, turns, results, …"""
    return register("metric", name, unit=unit, better=better, aggregate=aggregate)


def info(entry: Entry) -> MetricInfo:
    """What a registered metric declares; its title is the first line of its docstring."""
    return MetricInfo(name=entry.name, title=entry.doc.splitlines()[0] if entry.doc else "", **entry.meta)
