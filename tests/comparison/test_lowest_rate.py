"""The lower bound of a counted rate, against its definition: exact sums of binomial probabilities in fractions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, strategies as st

from bench.comparison.certainty import lowest_rate


@given(st.integers(1, 60).flatmap(lambda of: st.tuples(st.integers(1, of), st.just(of))))
def test_at_the_bound_the_observed_hits_have_a_probability_of_one_in_twenty(counted: tuple[int, int]) -> None:
    hits, of = counted
    rate = Fraction(lowest_rate(hits, of))
    chance = sum(comb(of, k) * rate**k * (1 - rate) ** (of - k) for k in range(hits, of + 1))
    assert float(chance) == pytest.approx(0.05, abs=1e-6)


def test_more_hits_never_lower_the_bound() -> None:
    bounds = [lowest_rate(hits, 40) for hits in range(41)]
    assert bounds == sorted(bounds)
    assert all(bound <= hits / 40 for hits, bound in enumerate(bounds))
