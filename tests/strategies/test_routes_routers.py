"""The routers of documents 000, 001, 003 and of Magentic-One, on hand-made states and on recorded decisions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from handmade import compose, conversation_of, result, trace
from measured import replayed
from readers import WHO_AND_WHEN
from readers.ledger import Ledger

from bench.model import Approval, Message, ModelTurn, RouteDecision, ToolCall, ToolResult, Trace, UserTurn
from bench.model.errors import SpecError
from bench.plugins.registry import build
from bench.strategies.documents.document_001 import LoopDetector
from bench.strategies.documents.document_003 import agent_turn, plan
from bench.traces import load

# ---------------------------------------------------------------- ledger


def ledger(
    satisfied: Any = False, loop: Any = False, progress: Any = True, speaker: Any = "WebSurfer"
) -> dict[str, Any]:
    answers = {
        "is_request_satisfied": satisfied,
        "is_in_loop": loop,
        "is_progress_being_made": progress,
        "next_speaker": speaker,
    }
    return {"ledger": {key: {"answer": answer, "reason": ""} for key, answer in answers.items()}}


STALLED = ledger(loop=True, progress=False)


def routes(router: Ledger, *states: dict[str, Any]) -> list[str]:
    return [(router.decide(state) or ("",))[0] for state in states]


def test_ledger_replans_on_the_fourth_stall_whatever_came_between() -> None:
    states = [
        STALLED,
        ledger(),
        ledger(loop=True),
        ledger(),
        ledger(),
        ledger(progress=False),
        ledger(),
        STALLED,
        STALLED,
    ]
    assert routes(Ledger(), *states) == [*["next"] * 7, "replan", "next"]


def test_ledger_terminates_in_place_of_a_fourth_replan() -> None:
    decided = routes(Ledger(), *[STALLED] * 16)
    assert [number for number, route in enumerate(decided) if route != "next"] == [3, 7, 11, 15]
    assert decided[15] == "terminated"
    assert routes(Ledger(max_stalls=0, max_replans=1), STALLED, STALLED, ledger()) == ["replan", "terminated", "next"]


def test_ledger_satisfied_comes_first_and_is_no_stall() -> None:
    router = Ledger(max_stalls=0)
    assert routes(router, ledger(satisfied=True, loop=True), ledger(), STALLED) == ["satisfied", "next", "replan"]


def test_ledger_names_the_speaker_of_a_next() -> None:
    router = Ledger(max_stalls=1)
    assert router.decide(ledger(loop=True)) == ("next", {"speaker": "WebSurfer", "stalls": 1, "replans": 0})
    assert router.decide(ledger(loop=True)) == ("replan", {"stalls": 0, "replans": 1})
    assert router.decide(ledger(speaker=None)) == ("next", {"stalls": 0, "replans": 1})


@pytest.mark.parametrize("state", [{}, {"ledger": None}, {"ledger": {"is_in_loop": True}}, ledger("yes", "no", "no")])
def test_ledger_accepts_only_booleans_as_answers(state: dict[str, Any]) -> None:
    assert routes(Ledger(max_stalls=0), state) == ["next"]


def decisions_of(recording: Trace) -> list[tuple[int, str]]:
    return [(d.step, d.route) for d in replayed(recording, compose("s", {"routers": Ledger})).decisions]


def test_ledger_decides_at_recorded_points_and_starts_anew_for_each_trace() -> None:
    steps = [UserTurn(index=0, content="?")]
    steps += [RouteDecision(index=n, at="before_model", router="ledger", taken="x", state=STALLED) for n in range(1, 5)]
    recording = trace(*steps, ModelTurn(index=5, content="done"))
    for _ in range(2):
        assert decisions_of(recording) == [(1, "next"), (2, "next"), (3, "next"), (4, "replan")]


def test_ledger_reproduces_every_recorded_decision(shared_traces: Path) -> None:
    rows = [json.loads(line) for line in (shared_traces / "labels/magentic_routing.jsonl").read_text().splitlines()]
    expected = {(row["file"], row["index"]): row for row in rows}
    decided = {
        (f"who-and-when/Hand-Crafted/{recording.id}.json", decision.step): (decision, recording.steps[decision.step])
        for recording in load([f"{WHO_AND_WHEN}:who-and-when/Hand-Crafted"], shared_traces).traces
        for decision in replayed(recording, compose("s", {"routers": Ledger})).decisions
    }
    assert decided.keys() == expected.keys()
    for place, row in expected.items():
        decision, step = decided[place]
        assert decision.route == step.taken == row["recorded_event"], place
        if decision.route == "next":
            assert decision.detail["speaker"] == row["next_speaker"]
            stalled = row["in_loop"] or not row["progress"]
            assert decision.detail["stalls"] == row["stall_count_before"] + stalled


# ---------------------------------------------------------------- loop_detector


def call(number: int, name: str = "ls", arguments: Any = None) -> Message:
    asked = ToolCall(id=f"c{number}", name=name, arguments=arguments)
    return Message(role="assistant", text="", kind="model", step=number, tool_calls=(asked,))


def answer(number: int, text: str = "a.csv") -> Message:
    return Message(role="tool", text=text, kind="result", step=number, call_id=f"c{number}")


def loop_route(*prompt: Message, repeats: int = 3) -> tuple[str, dict[str, Any]]:
    return LoopDetector(repeats=repeats).decide({"prompt": prompt})


TWICE = [call(1), answer(1), call(2), answer(2)]


def test_loop_detector_wants_three_equal_calls_with_equal_results() -> None:
    assert loop_route(*TWICE) == ("continue", {})
    assert loop_route(*TWICE, repeats=2) == ("break_loop", {"function": "ls", "times": 2})
    apart = [call(8, "cat"), answer(8, "?"), call(3), answer(3)]
    assert loop_route(*TWICE, *apart) == ("break_loop", {"function": "ls", "times": 3})


@pytest.mark.parametrize(
    "third",
    [
        [call(3), answer(3, "b.csv")],
        [call(3, "dir"), answer(3)],
        [call(3, arguments={"all": True}), answer(3)],
        [call(3)],
        [answer(3)],
        [call(3), answer(4)],
        [call(3), Message(role="user", text="a.csv", kind="made", call_id="c3")],
    ],
)
def test_loop_detector_counts_only_what_is_the_same_and_shown(third: list[Message]) -> None:
    assert loop_route(*TWICE, *third)[0] == "continue"


def test_loop_detector_pairs_parallel_calls_and_ids_used_again() -> None:
    both = ToolCall(id="a", name="ls"), ToolCall(id="b", name="pwd")
    turn = Message(role="assistant", text="", kind="model", tool_calls=both)
    answers = [Message(role="tool", text=text, kind="result", call_id=name) for name, text in (("b", "/"), ("a", "x"))]
    assert loop_route(*[turn, *answers] * 3) == ("break_loop", {"function": "pwd", "times": 3})
    assert loop_route(*[turn, answers[1]] * 3) == ("break_loop", {"function": "ls", "times": 3})


def test_loop_detector_continues_without_a_prompt_and_refuses_a_single_repeat() -> None:
    assert LoopDetector().decide({}) == ("continue", {})
    with pytest.raises(SpecError):
        build("router", "loop_detector:repeats=1")


def stuck(turns: int, *, text: bool = False) -> Trace:
    """An agent that looks into the same folder again and again."""
    steps: list[Any] = []
    for turn in range(turns):
        asked = ToolCall(id=f"c{turn}", name="bash", arguments={"command": "ls"}, in_text=text)
        content = "I look.\n\nexecute: ls" if text else ""
        steps.append(ModelTurn(index=2 + 2 * turn, content=content, tool_calls=(asked,)))
        steps.append(result("a.csv " * 40, index=3 + 2 * turn, call_id=asked.id, function="bash"))
    return conversation_of(steps)


@pytest.mark.parametrize("text", [False, True])
def test_loop_detector_sees_the_prompt_as_each_strategy_shows_it(text: bool) -> None:
    recording = stuck(4, text=text)
    seen = {
        slots: [(d.route, d.untruncated) for d in replayed(recording, f"s=routers=loop_detector{slots}").decisions]
        for slots in ("", "+compactor=mask_observations:keep_last=1", "+compactor=sliding_window:keep_last=4")
    }
    go, out = "continue", "break_loop"
    assert seen[""] == [(go, go), (go, go), (go, go), (out, out), (out, out)]
    assert seen["+compactor=sliding_window:keep_last=4"] == [(go, go), (go, go), (go, go), (go, out), (go, out)]
    # two real results and a placeholder, then one and two: never three that are equal until three placeholders are
    assert seen["+compactor=mask_observations:keep_last=1"] == [(go, go), (go, go), (go, go), (go, out), (out, out)]


# ---------------------------------------------------------------- documents 000, 001, 003


def test_after_execution_follows_the_strategy_s_own_summary() -> None:
    rows = json.dumps([{"Name": number} for number in range(6)])
    short = {"output": "one\ntwo", "structured_output": []}
    table = {"output": "", "structured_output": [{"type": "table", "data": rows}]}
    recording = conversation_of([result(None, index=2, data=short), result(None, index=3, data=table)])
    run = replayed(recording, "s=summarizer=table_console+routers=after_execution")
    assert [d.route for d in run.decisions] == ["respond_with_raw", "respond_with_summary"]
    assert [d.route for d in replayed(recording, "s=routers=after_execution").decisions] == ["respond_with_raw"] * 2


def turn(*names: str) -> ModelTurn:
    return ModelTurn(index=0, tool_calls=tuple(ToolCall(id=name, name=name) for name in names))


RUN, PARAMETERS = "run_script_by_name", "get_script_parameters_tool"


@pytest.mark.parametrize(
    ("step", "pending", "route"),
    [
        (turn(RUN), "ask", "approval"),
        (turn("search_scripts_tool", PARAMETERS, RUN), None, "approval"),
        (turn(PARAMETERS), None, "get_parameters"),
        (turn("search_scripts_tool", PARAMETERS), None, "get_parameters"),
        (turn("search_scripts_tool"), "ask", "tools"),
        (turn(), "ask_for_parameters", "ask_for_parameters"),
        (turn(), "", "respond"),
        (turn(), None, "respond"),
        (UserTurn(index=0, content="run_script_by_name"), None, "respond"),
        (None, None, "respond"),
    ],
)
def test_agent_turn_routes_by_the_calls_and_the_pending_question(step: Any, pending: Any, route: str) -> None:
    assert agent_turn({"step": step, "next_conversational_action": pending}) == route


def test_a_script_is_asked_for_then_executed_or_given_back() -> None:
    recording = trace(
        UserTurn(index=0, content="Make a wall."),
        ModelTurn(index=1, tool_calls=(ToolCall(id="a", name=RUN),)),
        Approval(index=2, call_id="a", approved=False),
        ModelTurn(index=3, tool_calls=(ToolCall(id="b", name=RUN),)),
        Approval(index=4, call_id="b", approved=True),
        ToolResult(index=5, call_id="b", function=RUN, data={"is_success": True, "output": "✅ Wall created."}),
        ModelTurn(index=6, content="Wall created."),
    )
    run = replayed(recording, "s=routers=[agent_turn,approval,after_execution]")
    assert [(d.step, d.router, d.route) for d in run.decisions] == [
        (1, "agent_turn", "approval"),
        (2, "approval", "agent"),
        (3, "agent_turn", "approval"),
        (4, "approval", "execute"),
        (5, "after_execution", "respond_with_raw"),
        (6, "agent_turn", "respond"),
    ]


# ---------------------------------------------------------------- plan

STEPS = [{"script_name": "Foundation.cs"}, {"script": "Columns.cs"}, "Beams.cs"]
OK, FAILED = {"success": True}, {"success": False}


def plan_route(done: int, *executed: dict[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    return plan({"multi_step_plan": STEPS, "current_step_index": done, "execution_history": executed, **more})


def test_plan_runs_its_steps_in_order() -> None:
    assert plan_route(0) == ("continue", {"next": "Foundation.cs", "number": 0})
    assert plan_route(1, OK) == ("continue", {"next": "Columns.cs", "number": 1})
    assert plan_route(2, OK, OK) == ("continue", {"next": "Beams.cs", "number": 2})
    assert plan_route(3, OK, OK, OK) == ("complete", {})
    assert plan_route(7, OK) == ("complete", {})


def test_plan_processes_a_summary_before_the_next_step_starts() -> None:
    summary = {"execution_summary": {"type": "table", "row_count": 50}}
    detail = {"then": "continue", "next": "Columns.cs", "number": 1}
    assert plan_route(1, OK, **summary) == ("process_summary", detail)
    assert plan_route(3, OK, **summary) == ("process_summary", {"then": "complete"})
    assert plan_route(0, **summary) == ("continue", {"next": "Foundation.cs", "number": 0})  # nothing was executed yet


def test_plan_sends_a_failed_step_where_the_step_evaluator_would() -> None:
    summary = {"execution_summary": {"type": "console"}}
    critical = {"last_step_evaluation": {"critical_failure": True}}
    assert plan_route(1, FAILED, **summary, **critical) == ("abort", {})
    assert plan_route(1, FAILED, **summary) == ("continue", {"next": "Columns.cs", "number": 1})
    assert plan_route(3, FAILED) == ("complete", {})
    assert (
        plan_route(2, FAILED, OK, **critical)[0] == "continue"
    )  # only the last step's evaluation is that of this step


def test_plan_in_a_replay_aborts_on_a_critical_failure_alone() -> None:
    error = "ModuleNotFoundError: no module named RevitAPI"
    steps = [
        result("ok", index=2),
        result("", index=3, success=False, error="ValueError: 3"),
        result("", index=4, success=False, error=error),
    ]
    recording = conversation_of(steps)
    recording.meta["execution_plan"] = {"steps": ["a", "b", "c", "d"]}
    run = replayed(recording, "s=evaluator=step_v1+routers=plan")
    assert [d.route for d in run.decisions] == ["continue", "continue", "abort"]
