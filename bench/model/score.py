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
    """A question put to a strategy. `found`: `path`, `token` (only as a word) or `""`; `got` is what the path gave instead. `absent`: the answer
    `expected` must not be there.
    """

    question: str
    expected: str
    where: str
    found: str = ""
    got: str = ""
    recorded_reply: bool = False
    absent: bool = False


class Told(Value, frozen=True, kw_only=True, tag="told"):
    """The words of a sample beyond its number, and the steps that they are about."""

    text: str
    steps: tuple[int, ...] = ()


Detail = Lost | Missed | Turned | Asked | Told


# ---------------------------------------------------------------- scores


class Sample(Value, frozen=True, kw_only=True):
    """One measurement: `numerator` alone, or over `denominator` for a pooled metric; `reason` says why there is no value.

    Where `numerator` is only an upper bound, `least` is the part of it that is sure; where it is only a lower bound, `most` is what it can be at
    most. `upper_bound` without `least`: nothing of it is sure. `detail` is what it tells beyond the number.
    """

    numerator: float | None
    denominator: float | None = None
    step: int | None = None
    call_id: str | None = None
    reason: str | None = None
    upper_bound: bool = False
    least: float | None = None
    most: float | None = None
    detail: Detail | None = None

    @property
    def low(self) -> float | None:
        """The least that the numerator can be; None where it was not measured."""
        if self.numerator is None or self.least is not None:
            return self.least
        return 0.0 if self.upper_bound else self.numerator

    @property
    def high(self) -> float | None:
        """The most that the numerator can be; None where it was not measured."""
        return self.numerator if self.most is None else self.most


class Row(Value, frozen=True, kw_only=True):
    """One metric of one strategy on one case (`case` None: over all cases). `value` None means not measured, for `reason`.

    `n` counts what was measured: denominators for pooled metrics, samples for the others. `low` and `high` bound a value that is not exact; both are
    None where it is. `partly` counts samples that a pooled value leaves out because they could not be measured: it holds for the rest alone.
    """

    strategy: str
    metric: str
    case: str | None
    value: float | None
    unit: str
    n: float
    reason: str | None = None
    low: float | None = None
    high: float | None = None
    partly: int = 0
    marks: tuple[str, ...] = ()

    @property
    def least(self) -> float | None:
        """The least that the value can be: what a lower limit judges. None where nothing was measured."""
        return self.finite if self.low is None else self.low

    @property
    def most(self) -> float | None:
        """The most that the value can be: what an upper limit judges. None where nothing was measured."""
        return self.finite if self.high is None else self.high

    @property
    def finite(self) -> float | None:
        """The measured value; None for nothing, and for what is no finite number, which nothing can be compared with."""
        return self.value if self.value is not None and math.isfinite(self.value) else None

    @property
    def why(self) -> str | None:
        """The reason why there is no finite value; None where there is one, or where nobody said."""
        return self.reason if self.value is None or self.finite is not None else f"{self.value} is no finite number"

    @property
    def exact(self) -> bool:
        """True if a value is no bound."""
        return self.low is None and self.high is None

    @property
    def status(self) -> str:
        """The kind of value: `exact`, `bounds` (it lies between `low` and `high`), `partly measured: …`, or why there is none."""
        if self.finite is None:
            return self.why or "not measured"
        if self.partly:
            return f"partly measured: {self.partly} left out"
        return "exact" if self.exact else "bounds"


class MetricInfo(Value, frozen=True, kw_only=True):
    """The declaration of a metric: its unit, the better direction, and how samples add up.

    `family` and `version` say whose numbers these are: a family that counts otherwise than before has a new version.
    """

    name: str
    unit: str
    better: Literal["lower", "higher"]
    aggregate: Literal["sum", "max", "pooled"]
    title: str = ""
    family: str = ""
    version: int = 1


class Delta(Value, frozen=True, kw_only=True):
    """One metric of one strategy against a reference, paired by case, over `n` cases that both measured.

    `better` is None where the difference is not sure, for `reason`. `p` is the share of all ways to swap the two within cases that give a
    difference as large. `low` and `high` bound the difference, `relative_low` and `relative_high` its share of the reference; None where
    there is no interval.
    """

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
    p: float | None = None
    reason: str | None = None
