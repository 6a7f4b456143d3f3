"""Certainty against other code: distributions by plain summing, power and false claims by simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bench.comparison.certainty import (
    ALPHA,
    corrected_for_tries,
    leave_one_out,
    lowest_rate,
    mean_gain,
    ratio_of_totals,
    t_distribution,
    t_quantile,
)


def holm(p_values: dict[str, float]) -> dict[str, float]:
    """The p-values of strategies that differ, corrected."""
    return corrected_for_tries({name: ((float(at),), p) for at, (name, p) in enumerate(p_values.items())})


PRICES = st.lists(st.tuples(st.floats(0.01, 100), st.floats(0.01, 100)), min_size=6, max_size=30)


@pytest.mark.parametrize("freedom", [1, 2, 5, 11, 29, 119])
def test_the_t_distribution_is_the_integral_of_its_density(freedom: int) -> None:
    grid = np.linspace(0, 4, 200_001)
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    density = scale * (1 + grid**2 / freedom) ** (-(freedom + 1) / 2)
    below = 0.5 + np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)]) * (grid[1] - grid[0])
    for t in (0.5, 1.0, 2.0, 3.5):
        assert t_distribution(t, freedom) == pytest.approx(np.interp(t, grid, below), abs=1e-8)
        assert t_distribution(-t, freedom) == pytest.approx(1 - t_distribution(t, freedom), abs=1e-12)
    assert t_distribution(t_quantile(0.975, freedom), freedom) == pytest.approx(0.975, abs=1e-12)


@given(st.integers(1, 60), st.integers(0, 400))
@settings(max_examples=50, deadline=None)
def test_at_the_lowest_rate_the_observed_hits_have_a_probability_of_five_percent(hits: int, more: int) -> None:
    of = hits + more
    rate = lowest_rate(hits, of)
    fewer = math.fsum(math.comb(of, k) * rate**k * (1 - rate) ** (of - k) for k in range(hits))
    assert 1 - fewer == pytest.approx(0.05, abs=1e-7)
    assert rate < hits / of
    assert lowest_rate(hits - 1, of) < rate


@given(PRICES)
@settings(deadline=None)
def test_the_ratio_does_not_depend_on_order_or_unit(pairs: list[tuple[float, float]]) -> None:
    today, new = [old for old, _ in pairs], [own for _, own in pairs]
    one = ratio_of_totals(today, new)
    other = ratio_of_totals([7 * old for old in reversed(today)], [7 * own for own in reversed(new)])
    assert one is not None
    assert other is not None
    assert one.end is not None
    assert one.value == pytest.approx(other.value)
    assert (one.end, one.p) == (pytest.approx(other.end, rel=1e-6), pytest.approx(other.p, abs=1e-6))
    assert one.end >= one.value * (1 - 1e-12)
    if abs(one.end - 1) > 1e-6 and one.end != one.value:
        assert (one.end < 1) == (one.p < ALPHA), "the interval and the p-value say the same"


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), min_size=1, max_size=12), st.floats(0, 1))
def test_adjusted_p_values_keep_the_order_of_the_p_values(p_values: dict[str, float], more: float) -> None:
    corrected = holm(p_values)
    assert all(corrected[name] >= p for name, p in p_values.items())
    order = sorted(p_values, key=lambda name: p_values[name])
    assert all(corrected[a] <= corrected[b] for a, b in itertools.pairwise(order))
    wider = holm({**p_values, "another": more})
    assert all(wider[name] >= corrected[name] for name in p_values if name != "another"), (
        "one more try never makes certain"
    )


@pytest.mark.parametrize(("tasks", "certain_at"), [(5, False), (6, True)])
def test_five_tasks_are_never_enough_for_certainty(tasks: int, certain_at: bool) -> None:
    found = ratio_of_totals([10.0] * tasks, [8.0] * tasks)
    assert found is not None
    assert (found.p <= ALPHA) == certain_at


def test_there_is_no_interval_if_one_task_has_nearly_all_the_cost() -> None:
    found = ratio_of_totals([10.0] + [0.0] * 6, [5.0] + [0.0] * 6)
    assert found is not None
    assert (found.value, found.end, found.p) == (0.5, None, 1.0)


def test_the_best_of_many_is_stated_on_tasks_that_did_not_choose_it() -> None:
    draws = np.random.default_rng(1)
    today = np.full(12, 10.0)
    costs = [list(today * np.exp(draws.normal(0, 0.3, 12))) for _ in range(20)]
    best = min(map(sum, costs)) / today.sum()
    apart = leave_one_out(costs, list(today))
    assert apart is not None
    assert best < apart


# ---------------------------------------------------------------- simulations


def claimed(change: str, n: int, draws: int, settings: int = 1, spread: float = 1.0) -> float:
    """The share of draws that call a saving certain. `change` is that of the first setting; the others save nothing.

    The costs of the tasks are lognormal; `spread` is the standard deviation of their logarithm.
    """
    generator, count = np.random.default_rng(7), 0
    for _ in range(draws):
        today = np.exp(generator.normal(0, spread, n))
        p_values = {}
        for at in range(settings):
            noise = np.exp(generator.normal(0, 0.1, n) - 0.005)
            saving = 0.8 if change == "a fifth less" and at == 0 else 1.0
            if change == "half of the runs":  # and these alone: no noise
                noise, saving = 1.0, np.where(generator.random(n) < 0.5, 0.8, 1.0)
            found = ratio_of_totals(list(today), list(today * noise * saving))
            p_values[str(at)] = found.p if found is not None and found.value < 1 else 1.0
        count += any(p <= ALPHA for p in holm(p_values).values())
    return count / draws


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "n", "settings", "least", "most"),
    [
        ("a fifth less", 6, 1, 0.80, 0.95),
        ("a fifth less", 12, 1, 0.95, 1.0),
        ("half of the runs", 24, 1, 0.78, 0.97),
        ("none", 6, 1, 0.02, 0.09),
        ("none", 24, 1, 0.01, 0.08),
        ("none", 12, 20, 0.02, 0.16),
        ("a fifth less", 12, 20, 0.70, 0.92),
    ],
)
def test_true_savings_are_claimed_often_and_false_ones_seldom(
    change: str, n: int, settings: int, least: float, most: float
) -> None:
    assert least <= claimed(change, n, 150 if settings > 1 else 400, settings) <= most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spread", "settings", "least", "most"),
    [(0.5, 20, 0.03, 0.09), (1.0, 20, 0.07, 0.14), (1.5, 20, 0.15, 0.26), (2.0, 20, 0.27, 0.40), (2.0, 1, 0.04, 0.10)],
)
def test_false_claims_grow_with_the_skew_of_the_tasks(spread: float, settings: int, least: float, most: float) -> None:
    """The figures of `docs/validity.md`: 12 tasks of which a few carry nearly everything."""
    assert least <= claimed("none", 12, 400, settings, spread) <= most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "of", "gain", "settings", "least", "most"), [(6, 5, 0.0, 20, 0, 0.05), (12, 20, 0.2, 1, 0.95, 1)]
)
def test_better_routes_are_claimed_often_and_equal_ones_seldom(
    n: int, of: int, gain: float, settings: int, least: float, most: float
) -> None:
    draw, count = np.random.default_rng(7).binomial, 0
    for _ in range(400):
        today = draw(of, 0.6, n)
        gains = [tuple((draw(of, 0.6 + gain, n) - today) / of) for _ in range(settings)]
        tries = {str(at): (values, mean_gain(values).p) for at, values in enumerate(gains)}
        count += any(p <= ALPHA for p in corrected_for_tries(tries).values())
    assert least <= count / 400 <= most
