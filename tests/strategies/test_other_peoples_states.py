"""Routers and evaluators as other people have them, and what is said of anybody's strategy on the terminal."""

from __future__ import annotations

from handmade import compose, conversation_of, result, shell
from measured import replayed_or_failed
from theirs import run_of

# ---------------------------------------------------------------- a state of messages

ROUTERS = """
from typing import Literal, TypedDict

class State(TypedDict, total=False):
    messages: list

def typed(state: State) -> Literal["tools", "end"]:
    return "end" if len(state.get("messages")) > 4 and state["messages"][0]["role"] == "system" else "tools"

def undeclared(state):
    return {"messages": []}
"""


def test_a_router_finds_the_prompt_as_the_messages_of_its_state(tmp_path):
    run = run_of(tmp_path, "routers=mine.py:typed", ROUTERS, conversation_of(shell(2, start=2)))
    assert run.failure is None
    assert {item.route for item in run.decisions} == {"tools", "end"}
    assert len(run.decisions) == 2


def test_a_node_of_a_graph_is_no_router(tmp_path):
    run = run_of(tmp_path, "routers=mine.py:undeclared", ROUTERS)
    assert "a router gives a route's name" in run.failure.error


# ---------------------------------------------------------------- what is not the same twice


def test_a_random_value_without_effect_is_not_unstable():
    import time
    import uuid

    def stamped(record):
        return {"success": True, "id": str(uuid.uuid4()), "timestamp": time.time(), "at": str(uuid.uuid4())}

    recorded = conversation_of([result("abcdef", index=2)])
    assert replayed_or_failed(recorded, compose("stamped", {"evaluator": stamped})).unstable_at is None


def test_a_random_strategy_is_reported_as_unstable():
    import random
    import time

    given = iter(range(1000))
    functions = {
        "random": {"summarizer": lambda result: result.text[:2] + str(random.random())},
        "clock": {"summarizer": lambda result: f"{time.time()}"},
        "steady": {"summarizer": lambda result: result.text[:2]},
        "counts": {"compactor": lambda messages: [*messages[:1], {"role": "user", "content": str(next(given))}]},
    }
    recorded = conversation_of([result("abcdef", index=2)])
    found = {name: replayed_or_failed(recorded, compose(name, slots)).unstable_at for name, slots in functions.items()}
    assert found == {"random": 2, "clock": 2, "steady": None, "counts": 3}
