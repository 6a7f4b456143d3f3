"""Limits that are no limits."""

from __future__ import annotations

import math

import pytest

from bench.errors import ScenarioError
from bench.gates import parse_rule


@pytest.mark.parametrize("end", ["min", "max"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_limit_that_is_no_number_is_refused(end, number):
    with pytest.raises(ScenarioError, match=rf"{end} = {number}: write a number"):
        parse_rule({"metric": "needed.recall", end: number}, "gates[1]", 1)


def test_a_limit_of_nothing_is_a_limit():
    assert parse_rule({"metric": "needed.recall", "min": 0, "max": 0}, "gates[1]", 1)
