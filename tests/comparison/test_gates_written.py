"""Gates as they are written: which gate a table means, whom it is about, and which would always pass."""

from __future__ import annotations

import math

import pytest

from bench.comparison.judging import gate, parse_rule, require_known
from bench.model.errors import ScenarioError, SpecError
from bench.plugins import registry

RECALL, COST = "needed.recall", "cost.prompt_tokens"


def rule(metric=RECALL, **settings):
    """A gate as a scenario declares it."""
    return parse_rule({"metric": metric, **settings}, "x.toml: gates[1]")


@pytest.mark.parametrize(
    ("metric", "settings", "said"),
    [
        ("loss.fact_recall.shown", {"max_increase": "1%"}, "higher is better, so max_increase passes whatever gets worse — write max_drop = '1%'"),
        (COST, {"max_drop": 5}, "lower is better, so max_drop passes whatever gets worse — write max_increase = 5"),
        (RECALL, {"max_drop": 1}, "max_drop = 1: nothing can change by more than that, so it always passes"),
        (RECALL, {"max_drop": "100%"}, "max_drop = '100%': nothing can change by more"),
        ("loss.lost.end", {"max_increase": 1.5}, "max_increase = 1.5: nothing can change by more"),
        (RECALL, {"min": 0}, "min = 0: no share is below 0, so it always passes"),
        (RECALL, {"min": 0, "max": 1}, "min = 0: no share is below 0"),
        (RECALL, {"max": 1}, "max = 1: no share is above 1, so it always passes"),
        *((RECALL, {end: number}, f"{end} = {number}: write a number") for end in ("min", "max")
          for number in (math.nan, math.inf, -math.inf)),
    ],
)  # fmt: skip
def test_a_gate_that_nothing_can_fail_is_refused(metric, settings, said):
    with pytest.raises(ScenarioError) as raised:
        require_known([rule(metric, **settings)], ["s"], "x.toml")
    assert str(raised.value).startswith(f"x.toml: gates[1] ({metric}): ")
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("metric", "settings"),
    [
        (COST, {"max_increase": "100%"}), (COST, {"max_increase": 5}), (COST, {"min": 0}),
        (RECALL, {"max_drop": 0.99}), (RECALL, {"max_drop": "99%"}), (RECALL, {"min": 1}), (RECALL, {"max": 0}),
        (RECALL, {"min": 0.5, "max": 1}), (RECALL, {"min": 0, "max": 0}), (RECALL, {"min": 0, "max": 0.5}),
        ("needed.fault_rate", {"max_increase": "100%"}),
    ],
)  # fmt: skip
def test_what_can_fail_is_a_gate(metric, settings):
    require_known([rule(metric, **settings)], ["s"], "one.toml")


def test_a_gate_on_what_does_not_exist_is_refused():
    with pytest.raises(ScenarioError, match=r"one\.toml: gates\[1\]: unknown metric 'needed\.recal' — did you mean"):
        require_known([rule("needed.recal", min=1)], ["s"], "one.toml")
    with pytest.raises(ScenarioError, match=r"gates\[2\]: no strategy is called 'tabel' — did you mean table\?"):
        require_known([rule(min=0.5), rule(min=1, strategy="tabel")], ["table"], "one.toml")
    require_known([rule(min=0.5), rule(min=1, strategy="tab*")], ["table"], "one.toml")


@pytest.fixture
def own_registry(monkeypatch):
    """A registry whose newcomers are gone afterwards."""
    registry.entries("gate")
    monkeypatch.setattr(registry, "_entries", {kind: dict(known) for kind, known in registry._entries.items()})


def test_a_gate_is_the_one_whose_settings_are_named_or_that_is_named_itself(own_registry):
    @gate("max_of")
    def max_of(rule, comparison, strategy, *, max: float, of: str):
        """Up to a share."""

    assert rule(max=1).gate == "limits"
    assert rule(max=1, of="keep_all").gate == "max_of"
    with pytest.raises(ScenarioError, match="gate 'max_of' also needs max"):
        rule(of="keep_all")

    @gate("ceiling")
    def ceiling(rule, comparison, strategy, *, max: float = 1.0, odd: NoSuchType = 1.0):  # noqa: F821
        """Up to a number."""

    with pytest.raises(ScenarioError, match="gates ceiling and limits each take max — write `gate = 'ceiling'`"):
        rule(max=1)
    assert rule(max=1, gate="limits").gate == "limits"
    assert rule(gate="ceiling").settings == {}
    assert rule(min=1).gate == "limits"
    with pytest.raises(ScenarioError, match="gate 'ceiling' setting odd has an annotation that cannot be read"):
        rule(odd=1)


def test_a_setting_that_every_gate_has_is_refused_when_it_is_registered(own_registry):
    def mine(rule, comparison, strategy, *, over: float = 1.0):
        """Over what."""

    with pytest.raises(SpecError, match="gate 'mine': 'over' is what every gate has"):
        gate("mine")(mine)
