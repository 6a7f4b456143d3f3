"""Certainty of a saving: how often it is false where there is none, and what it is where there is one."""

from __future__ import annotations

import numpy as np
import pytest
from examples import EXAMPLES
from scipy import stats

from bench.comparison.published import EXPERIMENTS, nearest
from bench.comparison.sure import ALPHA, chance, corrected, could_miss, mean_below_zero, student

KINDS = ("symmetric", "lognormal")


def ratios(rng, kind, n):
    """Costs over today's that are 1 on average."""
    if kind == "symmetric":
        return 1 + np.clip(0.2 * rng.normal(size=n), -0.8, 0.8)
    if kind == "lognormal":
        return np.exp(rng.normal(size=n) - 0.5)
    return np.where(rng.random(n) < 0.05, 1 + 0.1 * 19, 0.9)  # 1 run in 20 loses much


def false_alarms(kind, n, draws, strategies=1, seed=0):
    """The share of draws in which the best of some strategies is called surely cheaper, and none is."""
    rng, found = np.random.default_rng(seed + n), 0
    for _ in range(draws):
        theirs = rng.lognormal(0, 0.8, n)
        claims = {
            str(one): chance(list(zip(theirs * ratios(rng, kind, n), theirs, strict=True))) for one in range(strategies)
        }
        found += min(corrected(claims).values()) <= ALPHA
    return found / draws


LIMITS = {"symmetric": 0.05, "lognormal": 0.07}


@pytest.mark.parametrize("kind", KINDS)
def test_no_difference_is_seldom_called_sure(kind):
    for n in (6, 12, 30):
        assert false_alarms(kind, n, 150) <= LIMITS[kind] + 0.03, n


@pytest.mark.slow
@pytest.mark.parametrize("strategies", [1, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_no_difference_is_seldom_called_sure_slow_because_of_thousands_of_draws(kind, strategies):
    for n in (6, 12, 30):
        assert false_alarms(kind, n, 60 * EXAMPLES, strategies) <= LIMITS[kind], n


@pytest.mark.slow
def test_what_is_rarer_than_the_sentence_says_is_missed_slow_because_of_thousands_of_draws():
    """Where 1 task in 20 loses much, a sample of 12 without one looks cheaper: the sentence says that fewer than 1 in 4 could be missed."""
    assert could_miss(12) == 4
    assert false_alarms("mixed", 12, 2000) > 0.1
    assert false_alarms("mixed", 6, 2000) <= 0.05


def test_a_clear_saving_is_sure():
    rng = np.random.default_rng(0)
    theirs = rng.lognormal(0, 0.5, 30)
    assert chance(list(zip(theirs * (0.7 + 0.05 * rng.normal(size=30)), theirs, strict=True))) < 1e-6


@pytest.mark.parametrize(
    ("pairs", "sure"),
    [
        ([(0.9, 1.0)] * 5, False),
        ([(0.9, 1.0)] * 6, True),
        ([(1.1, 1.0)] * 60, False),
        ([(1.0, 1.0)] * 60, False),
        ([(0.9, 1.0)] * 20 + [(3.0, 1.0)], False),  # the typical task is cheaper, the bill is not
        ([(1.1, 1.0)] * 20 + [(10.0, 100.0)] * 2, False),  # the bill is lower, the typical task is not
        ([(0.0, 1.0)] * 8, True),
        ([(0.0, 0.0)] * 8, False),
        ([], False),
    ],
)
def test_a_saving_must_be_typical_and_on_the_bill(pairs, sure):
    assert (chance(pairs) < ALPHA) is sure


def test_student_is_scipys():
    for freedom in (1, 2, 3, 4, 7, 30, 101):
        for t in (-9.0, -2.1, 0.0, 0.7, 4.0):
            assert student(t, freedom) == pytest.approx(stats.t.cdf(t, freedom), abs=1e-12)
    drawn = np.random.default_rng(1).normal(-0.3, 1, 15)
    assert mean_below_zero(list(drawn)) == pytest.approx(stats.ttest_1samp(drawn, 0, alternative="less").pvalue)


def test_holm_stops_at_the_first_that_is_not_sure():
    def sure(**chances):
        return {name for name, chance in corrected(chances).items() if chance <= ALPHA}

    assert corrected({}) == {}
    assert sure(a=0.0049, b=0.02, c=0.02, d=0.02, e=0.02) == {"a"}
    assert sure(a=0.0049, b=0.006) == {"a", "b"}


def test_an_experiment_is_near_within_a_factor_of_two():
    assert {item.rule for item in EXPERIMENTS} == {"mask", "events", "summary"}
    assert nearest("compactor=openhands.mask:window=58").solved == 4
    assert nearest("summarizer=recorded+compactor=swe_agent.last_n:n=12").setting == 10
    assert nearest("compactor=swe_agent.last_n:n=4") is None
    assert nearest("") is None
