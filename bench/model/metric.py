"""The declaration of a metric."""

from __future__ import annotations

from typing import Literal

from .base import Value


class MetricInfo(Value, frozen=True, kw_only=True):
    """The declaration of a metric: its unit, the better direction, and how samples add up.

    `family` and `version` say whose numbers these are: a family that counts otherwise than before
    has a new version.
    """

    name: str
    unit: str
    better: Literal["lower", "higher"]
    aggregate: Literal["sum", "max", "pooled"]
    title: str = ""
    family: str = ""
    version: int = 1
