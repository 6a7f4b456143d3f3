"""Numbers as people read them, at the places where their form changes."""

from __future__ import annotations

import math

import pytest

from bench.text.wording import MINUS, NARROW_SPACE, exact, interval, percent, quantity, rough, signed, to_width


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "usd", "not measured"), (math.nan, "count", "not measured"), (math.inf, "usd", "not measured"),
        (0, "fraction", "0%"), (1e-9, "fraction", "<0.1%"), (0.00099, "fraction", "<0.1%"), (0.001, "fraction", "0.1%"),
        (0.0004, "fraction", "<0.1%"), (0.25, "fraction", "25%"), (0.2512, "fraction", "25.1%"), (0.999, "fraction", "99.9%"),
        (0.9991, "fraction", ">99.9%"), (1, "fraction", "100%"), (1.004, "fraction", "100%"), (20, "fraction", "2 000%"),
        (-0.25, "fraction", "−25%"), (-1.5, "fraction", "−150%"), (-0.0001, "fraction", "−0%"),
        (0, "usd", "$0.00"), (0.1, "usd", "$0.10"), (0.0999, "usd", "$0.0999"), (0.01234, "usd", "$0.0123"),
        (1234.5, "usd", "$1 234.50"), (-2, "usd", "-$2.00"), (-0.05, "usd", "-$0.0500"), (1, "usd", "$1.00"),
        (0, "tokens", "0"), (7, "tokens", "7"), (-7, "tokens", "−7"), (7.25, "tokens", "7.25"), (999.96, "tokens", "1000"),
        (1000.4, "tokens", "1 000"), (-1000.4, "tokens", "−1 000"), (1e6, "tokens", "1 000 000"), (0.123456, "tokens", "0.1235"),
        (999.4, "tokens", "999.4"), (0.00001, "tokens", "1e−05"),
    ],
)  # fmt: skip
def test_quantities(value, unit, text):
    assert quantity(value, unit).replace(NARROW_SPACE, " ") == text


def test_rough_ones_have_three_digits_from_a_thousand_on():
    found = [rough(value, "tokens").replace(NARROW_SPACE, " ") for value in (999.4, 1000, 1000.5, 12345, -12345)]
    assert found == ["999.4", "1 000", "1 000", "12 300", "−12 300"]
    assert rough(1234.56, "usd").replace(NARROW_SPACE, " ") == "$1 230"
    assert (rough(3.4567, "fraction"), rough(math.nan, "usd"), percent(0)) == ("346%", "not measured", "0%")


def test_exact_and_signed_ones():
    assert [exact(value) for value in (1e15, -1e15, 1e15 - 1, 0.5, -3.0)] == ["1e+15", "-1e+15", "999999999999999", "0.5", "-3"]  # fmt: skip
    assert [signed(value, "3") for value in (-0.5, 0, 0.5, -2, 2)] == [f"{MINUS}3", "±3", "+3", f"{MINUS}3", "+3"]


def test_intervals():
    assert to_width(-math.inf, 1.0) == (-math.inf, 1.0)
    assert to_width(2.0, 1.0) == (2.0, 1.0)
    assert to_width(0.0, 1.0) == (0.0, 1.0)
    assert (interval(None, 1.0), interval(1.0, None), interval(0.0, 9.96)) == (None, None, ("0", "10"))
