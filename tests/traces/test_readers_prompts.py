"""Model calls with whole prompts become threads in which each message stands once."""

from __future__ import annotations

from bench.model import ContextReset, ModelTurn, ToolCall, ToolResult, ToolsChanged
from bench.traces.intakes.prompts import Prompts
from bench.traces.steps import ReadMessage, ToolRun

SYSTEM, TASK = ReadMessage("system", "You help."), ReadMessage("user", "List the walls.")


def call(call_id: str, name: str = "run", **arguments: object) -> ReadMessage:
    return ReadMessage("assistant", "", (ToolCall(id=call_id, name=name, arguments=arguments),))


def result(call_id: str, text: str) -> ReadMessage:
    return ReadMessage("tool", text, call_id=call_id)


def test_other_prompts_are_other_threads() -> None:
    run = Prompts()
    run.add_model_call([SYSTEM, TASK], call("a", "delegate"))
    run.add_model_call(
        [ReadMessage("system", "You browse."), ReadMessage("user", "Look.")],
        ReadMessage("assistant", "found"),
        group="browser",
    )
    run.add_model_call([SYSTEM, TASK], call("z"))  # asked again: a branch
    run.add_model_call([SYSTEM, TASK, call("a", "delegate"), result("a", "found")], ReadMessage("assistant", "done"))
    run.add_model_call([ReadMessage("user", "Title?")], ReadMessage("assistant", "Walls"), group="browser")
    turns = [step for step in run.steps if isinstance(step, ModelTurn)]
    assert [turn.thread for turn in turns] == ["main", "browser", "agent", "main", "browser 2"]
    assert not any(isinstance(step, ContextReset) for step in run.steps)


def test_a_conversation_handed_to_another_agent_is_one_thread_with_other_instructions() -> None:
    run = Prompts()
    run.add_model_call([SYSTEM, TASK], call("a", "handoff"), group="triage")
    other = ReadMessage("system", "You edit.")
    run.add_model_call(
        [other, TASK, call("a", "handoff"), result("a", "handed over")],
        ReadMessage("assistant", "done"),
        group="editor",
    )
    assert [type(step).__name__ for step in run.steps] == [
        "SystemTurn", "UserTurn", "ModelTurn", "ContextReset", "SystemTurn", "ToolResult", "ModelTurn"
    ]  # fmt: skip
    assert {step.thread for step in run.steps} == {"main"}
    (reset,) = (step for step in run.steps if isinstance(step, ContextReset))
    assert (reset.summary, reset.kept) == (None, (1, 2))


def test_an_answer_repeated_as_several_messages_is_one_turn() -> None:
    run = Prompts()
    both = ReadMessage("assistant", "", (*call("a").calls, *call("b").calls))
    run.add_model_call([TASK], both)
    run.add_model_call([TASK, call("a"), result("a", "A"), call("b"), result("b", "B")], ReadMessage("assistant", "x"))
    assert [type(step).__name__ for step in run.steps] == [
        "UserTurn",
        "ModelTurn",
        "ToolResult",
        "ToolResult",
        "ModelTurn",
    ]


def test_calls_without_ids_are_answered_in_order() -> None:
    run = Prompts()
    asked = ReadMessage("assistant", "", (ToolCall(id="", name="f", arguments={"a": 1}), ToolCall(id="", name="g")))
    run.add_model_call([TASK], asked)
    run.add_model_call(
        [TASK, asked, ReadMessage("tool", "G", name="g"), ReadMessage("tool", "F")], ReadMessage("assistant", "x")
    )
    assert [(step.function, step.seen, step.call_id) for step in run.steps if isinstance(step, ToolResult)] == [
        ("g", "G", "call1.1"), ("f", "F", "call1")
    ]  # fmt: skip


def test_results_that_no_message_shows_are_added() -> None:
    run = Prompts()
    run.add_model_call([TASK], call("a"), tools=[])
    run.ran = {"a": ToolRun(output={"walls": 36}, time=0.5), "b": ToolRun(output="x")}
    run.add_unseen_results()
    (shown,) = (step for step in run.steps if isinstance(step, ToolResult))
    assert (shown.seen, shown.full, shown.data, shown.t) == (None, '{"walls":36}', {"walls": 36}, 0.5)
    assert run.unread.counts == {"run of a tool that no call asked for": 1}
    assert not any(isinstance(step, ToolsChanged) for step in run.steps)
