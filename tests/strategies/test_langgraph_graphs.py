"""Compiled LangGraph graphs replay: nodes answered from the trace, their own edges deciding. The real one is that of document 003."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from handmade import conversation_of, result, trace as trace_of
from measured import replayed_or_failed

import bench
from bench.metrics import metrics
from bench.model import RouteDecision, Trace, UserTurn
from bench.model.errors import SpecError
from bench.strategies import parse_strategy

GRAPH_003 = '''
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages


class AgentState(TypedDict, total=False):
    messages: Annotated[list, add_messages]
    selected_script: str
    next_conversational_action: str


CALLS = iter([("search_scripts_tool", {"query": "walls"}), ("get_script_parameters_tool", {"script": "Create_Wall.cs"}), None])


def agent_node(state):
    call = next(CALLS)
    if call is None:
        return {"messages": [AIMessage(id="last", content="Parameters of Create_Wall.cs: level, length.")]}
    name, arguments = call
    asked = {"name": name, "args": arguments, "id": f"call_{name}", "type": "tool_call"}
    return {"messages": [AIMessage(id=f"ai_{name}", content="", tool_calls=[asked])], "selected_script": "Create_Wall.cs"}


def answered(state):
    call = state["messages"][-1].tool_calls[0]
    return {"messages": [ToolMessage(id=f"tool_{call['id']}", content="Create_Wall.cs: level, length", tool_call_id=call["id"])]}


def route_from_agent(state):
    """Document 003, conversational flow: a tool, the flow for parameters, or the end."""
    calls = state["messages"][-1].tool_calls
    if not calls:
        return "respond"
    return "parameters" if calls[0]["name"] == "get_script_parameters_tool" else "tool"


def graph(route=route_from_agent):
    workflow = StateGraph(AgentState)
    workflow.add_node("agent_node", agent_node)
    workflow.add_node("tool_node", answered)
    workflow.add_node("get_parameters_node", answered)
    workflow.add_edge(START, "agent_node")
    ends = {"tool": "tool_node", "parameters": "get_parameters_node", "respond": END}
    workflow.add_conditional_edges("agent_node", route, ends)
    workflow.add_edge("tool_node", "agent_node")
    workflow.add_edge("get_parameters_node", "agent_node")
    return workflow


app = graph().compile()
without_parameters = graph(lambda state: "tool" if state["messages"][-1].tool_calls else "respond").compile()
'''

RECORD = """
import json, sys
from langchain_core.messages import HumanMessage, messages_to_dict
from langgraph.checkpoint.memory import InMemorySaver
from graph import graph

app = graph().compile(checkpointer=InMemorySaver())
config = {"configurable": {"thread_id": "t"}}
app.invoke({"messages": [HumanMessage(id="user", content="create walls")]}, config)
states = []
for state in app.get_state_history(config):
    values = {**state.values, "messages": [m.model_dump() for m in state.values.get("messages", [])]}
    states.append({"values": values, "next": list(state.next), "config": {"configurable": {"thread_id": "t"}}, "metadata": dict(state.metadata),
                   "created_at": state.created_at})
json.dump(states, open(sys.argv[1], "w"))
"""

STAND_IN = """
from types import SimpleNamespace as Any


def edge(decide, ends=None):
    return Any(path=Any(invoke=decide), ends=ends, input_schema=None)


class State:
    __annotations__ = {"level": str, "current_step_index": int, "last_step_evaluation": dict}


app = Any(builder=Any(
    nodes={"a": 1, "b": 1, "c": 1, "jumps": 1, "judge": 1}, state_schema=State,
    edges={("__start__", "a"), ("b", "__end__")},
    branches={
        "a": {"one": edge(lambda state: "up" if state["level"] == "L2" else "both", {"up": "b", "both": "c"})},
        "c": {"many": edge(lambda state: ["a", "b"])},
        "judge": {"one": edge(
            lambda state: "abort" if state["last_step_evaluation"]["critical_failure"] else "continue",
            {"abort": "b", "continue": "a"},
        )},
    },
))
nothing = 3
bad = Any(builder=Any(nodes={"a": 1}, state_schema=State, edges=set(), branches={"__start__": {"x": edge(lambda state: "q", {"y": "a"})}}))
"""


def written(folder: Path, text: str) -> Path:
    (folder / "graph.py").write_text(text)
    return folder


def routes_of(recorded: Trace, graph: str, folder: Path, extra: str = "") -> list[tuple[str | None, str]]:
    run = replayed_or_failed(recorded, parse_strategy(f'g={extra}routers=langgraph:graph="{graph}"', folder))
    assert run.failure is None, run.failure
    taken = {step.index: step.taken for step in recorded.steps if isinstance(step, RouteDecision)}
    return [(taken.get(item.step), item.route) for item in run.decisions]


def with_decisions(*taken: str, router: str | None = "langgraph", level: str = "L1") -> Trace:
    steps = [
        RouteDecision(index=2 + number, at="after_model", taken=name, router=router, state={"level": level})
        for number, name in enumerate(taken)
    ]
    return conversation_of(steps)


def test_edges_decide_from_each_recorded_node(tmp_path: Path) -> None:
    written(tmp_path, STAND_IN)
    path = [("a", "a"), ("c", "c"), ("a+b", "a+b")]
    assert routes_of(with_decisions("a", "c", "a+b"), "graph.py:app", tmp_path) == path
    assert routes_of(with_decisions("a", "c", level="L2"), "graph.py:app", tmp_path) == [("a", "a"), ("c", "b")]
    assert routes_of(with_decisions("a", "jumps", "b", "__end__"), "graph.py:app", tmp_path) == [
        ("a", "a"), ("jumps", "c"), ("__end__", "__end__"),
    ]  # fmt: skip


def test_decisions_of_other_routers_are_left_alone_and_named_nodes_answer_with_labels(tmp_path: Path) -> None:
    written(tmp_path, STAND_IN)
    assert routes_of(with_decisions("go", router="approval"), "graph.py:app", tmp_path) == []
    assert routes_of(with_decisions("both", "up", router="a"), "graph.py:app", tmp_path) == [
        ("both", "both"),
        ("up", "both"),
    ]
    assert routes_of(trace_of(UserTurn(index=0, content="x")), "graph.py:app", tmp_path) == []


def test_edges_read_the_findings_of_the_strategy(tmp_path: Path) -> None:
    steps: list[Any] = []
    for number, error in enumerate((None, "ImportError: no umap")):
        steps.append(result("x", index=2 + 2 * number, success=error is None, error=error))
        steps.append(RouteDecision(index=3 + 2 * number, at="after_evaluation", taken="continue", router="judge"))
    pairs = routes_of(conversation_of(steps), "graph.py:app", written(tmp_path, STAND_IN), "evaluator=step_v1+")
    assert pairs == [("continue", "continue"), ("continue", "abort")]


def test_the_first_divergence_is_measured(tmp_path: Path) -> None:
    recorded = with_decisions("a", "b", "__end__")  # on L1 its edge leads to c
    run = replayed_or_failed(
        recorded, parse_strategy('g=routers=langgraph:graph="graph.py:app"', written(tmp_path, STAND_IN))
    )
    sample = metrics()["routing.first_divergence"].number(run.evidence)
    assert (sample.value, sample.weight) == (1 / 3, 3)


@pytest.mark.parametrize(
    ("graph", "says"),
    [
        ("graph.py", "after a colon"),
        ("graph.py:nothing", "is no compiled StateGraph"),
        ("graph.py:gone", "has no"),
    ],
)
def test_an_object_that_is_not_a_graph_is_refused(tmp_path: Path, graph: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        parse_strategy(f'g=routers=langgraph:graph="{graph}"', written(tmp_path, STAND_IN))


def test_a_graph_is_user_code_and_runs_in_a_child_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_WRITABLE", str(tmp_path))
    monkeypatch.chdir(written(tmp_path, f"import os\nopen(f'{{os.getpid()}}.pid', 'w')\n{STAND_IN}"))
    result = bench.compare(with_decisions("a", "c"), ['g=routers=langgraph:graph="graph.py:app"'])
    assert result.number("g", "routing.accuracy").value == 1.0
    numbers = [path.stem for path in tmp_path.glob("*.pid")]
    assert numbers
    assert str(os.getpid()) not in numbers


def test_an_edge_to_an_unknown_node_fails_the_strategy(tmp_path: Path) -> None:
    run = replayed_or_failed(
        with_decisions("a"), parse_strategy('g=routers=langgraph:graph="graph.py:bad"', written(tmp_path, STAND_IN))
    )
    assert run.failure is not None
    assert "node __start__: its edge gave 'q', which leads nowhere — known: y" in run.failure.error


# ---------------------------------------------------------------- the real thing


def test_the_graph_of_document_003_replays_its_recorded_decisions(tmp_path: Path) -> None:
    pytest.importorskip("langgraph.graph", reason="langgraph is not installed")
    written(tmp_path, GRAPH_003)
    (tmp_path / "record.py").write_text(RECORD)
    subprocess.run([sys.executable, "record.py", "states.json"], cwd=tmp_path, check=True)
    assert len(json.loads((tmp_path / "states.json").read_text())) > 5
    (recorded,) = bench.load([f"langgraph:{tmp_path}/states.json"]).traces
    pairs = routes_of(recorded, "graph.py:app", tmp_path)
    path = ["agent_node", "tool_node", "agent_node", "get_parameters_node", "agent_node", "__end__"]
    assert [taken for taken, _ in pairs] == path
    assert [route for _, route in pairs] == path
    run = replayed_or_failed(
        recorded, parse_strategy('g=routers=langgraph:graph="graph.py:without_parameters"', tmp_path)
    )
    sample = metrics()["routing.first_divergence"].number(run.evidence)
    assert (sample.value, sample.weight) == (3 / 6, 6)
