"""Sentences that a strategy says on purpose: no invention, and named where they change."""

import pytest
from handmade import compose

import bench
from bench.model.errors import SpecError
from bench.strategies import parse_strategy

HINT = "Use grep to find the rest."


def hinting(result):
    return f"{result.text}\n{HINT}"


def _invented(slots):
    compared = bench.compare("traces/inventories", {"hinting": slots}, debug=True)
    rules = next(item for item in compared.advice.ranked if item.strategy == "hinting").rules
    return next(rule for rule in rules if rule.rule == "invented")


def test_an_order_by_a_strategy_is_an_invention_unless_it_is_listed():
    refused = _invented({"summarizer": hinting})
    assert not refused.passed
    assert HINT in refused.findings[0].text
    assert _invented({"summarizer": hinting, "says": [HINT]}).passed
    assert not _invented({"summarizer": hinting, "says": ["Use grep to find more."]}).passed


def test_the_spec_names_the_sentences_and_parses_back():
    strategy = compose("mine", {"summarizer": "truncate", "says": [HINT, 'a "b" | c, d']})
    assert parse_strategy(str(strategy)) == strategy
    assert HINT in strategy.spec


@pytest.mark.parametrize("says", [[""], ["word"], [3], {"a b": 1}])
def test_anything_but_sentences_is_refused(says):
    with pytest.raises(SpecError, match="says"):
        compose("mine", {"summarizer": "truncate", "says": says})
