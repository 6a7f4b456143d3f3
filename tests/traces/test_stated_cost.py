"""The cost that a recording reports itself stands beside ours in its audit."""

import pytest
from handmade import shell, trace

from bench.run.audits import audited

MODEL = "claude-sonnet-4-5"


@pytest.mark.parametrize("cost", [0.0, 1.25, 7])
def test_a_reported_cost_stands_beside_ours_and_does_not_change_it(cost: float) -> None:
    silent = audited(trace(*shell(4)), MODEL)
    stating = audited(trace(*shell(4), meta={"cost_usd": cost}), MODEL)
    assert silent.stated_usd is None
    assert stating.stated_usd == cost
    assert stating.charges == silent.charges
    assert stating.charges.usd is not None
    assert stating.charges.usd > 0


def test_a_cost_that_is_no_number_is_left_out() -> None:
    assert audited(trace(*shell(2), meta={"cost_usd": "much"}), MODEL).stated_usd is None
