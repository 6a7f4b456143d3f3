"""Routers and evaluators as other people have them, and what is said of anybody's strategy on the terminal."""

from __future__ import annotations

import pytest
from handmade import opened, result, shell
from measured import ran
from theirs import run_of, write

import bench
from bench.cli import main
from bench.traces.formats.native import encode_trace

# ---------------------------------------------------------------- a state of messages

ROUTERS = """
from typing import Literal, TypedDict

class State(TypedDict, total=False):
    messages: list

def after_model(state):
    return "tools" if state["messages"][-1].get("tool_calls") else "end"

def typed(state: State) -> Literal["tools", "end"]:
    return "end" if len(state.get("messages")) > 3 and "messages" in state else "tools"

def node(state: State) -> dict:
    return {"messages": state["messages"][:1]}

def undeclared(state):
    return {"messages": []}
"""


def test_a_router_finds_the_prompt_as_the_messages_of_its_state(tmp_path):
    recorded = opened(shell(2, start=2))
    for function in ("after_model:at=after_model,form=chat_state", "typed:form=chat_state"):
        run = run_of(tmp_path, f"routers=mine.py:{function}", ROUTERS, recorded)
        assert run.failure is None
        assert {item.route for item in run.decisions} <= {"tools", "end"}
    assert len(run.decisions) == 2


def test_the_node_of_a_graph_is_a_compactor_and_no_router(tmp_path):
    pytest.importorskip("langchain_core")
    run = run_of(tmp_path, "compactor=mine.py:node", ROUTERS, opened(shell(2, start=2)))
    assert run.failure is None
    assert "write compactor= before it" in run_of(tmp_path, "routers=mine.py:undeclared").failure.error


# ---------------------------------------------------------------- what is said of it


def test_one_that_raised_on_one_case_of_two_was_measured_on_the_other(tmp_path, capsys, monkeypatch):
    write(tmp_path, "def f(text: str):\n    return text[:9] if len(text) < 150 else 1 / 0\n")
    for name, count in (("a", 1), ("b", 9)):
        (tmp_path / f"{name}.jsonl").write_bytes(encode_trace(opened(shell(1, start=2, chars=40 * count), id=name)))
    monkeypatch.chdir(tmp_path)
    for traces, says in (("*.jsonl", "no strategy was measured on every case"), ("b.jsonl", "nothing was measured")):
        with pytest.raises(SystemExit) as done:
            main(["run", "--traces", traces, "--strategy", "m=summarizer=mine.py:f"])
        assert done.value.code == 3
        assert f"{says} (exit 3)" in capsys.readouterr().out


# ---------------------------------------------------------------- what is not the same twice


def test_a_stamp_that_reaches_no_prompt_route_or_gate_is_not_unstable():
    import time
    import uuid

    def stamped(record):
        return {"success": True, "id": str(uuid.uuid4()), "timestamp": time.time(), "at": str(uuid.uuid4())}

    found = bench.compare([opened([result("abcdef", index=2)])], {"stamped": {"evaluator": stamped}})
    assert found.cases[0].runs["stamped"].unstable_at is None


def test_a_random_function_is_found_and_no_gate_judges_it():
    import random

    given = iter(range(1000))
    functions = {
        "random": lambda result: result.text[:2] + str(random.random()),
        "steady": lambda result: result.text[:2],
        "counts": {"compactor": lambda messages: [*messages[:1], {"role": "user", "content": str(next(given))}]},
    }
    gates = [{"metric": "cost.prompt_tokens", "max": 10_000, "strategy": name} for name in functions]
    found = bench.compare([opened([result("abcdef", index=2)])], functions, gates=gates)
    (case,) = found.cases
    assert {name: case.runs[name].unstable_at for name in functions} == {"random": 2, "steady": None, "counts": 3}
    assert [verdict.outcome for verdict in found.verdicts] == ["inconclusive", "pass", "inconclusive"]
    assert found.verdicts[0].sentence.startswith("random is unstable: replayed again, it gave something else on t")
    assert found.value("random", "cost.prompt_tokens") > 0, "marked, and shown"
