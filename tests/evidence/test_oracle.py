"""The references that read the future bracket every strategy, and reach the share of dependencies that they are told to reach."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from generated import traces
from handmade import SMALL, result, trace
from hypothesis import given, strategies as st
from measured import dependencies_of, needs_of, run_of, value

from bench.evidence.oracle import Bundle, Need, given_up, may_miss
from bench.model import ModelTurn
from bench.strategies.documents.clairvoyant import densest
from bench.text.texts import FactsHeld, Texts, longer_holding

SHARES = (0.90, 0.95, 0.99, 1.0)
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


def test_a_need_counts_the_prompts_from_behind_its_origin_to_its_last_use() -> None:
    def turn(index: int, text: str, thread: str = "main") -> ModelTurn:
        return ModelTurn(index=index, content=text, thread=thread)

    recording = trace(
        turn(0, "Hello."), result("471 of run_7", index=1), turn(2, "so"), turn(3, "", "critic"), turn(4, "471 it is"),
        turn(5, "run_7 has 471"), turn(6, "fine"),
    )  # fmt: skip
    found = {need.fact: need for need in needs_of(recording)}
    assert list(found) == ["471", "run_7"]  # as they arose
    assert found["471"] == Need("main", "471", "result", source=1, last=5, prompts=3, dependencies=2)
    assert found["run_7"] == Need("main", "run_7", "result", source=1, last=5, prompts=3, dependencies=1)


def test_a_prompt_at_the_origin_needs_nothing_yet() -> None:
    turns = (ModelTurn(index=index, content=text) for index, text in enumerate(("I call it run_7", "so", "run_7")))
    assert needs_of(trace(*turns)) == (Need("main", "run_7", "model", source=0, last=2, prompts=2, dependencies=1),)


def need(fact: str, dependencies: int = 1) -> Need:
    return Need("main", fact, "result", source=1, last=5, prompts=3, dependencies=dependencies)


@pytest.mark.parametrize(
    ("recall", "missed"), [(0.0, 10), (0.5, 5), (0.7, 3), (0.71, 2), (0.9, 1), (0.91, 0), (1.0, 0)]
)
def test_a_share_is_reached_with_as_few_dependencies_as_it_takes(recall: float, missed: int) -> None:
    assert may_miss([need("a", 3), need("b", 7)], recall) == missed
    assert may_miss([], recall) == 0


def test_what_saves_most_for_each_dependency_is_given_up_while_the_share_is_reached() -> None:
    needs = [need("a", 4), need("b", 2), need("c", 1), need("d", 3)]
    saved = {"a": 80.0, "b": 60.0, "c": 0.0, "d": 30.0}  # for each dependency 20, 30, nothing and 10

    def each(needs: Sequence[Need]) -> list[Bundle]:
        return [Bundle((need,), saved[need.fact]) for need in needs]

    def gone(recall: float) -> str:
        return "".join(sorted(fact for _, fact in given_up(needs, recall, each)))

    assert [gone(recall) for recall in (1.0, 0.8, 0.5, 0.4, 0.1, 0.0)] == ["", "b", "bd", "ab", "abd", "abd"]
    pair = [Bundle((needs[2],), 30.0), Bundle((needs[1],), 50.0)]  # 30 for one, 25 for each of two
    assert given_up(needs[1:3], 0.33, lambda _: pair) == {("main", "c")}
    assert given_up(needs, 0.8, lambda _: [Bundle((needs[1],), 0.5)]) == {("main", "b")}  # little is something
    together = [Bundle((needs[0], needs[3]), 700.0), Bundle((needs[1],), 60.0), Bundle((), 5.0)]
    assert given_up(needs, 0.3, lambda _: together) == {("main", "a"), ("main", "d")}
    assert given_up(needs, 0.4, lambda _: together) == {("main", "b")}


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
    costs = [tokens(name, f"f=compactor=floor:recall={share}") for share in SHARES]
    assert costs == sorted(costs)
    reached = [recall(name, f"f=compactor=floor:recall={share}") for share in SHARES]
    for share, found in zip(SHARES, reached, strict=True):
        assert found is None or found >= share - 1e-9


@pytest.mark.slow
@given(st.lists(FACTS, unique=True, max_size=12))
def test_one_text_holds_every_fact_in_the_fewest_tokens_of_both_separators(facts: list[str]) -> None:
    texts = Texts()
    text = densest(tuple(facts), len, longer_holding(facts, FactsHeld(facts, Texts())))
    assert texts.missing(text, facts) == []
    alone = [fact for fact in facts if not any(len(other) > len(fact) and texts.holds(other, fact) for other in facts)]
    assert len(text) <= len(" ".join(alone)) + 1 or texts.missing(" ".join(alone), facts)
