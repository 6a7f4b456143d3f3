"""Metrics of routes: worked by hand, against slow references, and the "stuck in a loop" defect of document 001."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from generated import traces
from handmade import decided, decision, looking, run_of, trace
from hypothesis import given, settings, strategies as st
from measured import measured
from reference import routes as slow

from bench.model import (
    Approval,
    ModelTurn,
    RouteDecision,
    Run,
    Sample,
    Told,
    ToolCall,
    ToolResult,
    Trace,
    Turned,
    UserTurn,
)
from bench.plugins.registry import Entry, Plugin
from bench.plugins.spec import Spec
from bench.replayer.loop import replay
from bench.strategies import Execution, Reply, Strategy, parse_strategy
from bench.strategies.documents.document_000 import task_state

ROUTERS = "routers=[agent_turn,approval,after_execution,executor,step_evaluator,plan,loop_detector]+evaluator=step_v1"
EMPTY = trace(id="empty")


first_divergence = partial(measured, "routing.first_divergence")
loops = partial(measured, "routing.loops")
missed_loops = partial(measured, "routing.missed_loops")
false_loops = partial(measured, "routing.false_loops")
unreset_states = partial(measured, "routing.unreset_states")
unapproved_executions = partial(measured, "routing.unapproved_executions")


def total(samples: list[Sample]) -> float:
    return sum(sample.numerator or 0.0 for sample in samples)


# ---------------------------------------------------------------- aborts


def test_missed_and_false_aborts_are_told_apart() -> None:
    """Three were expected and two of them missed; of the three others one was taken."""
    run = decided(
        decision(1, "abort", "abort"),
        decision(2, "continue", "abort"),
        decision(3, "retry", "abort"),
        decision(4, "abort", "continue"),
        decision(5, "continue", "continue"),
        decision(6, "retry", "continue"),  # wrong, and no abort
    )
    missed, false = (measured(f"routing.{name}_aborts", EMPTY, run) for name in ("missed", "false"))
    assert [(sample.step, sample.numerator) for sample in missed] == [(1, 0.0), (2, 1.0), (3, 1.0)]
    assert [(sample.step, sample.numerator) for sample in false] == [(4, 1.0), (5, 0.0), (6, 0.0)]


# ---------------------------------------------------------------- first_divergence


def test_first_divergence_counts_what_came_before_it() -> None:
    right = decision(1, "continue")
    (sample,) = first_divergence(EMPTY, decided(right, right, decision(5, "abort", recorded="next"), right))
    assert (sample.numerator, sample.denominator, sample.step) == (2.0, 4.0, 5)
    told = Turned(router="loop_detector", at="before_model", expected="next", taken="abort", expected_from="recorded")
    assert sample.detail == told


def test_a_run_that_never_diverges_counts_for_all_its_decisions() -> None:
    (sample,) = first_divergence(EMPTY, decided(decision(1, "continue"), decision(2, "x", labelled="x")))
    assert (sample.numerator, sample.denominator, sample.step) == (2.0, 2.0, None)
    assert first_divergence(EMPTY, decided()) == []


# ---------------------------------------------------------------- loops


def found(recording: Trace, run: Run) -> list[tuple[float | None, str]]:
    """How many loops each router (or the consumer) has, and what is told of them."""
    return [(item.numerator, item.detail.text if item.detail else "") for item in loops(recording, run)]


# ---------------------------------------------------------------- "stuck in a loop"


def consumer(consume: Callable[[Execution], Reply]) -> Strategy:
    return Strategy("s", {"consumer": (Plugin(Spec("mine"), Entry("consumer", "mine", consume), {}),)})


def keeps_the_task(execution: Execution) -> Reply:
    """The defect of 001: it replies, clears nothing, and goes back to the agent."""
    return Reply(text="The script ran.", path="raw", state=task_state(execution), route="agent")


def lets_go(execution: Execution) -> Reply:
    return Reply(text="Action completed successfully.", path="empty")


def stays_at_the_agent(execution: Execution) -> Reply:
    return Reply(text="?", path="empty", route="agent")


def forgets_the_summary(execution: Execution) -> Reply:
    state = {**dict.fromkeys(task_state(execution)), "execution_summary": {"type": "console"}}
    return Reply(text="?", path="console", state=state)


def test_a_consumer_that_keeps_the_task_is_stuck_in_a_loop() -> None:
    recording = looking(*"aaa")
    stuck, well = replay(recording, consumer(keeps_the_task)), replay(recording, consumer(lets_go))
    assert total(unreset_states(recording, stuck)) == 3
    assert found(recording, stuck) == [(1, "consumer from step 3, 3 decisions")]
    assert total(unreset_states(recording, well)) == 0
    assert found(recording, well) == [(0, "")]
    assert len(unreset_states(recording, well)) == 3


def test_what_is_left_and_where_the_run_went_are_told() -> None:
    recording = looking("a")
    (sample,) = unreset_states(recording, replay(recording, consumer(keeps_the_task)))
    left = [f"{key} is left" for key in ("selected_script", "script_parameters", "raw_output")]
    assert sample.detail == Told(text=", ".join([*left, "the run went to agent"]))
    assert (sample.step, sample.call_id) == (3, "c0")
    (sample,) = unreset_states(recording, replay(recording, consumer(stays_at_the_agent)))
    assert (sample.numerator, sample.detail) == (1.0, Told(text="the run went to agent"))
    (sample,) = unreset_states(recording, replay(recording, consumer(forgets_the_summary)))
    assert (sample.numerator, sample.detail) == (1.0, Told(text="execution_summary is left"))


@pytest.mark.parametrize(
    ("state", "taken", "unreset"),
    [
        ({}, "END", 0),
        ({"selected_script": None, "script_parameters": {}, "raw_output": "", "messages": ["x"]}, "__end__", 0),
        ({"selected_script": "Wall.cs"}, "END", 1),
        ({"raw_output": 0}, "END", 1),
        ({}, "agent", 1),
    ],
)
def test_without_a_consumer_the_recorded_end_is_judged(state: dict[str, Any], taken: str, unreset: int) -> None:
    recording = trace(UserTurn(index=0, content="x"), RouteDecision(index=1, at="end", taken=taken, state=state))
    (sample,) = unreset_states(recording, run_of(recording, "keep_all"))
    assert (sample.numerator, sample.step) == (unreset, 1)


def test_nothing_recorded_is_nothing_measured() -> None:
    recording = looking("a")
    run = run_of(recording, "keep_all")
    assert (unreset_states(recording, run), loops(recording, run), unapproved_executions(recording, run)) == (
        [],
        [],
        [],
    )


# ---------------------------------------------------------------- unapproved_executions

RUN = "run_script_by_name"


def executed(index: int, call_id: str, **more: Any) -> ToolResult:
    return ToolResult(**{"index": index, "call_id": call_id, "function": RUN, "seen": "done", **more})


# ---------------------------------------------------------------- against the slow references


@st.composite
def circling(draw: st.DrawFn) -> Trace:
    """A trace of few different steps, so that a run comes back to where it was."""
    kinds = ["a"] * draw(st.integers(0, 5))
    kinds += draw(st.lists(st.sampled_from(["a", "a", "b", "user", "said", "yes", "no", "end"]), max_size=12))
    steps: list[Any] = []
    for kind in kinds:
        index = len(steps)
        if kind in "ab":
            asked = ToolCall(id=kind, name=RUN, arguments={"script_name": kind})
            steps.append(ModelTurn(index=index, tool_calls=(asked,)))
            text = draw(st.sampled_from(["done", "done", "a longer answer", "a longer word"]))
            steps.append(executed(index + 1, kind, arguments=asked.arguments, seen=text, success=draw(st.booleans())))
        elif kind == "end":
            left = draw(st.sampled_from(({}, {"raw_output": "x"}, {"raw_output": ""})))
            steps.append(
                RouteDecision(index=index, at="end", taken=draw(st.sampled_from(("END", "agent"))), state=left)
            )
        elif kind in ("yes", "no"):
            call_id = draw(st.sampled_from("ab"))
            steps.append(Approval(index=index, call_id=call_id, approved=kind == "yes"))
        else:
            speaker = UserTurn if kind == "user" else ModelTurn
            steps.append(speaker(index=index, content=draw(st.sampled_from(("go on", "stop")))))
    return trace(*steps)


SPECS = (
    ROUTERS,
    f"{ROUTERS}+compactor=sliding_window:keep_last=4",
    f"{ROUTERS}+compactor=mask_observations:keep_last=1",
    f"{ROUTERS}+summarizer=truncate:limit=8",
)


def check(recording: Trace, run: Run) -> None:
    assert run.failure is None
    samples = first_divergence(recording, run)
    assert [(s.numerator, s.denominator) for s in samples] == (
        [slow.first_divergence(recording, run)] if run.decisions else []
    )
    assert total(missed_loops(recording, run)) == slow.disagreements(run, prompt="none", history="loop")
    assert total(false_loops(recording, run)) == slow.disagreements(run, prompt="loop", history="none")
    deciders = [*dict.fromkeys(made.router for made in run.decisions), "consumer"]
    expected = slow.loops(recording, run)
    assert [s.numerator for s in loops(recording, run)] == [expected[name] for name in deciders if name in expected]
    assert total(unreset_states(recording, run)) == slow.unreset_states(recording, run)
    assert total(unapproved_executions(recording, run)) == slow.unapproved_executions(recording)


@given(circling(), st.sampled_from(SPECS))
def test_metrics_agree_with_the_slow_ones_on_circling_runs(recording: Trace, spec: str) -> None:
    check(recording, replay(recording, parse_strategy(f"s={spec}")))


@pytest.mark.slow
@given(traces(extras=True), st.sampled_from(SPECS))
def test_metrics_agree_with_the_slow_ones_on_generated_runs(recording: Trace, spec: str) -> None:
    check(recording, replay(recording, parse_strategy(f"s={spec}")))


@given(circling(), st.sampled_from([keeps_the_task, lets_go, stays_at_the_agent, forgets_the_summary]))
def test_metrics_agree_with_the_slow_ones_on_replies(recording: Trace, consume: Callable[[Execution], Reply]) -> None:
    check(recording, replay(recording, consumer(consume)))


@pytest.mark.slow
def test_the_generated_runs_do_go_in_circles() -> None:
    runs: list[tuple[Trace, Run]] = []

    @settings(max_examples=150, database=None)
    @given(circling(), st.sampled_from(SPECS))
    def collect(recording: Trace, spec: str) -> None:
        runs.append((recording, replay(recording, parse_strategy(f"s={spec}"))))

    collect()
    for metric in (loops, missed_loops, false_loops, unapproved_executions, unreset_states):
        assert any(total(metric(*pair)) for pair in runs), metric.__name__
    assert any(sample.step is not None for pair in runs for sample in first_divergence(*pair))
