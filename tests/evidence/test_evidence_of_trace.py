"""What one trace, and one run of it, tell everybody who asks."""

from __future__ import annotations

import msgspec
from bench.evidence.of_run import RunEvidence
from bench.evidence.of_trace import TraceEvidence
from handmade import opened, result, run_of, trace
from measured import evidence_of

from bench.metrics import example
from bench.model import ContextReset, Message, ModelTurn, ToolCall, Usage, UserTurn
from bench.tokens.counting import TokenCounter


def served(index: int, cached: int | None, thread: str = "main") -> ModelTurn:
    return ModelTurn(index=index, thread=thread, usage=Usage(prompt_tokens=9, cached_prompt_tokens=cached))


def test_a_cache_was_warm_where_the_first_turn_of_a_thread_was_served_from_it() -> None:
    recording = trace(
        served(0, 7), served(1, 5), served(2, None, "critic"), served(3, 4, "critic"), served(4, 3, "judge"),
        ModelTurn(index=5, thread="silent"), served(6, 2, "silent"), served(7, 0, "cold"),
    )  # fmt: skip
    assert TraceEvidence(recording).warm == {0: 7, 4: 3}


def test_what_a_thread_says_is_told_by_message() -> None:
    call = ToolCall(id="c", name="read", arguments={"path": "/data/a_1.csv"})
    recording = trace(
        UserTurn(index=0, content="hi"),
        ModelTurn(index=1, content="Looking.", tool_calls=(call,)),
        result("cut", index=2, full="471 rows"),
        UserTurn(index=3, thread="critic", content="and you?"),
        ContextReset(index=4),
        ModelTurn(index=5, content="Done."),
        ModelTurn(index=6, thread="critic", content="Fine."),
    )
    evidence = TraceEvidence(recording)
    assert evidence.spoken["main"] == [(0, "hi"), (1, "Looking."), (2, "471 rows"), (5, "Done.")]
    assert evidence.spoken["critic"] == [(3, "and you?"), (6, "Fine.")]


def test_a_turn_has_its_own_model_else_the_first_of_its_trace_else_the_one_named() -> None:
    turns = (
        ModelTurn(index=0), ModelTurn(index=1, model="gpt-4o"), ModelTurn(index=2, model="claude-sonnet-4-5"), ModelTurn(index=3)
    )  # fmt: skip
    own, silent = TraceEvidence(trace(*turns), "gpt-4"), TraceEvidence(trace(turns[0]), "gpt-4")
    assert [own.model_of(step) for step in range(4)] == ["gpt-4o", "gpt-4o", "claude-sonnet-4-5", "gpt-4o"]
    assert (silent.model_of(0), TraceEvidence(trace(turns[0])).model_of(0)) == ("gpt-4", None)
    first, second = (own.cache_rule_of(step) for step in (1, 2))
    assert first is not None
    assert second is not None
    assert (first.writes, second.writes) == (False, True)


def test_a_command_is_found_at_its_first_turn_in_its_own_thread() -> None:
    def ran(index: int, *commands: str, thread: str = "main") -> ModelTurn:
        calls = (ToolCall(id=f"{index}", name="bash", arguments={"command": command}) for command in commands)
        return ModelTurn(index=index, thread=thread, tool_calls=tuple(calls))

    evidence = TraceEvidence(trace(ran(0, "ls", "pwd"), ran(1, "ls", thread="critic"), ran(2, "wc", "ls")))
    assert evidence.commands["main"] == {"ls": 0, "pwd": 0, "wc": 2}
    assert evidence.commands.keys() == {"main", "critic"}
    assert evidence.commands["critic"] == {"ls": 1}


def test_an_answer_has_the_tokens_that_were_reported_after_its_end_else_those_of_all_it_says() -> None:
    said = ToolCall(id="a", name="bash", arguments={"command": "ls"}, in_text=True)
    call = ToolCall(id="b", name="read", arguments={"n": 1})
    recording = trace(
        ModelTurn(index=0, content="one two", usage=Usage(prompt_tokens=9, completion_tokens=40)),
        ModelTurn(index=1, content="one two", tool_calls=(said, call), reasoning="three"),
        ModelTurn(index=2),
        ModelTurn(index=3, content="one two " * 50, usage=Usage(prompt_tokens=9, completion_tokens=4)),
    )
    count = TokenCounter()
    own = count.text("one two") + count.text("read") + count.text('{"n":1}') + count.text("three")
    assert TraceEvidence(recording).answer_tokens(count) == {0: 40, 1: own, 2: 0, 3: count.text("one two " * 50)}


def test_what_is_gone_is_told_by_kind() -> None:
    recording = opened([result("471 rows in /data/a_1.csv", index=2, call_id="a"), result("472", index=3, call_id="b")])
    evidence = evidence_of(recording, run_of(recording, "cut=summarizer=truncate:limit=8"))
    assert [(standing.result.index, gone) for standing, gone in evidence.prompts.lost_by_kind["shown"]] == [
        (2, {"number": [], "path": ["/data/a_1.csv"]}),
        (3, {}),
    ]


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
        found = [(item.held.result.index, *item.facts.values()) for item in evidence.tiers[place]]
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
