"""The references that read the future bracket every strategy, and reach the share of dependencies that they are told to reach."""

from __future__ import annotations

import pytest
from handmade import SMALL
from measured import run_of, value

from bench.evidence.oracle import CURVE

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
