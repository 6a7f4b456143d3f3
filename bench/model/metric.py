"""The declaration of a metric."""

from __future__ import annotations

from typing import Literal

from .base import Value

Aggregate = Literal["total", "mean over tasks"]
"""The ways to combine the values of runs."""


class MetricInfo(Value, frozen=True, kw_only=True):
    """The declaration of a metric: its unit, the better direction, how runs are combined, its short
    name."""

    name: str
    unit: str
    better: Literal["lower", "higher"]
    aggregate: Aggregate
    label: str = ""
