"""Bounds of a rate that was counted, and the rule by which a rate refuses: pure functions, no scipy."""

from __future__ import annotations

from math import exp, lgamma, log, log1p

CONFIDENCE = 0.95
"""The confidence of a one-sided bound."""

_HALVINGS = 60


def lower_bound(hits: int, of: int, confidence: float = CONFIDENCE) -> float:
    """The one-sided Clopper-Pearson lower bound of a rate: 0 for no hits and for nothing counted.

    The true rate lies below it in at most one of twenty experiments, whatever the true rate is.

    >>> round(lower_bound(1, 10), 4), round(lower_bound(10, 10), 4), lower_bound(0, 10), lower_bound(0, 0)
    (0.0051, 0.7411, 0.0, 0.0)

    Source: Clopper and Pearson 1934, https://doi.org/10.1093/biomet/26.4.404
    """
    if not 0 <= hits <= of:
        raise ValueError(f"{hits} hits of {of}")
    if hits == 0:
        return 0.0
    low, high = 0.0, hits / of
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _at_least(hits, of, middle) < 1 - confidence:
            low = middle
        else:
            high = middle
    return low


def upper_bound(hits: int, of: int, confidence: float = CONFIDENCE) -> float:
    """The one-sided Clopper-Pearson upper bound of a rate: 1 where all are hits or nothing was counted.

    >>> round(upper_bound(0, 10), 4), round(upper_bound(1, 10), 4), upper_bound(0, 0)
    (0.2589, 0.3942, 1.0)
    """
    return 1.0 - lower_bound(of - hits, of, confidence)


def above(hits: int, of: int, false_alarms: float, confidence: float = CONFIDENCE) -> bool:
    """True if a counted rate is certainly above a known rate of false alarms: the rule refuses.

    A rule that never errs (`false_alarms=0`) refuses at the first hit.

    >>> above(3, 40, 0.07), above(12, 40, 0.07), above(1, 40, 0.0), above(0, 0, 0.0)
    (False, True, True, False)
    """
    return lower_bound(hits, of, confidence) > false_alarms


def _at_least(hits: int, of: int, rate: float) -> float:
    """The chance of at least so many hits."""
    if rate <= 0:
        return 0.0
    terms = (
        lgamma(of + 1) - lgamma(k + 1) - lgamma(of - k + 1) + k * log(rate) + (of - k) * log1p(-rate)
        for k in range(hits, of + 1)
    )
    return sum(map(exp, terms)) if rate < 1 else 1.0
