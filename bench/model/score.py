"""Measurements: samples with what they tell, rows, and the differences between strategies."""

from __future__ import annotations

import math
from typing import Literal

from .base import Value

# ---------------------------------------------------------------- what a sample tells


class Lost(Value, frozen=True, kw_only=True, tag="lost"):
    """Some of what was lost of one result or run, by name. `cut_at_source`: the trace itself recorded only cut output."""

    facts: tuple[str, ...] = ()
    cut_at_source: bool = False


class Missed(Value, frozen=True, kw_only=True, tag="missed"):
    """A fact that a turn needed and its prompt did not hold: its kind, who said it first at which step, and how many model turns ago it was last
    said.
    """

    fact: str
    kind: str
    source: int
    origin: str
    distance: int


class Turned(Value, frozen=True, kw_only=True, tag="turned"):
    """A routing decision: which router, where, what was expected (and where that comes from), what was taken."""

    router: str
    at: str
    expected: str
    taken: str
    expected_from: str


class Asked(Value, frozen=True, kw_only=True, tag="asked"):
    """A question put to a strategy. `found`: `path`, `token` (only as a word) or `""`; `got` is what the path gave instead."""

    question: str
    expected: str
    where: str
    found: str = ""
    got: str = ""
    recorded_reply: bool = False


class Told(Value, frozen=True, kw_only=True, tag="told"):
    """What a sample says beyond its number, in a few words."""

    text: str


Detail = Lost | Missed | Turned | Asked | Told


# ---------------------------------------------------------------- scores


class Sample(Value, frozen=True, kw_only=True):
    """One measurement: `numerator` alone, or over `denominator` for a pooled metric; `reason` says why there is no value.

    `upper_bound`: the value can only be lower. `detail` is what it tells beyond the number.
    """

    numerator: float | None
    denominator: float | None = None
    step: int | None = None
    call_id: str | None = None
    reason: str | None = None
    upper_bound: bool = False
    detail: Detail | None = None


class Row(Value, frozen=True, kw_only=True):
    """One metric of one strategy on one case (`case` None: over all cases). `value` None means not measured, for `reason`.

    `n` counts what was measured: denominators for pooled metrics, samples for the others.
    """

    strategy: str
    metric: str
    case: str | None
    value: float | None
    unit: str
    n: float
    reason: str | None = None
    marks: tuple[str, ...] = ()

    @property
    def finite(self) -> float | None:
        """What was measured; None for nothing, and for what is no finite number, which nothing can be compared with.

        >>> row = Row(strategy="a", metric="m", case=None, value=float("inf"), unit="tokens", n=1)
        >>> row.finite, row.why
        (None, 'inf is no finite number')
        """
        return self.value if self.value is not None and math.isfinite(self.value) else None

    @property
    def why(self) -> str | None:
        """Why there is no finite value; None where there is one, or where nobody said."""
        return self.reason if self.value is None or self.finite is not None else f"{self.value} is no finite number"


class MetricInfo(Value, frozen=True, kw_only=True):
    """What a metric declares about itself: its unit, which way is better, and how samples add up."""

    name: str
    unit: str
    better: Literal["lower", "higher"]
    aggregate: Literal["sum", "max", "pooled"]
    title: str = ""


class Delta(Value, frozen=True, kw_only=True):
    """One metric of one strategy against the reference, paired by case: `better` is None within the noise floor."""

    strategy: str
    reference: str
    metric: str
    delta: float | None
    relative: float | None
    low: float | None
    high: float | None
    relative_low: float | None = None
    relative_high: float | None = None
    n: int
    better: bool | None
    reason: str | None = None
