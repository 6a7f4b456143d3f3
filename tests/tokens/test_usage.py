"""Counting after a recording's own usage: constants found again, reasoning recognised, and left alone where nothing is reported."""

from __future__ import annotations

import pytest
from handmade import trace
from hypothesis import given, strategies as st
from recorded_usage import session, without_usage

from bench.model import ContextReset, Counting, ModelTurn, SystemTurn, ToolResult, ToolsChanged, Trace, Usage, UserTurn
from bench.tokens.counting import TokenCounter, encoding_for
from bench.tokens.usage import Calibration, calibration_of, sent_prompts


def calibration(recording: Trace) -> Calibration:
    encoding, assumed = encoding_for(recording.model)
    return calibration_of(recording, TokenCounter(encoding), None, assumed=assumed)


@given(prompt=st.integers(-3, 500), message=st.integers(0, 30), tools=st.booleans())
def test_the_framing_of_a_known_vocabulary_is_found_again(prompt: int, message: int, tools: bool) -> None:
    counted = Counting(prompt_tokens=prompt, message_tokens=message)
    found = calibration(session(9, counted, tools=tools))
    assert found.error < 0.002
    if found.counting.calibrated and (tools or prompt >= 0):
        assert (found.counting.prompt_tokens, found.counting.message_tokens) == (prompt, message)


@given(prompt=st.integers(3, 3000), factor=st.floats(0.8, 1.6))
def test_the_factor_of_another_vocabulary_is_found_again(prompt: int, factor: float) -> None:
    counted = Counting(prompt_tokens=prompt, message_tokens=3, factor=factor)
    found = calibration(session(12, counted, model="claude-opus-4-5"))
    assert found.counting.factor == pytest.approx(factor, rel=0.02)
    assert found.error < 0.005


def test_nothing_is_calibrated_without_usage() -> None:
    found = calibration(without_usage(session(9, Counting(prompt_tokens=99, message_tokens=9))))
    assert (found.counting.prompt_tokens, found.counting.message_tokens) == (3, 3.0)
    assert not found.counting.calibrated
    for is_resent in (False, True):
        turn = ModelTurn(index=0, content="On.", reasoning="I think.", reasoning_resent=is_resent)
        assert bool(calibration(trace(turn)).reasoning_tokens) is is_resent
    said = [ModelTurn(index=n, content="On.", reasoning="I think.", reasoning_resent=True, usage=Usage(prompt_tokens=size))
            for n, size in enumerate((3, 8, 13))]  # fmt: skip
    assert calibration(trace(*said)).reasoning_tokens == {}  # the provider counted none


@pytest.mark.parametrize(("turns", "message_tokens"), [(4, 3.0), (5, 9.0)])
def test_the_framing_of_a_message_takes_five_turns(turns: int, message_tokens: float) -> None:
    found = calibration(session(turns, Counting(prompt_tokens=99, message_tokens=9)))
    assert found.counting.message_tokens == message_tokens


def test_one_outlier_changes_no_constant() -> None:
    recording = session(12, Counting(prompt_tokens=50, message_tokens=8))
    turn = recording.model_turns[5]
    wrong = Usage(prompt_tokens=9 * turn.usage.prompt_tokens)
    steps = [s if s is not turn else ModelTurn(index=s.index, content=s.content, tool_calls=s.tool_calls, model=s.model, usage=wrong)
             for s in recording.steps]  # fmt: skip
    found = calibration(Trace(id="a", source=recording.source, steps=tuple(steps)))
    assert (found.counting.prompt_tokens, found.counting.message_tokens) == (50, 8)


def test_prompts_after_a_reset_are_those_that_were_sent() -> None:
    count = TokenCounter()
    steps = (
        ToolsChanged(index=0, tools=({"name": "f"},)),
        SystemTurn(index=1, content="Be brief."),
        UserTurn(index=2, content="Count the rows."),
        ModelTurn(index=3, content="I will.", usage=Usage(prompt_tokens=50, completion_tokens=7, reasoning_tokens=4)),
        ToolResult(index=4, call_id="c", function="f", seen="a b", full="a b c d e f"),
        ModelTurn(index=5, content="Done."),
        ContextReset(index=6, summary="We counted.", kept=(4,)),
        ModelTurn(index=7, content="Bye."),
    )
    prompts = [*sent_prompts(trace(*steps), count)]
    said = [count.text(text) for text in ("Be brief.", "Count the rows.", "I will.", "a b", "We counted.")]
    assert [prompt.size.messages for prompt in prompts] == [2, 4, 3]
    assert [prompt.size.text for prompt in prompts] == [sum(said[:2]), sum(said[:4]), said[0] + said[3] + said[4]]
    sizes = [(prompt.size.reasoning, prompt.size.answered, prompt.size.answered_text) for prompt in prompts]
    assert sizes == [(0, 0, 0), (4, 7, 3), (0, 0, 0)]
    assert {prompt.tools for prompt in prompts} == {count.tools(({"name": "f"},))}


def test_reasoning_that_was_sent_back_is_recognised() -> None:
    count, total, steps = TokenCounter(), 100, [UserTurn(index=0, content="Go on, please.")]
    total += count.text("Go on, please.") + 3
    for n in range(1, 9):
        reasoning = 0 if n == 4 else 200 + 37 * n * n % 400
        used = Usage(prompt_tokens=total, completion_tokens=reasoning + 2, reasoning_tokens=reasoning)
        steps.append(ModelTurn(index=n, content=f"Step {n}.", model="gpt-4o", usage=used))
        total += count.text(f"Step {n}.") + 3 + reasoning
    found = calibration(trace(*steps))
    sent = {turn.index: turn.usage.reasoning_tokens for turn in steps[1:]}
    assert found.reasoning_tokens == {index: tokens for index, tokens in sent.items() if index != 4}
    assert found.error == 0
