"""Compactions: a case by hand, a history that collapses, and agreement with the slow reference."""

from __future__ import annotations

import msgspec
import pytest
from bench.evidence.shown import CURVE_CALLS, calls_shown, window_shown
from bench.evidence.tiers import Survivors, compaction_steps
from generated import SHORTENING, traces
from handmade import opened, result, run_of, trace
from hypothesis import given, strategies as st
from measured import evidence_of, measured
from reference import lost

from bench.metrics import example
from bench.model import Compaction, ContextReset, ModelTurn, Prompt, Run, Splice, Trace, UserTurn, WriterCall


def pairs(name: str, recording: Trace, run: Run) -> list[tuple[int | None, float | None, float | None]]:
    return [(sample.step, sample.numerator, sample.denominator) for sample in measured(name, recording, run)]


def three_results() -> Trace:
    """Three results of two facts each, a model turn after each one."""
    steps = []
    for number in (1, 2, 3):
        steps.append(result(f"{number}00 and {number}50", index=2 * number, call_id=f"c{number}"))
        steps.append(ModelTurn(index=2 * number + 1, content="ok"))
    return opened(steps)


def test_by_hand() -> None:
    # keeps one result: the first compaction is at step 5 (two told, one masked), the second at step 7 (three told, two masked), the last prompt
    # (step 8) masks nothing more
    recording = three_results()
    run = run_of(recording, "mask=compactor=mask_observations:keep_last=1")
    assert pairs("loss.compactions.1", recording, run) == [(5, 2.0, 4.0)]
    assert pairs("loss.compactions.2", recording, run) == [(7, 2.0, 6.0)]
    assert pairs("loss.compactions.3", recording, run) == []
    (curve,) = evidence_of(recording, run).prompts.scan.compactions.values()
    assert curve == [Compaction(5, 2, 4), Compaction(7, 2, 6)]
    # half is not fewer than half: it collapsed in its second compaction
    assert pairs("loss.collapse_compaction", recording, run) == [(7, 2.0, 1.0)]


def test_without_compaction_there_is_nothing_to_measure() -> None:
    recording = three_results()
    for strategy in ("keep_all", "cut=summarizer=truncate:limit=2"):
        run = run_of(recording, strategy)
        for name in ("loss.compactions.1", "loss.compactions.2", "loss.compactions.3", "loss.collapse_compaction"):
            assert measured(name, recording, run) == []


STRATEGIES = (
    *SHORTENING,
    "clairvoyant",
    "floor",
    "cut_mask=summarizer=truncate:limit=60+compactor=mask_observations:keep_last=1",
    "window=compactor=sliding_window:keep_last=3",
)


@pytest.mark.slow
@given(trace=traces(extras=True), strategy=st.sampled_from(STRATEGIES))
def test_as_the_reference_slow_because_it_rebuilds_every_prompt(trace: Trace, strategy: str) -> None:
    run = run_of(trace, strategy)
    ours = {
        thread: [(item.step, item.kept, item.total) for item in found]
        for thread, found in evidence_of(trace, run).prompts.scan.compactions.items()
    }
    assert ours == lost.compactions(trace, run)


class Held:
    """What a prompt holds, and which facts came or went since it was last asked."""

    def __init__(self, *facts: str, touched: tuple[str, ...] = ()) -> None:
        self.facts, self.touched = set(facts), set(touched)

    def items(self) -> set[str]:
        return self.facts


def test_a_fact_is_lost_once_and_comes_back_as_often_as_it_was_told() -> None:
    survivors = Survivors([(1, {"a": 1, "b": 1}), (3, {"a": 2}), (9, {"c": 1})])

    def at(step: int, shown: Held) -> tuple[int, int]:
        counted = survivors.at(Prompt(step=step, thread="main", splices=(), tokens=0), shown)  # type: ignore[arg-type]
        return counted.kept, counted.total

    assert at(2, Held("a", "b")) == (2, 2)
    assert at(4, Held("b", touched=("a",))) == (1, 3)  # gone, and told again where it is gone
    assert at(5, Held("b", touched=("a",))) == (1, 3)  # still gone
    assert at(6, Held("a", "b", touched=("a",))) == (3, 3)
    assert at(8, Held("b", touched=("a",))) == (1, 3)
    assert at(10, Held("b")) == (1, 4)  # c was never held
    assert at(11, Held("b", "c", touched=("c",))) == (2, 4)


JOINED = {1: [0], 3: [1, 2]}


def second(*added: str, removed: int = 0, compacted: bool = True) -> Run:
    """The example's run with another second prompt, at step 3: its first one shows the user's turn alone."""
    run = example().run
    splice = Splice(at=1 - removed, removed=removed, added=added)
    prompt = msgspec.structs.replace(run.prompts[1], splices=(splice,), compacted=compacted)
    other = msgspec.structs.replace(run.messages["result"], text="so many")
    messages = {**run.messages, "other": other}
    return msgspec.structs.replace(run, messages=messages, prompts=(run.prompts[0], prompt))


@pytest.mark.parametrize(
    ("run", "steps"),
    [
        (second("call", "result"), set()),  # everything that joined is there
        (second("call"), {3}),
        (second("result"), {3}),
        (second("call", "other"), {3}),  # the result reads otherwise now
        (second("call", compacted=False), set()),
        (second("call", "result", removed=1), {3}),
        (second("call", "result", removed=1, compacted=False), set()),
        (second(), {3}),
    ],
)
def test_a_prompt_is_a_compaction_where_something_of_its_history_went(run: Run, steps: set[int]) -> None:
    assert compaction_steps(run, JOINED) == steps


def test_a_prompt_for_which_a_summary_was_written_is_a_compaction() -> None:
    run = second("call", "result", compacted=False)
    calls = (WriterCall(step=step, consumed_tokens=9, produced_tokens=4) for step in (3, 9))  # no prompt is of step 9
    assert compaction_steps(msgspec.structs.replace(run, writer_calls=tuple(calls)), JOINED) == {3}


def test_what_joined_a_thread_since_its_turn_before() -> None:
    recording = trace(
        UserTurn(index=0, content="a"), ModelTurn(index=1), result("b", index=2), ContextReset(index=3),
        result("c", index=4, thread="critic"), ModelTurn(index=5), ModelTurn(index=6, thread="critic"), ModelTurn(index=7),
    )  # fmt: skip
    assert evidence_of(recording, run_of(recording, "keep_all")).of_trace.joined_before == {
        1: [0],
        5: [1, 2],
        6: [4],
        7: [5],
    }


@pytest.mark.parametrize(
    ("calls", "kept"), [(CURVE_CALLS, CURVE_CALLS), (CURVE_CALLS + 2, CURVE_CALLS // 2 + 2), (1, 1)]
)
def test_a_window_is_drawn_with_calls_enough_and_with_both_ends(calls: int, kept: int) -> None:
    """One more than fits: of every two calls one is drawn, and the last one."""
    run = run_of(trace(*(ModelTurn(index=index, content="ok") for index in range(calls))), "keep_all")
    window = window_shown(run, calls_shown(run))
    assert (window.calls, len(window.curve)) == (calls, kept)
    assert CURVE_CALLS == 240
    assert (window.curve[0].number, window.curve[-1].number) == (1, calls)
