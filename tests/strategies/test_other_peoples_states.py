"""Routers and evaluators as other people have them, and what is said of anybody's strategy on the terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from handmade import opened, result, shell
from theirs import one, run_of, write

import bench
from bench.cli import main
from bench.run.job import Times
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


def test_slow_ones_are_named_beside_a_slower_one():
    times = Times()
    for name, seconds in (("huge", 90.0), ("slow", 14.0), ("quick", 0.1), ("other", 0.2), ("third", 0.1)):
        times.add(name, seconds)
    assert [line.partition(" ")[0] for line in times.slow()] == ["huge", "slow"]


@pytest.mark.slow
def test_what_a_strategy_prints_is_no_part_of_the_report(tmp_path):
    write(tmp_path, "print('at import')\ndef f(text: str):\n    print('at a call')\n    return text[:2]\n")
    (tmp_path / "t.jsonl").write_bytes(encode_trace(one()))
    run = subprocess.run(
        [sys.executable, "-m", "bench", "run", "--traces", "t.jsonl", "--strategy", "m=summarizer=mine.py:f"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "at import" not in run.stdout
    assert "at a call" not in run.stdout
    assert "at import" in run.stderr
    assert "at a call" in run.stderr


def test_what_routers_and_evaluators_say_is_on_the_terminal(tmp_path, capsys, monkeypatch):
    write(
        tmp_path,
        "def route(state):\n    return 'go on'\n\ndef judge(record: dict):\n    return {'long': len(str(record['result']))}\n",
    )
    (tmp_path / "t.jsonl").write_bytes(encode_trace(one()))
    monkeypatch.chdir(tmp_path)
    given = ["--strategy", "r=routers=mine.py:route", "--strategy", "e=evaluator=mine.py:judge+store=truncate:limit=5"]
    with pytest.raises(SystemExit):
        main(["run", "--traces", "t.jsonl", *given, "--strategy", "m=summarizer=untruncated"])
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "r mine.py:route 1 of 1 go on 1" in lines
    assert "e 1 1 of 1" in lines
    with pytest.raises(SystemExit):
        main(["run", "--traces", "t.jsonl", "--strategy", "m=summarizer=untruncated"])
    assert "Where did routes go wrong?" not in capsys.readouterr().out


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
