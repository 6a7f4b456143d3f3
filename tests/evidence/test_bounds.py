"""Bounds of counted rates, against the definition: exact sums of binomial probabilities in fractions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, strategies as st

from bench.evidence.bounds import above, lower_bound, upper_bound


def at_least(hits: int, of: int, rate: Fraction) -> Fraction:
    return sum((comb(of, k) * rate**k * (1 - rate) ** (of - k) for k in range(hits, of + 1)), Fraction(0))


@given(st.integers(1, 60).flatmap(lambda of: st.tuples(st.integers(1, of), st.just(of))))
def test_at_the_lower_bound_so_many_hits_have_a_chance_of_one_in_twenty(counted: tuple[int, int]) -> None:
    hits, of = counted
    chance = at_least(hits, of, Fraction(lower_bound(hits, of)))
    assert float(chance) == pytest.approx(0.05, abs=1e-9)


@given(st.integers(0, 300), st.integers(0, 300))
def test_bounds_hold_the_rate_and_mirror_each_other(hits: int, others: int) -> None:
    of = hits + others
    low, high = lower_bound(hits, of), upper_bound(hits, of)
    assert 0 <= low <= high <= 1
    if of:
        assert low <= hits / of <= high
    assert upper_bound(others, of) == pytest.approx(1 - low)


def test_more_hits_never_un_refuse() -> None:
    assert [above(hits, 40, 0.1) for hits in range(41)] == sorted(above(hits, 40, 0.1) for hits in range(41))


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="5 hits of 4"):
        lower_bound(5, 4)
