"""Prompts that providers refuse, and prompts that no longer say what the task is: only what the strategy broke counts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench.evidence.instructions import rules_in
from bench.evidence.of_run import PromptEvidence, RunEvidence
from bench.evidence.of_trace import TraceEvidence
from bench.evidence.shown import calls_of_run, window_shown
from bench.evidence.validity import problems
from bench.text.prompts_shown import happened
from checked_prompts import Compact, backwards, checked, compacting, last_five, session, turn, without
from examples import some
from generated import traces
from handmade import opened, result, shell, trace
from hypothesis import given, strategies as st

from bench import load
from bench.metrics import metric_of
from bench.model import ContextReset, Message, SystemTurn, Told, Trace, UserTurn
from bench.replayer.loop import Replayer
from bench.strategies import Strategy, Window

ROOT = Path(__file__).parents[2]


# ---------------------------------------------------------------- what is wrong


def test_a_result_without_its_call() -> None:
    last = checked(session(2), compacting(without(2)))[-1]
    assert last.invalid == "the tool result of step 3 has no call before it"


def test_a_call_without_its_result() -> None:
    last = checked(session(2), compacting(without(3)))[-1]
    assert last.invalid == "call c0 of step 2 has no result before the next turn"
    open_at_the_end = checked(session(2), compacting(without(5)))[-1]
    assert open_at_the_end.invalid == "call c1 of step 4 has no result before the next turn"


def test_a_turn_between_a_call_and_its_result() -> None:
    def note(window: Window) -> list[Message]:
        told = [message for message in window.messages if message.kind != "made"]
        return [*told[:3], Message(role="user", kind="made", text="note"), *told[3:]]

    assert "call c0 of step 2 has no result" in checked(session(1), compacting(note))[-1].invalid


def test_results_of_one_message_may_come_in_any_order() -> None:
    def swapped(window: Window) -> list[Message]:
        told = list(window.messages)
        return [*told[:3], *sorted(told[3:5], key=lambda message: -(message.step or 0)), *told[5:]]

    recording = opened([turn(2, "a", "b"), result("one", index=3, call_id="a"), result("two", index=4, call_id="b")])
    assert {item.invalid for item in checked(recording, "keep_all")} == {""}
    assert (
        checked(recording, compacting(swapped))[-1].invalid == "step 3 stands after step 4"
    )  # out of order, but paired


def test_two_results_of_one_call() -> None:
    def doubled(window: Window) -> list[Message]:
        told = [message for message in window.messages if message.kind != "result"]
        results = [message for message in window.messages if message.kind == "result"][:1]
        again = [msgspec.structs.replace(message, text="again") for message in results]
        return [*told[:3], *results, *again, *told[3:]]

    assert checked(session(1), compacting(doubled))[-1].invalid == "the tool result of step 3 has no call before it"


def test_an_id_that_is_used_again_pairs_with_the_nearest_call() -> None:
    steps = [turn(2, "x"), result("one", index=3, call_id="x"), turn(4, "x"), result("two", index=5, call_id="x")]
    assert {item.invalid for item in checked(opened(steps), "keep_all")} == {""}
    assert (
        checked(opened(steps), compacting(without(4)))[-1].invalid == "the tool result of step 5 has no call before it"
    )


def test_steps_out_of_their_recorded_order() -> None:
    def first_last(window: Window) -> list[Message]:
        told = list(window.messages)
        return [*told[1:], told[0]] if told[0].kind == "system" else told

    assert checked(session(1), compacting(first_last))[0].invalid == "step 0 stands after step 1"


def test_no_user_turn_at_all() -> None:
    found = checked(session(2), compacting(without(1)))
    assert [item.invalid for item in found] == ["no message speaks as a user"] * 3
    assert all(item.task_missing for item in found)


def test_several_things_are_counted_and_the_first_is_named() -> None:
    found = checked(session(4), compacting(without(1, 2, 5)))[-1].invalid
    assert found == "the tool result of step 3 has no call before it (and 1 more); no message speaks as a user"


def test_commands_written_as_text_need_no_pairs() -> None:
    recording = opened(shell(6, start=2))
    for strategy in (compacting(without(2)), compacting(without(3)), compacting(last_five)):
        assert {item.invalid for item in checked(recording, strategy)} == {""}
    assert "stands after" in checked(recording, compacting(backwards))[-1].invalid


# ---------------------------------------------------------------- the task


def summary_of(text: str) -> Compact:
    def summarized(window: Window) -> list[Message]:
        if any(message.kind == "made" for message in window.messages):
            return list(window.messages)
        made = Message(role="user", kind="made", text=text)
        return [made if message.step == 1 else message for message in window.messages]

    return summarized


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("The user wants the 471 rows of a/b.csv found.", False),
        ("Earlier: Find the 471 rows of a/b.csv. Nothing yet.", False),
        ("The user wants 471 rows found.", True),
        ("A task was given.", True),
        ("", True),
    ],
)
def test_a_summary_stands_for_the_task_while_it_keeps_its_facts(text: str, gone: bool) -> None:
    found = checked(session(2), compacting(summary_of(text)))
    assert {item.task_missing for item in found} == {gone}
    assert {item.invalid for item in found} == {""}


def test_the_task_is_what_was_said_last_and_what_later_turns_use() -> None:
    recording = trace(
        UserTurn(index=0, content="Look at survey_12.csv."),
        turn(1, content="Yes."),
        UserTurn(index=2, content="Now at levels_44.csv."),
        turn(3),
    )
    assert [item.task_missing for item in checked(recording, compacting(without(0)))] == [True, False]
    assert [item.task_missing for item in checked(recording, compacting(without(2)))] == [False, True]
    used = trace(*recording.steps[:3], turn(3, content="survey_12.csv is the older one."))
    assert [item.task_missing for item in checked(used, compacting(without(0)))] == [True, True]
    in_other_words = compacting(
        lambda window: [Message(role="user", kind="made", text="survey_12.csv first."), *window.messages[1:]]
    )
    assert not checked(used, in_other_words)[-1].task_missing


RULES = """You sell flights.
Never cancel a flight that has departed. You are friendly.
- Always ask for the booking number before you change anything
- Only refund to the original payment method.
Is it allowed to fly? You must not."""


def test_standing_instructions_are_found() -> None:
    assert list(rules_in(RULES)) == [
        "Never cancel a flight that has departed.",
        "Always ask for the booking number before you change anything",
        "Only refund to the original payment method.",
        "You must not.",
    ]
    chat = "I never got it. I only want my money. Do you always say so? Please do not cancel the other booking."
    assert list(rules_in(chat)) == ["Please do not cancel the other booking."]


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        (RULES, 0),
        (
            "Rules: never cancel departed flights; always ask for the booking number first, only refund to the original payment method.",
            0,
        ),
        ("Never cancel a flight that has departed. Always ask for the booking number before changes.", 1),
        (
            "The agent sells flights and can refund to the original payment method; a departed flight was not cancelled.",
            2,
        ),
        ("You sell flights.", 3),
    ],
)
def test_a_rule_that_a_summary_forgot_is_named(text: str, gone: int) -> None:
    steps = (
        SystemTurn(index=0, content=RULES.rsplit("\n", 1)[0]),
        UserTurn(index=1, content="Cancel x_1."),
        turn(2, content="Done."),
    )

    def summarized(window: Window) -> list[Message]:
        return [Message(role="user", kind="made", text=text), *window.messages[1:]]

    (found,) = checked(trace(*steps), compacting(summarized))
    assert len(found.rules_missing) == gone, found.rules_missing
    assert checked(trace(*steps), "keep_all")[0].rules_missing == ()


def test_the_system_turns_that_a_thread_begins_with_must_stay_and_later_ones_need_not() -> None:
    rule = SystemTurn(index=0, content="Refund no order of more than 471 euros.")
    polite, late = SystemTurn(index=1, content="Be polite."), SystemTurn(index=4, content="5 turns are left.")
    recording = trace(rule, polite, UserTurn(index=2, content="Refund order x_1."), turn(3), late, turn(5))
    made = Message(role="user", kind="made", text=rule.content)

    def shorter(window: Window) -> list[Message]:
        first, *rest = window.messages
        return [msgspec.structs.replace(first, text="At most 471 euros back."), *rest]

    for strategy, gone in (
        (compacting(without(0)), True), (compacting(without(1)), True), (compacting(without(4)), False),
        (compacting(shorter), False), (compacting(lambda window: [made, *window.messages[1:]]), True), ("keep_all", False), ("drop_all", False),
    ):  # fmt: skip
        assert [item.system_missing for item in checked(recording, strategy)] == [gone, gone]
    assert not any(item.task_missing for item in checked(recording, compacting(without(0))))


def test_a_system_prompt_that_the_recorded_harness_dropped_is_held_against_nobody() -> None:
    recording = trace(
        UserTurn(index=0, content="Look at x_1."),
        turn(1, content="Yes."),
        ContextReset(index=2, kept=(), summary="x_1 is to be looked at."),
        turn(3),
    )
    everyone = [item for strategy in ("keep_all", "recorded") for item in checked(recording, strategy)]
    assert not any(item.system_missing or item.task_missing for item in everyone)


def test_a_user_that_the_recorded_harness_kept_must_stay() -> None:
    steps = [*session(4).steps[:6], ContextReset(index=6, kept=(1, 4, 5)), turn(7, content="Done.")]
    for found in (checked(trace(*steps), compacting(without(1)))[-1], checked(session(1), compacting(without(1)))[-1]):
        assert (found.invalid, found.task_missing) == ("no message speaks as a user", True)


def test_a_written_message_that_would_be_refused_has_no_step_to_name() -> None:
    def answered(window: Window) -> list[Message]:
        if any(message.kind == "made" for message in window.messages):
            return list(window.messages)
        return [*window.messages, Message(role="tool", kind="made", text="471", call_id="nobody")]

    found = checked(session(1), compacting(answered))[0]
    assert (found.invalid, found.places) == ("the tool result of a written message has no call before it", ())


def test_before_the_task_was_given_nothing_is_missing() -> None:
    recording = trace(
        SystemTurn(index=0, content="s"), turn(1, content="Hello?"), UserTurn(index=2, content="Look at x_1."), turn(3)
    )
    assert [item.task_missing for item in checked(recording, "drop_all")] == [False, True]
    assert [bool(item.invalid) for item in checked(recording, "drop_all")] == [False, True]


# ---------------------------------------------------------------- what the recording itself broke


def test_what_the_recording_broke_counts_for_nobody() -> None:
    recording = opened(
        [
            turn(2, "asked", "never answered"),
            result("one", index=3, call_id="asked"),
            result("out of nowhere", index=4, call_id="unknown"),
            turn(5, content="go on"),
        ]
    )
    for strategy in ("keep_all", "recorded", "mask=compactor=mask_observations:keep_last=0"):
        assert {item.invalid for item in checked(recording, strategy)} == {""}
    assert "of step 3 has no call" in checked(recording, compacting(without(2)))[-1].invalid


def test_a_recorded_reset_that_broke_pairs_is_held_against_nobody_there() -> None:
    broken = session(4)
    steps = list(broken.steps)
    steps.insert(6, ContextReset(index=99, kept=(5,)))  # the result of step 5 without its call, no user turn, no task
    recording = trace(*(msgspec.structs.replace(step, index=place) for place, step in enumerate(steps)))
    assert recording.steps[6].index == 6
    for strategy in ("keep_all", "recorded"):
        assert {(item.invalid, item.task_missing) for item in checked(recording, strategy)} == {("", False)}
    assert checked(recording, compacting(without(1)))[0].task_missing  # before the reset it is the strategy's doing
    assert not checked(recording, compacting(without(1)))[-1].task_missing


@pytest.mark.slow
@given(traces(extras=True))
def test_keep_all_and_recorded_are_never_wrong(recording: Trace) -> None:
    for strategy in ("keep_all", "recorded"):
        assert {(item.invalid, item.task_missing) for item in checked(recording, strategy)} <= {("", False)}


# ---------------------------------------------------------------- found from the changes alone


def rewriting(seed: int) -> Compact:
    """A compactor that leaves out, rewrites, moves and inserts messages at random, each time anew."""
    draw = random.Random(seed)

    def rewritten(window: Window) -> Sequence[Message]:
        told = [message for message in window.messages if draw.random() > 0.15]
        told = [
            msgspec.structs.replace(message, text="…", tool_calls=message.tool_calls if draw.random() > 0.3 else ())
            if draw.random() < 0.2
            else message
            for message in told
        ]
        if told and draw.random() < 0.3:
            told.insert(
                draw.randrange(len(told) + 1),
                Message(role=draw.choice(("user", "assistant")), kind="made", text="note"),
            )
        if len(told) > 1 and draw.random() < 0.2:
            at = draw.randrange(len(told) - 1)
            told[at], told[at + 1] = told[at + 1], told[at]
        return told

    return rewritten


@pytest.mark.slow
@given(traces(max_turns=12, extras=True), st.integers(0, 10_000))
def test_what_is_found_from_the_changes_is_what_is_found_in_the_whole_prompt(recording: Trace, seed: int) -> None:
    evidence = TraceEvidence(recording)
    run = Replayer(evidence).run(compacting(rewriting(seed)))
    assert run.failure is None
    recorded = evidence.recorded
    for item, (prompt, keys) in zip(PromptEvidence(evidence, run).checked, run.walk(), strict=True):
        shapes = [recorded.shape_of(prompt.thread, run.messages[key]) for key in keys]
        excused = recorded.broken.get(prompt.thread, frozenset()) | recorded.broken_at.get(prompt.step, frozenset())
        wrong = [problem for problem in problems(shapes) if problem not in excused]
        assert item.invalid.startswith(str(wrong[0])) if wrong else item.invalid in ("", "no message speaks as a user")
        assert ("more)" in item.invalid) == (len(wrong) > 1)
        told = {number for shape in shapes for number in shape.told} | recorded.untold_at.get(prompt.step, frozenset())
        given = enumerate(recorded.instructions.by_thread.get(prompt.thread, ()))
        untold = [
            one for number, one in given if one.step < prompt.step <= (one.last or prompt.step) and number not in told
        ]
        kinds = {one.kind for one in untold}
        assert (item.task_missing, item.system_missing) == ("task" in kinds, "system" in kinds)
        assert item.rules_missing == tuple(one.text for one in untold if one.kind == "rule")


# ---------------------------------------------------------------- as metrics, and in reports


def test_the_metrics_count_prompts_and_say_what_is_wrong() -> None:
    evidence = TraceEvidence(session(3))
    run = Replayer(evidence).run(compacting(last_five))
    found = RunEvidence(evidence, run)
    invalid = metric_of("prompt.invalid").samples(found)
    assert [sample.numerator for sample in invalid] == [0, 0, 0, 1]  # 2, 4, then the last five of 6 and of 7 messages
    assert invalid[-1].detail == Told(
        text="the tool result of step 3 has no call before it; no message speaks as a user", steps=(3,)
    )
    assert [sample.numerator for sample in metric_of("prompt.task_missing").samples(found)] == [0, 0, 0, 1]
    assert [sample.numerator for sample in metric_of("prompt.system_missing").samples(found)] == [0, 0, 1, 1]
    shown = window_shown(run, calls_of_run(found))
    assert (shown.invalid, shown.task_missing, shown.system_missing) == (1, 1, 2)
    assert happened(shown.curve[2]).startswith("the system prompt is gone")
    assert [call.invalid != "" for call in shown.curve] == [False, False, False, True]
    assert happened(shown.curve[-1]).startswith("invalid: the tool result of step 3 has no call before it")
    assert "; the task is gone; the system prompt is gone" in happened(shown.curve[-1])


# ---------------------------------------------------------------- recorded runs


def wrong(recordings: Sequence[Trace], strategy: Strategy | str) -> Counter[str]:
    """Prompts in all, and those that are invalid or have lost the task."""
    found = [item for recording in recordings for item in checked(recording, strategy)]
    return Counter(
        prompts=len(found),
        invalid=sum(bool(item.invalid) for item in found),
        task=sum(item.task_missing for item in found),
    )


@pytest.mark.slow
def test_the_projects_own_traces_are_never_wrong_as_they_were_recorded() -> None:
    recordings = load([str(ROOT / "traces")]).traces
    for strategy in ("keep_all", "recorded"):
        found = wrong(list(recordings), strategy)
        assert (found["prompts"] > 400, found["invalid"], found["task"]) == (True, 0, 0)


@pytest.mark.slow
def test_coding_runs_under_what_providers_refuse(shared_traces: Any) -> None:
    recordings = some(load([f"swe:{shared_traces / 'scbench'}"]).traces, 5)
    prompts = sum(len(recording.model_turns) for recording in recordings)
    for strategy in ("keep_all", "recorded", "mask=compactor=mask_observations:keep_last=10"):
        assert wrong(recordings, strategy) == Counter(prompts=prompts, invalid=0, task=0)
    five = wrong(recordings, compacting(last_five))  # all but the first three prompts of each run
    assert five["invalid"] == five["prompts"] - 3 * len(recordings)
    assert wrong(recordings, compacting(backwards))["invalid"] == prompts
