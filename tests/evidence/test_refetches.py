"""Calls that ask again for what the run had been told: a case by hand, and agreement with the slow reference."""

from __future__ import annotations

import msgspec
import pytest
from generated import SHORTENING, traces
from handmade import opened, result, run_of, trace
from hypothesis import given, strategies as st
from measured import evidence_of, measured
from reference import lost

from bench.model import Lost, ModelTurn, Run, Sample, ToolCall, Trace, UserTurn
from bench.traces.commands import calls_in


def refetches(recording: Trace, run: Run) -> list[Sample]:
    return measured("needed.refetches", recording, run)


def asked(*texts: str | None) -> Trace:
    """The same call over and over, each time with one of these results; None: no result."""
    steps = []
    for number, text in enumerate(texts):
        call = ToolCall(id=f"c{number}", name="count", arguments={"of": "rows"})
        steps.append(ModelTurn(index=2 + 2 * number, tool_calls=(call,)))
        if text is not None:
            steps.append(result(text, index=3 + 2 * number, call_id=call.id, function="count"))
    return opened(steps)


def test_by_hand() -> None:
    # asked at steps 2, 4, 6; cut to four characters, "471 rows" keeps its fact and "rows 471" loses it
    recording = asked("471 rows", "471 rows", "471 rows")
    assert [sample.numerator for sample in refetches(recording, run_of(recording, "keep_all"))] == [0.0, 0.0]
    assert [sample.numerator for sample in refetches(recording, run_of(recording, "c=summarizer=truncate:limit=4"))] == [0.0, 0.0]  # fmt: skip
    recording = asked("rows 471", "rows 471", "rows 471")
    samples = refetches(recording, run_of(recording, "c=summarizer=truncate:limit=4"))
    assert [(sample.step, sample.call_id, sample.numerator) for sample in samples] == [(4, "c1", 1.0), (6, "c2", 1.0)]
    assert samples[1].detail == Lost(facts=("471",))
    (first, gone), (second, _) = evidence_of(recording, run_of(recording, "drop_all")).prompts.scan.repeats
    assert (first.command, first.earlier.index, first.told, gone) == ('count {"of":"rows"}', 3, ("471",), ("471",))
    assert second.earlier.index == 5
    assert [sample.numerator for sample in refetches(recording, run_of(recording, "drop_all"))] == [1.0, 1.0]


def test_a_command_in_text_is_a_call_like_any_other() -> None:
    steps = []
    for index in (2, 4):
        (call,) = calls_in("execute: wc -l", index)
        steps.append(ModelTurn(index=index, content="execute: wc -l", tool_calls=(call,)))
        steps.append(result("471", index=index + 1, call_id=call.id, function="bash", role="user"))
    recording = opened(steps)
    ((repeat, gone),) = evidence_of(recording, run_of(recording, "drop_all")).prompts.scan.repeats
    assert (repeat.command, gone) == ("wc -l", ("471",))


@pytest.mark.slow
@given(trace=traces(extras=True), strategy=st.sampled_from(SHORTENING), data=st.data())
def test_as_the_reference_slow_because_it_rebuilds_every_prompt(
    trace: Trace, strategy: str, data: st.DataObject
) -> None:
    trace = repeating(trace, data.draw(st.integers(1, 3)))
    run = run_of(trace, strategy)
    repeats = evidence_of(trace, run).prompts.scan.repeats
    expected = lost.refetches(trace, run)
    assert {repeat.call_id: (len(gone), len(repeat.told)) for repeat, gone in repeats} == expected
    counted = {sample.call_id: sample.numerator for sample in refetches(trace, run)}
    assert counted == {call: float(gone > 0) for call, (gone, _) in expected.items()}


def test_what_is_gone_is_fetched_from_the_smallest_result_of_its_thread_before_the_turn() -> None:
    recording = opened(
        [
            result("level_471 " + "and more " * 20, index=2, call_id="a"),
            result("level_471 again", index=3, call_id="b"),
            ModelTurn(index=4, content="ok"),
            ModelTurn(index=5, content="level_471 it is"),
            result("level_471", index=6, call_id="c"),
            result("level_471", index=7, call_id="d", thread="critic"),
        ]
    )
    repair = evidence_of(recording, run_of(recording, "drop_all")).refetches
    assert {turn: (list(item.fetched), item.beyond) for turn, item in repair.items()} == {5: ([3], ())}


def test_one_result_serves_every_fact_that_it_holds() -> None:
    recording = opened(
        [
            result("level_471 " + "and more " * 20, index=2, call_id="a"),
            result("level_471, level_472 " + "or less " * 30, index=3, call_id="b"),
            ModelTurn(index=4, content="ok"),
            ModelTurn(index=5, content="level_472 above level_471, and level_999"),
        ]
    )
    (repair,) = evidence_of(recording, run_of(recording, "drop_all")).refetches.values()
    assert (repair.turn, list(repair.fetched), repair.beyond) == (5, [3], ())
    assert repair.new_tokens == repair.answer_tokens + repair.fetched[3]


def test_what_no_result_holds_is_beyond_a_fetch() -> None:
    recording = trace(
        UserTurn(index=0, content="Look at run_7."),
        result("471 rows", index=1),
        ModelTurn(index=2, content="ok"),
        ModelTurn(index=3, content="run_7 has 471"),
    )
    (repair,) = evidence_of(recording, run_of(recording, "drop_all")).refetches.values()
    assert (repair.turn, list(repair.fetched), repair.beyond) == (3, [1], ("run_7",))
    assert repair.answer_tokens == 0  # no turn of the trace ever called: how long such an answer is, nobody knows
    assert evidence_of(recording, run_of(recording, "keep_all")).refetches == {}


def test_what_a_handle_gives_serves_every_fact_that_it_holds() -> None:
    steps = [
        result("level_471, level_472 " + "and more " * 20, index=2, call_id="a"),
        result("level_472", index=3, call_id="b"),
        ModelTurn(index=4, content="ok"),
        ModelTurn(index=5, content="level_471 below level_472"),
    ]
    recording = opened(steps)
    run = run_of(recording, "s=store=external:preview_chars=0")
    first, second = (outcome.record.handle for outcome in run.results)
    (repair,) = evidence_of(recording, run).refetches.values()
    assert (list(repair.fetched), repair.beyond) == ([first], ())  # it gives both: the second one is not asked for
    steps[3] = ModelTurn(index=5, content="level_472")
    recording = opened(steps)
    run = run_of(recording, "s=store=external:preview_chars=0")
    (repair,) = evidence_of(recording, run).refetches.values()
    assert (list(repair.fetched), repair.beyond) == ([second], ())  # the smaller one of two


def repeating(recording: Trace, targets: int) -> Trace:
    """The trace with its calls asking for so few things that they repeat."""
    steps = []
    for step in recording.steps:
        if isinstance(step, ModelTurn):
            calls = tuple(
                msgspec.structs.replace(call, name="query", arguments={"target": number % targets})
                for number, call in enumerate(step.tool_calls)
            )
            step = msgspec.structs.replace(step, tool_calls=calls)
        steps.append(step)
    return msgspec.structs.replace(recording, steps=tuple(steps))
