"""Writers: the summary that a trace holds, and a model's in a cassette."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from measured import COUNT, Ran, ran
from msgspec.structs import replace

from bench.evidence.index import index_trace
from bench.metrics import metric_of
from bench.model import ContextReset, ModelTurn, Source, SystemTurn, Trace, UserTurn
from bench.replayer.replaying import replay
from bench.strategies import compose

# ---------------------------------------------------------------- recorded


def trace_of(*summaries: str | None, thread: str = "main") -> Trace:
    """Twelve turns of a conversation; before turn 4 and 8 the recorded harness reset its context, with these summaries."""
    steps: list[Any] = [SystemTurn(index=0, content="You help.", thread=thread)]
    history = list(summaries)
    for turn in range(12):
        if turn in (4, 8) and history:
            steps.append(ContextReset(index=len(steps), summary=history.pop(0), kept=(0,), thread=thread))
        steps.append(UserTurn(index=len(steps), content=f"Question {turn}: " + "word " * 20, thread=thread))
        steps.append(ModelTurn(index=len(steps), content=f"answer {turn}", thread=thread))
    return Trace(id="t", source=Source(format="native"), steps=tuple(steps))


def summaries(run: Ran) -> list[str]:
    return [message.text for message in run.messages if message.kind == "made"]


def test_the_recorded_summary_is_the_latest_one_so_far() -> None:
    run = ran(
        trace_of("first notes", "second notes"),
        compose("s", {"compactor": "summarize_old:writer=recorded,max_tokens=250,keep_last=2"}),
    )
    assert run.failure is None
    assert summaries(run) == ["first notes", "second notes"]
    produced = [call.produced_tokens for call in run.own_calls]
    assert set(produced) == {COUNT.text("first notes"), COUNT.text("second notes")}
    assert metric_of("cost.strategy_call_tokens").number(run.evidence).value


def test_a_reset_without_a_summary_keeps_the_one_before() -> None:
    run = ran(
        trace_of("first notes", None),
        compose("s", {"compactor": "separate_commands:writer=recorded,max_tokens=300,keep_last=2"}),
    )
    assert (run.failure, summaries(run)) == (None, ["first notes"])


@pytest.mark.parametrize("trace", [trace_of(), trace_of(None, None), trace_of("late", thread="other")])
def test_a_trace_without_a_summary_so_far_is_a_named_failure(trace: Trace) -> None:
    run = ran(trace, compose("s", {"compactor": "summarize_old:writer=recorded,max_tokens=100,keep_last=2"}))
    assert run.failure is not None
    assert "holds no recorded summary — use another writer" in run.failure.error


def test_a_writer_does_not_read_the_reasoning_of_the_turns() -> None:
    trace, strategy = trace_of(), compose("s", {"compactor": "summarize_old:max_tokens=250,keep_last=2"})
    index = index_trace(trace)
    own = {turn.index: 1 for turn in trace.model_turns}
    numbers = {index.full[step] for step in own}
    tokens = tuple(count + (at in numbers) for at, count in enumerate(index.tokens))
    reasoned = replace(index, tokens=type(index.tokens)(tokens), reasoning_tokens=own)
    first, second = (replay(trace, each, strategy).own_calls[0] for each in (index, reasoned))
    assert first == second


# ---------------------------------------------------------------- empty


@pytest.mark.parametrize("name", ["summarize_old", "separate_commands", "separate_commands_deployed"])
def test_an_empty_summary_is_a_message_that_says_nothing(name: str) -> None:
    history = ran(trace_of(), compose("s", {"compactor": f"{name}:max_tokens=250,keep_last=2"}))
    silent = ran(
        trace_of(), compose("s", {"compactor": f'{name}:max_tokens=250,keep_last=2,writer="extractive:max_chars=0"'})
    )
    assert silent.failure is None
    assert set(summaries(silent)) == {""}
    assert silent.own_calls[0].produced_tokens == 0
    assert silent.own_calls[0].consumed_tokens == history.own_calls[0].consumed_tokens > 0
    assert sum(prompt.tokens for prompt in silent.prompts) < sum(prompt.tokens for prompt in history.prompts)


def test_a_private_writer_lies_beside_its_scenario_too(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def write(messages):\n    return 'my notes'\n")
    strategy = compose("s", {"compactor": 'summarize_old:max_tokens=250,keep_last=2,writer="mine.py:write"'}, tmp_path)
    assert summaries(ran(trace_of(), strategy))[0] == "my notes"
