"""What one trace, and one run of it, tell everybody who asks."""

from __future__ import annotations

import msgspec
from handmade import opened, result, run_of, trace
from measured import evidence_of

from bench.evidence.of_run import RunEvidence
from bench.evidence.of_trace import TraceEvidence
from bench.metrics import example
from bench.model import Message, ModelTurn, Usage


def served(index: int, cached: int | None, thread: str = "main") -> ModelTurn:
    return ModelTurn(index=index, thread=thread, usage=Usage(prompt_tokens=9, cached_prompt_tokens=cached))


def test_a_cache_was_warm_where_the_first_turn_of_a_thread_was_served_from_it() -> None:
    recording = trace(
        served(0, 7), served(1, 5), served(2, None, "critic"), served(3, 4, "critic"), served(4, 3, "judge"),
        ModelTurn(index=5, thread="silent"), served(6, 2, "silent"), served(7, 0, "cold"),
    )  # fmt: skip
    assert TraceEvidence(recording).warm == {0: 7, 4: 3}


def test_how_long_nothing_happened_is_known_where_both_steps_say_when() -> None:
    recording = trace(ModelTurn(index=0, t=10.0), ModelTurn(index=1, t=12.5), ModelTurn(index=2))
    evidence = TraceEvidence(recording)
    assert evidence.idle_s(0, 1) == 2.5
    assert (evidence.idle_s(0, 2), evidence.idle_s(2, 1), evidence.idle_s(2, 2)) == (None, None, None)
    assert evidence.recorded_at_s == 10.0
    assert TraceEvidence(trace(ModelTurn(index=0), ModelTurn(index=1, t=12.5))).recorded_at_s == 12.5
    assert TraceEvidence(trace(ModelTurn(index=0))).recorded_at_s is None


def test_a_result_has_the_exit_code_that_it_states_first() -> None:
    """The envelope stands before the output, which may state others."""
    recording = trace(
        result("<returncode>2</returncode>\n<output>exit status 127</output>", index=0), result("fine", index=1)
    )
    assert TraceEvidence(recording).exit_codes == {0: 2}


def test_a_strategy_wrote_what_is_of_no_step_and_the_results_that_say_something_else() -> None:
    evidence = example()
    messages = {
        **evidence.run.messages,
        "whole": msgspec.structs.replace(evidence.run.messages["result"], text=evidence.trace.results[0].text),
        "summary": Message(role="user", text="so far", kind="made"),
        "user": Message(role="user", text="How many rows?", kind="user", step=0),  # as the strategy found it
    }
    run = msgspec.structs.replace(evidence.run, messages=messages)
    assert evidence.of_trace.written_by_strategy(run) == {"result", "summary"}
    recording = opened([result("471 rows", index=2)])
    assert TraceEvidence(recording).written_by_strategy(run_of(recording, "keep_all")) == frozenset()


def test_what_is_gone_is_told_by_tier_only_of_results_of_which_something_is_gone() -> None:
    recording = opened([result("471 rows", index=2, call_id="a"), result("rows: 472", index=3, call_id="b")])
    evidence = evidence_of(recording, run_of(recording, "cut=summarizer=truncate:limit=5"))
    for place in ("shown", "end"):
        found = [(item.standing.result.index, item.retrievable, item.lost) for item in evidence.tiers[place]]
        assert found == [(3, (), ("472",))]


def test_the_silent_twin_of_a_run_is_replayed_when_it_is_asked_for_and_once() -> None:
    evidence, asked = example(), list[RunEvidence]()

    def replay() -> RunEvidence:
        asked.append(example())
        return asked[-1]

    found = RunEvidence(evidence.of_trace, evidence.run, silent=replay)
    assert asked == []
    assert found.silent is found.silent is asked[0]
    assert len(asked) == 1
    assert evidence.silent is None
