"""Baselines on disk: what they hold, read back as they were, and never ignored where they cannot be read."""

from __future__ import annotations

import json

import msgspec
import pytest
from compared import comparison
from decided import against, comparison as decided, only

from bench.comparison.accepting import accept, accepted, baseline_of, require_acceptable
from bench.comparison.baselines import baseline_bytes, baseline_from, read_baseline
from bench.comparison.judging import parse_rule
from bench.model.errors import ResultsError


def rule(metric, **settings):
    return parse_rule({"metric": metric, **settings}, "x.toml: gates[1]")


RULES = (
    rule("cost.prompt_tokens", max_increase="2%"),
    rule("needed.recall", strategy="keep_all", max_drop=0.01),
    rule("loss.fact_recall.end", min=0.5),
)


def with_rules(*rules):
    return msgspec.structs.replace(comparison(), rules=rules)


def test_a_baseline_holds_what_relative_gates_need_and_no_more():
    compared = with_rules(*RULES)
    accepted = baseline_of(compared)
    assert accepted.signature == compared.signature
    assert set(compared.strategies) <= set(accepted.rows)
    assert {metric for metrics in accepted.rows.values() for metric in metrics} == {
        "cost.prompt_tokens",
        "needed.recall",
    }
    cases = {case: row.value for case, row in accepted.of("cut", "cost.prompt_tokens").items()}
    assert cases == {"": 1500.0, "case cut": 600.0, "case two": 900.0}


def test_without_relative_gates_there_is_nothing_to_accept():
    assert baseline_of(with_rules(*RULES[2:])).rows == {}
    assert baseline_of(with_rules()).rows == {}


def test_nothing_to_accept_writes_nothing(tmp_path):
    path = tmp_path / "one.baseline.json"
    accepted, lines = accept(with_rules(*RULES[2:]), path)
    assert accepted is None
    assert lines == (f"{path}: no gate compares with a baseline, nothing to accept",)
    assert not path.exists()


def test_what_is_accepted_is_written_and_told(tmp_path):
    path = tmp_path / "one.baseline.json"
    accepted, lines = accept(with_rules(*RULES), path)
    assert read_baseline(path) == accepted == baseline_of(with_rules(*RULES))
    assert lines[0] == f"accepted {path}, the first baseline:"
    assert "  cut cost.prompt_tokens: 1500 over 2 cases (new)" in lines


def test_a_value_that_gates_need_and_nobody_measured_cannot_be_accepted(tmp_path):
    unpriced = with_rules(rule("cost.cost_usd", max_increase="2%"))
    with pytest.raises(
        ResultsError, match=r"baseline not accepted: cut measured no cost\.cost_usd: no prices for model"
    ):
        require_acceptable(unpriced, tmp_path / "one.baseline.json")


def test_a_baseline_is_read_back_as_it_was_and_is_readable(tmp_path):
    accepted = baseline_of(with_rules(*RULES))
    path = tmp_path / "one.baseline.json"
    path.write_bytes(baseline_bytes(accepted))
    assert read_baseline(path) == accepted
    text = path.read_text()
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "Input data was truncated"),
        ("{", "Input data was truncated"),
        ("[]", "Expected `object`, got `array`"),
        ('{"schema": 2}', "schema 2, this bench reads 1"),
        ('{"schema": 1}', "missing required field `signature`"),
        ('{"schema": 1, "values": {"s": 3}}', "accept a new one with --update-baseline"),
    ],
)
def test_a_baseline_that_cannot_be_read_is_no_baseline_to_be_ignored(tmp_path, text, says):
    path = tmp_path / "one.baseline.json"
    path.write_text(text)
    with pytest.raises(ResultsError) as caught:
        read_baseline(path)
    assert str(caught.value).startswith(str(path))
    assert says in str(caught.value)


def test_an_unmeasured_value_is_kept_as_such(tmp_path):
    accepted = baseline_from(comparison().signature, {"s": {"m": {"": None, "a": 1.0}}})
    (tmp_path / "b.json").write_bytes(baseline_bytes(accepted))
    assert [row.value for row in read_baseline(tmp_path / "b.json").of("s", "m").values()] == [None, 1.0]


# ---------------------------------------------------------------- what is said of a change


def lines_of(before, now, tmp_path, rule="cost.prompt_tokens"):
    """What is printed where these values of strategy `s`, by case, are accepted over those."""
    gate = {"metric": rule, "max_increase": "1000%"}
    then = decided(only(rule, s=before), gate)
    _, lines = accepted(decided(only(rule, s=now), gate, against=against(then)), tmp_path / "b.json")
    return list(lines)[1:]


def test_the_cases_that_moved_are_listed_and_no_others(tmp_path):
    before = {"a": 100, "b": 200, "c": 300}
    assert lines_of(before, {"a": 100, "b": 150, "c": 330}, tmp_path) == [
        "  s cost.prompt_tokens: 600 → 580 (-3.3%) over 3 cases",
        "    b: 200 → 150 (-25.0%)",
        "    c: 300 → 330 (+10.0%)",
    ]


def test_a_new_case_is_in_and_has_not_moved(tmp_path):
    assert lines_of({"a": 100}, {"a": 100, "b": 50}, tmp_path) == [
        "  cases in: b",
        "  s cost.prompt_tokens: 100 → 150 (+50.0%) over 2 cases",
    ]


def test_from_nothing_there_is_no_relative_change(tmp_path):
    """What was accepted as 0 was measured: it moved, by no share of itself."""
    assert lines_of({"a": 0, "b": 0}, {"a": 7, "b": 0}, tmp_path) == [
        "  s cost.prompt_tokens: 0 → 7 over 2 cases",
        "    a: 0 → 7",
    ]
    assert lines_of({"a": 7, "b": 0}, {"a": 0, "b": 0}, tmp_path) == [
        "  s cost.prompt_tokens: 7 → 0 (-100.0%) over 2 cases",
        "    a: 7 → 0 (-100.0%)",
    ]
    assert lines_of({"a": 0}, {"a": 0}, tmp_path) == ["  s cost.prompt_tokens: 0 unchanged over 1 case"]


@pytest.mark.parametrize(("moved", "more"), [(10, None), (11, "    and 1 more cases"), (13, "    and 3 more cases")])
def test_of_many_cases_that_moved_ten_are_listed(tmp_path, moved, more):
    cases = [f"case {number:02}" for number in range(moved)]
    said = lines_of(dict.fromkeys(cases, 100), dict.fromkeys(cases, 200), tmp_path)[1:]
    assert said[:10] == [f"    {case}: 100 → 200 (+100.0%)" for case in cases[:10]]
    assert said[10:] == ([more] if more else [])
