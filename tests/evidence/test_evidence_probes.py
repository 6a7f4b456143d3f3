"""Probes at the edges: a turn at step 0, threads, and how a probe is written down."""

from __future__ import annotations

from typing import Any

import pytest
from handmade import result, trace

from bench.evidence.probes import Questions, search, turn_after
from bench.model import AskedProbe, ModelTurn, Probe, Trace, UserTurn
from bench.model.errors import ScenarioError


def questions_of(recording: Trace, **fields: Any) -> list[dict[str, Any]]:
    return Questions([Probe(question="Who?", expected="Ann", **fields)], "s.toml").of(recording)


def test_a_text_without_a_value_is_searched_as_written() -> None:
    assert search("length(@)", "plain") == 5
    assert search("length(@)", "[471, 472") == 1  # the last number may be half a one


def test_a_probe_without_a_step_asks_the_only_turn_even_if_it_is_the_first_step() -> None:
    turn = ModelTurn(index=0, content="Ann.")
    assert turn_after(trace(turn), AskedProbe(question="Who?", expected="Ann")) is turn
    later = AskedProbe(question="Who?", expected="Ann", step=0)
    assert turn_after(trace(turn, ModelTurn(index=1, content="Bob.")), later) is not turn
    assert turn_after(trace(turn), later) is None  # a turn at the result's own step does not follow it


def test_a_probe_at_a_step_needs_a_turn_of_its_thread_from_there_on() -> None:
    recording = trace(
        UserTurn(index=0, content="So?"),
        result("Ann", index=1, function="f"),
        ModelTurn(index=2, content="Ann."),
        ModelTurn(index=3, thread="critic", content="Bob."),
    )
    assert questions_of(recording, at=3)[0]["at"] == 3  # of no result: any thread will do
    assert questions_of(recording, at=2, result="f")[0]["step"] == 1
    with pytest.raises(ScenarioError, match="t has no model turn from step 3 on"):
        questions_of(recording, at=3, result="f")
    with pytest.raises(ScenarioError, match=r"probes\[1\].* step 4 on"):
        questions_of(recording, at=4)


def test_a_probe_is_serialised_with_its_given_fields_only() -> None:
    recording = trace(UserTurn(index=0, content="So?"), ModelTurn(index=1, content="Ann."))
    plain = {"question": "Who?", "expected": "Ann", "where": "prompt", "step": None, "path": None, "at": None}
    assert questions_of(recording) == [plain]
    assert questions_of(recording, type="text") == [{**plain, "type": "text"}]
    absent = Probe(question="Who?", absent="Bob")
    assert Questions([absent], "s.toml").of(recording) == [{**plain, "expected": "Bob", "absent": True}]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [({"result": "f"}, None), ({"result": "ff"}, "call or function 'ff'"), ({"run": "u", "result": "f"}, "no run")],
)
def test_a_probe_that_no_result_answers_is_refused_after_the_last_step(
    fields: dict[str, str], problem: str | None
) -> None:
    questions = Questions([Probe(question="Who?", expected="Ann", **fields)], "s.toml")
    questions.of(trace(result("Ann", index=1, function="f"), ModelTurn(index=2, content="Ann.")))
    if problem is None:
        questions.require_asked()
    else:
        with pytest.raises(ScenarioError, match=problem):
            questions.require_asked()
