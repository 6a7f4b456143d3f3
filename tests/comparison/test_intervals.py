"""How sure a difference is: never sure without one, sure of a clear one, and an interval that says the same."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bench.comparison.intervals import FEWEST, Pair, Swaps, certainty, deltas
from bench.model import Columns, MetricInfo, Row
from bench.reports.blocks import change

SWAPS = Swaps(0)
DRAWS = 40
"""How many comparisons of strategies that do not differ are drawn for each number of cases, spread and aggregate."""


def normal(rng, n):
    return rng.normal(100, 20, (2, n))


def skewed(rng, n):
    return rng.lognormal(0, 2, (2, n))


def sized(rng, n):
    """Runs of very different length: what differs is a share of each."""
    return rng.lognormal(8, 2, n) * rng.normal(1, 0.2, (2, n))


def tied(rng, n):
    return rng.integers(0, 2, (2, n)).astype(float)


def mostly_nothing(rng, n):
    return (rng.random((2, n)) < 0.1) * rng.exponential(5, (2, n))


def far_out(rng, n):
    return rng.standard_cauchy((2, n))


SPREADS = [normal, skewed, sized, tied, mostly_nothing, far_out]
SHARES = [normal, tied, mostly_nothing]


def pairs(rng, spread, n, aggregate):
    ours, theirs = spread(rng, n)
    if aggregate != "pooled":
        return [Pair(a, b) for a, b in zip(ours, theirs, strict=True)]
    weights = rng.integers(1, 50, (2, n))
    return [Pair(a, b, float(v), float(w)) for a, b, v, w in zip(ours, theirs, *weights, strict=True)]


def most_by_chance(draws, share, one_in=10_000):
    """The count that at most one in so many series of draws goes beyond."""
    below, term = 0.0, (1 - share) ** draws
    for count in range(draws + 1):
        below += term
        if below >= 1 - 1 / one_in:
            return count
        term *= (draws - count) / (count + 1) * share / (1 - share)
    return draws


# ---------------------------------------------------------------- no difference


@pytest.mark.slow
@pytest.mark.parametrize("aggregate", ["sum", "max", "pooled"])
@pytest.mark.parametrize("n", range(2, 11))
def test_of_all_ways_to_label_the_same_values_at_most_one_in_20_is_called_sure(n, aggregate):
    """Exact, for any values: which of a case's two values is whose is tossed in every possible way."""
    rng = np.random.default_rng(n)
    for spread in SPREADS:
        drawn = pairs(rng, spread, n, aggregate)
        other = [Pair(pair.theirs, pair.ours, pair.their_weight, pair.our_weight) for pair in drawn]
        sure = sum(
            certainty([other[at] if swapped[at] else drawn[at] for at in range(n)], aggregate, SWAPS).sure
            for swapped in SWAPS.of(n)
        )
        assert sure * 20 <= len(SWAPS.of(n)), (spread.__name__, sure)


@pytest.mark.slow
def test_what_does_not_differ_is_called_sure_at_most_one_time_in_20():
    """Drawn, at several numbers of cases. Run with -s to see the table."""
    rng = np.random.default_rng(20)
    columns = [(aggregate, spread) for aggregate in ("sum", "max", "pooled")
               for spread in (SHARES if aggregate == "pooled" else SPREADS)]  # fmt: skip
    print("\ncases  " + "  ".join(f"{aggregate}:{spread.__name__[:8]:8}" for aggregate, spread in columns))
    whole = dict.fromkeys(columns, 0)
    for n in (2, 5, 6, 8, 12, 13, 20, 30):
        found = [sum(certainty(pairs(rng, spread, n, aggregate), aggregate, SWAPS).sure for _ in range(DRAWS))
                 for aggregate, spread in columns]  # fmt: skip
        print(f"{n:5}  " + "  ".join(f"{count / DRAWS:12.1%}" for count in found))
        whole = {column: whole[column] + count for column, count in zip(columns, found, strict=True)}
        assert max(found) <= (most_by_chance(DRAWS, 0.05) if n >= FEWEST else 0), (n, found)
    drawn = DRAWS * 6
    print("  all  " + "  ".join(f"{count / drawn:12.1%}" for count in whole.values()))
    assert max(whole.values()) <= most_by_chance(drawn, 0.05)


# ---------------------------------------------------------------- a clear difference


def test_a_small_difference_is_found_more_often_with_more_cases():
    rng = np.random.default_rng(0)
    shares = []
    for n in (6, 12, 24):
        found = 0
        for _ in range(100):
            theirs = rng.normal(100, 10, n)
            ours = theirs - rng.normal(5, 8, n)
            found += certainty([Pair(a, b) for a, b in zip(ours, theirs, strict=True)], "sum", SWAPS).sure
        shares.append(found)
    assert shares == sorted(shares)
    assert shares[-1] > 75


# ---------------------------------------------------------------- the interval


values = st.floats(0, 1000).map(partial(round, ndigits=2)) | st.integers(0, 3).map(float)


some_cases = st.lists(st.tuples(values, values, st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=14)


@given(some_cases, st.sampled_from(["sum", "pooled"]))
def test_the_interval_leaves_out_zero_exactly_where_the_difference_is_sure(given_cases, aggregate):
    drawn = [Pair(*case) for case in given_cases]
    found = certainty(drawn, aggregate, SWAPS)
    if len(drawn) < FEWEST:
        assert found == type(found)(), "nothing is said"
        return
    above, below = (found.low is not None and found.low > 0), (found.high is not None and found.high < 0)
    assert found.sure == (above or below)
    assert found.sure == (found.p <= 0.05)
    ours = sum(pair.ours * (pair.our_weight if aggregate == "pooled" else 1) for pair in drawn)
    theirs = sum(pair.theirs * (pair.their_weight if aggregate == "pooled" else 1) for pair in drawn)
    if aggregate == "pooled":
        ours, theirs = ours / sum(p.our_weight for p in drawn), theirs / sum(p.their_weight for p in drawn)
    slack = 1e-9 * (1 + abs(ours) + abs(theirs))
    assert found.low is None or found.low <= ours - theirs + slack
    assert found.high is None or found.high >= ours - theirs - slack
    if found.relative_low is not None and found.relative_high is not None and theirs:
        assert found.relative_low - slack <= (ours - theirs) / abs(theirs) <= found.relative_high + slack


def test_a_difference_outside_the_interval_is_one_that_the_test_rejects():
    """The interval against its definition: take a share of the reference out of each case, and ask the test again."""
    rng = np.random.default_rng(3)
    theirs = rng.lognormal(5, 1, 9)
    ours = theirs * rng.normal(0.9, 0.1, 9)
    found = certainty([Pair(a, b) for a, b in zip(ours, theirs, strict=True)], "sum", SWAPS)

    def rejected(share):
        left = [Pair(a - share * b, b) for a, b in zip(ours, theirs, strict=True)]
        return certainty(left, "sum", SWAPS).sure

    width = found.relative_high - found.relative_low
    for end, outwards in ((found.relative_low, -1), (found.relative_high, 1)):
        assert rejected(end + outwards * 0.01 * width)
        assert not rejected(end - outwards * 0.01 * width)


def test_the_interval_holds_the_true_difference_in_19_of_20_draws():
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        theirs = rng.normal(100, 10, 10)
        ours = theirs - 7 + rng.normal(0, 5, 10)
        shares = [Pair(a, b, 3.0, 3.0) for a, b in zip(ours, theirs, strict=True)]
        found = certainty(shares, "pooled", SWAPS)
        held += found.low <= -7 <= found.high
    assert 400 - held <= most_by_chance(400, 0.05)


def test_swapping_the_sides_turns_the_difference_round():
    rng = np.random.default_rng(2)
    drawn = pairs(rng, normal, 9, "pooled")
    there = certainty(drawn, "pooled", SWAPS)
    back = certainty([Pair(p.theirs, p.ours, p.their_weight, p.our_weight) for p in drawn], "pooled", SWAPS)
    assert back.p == there.p
    assert math.isclose(back.low, -there.high)
    assert math.isclose(back.high, -there.low)


@pytest.mark.parametrize("aggregate", ["sum", "pooled"])
def test_a_difference_in_tenths_is_as_sure_as_in_whole_numbers(aggregate):
    """0.1 + 0.2 - 0.3 is not quite nothing as a float, on either side of a swap."""
    for differences in ([1, 2, -3, 3, 6, -9, 5], [3, -1, -2, 4, 4, 4, 4]):
        whole, tenths = (certainty([Pair(a / part, 0.0) for a in differences], aggregate, SWAPS) for part in (1, 10))
        assert tenths.p == whole.p


@pytest.mark.parametrize("cases", [0, 1, 6, 13])
def test_the_first_swap_swaps_nothing_and_no_other_one_is_it(cases):
    swaps = Swaps().of(cases)
    assert not swaps[0].any()
    assert cases > 12 or swaps[1:].any(axis=1).all()


def test_a_maximum_is_tested_and_has_no_interval():
    rng = np.random.default_rng(4)
    clear = [Pair(float(a), float(a) + 50) for a in rng.normal(100, 1, 8)]
    found = certainty(clear, "max", SWAPS)
    assert (found.sure, found.low, found.high) == (True, None, None)
    one = [Pair(1.0, 1.0)] * 7 + [Pair(5.0, 500.0)]
    assert not certainty(one, "max", SWAPS).sure, "one case decides it"


# ---------------------------------------------------------------- as it is shown

LOWER = MetricInfo(name="m", unit="tokens", better="lower", aggregate="sum")


def delta(ours, theirs, info=LOWER):
    rows = [
        Row(strategy=name, metric="m", case=f"case {at:03}", value=value, unit=info.unit, n=2)
        for name, of_cases in (("s", ours), ("r", theirs))
        for at, value in enumerate(of_cases)
    ]
    (found,) = deltas({"m": info}, Columns(rows), ["s", "r"], ["r"], 0)
    return found


def test_what_is_no_number_is_no_pair_and_nothing_is_a_value():
    found = delta([3.0, float("inf"), 0.0, 2.0], [1.0, 1.0, 2.0, float("nan")])
    assert (found.n, found.delta) == (2, 0.0)


def test_zero_is_a_value_of_both_sides():
    found = delta([0.0] * 6, [2.0] * 6)
    assert (found.n, found.delta, found.low, found.high, found.better) == (6, -12.0, -12.0, -12.0, True)
    found = delta([2.0] * 6, [0.0] * 6)
    assert (found.delta, found.low, found.high, found.better) == (12.0, 12.0, 12.0, False)


def test_an_interval_has_the_digits_that_its_width_deserves():
    found = delta([88.0, 91, 93.3, 87.12, 90.456, 89, 95], [100.0] * 7)
    shown = change(found, "tokens")
    assert found.better is True
    assert (shown.text, shown.detail) == ("−9.4%", "[−12%, −6.7%]")
