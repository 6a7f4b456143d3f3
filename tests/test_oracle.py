"""The references that read the future bracket every strategy, and reach the share of dependencies that they are told to reach."""

from __future__ import annotations

import pytest
from generated import traces
from handmade import SMALL
from hypothesis import given, settings, strategies as st
from measured import dependencies_of, run_of, value

from bench.evidence.oracle import CURVE
from bench.strategies.summarization.floor import densest
from bench.text.texts import Texts

FACTS = st.one_of(
    st.sampled_from(
        (
            "471",
            "1250.5",
            "a/b.csv",
            "/x/a/b.csv",
            "b.csv",
            "Pietro Murano",
            "run_7",
            '{"a": 1}',
            "'so'",
            "[1]",
            "1e-9",
            "\\n",
            ">x_1",
        )
    ),
    traces(max_turns=4).flatmap(
        lambda trace: st.sampled_from([item.fact for item in dependencies_of(trace)] or ["x_1"])
    ),
)

LONG = {name: trace for name, trace in SMALL.items() if len(trace.model_turns) > 2}


def tokens(name: str, strategy: str) -> float:
    found, _ = value("cost.prompt_tokens", LONG[name], run_of(LONG[name], strategy))
    assert found is not None
    return found


def recall(name: str, strategy: str) -> float | None:
    return value("needed.recall", LONG[name], run_of(LONG[name], strategy))[0]


def test_there_is_something_to_look_at() -> None:
    assert sum(recall(name, "keep_all") is not None for name in LONG) > 1


@pytest.mark.parametrize("name", LONG)
def test_the_floor_holds_every_dependency(name: str) -> None:
    assert recall(name, "floor") in (None, 1.0)
    assert recall(name, "clairvoyant") in (None, 1.0)
    assert recall(name, "keep_all") in (None, 1.0)


@pytest.mark.parametrize("name", LONG)
def test_the_references_bracket_each_other(name: str) -> None:
    assert tokens(name, "drop_all") <= tokens(name, "keep_all")
    assert tokens(name, "floor") <= tokens(name, "clairvoyant") <= tokens(name, "keep_all")


@pytest.mark.parametrize("name", LONG)
def test_more_dependencies_never_cost_fewer_tokens(name: str) -> None:
    costs = [tokens(name, f"f=compactor=floor:recall={share}") for share in CURVE]
    assert costs == sorted(costs)
    reached = [recall(name, f"f=compactor=floor:recall={share}") for share in CURVE]
    for share, found in zip(CURVE, reached, strict=True):
        assert found is None or found >= share - 1e-9


@settings(max_examples=200)
@given(st.lists(FACTS, unique=True, max_size=12))
def test_one_text_holds_every_fact_in_the_fewest_tokens_of_both_separators(facts: list[str]) -> None:
    text = densest(tuple(facts), len, Texts())
    assert Texts().missing(text, facts) == []
    alone = [
        fact for fact in facts if not any(len(other) > len(fact) and Texts().holds(other, fact) for other in facts)
    ]
    assert len(text) <= len(" ".join(alone)) + 1 or Texts().missing(" ".join(alone), facts)
