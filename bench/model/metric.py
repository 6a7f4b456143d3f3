"""The declaration of a metric."""

from __future__ import annotations

from typing import Literal

from .base import Value


class MetricInfo(Value, frozen=True, kw_only=True):
    """The declaration of a metric: its unit, the better direction, and how runs add up."""

    name: str
    unit: str
    better: Literal["lower", "higher"]
    aggregate: Literal["sum", "max", "pooled"]
    title: str = ""
