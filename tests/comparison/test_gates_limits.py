"""Limits of gates as they are written: which numbers are ones."""

from __future__ import annotations

import math

import pytest
from decided import accepted_values, against, comparison, only

from bench.comparison.accepting import baseline_of
from bench.comparison.gates.limits import limits
from bench.comparison.gates.regression import ROUNDING, regression
from bench.comparison.judging import parse_rule
from bench.model.errors import ScenarioError


@pytest.mark.parametrize("end", ["min", "max"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_limit_that_is_no_number_is_refused(end, number):
    with pytest.raises(ScenarioError, match=rf"{end} = {number}: write a number"):
        parse_rule({"metric": "needed.recall", end: number}, "gates[1]", 1)


def test_a_limit_of_nothing_is_a_limit():
    assert parse_rule({"metric": "needed.recall", "min": 0, "max": 0}, "gates[1]", 1)


@pytest.mark.parametrize(("low", "high", "named"), [(-0.3, 0.5, -0.3), (-0.5, 0.3, 0.3), (-0.3, 0.3, -0.3)])
def test_of_two_limits_the_nearer_one_is_named_for_nothing_too(low, high, named):
    rule = {"metric": "needed.recall", "min": low, "max": high}
    (verdict,) = comparison(only("needed.recall", s={"a": 0.0}), rule).verdicts
    assert (verdict.outcome, verdict.limit) == ("pass", named)


@pytest.mark.parametrize(("size", "by", "outcome"), [(1.0, 0.5, "pass"), (1.0, 1.5, "fail"), (0.1, 0.5, "pass"),
                                                     (0.1, 1.5, "fail"), (8.0, 7.0, "pass"), (8.0, 9.0, "fail")])  # fmt: skip
def test_what_rounding_may_do_is_no_change(size, by, outcome):
    rule = {"metric": "cost.prompt_tokens", "max_increase": 0}
    then = comparison(only("cost.prompt_tokens", s={"a": size}), rule)
    now = comparison(only("cost.prompt_tokens", s={"a": size + by * ROUNDING}), rule, against=against(then))
    assert [verdict.outcome for verdict in now.verdicts] == [outcome]


def test_a_metric_that_the_baseline_lacks_makes_no_known_strategy_new():
    recall, tokens = {"metric": "needed.recall", "max_drop": 0.1}, {"metric": "cost.prompt_tokens", "max_increase": 0}
    then = comparison(only("needed.recall", s={"a": 0.9}), recall)
    for name, said in (
        ("s", "has no cost.prompt_tokens — accept"),
        ("t", "has no cost.prompt_tokens: strategy t is new — accept"),
    ):
        now = comparison(only("cost.prompt_tokens", **{name: {"a": 5}}), tokens, against=against(then))
        assert [verdict.outcome for verdict in now.verdicts if verdict.strategy == name] == ["inconclusive"]
        assert any(said in verdict.sentence for verdict in now.verdicts)


def test_a_registered_gate_stays_the_function_that_it_is():
    assert (limits.__name__, regression.__name__) == ("limits", "regression")
    built = comparison(only("needed.recall", s={"a": 0.5}))
    rule = parse_rule({"metric": "needed.recall", "min": 0.9}, "gates[1]", 1)
    assert limits(rule, built, "s", min=0.9).outcome == "fail"


def test_a_gate_on_what_was_not_measured_puts_nothing_into_the_baseline():
    rules = [{"metric": metric, "max_drop": 0.1} for metric in ("needed.recall", "probes.recall")]
    found = baseline_of(comparison(only("needed.recall", s={"a": 0.5}), *rules))
    assert found.rows.keys() == {"s"}
    assert found.rows["s"].keys() == {"needed.recall"}
    assert accepted_values(found, "s", "needed.recall") == {"": 0.5, "a": 0.5}
