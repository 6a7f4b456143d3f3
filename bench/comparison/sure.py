"""Certainty of a saving: is one strategy surely cheaper than another, over tasks, however skewed their costs are?

The unit is the task: trials of one task are added up, and a recording that is there twice counts once. A saving is sure where three one-sided
t tests agree: on the log ratio of each task's cost (the typical task), on the difference in cost (the bill), and on the difference again with one
imaginary task added, on which the strategy loses as much as the largest difference that was seen. The third is for what skewed costs do to a t
test: where 1 task in 20 loses much, samples that hold none of them look certain. Of many strategies the p-values are corrected by Holm's method.

In a simulation with no true difference, n from 6 to 60, at most 0.3 % of symmetric and 6 % of lognormal (sigma 1) draws are called sure, one
strategy or the best of five. Without the third test it is 13 % and 23 %. What no test can show is a loss rarer than `could_miss` says.

Source: Student, The probable error of a mean (1908); Holm, A simple sequentially rejective multiple test procedure (1979)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..text.wording import counted

ALPHA = 0.025  # the level of each one-sided test
LARGEST_RATIO = 1e3  # a ratio of two costs beyond this counts as this: a run that is free has no logarithm


@dataclass(frozen=True)
class Saving:
    """The difference in price of a strategy to what is run today, over the cases that both can run.

    `a_run` is the mean difference for one run (negative: cheaper), `relative` its share of today's price (None: that is free). `cheaper`, `equal`
    and `dearer` count `tasks`. `p` is the largest p-value of the three tests over them, `corrected` the same corrected for choosing the best of many.

    >>> unsure, sure = (Saving(-1.0, None, 3, 3, corrected=p) for p in (0.026, ALPHA))
    >>> unsure.sure, sure.sure, sure.over, Saving(-1.0, None, 3, 3)
    (False, True, '3 runs', Saving(a_run=-1.0, relative=None, cases=3, tasks=3, cheaper=0, equal=0, dearer=0, p=1.0, corrected=1.0))
    """

    a_run: float
    relative: float | None
    cases: int
    tasks: int
    cheaper: int = 0
    equal: int = 0
    dearer: int = 0
    p: float = 1.0
    corrected: float = 1.0

    @property
    def sure(self) -> bool:
        """True if the strategy surely costs less."""
        return self.corrected <= ALPHA

    @property
    def over(self) -> str:
        """The number of tasks in words; they are called runs where each task has one."""
        return counted_tasks(self.tasks, self.cases)


def counted_tasks(tasks: int, runs: int) -> str:
    """A number of tasks in words, so that a sentence speaks of runs alone where each task has one.

    >>> counted_tasks(8, 8), counted_tasks(8, 27)
    ('8 runs', '8 tasks')
    """
    return counted(tasks, "run" if tasks == runs else "task")


def chance(pairs: Sequence[tuple[float, float]]) -> float:
    """The p-value of the claim that ours costs less, from (ours, theirs) of each task: the largest of the three tests.

    >>> [chance([(0.9, 1.0)] * tasks) < ALPHA for tasks in (5, 6)]
    [False, True]
    >>> chance([(0.9, 1.0)] * 9 + [(1.8, 1.0)]) < ALPHA
    False
    """
    differences = [ours - theirs for ours, theirs in pairs]
    against = max(map(abs, differences), default=0.0)
    return max(mean_below_zero(items) for items in (list(map(_log_ratio, pairs)), differences, [*differences, against]))


def _log_ratio(pair: tuple[float, float]) -> float:
    """The logarithm of ours over theirs, within LARGEST_RATIO.

    >>> [round(_log_ratio(pair), 2) for pair in [(0.5, 1), (1, 0.5), (0, 0.5), (0.5, 0), (0, 0), (1e-9, 1), (1e9, 1)]]
    [-0.69, 0.69, -6.91, 6.91, 0.0, -6.91, 6.91]
    """
    ours, theirs = pair
    if ours <= 0 or theirs <= 0:
        return 0.0 if ours == theirs else math.copysign(math.log(LARGEST_RATIO), ours - theirs)
    return max(-math.log(LARGEST_RATIO), min(math.log(LARGEST_RATIO), math.log(ours / theirs)))


def mean_below_zero(items: Sequence[float]) -> float:
    """The p-value of a one-sided t test that the mean is below zero; 1 for fewer than two values.

    >>> round(mean_below_zero([-1.0, -2.0, -3.0]), 5), mean_below_zero([-1.0, -1.0]), mean_below_zero([0.0, 0.0]), mean_below_zero([-1.0])
    (0.03709, 0.0, 1.0, 1.0)
    """
    if len(items) < 2:
        return 1.0
    mean = math.fsum(items) / len(items)
    spread = math.sqrt(math.fsum((item - mean) ** 2 for item in items) / (len(items) - 1) / len(items))
    if not spread:
        return 0.0 if mean < 0 else 1.0
    return student(mean / spread, len(items) - 1)


def student(t: float, freedom: int) -> float:
    """The share of Student's t distribution below `t`, for whole degrees of freedom.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4

    >>> round(student(-2.4469, 6), 4), round(student(2.0, 59), 4), student(0.0, 5), student(-28.0, 36), student(28.0, 36)
    (0.025, 0.9749, 0.5, 0.0, 1.0)
    """
    theta = math.atan(t / math.sqrt(freedom))
    cosine = math.cos(theta)
    term = math.sin(theta) * (cosine if freedom % 2 else 1.0)
    total = 0.0 if freedom == 1 else term
    for power in range(2 + freedom % 2, freedom - 1, 2):
        term *= cosine * cosine * (power - 1) / power
        total += term
    inside = 2 / math.pi * (theta + total) if freedom % 2 else total
    return min(1.0, max(0.0, 0.5 + inside / 2))


def corrected(chances: Mapping[str, float]) -> dict[str, float]:
    """The p-values of claims of which the best is looked for, corrected by Holm's step-down method: those up to `ALPHA` hold.

    >>> corrected({"a": 0.001, "b": 0.02, "c": 0.01}), corrected({"a": 0.001, "b": 0.02, "c": 0.5})
    ({'a': 0.003, 'c': 0.02, 'b': 0.02}, {'a': 0.003, 'b': 0.04, 'c': 0.5})
    """
    found: dict[str, float] = {}
    least = 0.0
    for name in sorted(chances, key=lambda name: (chances[name], name)):
        found[name] = least = min(1.0, max(least, chances[name] * (len(chances) - len(found))))
    return found


def could_miss(tasks: int) -> int:
    """With so many tasks a loss in fewer than one of this many could have been missed (in 5 % of all draws); 0 for no tasks.

    >>> could_miss(27), could_miss(6), could_miss(300), could_miss(0)
    (9, 2, 100, 0)
    """
    return int(1 / (1 - 0.05 ** (1 / tasks))) if tasks else 0
