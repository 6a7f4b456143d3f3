"""What every prompt must hold, as the recording told it: facts, words, and the turns that count as instructions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from bench.evidence.of_trace import TraceEvidence
from bench.evidence.validity import Checked, MessageShape, Problem, check_prompts, problems
from handmade import result, trace

from bench.model import ContextReset, Message, ModelTurn, Prompt, Run, Splice, SystemTurn, ToolCall, UserTurn

RECORDED = TraceEvidence(trace()).recorded


@pytest.mark.parametrize(
    ("told", "text", "held"),
    [
        ("use run_1, run_2, run_3, run_4 and run_5", "run_1 run_2 run_3 run_4", True),  # four of five facts
        ("use run_1, run_2, run_3, run_4 and run_5", "use run_1 and run_2 and run_3", False),
        ("sort every wall", "wall every sort", True),  # no facts: its words
        ("sort every wall", "every second is red", False),
        ("sort rows", "rows", False),  # a word of four letters counts
        ("sort the row now", "it was sorted: sort", True),  # one of three does not
        ("do it", "anything", True),  # nothing that could be lost
        ("do it", " ", False),
        ("sort rows", "Sort, ROWS", True),
    ],
)
def test_a_text_stands_for_an_instruction_whose_facts_or_words_it_keeps(told: str, text: str, held: bool) -> None:
    instructions = TraceEvidence(trace(UserTurn(index=0, content=told))).recorded.instructions
    assert instructions.told_by("main", Message(role="user", kind="made", text=text)) == ((0,) if held else ())


# ---------------------------------------------------------------- by hand


def calls(index: int, *ids: str) -> ModelTurn:
    return ModelTurn(index=index, tool_calls=tuple(ToolCall(id=name, name="look") for name in ids))


EVIDENCE = TraceEvidence(
    trace(
        SystemTurn(index=0, content="Use run_1."),
        UserTurn(index=1, content="Find x_471."),
        calls(2, "a", "b"),
        result("one", index=3, call_id="a"),
        result("two", index=4, call_id="b"),
        UserTurn(index=5, content="Go on."),
        calls(6, "c"),
        result("three", index=7, call_id="c"),
        ModelTurn(index=8, content="Done."),
    )
)


def call(name: str) -> ToolCall:
    return ToolCall(id=name, name="look")


MESSAGES = {
    "s": Message(role="system", kind="system", text="Use run_1.", step=0),
    "u": Message(role="user", kind="user", text="Find x_471.", step=1),
    "ab": Message(role="assistant", kind="model", text="", step=2, tool_calls=(call("a"), call("b"))),
    "a": Message(role="tool", kind="result", text="one", step=3, call_id="a"),
    "b": Message(role="tool", kind="result", text="two", step=4, call_id="b"),
    "v": Message(role="user", kind="user", text="Go on.", step=5),
    "c?": Message(role="assistant", kind="model", text="", step=6, tool_calls=(call("c"),)),
    "c": Message(role="tool", kind="result", text="three", step=7, call_id="c"),
    "note": Message(role="user", kind="made", text="Note x_471."),
    "said": Message(role="assistant", kind="made", text="So far."),
    "asks": Message(role="assistant", kind="made", text="", tool_calls=(call("z"),)),
    "told": Message(role="tool", kind="made", text="z", call_id="z"),
}


def prompts_checked(*edits: Sequence[tuple[int, int, Sequence[str]]]) -> list[Checked]:
    """The prompts of the turn at step 8 that edits make one out of the other, each as (place, how many go, what comes)."""
    prompts = [
        Prompt(step=8, thread="main", tokens=9,
               splices=tuple(Splice(at=at, removed=removed, added=tuple(added)) for at, removed, added in edit))
        for edit in edits
    ]  # fmt: skip
    run = Run(trace_id="t", trace_sha256="", strategy="s", spec="", encoding="o200k_base",
              messages=MESSAGES, message_tokens={}, prompts=tuple(prompts))  # fmt: skip
    return check_prompts(EVIDENCE.recorded, run)


def at_once(*keys: str) -> Checked:
    (found,) = prompts_checked([(0, 0, keys)])
    return found


def test_what_was_recorded_is_fine() -> None:
    assert at_once("s", "u", "ab", "a", "b", "v", "c?", "c") == Checked(8)


def test_only_steps_of_the_recording_are_named_as_places_and_each_once() -> None:
    wrong = Checked(8, "the tool result of a written message has no call before it")
    assert at_once("s", "u", "v", "told") == wrong
    assert at_once("s", "u", "asks", "note").invalid == "call z of a written message has no result before the next turn"
    assert at_once("s", "u", "asks", "told", "note").invalid == ""
    twice = at_once("s", "u", "ab", "told", "v")
    assert twice.invalid == "call a of step 2 has no result before the next turn (and 2 more)"
    assert twice.places == (2,)


@pytest.mark.parametrize(
    ("kind", "role", "answers"),
    [
        ("result", "tool", "a"), ("result", "function", "a"), ("made", "tool", "a"), ("made", "assistant", None),
        ("result", "user", None), ("model", "assistant", None),
    ],
)  # fmt: skip
def test_what_answers_a_call_is_a_result_or_speaks_as_a_tool(kind: Any, role: Any, answers: str | None) -> None:
    message = Message(role=role, kind=kind, text="one", step=3, call_id="a")
    shape = EVIDENCE.recorded.shape_of("main", message)
    assert (shape.answers, shape.is_user) == (answers, role == "user")


def test_a_written_message_has_no_place_in_the_order() -> None:
    assert at_once("s", "note", "u", "said", "v").invalid == ""
    assert at_once("s", "v", "note", "u").invalid == "step 1 stands after step 5"


def test_problems_of_a_whole_prompt_in_order() -> None:
    asked, told = MessageShape(2, 2, ("a", "b")), MessageShape(3, 3, answers="a")
    assert list(problems([])) == []
    assert list(problems([asked, told, MessageShape(4, 4, answers="b")])) == []
    assert list(problems([asked, told])) == [Problem("call", 2, "b")]
    assert list(problems([asked, told, told])) == [Problem("call", 2, "b"), Problem("result", 3, "a")]
    assert {*problems([told, asked])} == {
        Problem("result", 3, "a"), Problem("call", 2, "a"), Problem("call", 2, "b"), Problem("order", 2, "step 3"),
    }  # fmt: skip
    assert list(problems([MessageShape(5, 5), MessageShape(None, None), MessageShape(4, 4), MessageShape(5, 5)])) == [
        Problem("order", 4, "step 5")
    ]


# ---------------------------------------------------------------- what a recorded reset leaves


def test_a_summary_speaks_as_a_user_and_stands_for_the_instructions_that_it_keeps() -> None:
    recorded = TraceEvidence(
        trace(
            SystemTurn(index=0, content="Use run_1."),
            UserTurn(index=1, content="Find x_471."),
            ModelTurn(index=2, content="Yes."),
            ContextReset(index=3, kept=(), summary="x_471 is to be found."),
            ModelTurn(index=4),
            ContextReset(index=5, kept=(4,), summary=None),
            ModelTurn(index=6),
            UserTurn(index=7, content="Go on."),
            ModelTurn(index=8),
        )
    ).recorded
    assert recorded.no_user_at == {6}
    assert recorded.untold_at == {4: frozenset(), 6: {1, 2}, 8: {1}}  # the system turn at the start stays
    assert [item.text for item in recorded.instructions.by_thread["main"]] == ["Use run_1.", "Find x_471.", "Go on."]
    assert (recorded.first_user, recorded.broken_at) == ({"main": 1}, {})


def test_a_reset_without_a_summary_holds_what_it_kept() -> None:
    steps = (UserTurn(index=0, content="Find x_471."), calls(1, "a"), result("one", index=2, call_id="a"))
    recorded = TraceEvidence(trace(*steps, ContextReset(index=3, kept=(0, 2)), ModelTurn(index=4))).recorded
    assert recorded.broken_at == {4: {Problem("result", 2, "a")}}
    assert (recorded.no_user_at, recorded.untold_at) == (set(), {4: frozenset()})
    assert recorded.broken == {"main": frozenset()}
