"""Reasoning that was sent back is part of the prompt: the recorded prompt tokens say whether it was, and a turn that goes takes its own along."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench.evidence.of_trace import TraceEvidence
from bench.tokens.calibration import Calibration, calibrated, count_error
from handmade import result, trace
from recorded_usage import session

from bench import load
from bench.model import Counting, Message, ModelTurn, Run, ToolCall, Trace, UserTurn, WriterCall
from bench.replayer.loop import Replayer
from bench.strategies import parse_strategy
from bench.tokens.counting import TokenCounter, encoding_for

RULE = Counting(prompt_tokens=9, message_tokens=6)
THOUGHTS = (310, 40, 800, 120, 2100, 15, 640, 95)


def calibration_of(recording: Trace, **options: Any) -> Calibration:
    encoding, assumed = encoding_for(recording.model)
    return calibrated(recording, TokenCounter(encoding), None, assumed=assumed, **options)


def run_of(recording: Trace, spec: str) -> Run:
    return Replayer(TraceEvidence(recording)).run(parse_strategy(spec))


def peak(run: Run) -> int:
    return max(prompt.tokens for prompt in run.prompts)


# ---------------------------------------------------------------- the trace decides


@pytest.mark.parametrize("model", ["gpt-5.2", "claude-sonnet-4-5"])
@pytest.mark.parametrize("resent", [True, False])
def test_the_recorded_prompts_say_whether_reasoning_was_sent_back(model: str, resent: bool) -> None:
    recording = session(10, RULE, model=model, thinking=THOUGHTS, resent=resent)
    found = calibration_of(recording)
    assert found.reasoning == ("resent" if resent else "not resent")
    assert sum(found.sizes.values()) == (sum(THOUGHTS) + 2 * THOUGHTS[-1] if resent else 0)


def test_what_the_provider_counted_of_an_answer_beyond_its_text_is_reasoning_too() -> None:
    recording = session(
        12, Counting(prompt_tokens=500, factor=1.2), model="claude-opus-4-7", thinking=THOUGHTS, resent=True, told=False
    )
    found = calibration_of(recording)
    assert found.reasoning == "resent"
    for turn, thought in zip(recording.model_turns, THOUGHTS, strict=False):
        assert found.sizes.get(turn.index, 0) == pytest.approx(thought, abs=6)


def test_answers_without_reasoning_are_not_said_to_hold_any() -> None:
    found = calibration_of(session(12, Counting(prompt_tokens=500, factor=1.2), model="claude-3-5-haiku"))
    assert found.reasoning == ""
    assert sum(found.sizes.values()) < 30  # what rounding leaves


def test_it_is_decided_where_calibration_is_switched_off() -> None:
    recording = session(10, RULE, model="gpt-5.2", thinking=THOUGHTS, resent=True)
    found = calibration_of(recording, fit=False)
    assert (found.reasoning, found.counting.calibrated) == ("resent", False)
    assert found.sizes == calibration_of(recording).sizes


def test_usage_overrules_what_the_recorder_says() -> None:
    recording = session(10, RULE, model="gpt-5.2", thinking=THOUGHTS, resent=False)
    steps = [
        msgspec.structs.replace(step, reasoning="thought", reasoning_resent=True)
        if isinstance(step, ModelTurn)
        else step
        for step in recording.steps
    ]
    assert calibration_of(trace(*steps)).reasoning == "not resent"


def test_without_usage_the_recorder_is_believed_and_the_text_counted() -> None:
    told = "I look for the file first, then count."
    recording = trace(
        UserTurn(index=0, content="Count."),
        ModelTurn(index=1, content="So.", reasoning=told, reasoning_resent=True),
        ModelTurn(index=2, content="Done.", reasoning=told),
        ModelTurn(index=3, content="Done."),
    )
    found = calibration_of(recording)
    assert (found.reasoning, found.sizes) == ("resent", {1: TokenCounter().text(told)})
    assert calibration_of(trace(recording.steps[0], recording.steps[2])).sizes == {}


def test_a_few_turns_of_an_unknown_vocabulary_decide_nothing() -> None:
    recording = session(4, Counting(factor=1.4), model="claude-sonnet-4-5", thinking=THOUGHTS, resent=True)
    found = calibration_of(recording)
    assert (found.reasoning, found.sizes) == ("", {})


# ---------------------------------------------------------------- in prompts


def test_the_tokens_of_reasoning_belong_to_the_message_of_its_turn() -> None:
    recording = session(10, RULE, model="gpt-5.2", thinking=THOUGHTS, resent=True)
    run = run_of(recording, "keep_all")
    count = TokenCounter("o200k_base", run.counting)
    turns = [message for message in run.messages.values() if message.kind == "model"]
    assert [message.reasoning_tokens for message in turns][:8] == list(THOUGHTS)
    for key, message in run.messages.items():
        said = msgspec.structs.replace(message, reasoning_tokens=0)
        assert run.message_tokens[key] == count.message(said) + message.reasoning_tokens
        assert (message.reasoning_tokens > 0) == (message.kind == "model")


def test_a_turn_that_goes_takes_its_reasoning_along() -> None:
    thinking, silent = (
        session(10, RULE, model="gpt-5.2", thinking=thoughts, resent=True) for thoughts in (THOUGHTS, ())
    )
    everything = peak(run_of(thinking, "keep_all")) - peak(run_of(silent, "keep_all"))
    assert everything == sum(THOUGHTS) + THOUGHTS[-1]  # that of the last turn is sent back to nobody
    window = "window=compactor=sliding_window:keep_last=2"
    assert peak(run_of(thinking, window)) - peak(run_of(silent, window)) <= max(THOUGHTS)
    masked = "mask=compactor=mask_observations:keep_last=0"
    assert peak(run_of(thinking, masked)) - peak(run_of(silent, masked)) == everything  # its turns stay


def test_a_writer_is_not_given_the_reasoning() -> None:
    spec = "old=compactor=summarize_old:keep_last=2,max_tokens=1500"
    thinking, silent = (
        session(10, RULE, model="gpt-5.2", thinking=thoughts, resent=True) for thoughts in (THOUGHTS, ())
    )

    def read(recording: Trace) -> list[WriterCall]:
        return list(run_of(recording, spec).writer_calls)

    first, same = read(thinking)[0], read(silent)[0]
    run = run_of(thinking, spec)
    written = [message for message in run.messages.values() if message.kind == "made"]
    assert written
    assert all(message.reasoning_tokens == 0 for message in written)
    if first.step == same.step:
        assert first.consumed_tokens == same.consumed_tokens


def test_a_rewritten_turn_keeps_its_reasoning_and_may_drop_it() -> None:
    turn = Message(role="assistant", text="So.", kind="model", step=1, reasoning_tokens=70)
    count = TokenCounter()
    assert count.message(msgspec.structs.replace(turn, text="")) == 3 + 70
    assert count.message(msgspec.structs.replace(turn, reasoning_tokens=0)) == count.message(turn) - 70


def test_the_text_of_reasoning_is_not_part_of_the_message() -> None:
    call = ToolCall(id="c", name="look")
    recording = trace(
        UserTurn(index=0, content="Look."),
        ModelTurn(index=1, content="So.", reasoning="secret_471", reasoning_resent=True, tool_calls=(call,)),
        result("seen", index=2, call_id="c"),
        ModelTurn(index=3, content="Done."),
    )
    assert all("secret_471" not in message.text for message in run_of(recording, "keep_all").messages.values())


# ---------------------------------------------------------------- recorded runs


def test_reasoning_explains_what_was_missing_in_coding_runs(shared_traces: Path) -> None:
    """The prompt tokens of GPT runs were a tenth to almost half too low without it, and at most 2 % off with it."""
    seen = 0
    for recording in load([f"swe:{shared_traces / 'scbench'}"]).traces:
        if "gpt" not in str(recording.model):
            continue
        found = calibration_of(recording)
        count = TokenCounter("o200k_base")
        errors = []
        for sizes in ({}, found.sizes):
            counted = count_error(recording, count, sizes)
            errors.append(
                sum(abs(ours - theirs) for _, ours, theirs in counted) / sum(theirs for *_, theirs in counted)
            )
        assert found.reasoning == "resent"
        assert errors[0] > 0.09
        assert errors[1] < 0.02
        seen += 1
    assert seen == 9
