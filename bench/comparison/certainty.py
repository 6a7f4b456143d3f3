"""Certainty of a gain: a jackknife t interval on the logarithm of the ratio of two totals (a
saving), or on the mean of differences (any other gain).

Tasks are the sample. A gain is certain if the one-sided 97.5 % interval excludes "no gain" after
Holm's correction over all tries, and there are at least six tasks. `cannot_rule_out` tells how
frequent a loss may be that the tasks do not show. Two versions on the same recordings need none of
this, since their difference is exact.

Source: Tukey, Bias and confidence in not quite large samples (1958); Holm, A simple sequentially
rejective multiple test procedure (1979); Clopper and Pearson, The use of confidence or fiducial
limits (1934)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from ..model.base import Value

Key = TypeVar("Key")

ALPHA = 0.025
"""The level of each one-sided test."""
FEWEST = 6
"""Fewer tasks than this are never certain."""
EQUAL = 0.01
"""Prices count as equal if they differ by at most this share of today's price."""
_RISK = 0.05


class Estimate(Value, frozen=True):
    """A figure and how certain it is.

    `end` is the worse end of its one-sided 97.5 % interval, `p` the p-value of "it is no better
    than today". With fewer than `FEWEST` tasks there is no interval, and `p` is 1.
    """

    value: float
    end: float | None = None
    p: float = 1.0


def ratio_of_totals(today: Sequence[float], new: Sequence[float]) -> Estimate | None:
    """The ratio of the totals of two lists of the same tasks, where less is better; None if today's
    total is not positive. There is no interval if a single task makes up all of a total.

    >>> ratio = ratio_of_totals([10.0, 20.0, 30.0, 15.0, 12.0, 9.0], [8.0, 17.0, 22.0, 13.0, 9.0, 7.0])
    >>> round(ratio.value, 3), round(ratio.end, 3), ratio.p < 0.001
    (0.792, 0.876, True)
    >>> ratio_of_totals([1.0, 2.0], [0.5, 1.0]), ratio_of_totals([0.0], [1.0])
    (Estimate(value=0.5, end=None, p=1.0), None)
    """
    old_total, new_total = math.fsum(today), math.fsum(new)
    if old_total <= 0 or not math.isfinite(old_total + new_total):
        return None
    ratio = new_total / old_total
    others = [(old_total - old, new_total - cost) for old, cost in zip(today, new, strict=True)]
    if len(others) < FEWEST or any(old <= 0 or cost <= 0 for old, cost in others):
        return Estimate(ratio)
    end, p = _jackknife(math.log(ratio), [math.log(cost / old) for old, cost in others])
    return Estimate(ratio, math.exp(min(end, 700.0)), p)


def mean_gain(gains: Sequence[float]) -> Estimate:
    """The mean of the gains of some tasks, where more is better; 0 for none.

    >>> gain = mean_gain([0.1, 0.3, 0.2, 0.2, 0.1, 0.3])
    >>> round(gain.value, 3), round(gain.end, 3), gain.p < 0.01
    (0.2, 0.106, True)
    >>> mean_gain([0.5] * 6), mean_gain([0.5] * 5)
    (Estimate(value=0.5, end=0.5, p=0.0), Estimate(value=0.5, end=None, p=1.0))
    """
    n, total = len(gains), math.fsum(gains)
    if n < FEWEST:
        return Estimate(total / max(n, 1))
    end, p = _jackknife(-total / n, [(gain - total) / (n - 1) for gain in gains])
    return Estimate(total / n, -end, p)


def _jackknife(value: float, without: Sequence[float]) -> tuple[float, float]:
    """The upper end of the one-sided 97.5 % interval of a value, and the p-value of "it is 0 or
    more". `without` has the same value computed without each of the tasks."""
    n = len(without)
    mean = math.fsum(without) / n
    error = math.sqrt((n - 1) / n * math.fsum((other - mean) ** 2 for other in without))
    if error < 1e-12:  # the same on every task
        return value, 0.0 if value < -1e-12 else 1.0
    return value + t_quantile(1 - ALPHA, n - 1) * error, t_distribution(value / error, n - 1)


def interval_of_share(shares: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the mean of the shares of some tasks; None for fewer than six, and if
    all are equal.

    >>> [round(end, 3) for end in interval_of_share([0.1, 0.3, 0.2, 0.2, 0.1, 0.3])]
    [0.106, 0.294]
    >>> interval_of_share([0.0] * 6)
    """
    mean = mean_gain(shares)
    if mean.end is None or mean.end == mean.value:
        return None
    return max(mean.end, 0.0), min(2 * mean.value - mean.end, 1.0)


def corrected_for_tries(tries: Mapping[Key, tuple[tuple[float, ...], float]]) -> dict[Key, float]:
    """The p-value of each strategy, corrected for testing all of them (Holm), to compare with
    `ALPHA`. `tries` has its values on the tasks and its p-value; the same values are one try.

    >>> corrected_for_tries({"a": ((1.0,), 0.01), "same": ((1.0,), 0.01), "b": ((2.0,), 0.5)})
    {'a': 0.02, 'same': 0.02, 'b': 0.5}
    """
    p_values = dict(tries.values())
    corrected: dict[tuple[float, ...], float] = {}
    lowest = 0.0
    for values in sorted(p_values, key=p_values.__getitem__):
        tries_left = len(p_values) - len(corrected)
        corrected[values] = lowest = min(1.0, max(lowest, p_values[values] * tries_left))
    return {name: corrected[values] for name, (values, _) in tries.items()}


def cannot_rule_out(tasks: int) -> float | None:
    """The share of tasks with a loss of which a sample of this size shows none 5 % of the time.

    >>> round(cannot_rule_out(12), 3), cannot_rule_out(0)
    (0.221, None)
    """
    return 1 - _RISK ** (1 / tasks) if tasks else None


def leave_one_out(
    costs: Sequence[Sequence[float]], today: Sequence[float], burdens: Sequence[float] = ()
) -> float | None:
    """The ratio of totals if each task used the strategy that is best on all other tasks: the
    cheapest, with its burden as a share of today's price.

    None for fewer than two tasks. The best of many looks too good on the tasks that it was chosen
    on; this ratio does not. Among equal ones the first strategy is chosen.

    >>> costs, today = [[1.0, 3.0], [3.0, 1.0]], [4.0, 4.0]
    >>> leave_one_out(costs, today), leave_one_out(costs, today, [0.0, 0.6])
    (0.75, 0.5)
    """
    total = math.fsum(today)
    if len(today) < 2 or not costs or total <= 0:
        return None
    sums = [math.fsum(values) for values in costs]
    paid: list[float] = []
    for task, todays_cost in enumerate(today):
        elsewhere = [
            (whole - values[task]) / (total - todays_cost or 1.0) + burden
            for whole, values, burden in zip(sums, costs, burdens or [0.0] * len(sums), strict=True)
        ]
        paid.append(costs[elsewhere.index(min(elsewhere))][task])
    return math.fsum(paid) / total


def lowest_rate(hits: int, trials: int) -> float:
    """The lower 95 % bound of a rate with `hits` hits in some trials.

    >>> lowest_rate(0, 100), round(lowest_rate(1, 20), 5), round(lowest_rate(10, 100), 4)
    (0.0, 0.00256, 0.0553)
    """
    hits = min(hits, trials)
    return 0.0 if hits <= 0 else _root(lambda rate: _binomial_tail(hits, trials, rate) - _RISK, 1.0)


def _binomial_tail(hits: int, trials: int, rate: float) -> float:
    """The binomial probability of at least `hits` hits in some trials at a rate from 0 to 1."""
    fewer = (
        math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1)
        + k * math.log(rate) + (trials - k) * math.log1p(-rate)
        for k in range(hits)
    )  # fmt: skip
    return 1 - math.fsum(map(math.exp, fewer))


# ---------------------------------------------------------------- distributions


def t_distribution(value: float, freedom: int) -> float:
    """The share of Student's t distribution below a value.

    >>> round(t_distribution(-2.4469, 6), 4), round(t_distribution(2.0, 59), 4), t_distribution(0.0, 5)
    (0.025, 0.9749, 0.5)

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4
    """
    angle = math.atan(value / math.sqrt(freedom))
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for place in range(1 + odd, freedom, 2):
        total += term
        term *= math.cos(angle) ** 2 * place / (place + 1)
    central = math.sin(angle) * total
    central = 2 / math.pi * (angle + central) if odd else central
    return min(max((1 + central) / 2, 0.0), 1.0)


@lru_cache(maxsize=256)
def t_quantile(share: float, freedom: int) -> float:
    """The value with a share (above a half) of Student's t distribution below it.

    >>> [round(t_quantile(0.975, freedom), 4) for freedom in (1, 5, 11, 1000)]
    [12.7062, 2.5706, 2.201, 1.9623]
    """
    return _root(lambda t: t_distribution(t, freedom) - share, 1e6)


def _root(function: Callable[[float], float], high: float) -> float:
    """The zero of an increasing function between 0 and a value, by bisection."""
    low = 0.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return (low + high) / 2
