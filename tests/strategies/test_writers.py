"""Writers: what they read, and what they are charged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from handmade import compose
from measured import MeasuredReplay, replayed_or_failed
from msgspec.structs import replace

from bench.evidence.index import index_trace
from bench.model import ModelTurn, Source, SystemTurn, Trace, UserTurn
from bench.replayer.replaying import Replayer


def trace_of() -> Trace:
    """Twelve turns of a conversation."""
    steps: list[Any] = [SystemTurn(index=0, content="You help.")]
    for turn in range(12):
        steps.append(UserTurn(index=len(steps), content=f"Question {turn}: " + "word " * 20))
        steps.append(ModelTurn(index=len(steps), content=f"answer {turn}"))
    return Trace(id="t", source=Source(format="native"), steps=tuple(steps))


def summaries(run: MeasuredReplay) -> list[str]:
    return [message.text for message in run.messages if message.kind == "made"]


def test_a_writer_does_not_read_the_reasoning_of_the_turns() -> None:
    trace, strategy = trace_of(), compose("s", {"compactor": "summarize_old:max_tokens=250,keep_last=2"})
    index = index_trace(trace)
    own = {turn.index: 1 for turn in trace.model_turns}
    numbers = {index.full[step] for step in own}
    tokens = tuple(count + (at in numbers) for at, count in enumerate(index.tokens))
    reasoned = replace(index, tokens=type(index.tokens)(tokens), reasoning_tokens=own)
    first, second = (Replayer(trace, each).replay(strategy).own_calls[0] for each in (index, reasoned))
    assert first == second


# ---------------------------------------------------------------- empty


@pytest.mark.parametrize("name", ["summarize_old", "separate_commands", "separate_commands_deployed"])
def test_an_empty_summary_is_an_empty_message(name: str) -> None:
    history = replayed_or_failed(trace_of(), compose("s", {"compactor": f"{name}:max_tokens=250,keep_last=2"}))
    silent = replayed_or_failed(
        trace_of(), compose("s", {"compactor": f'{name}:max_tokens=250,keep_last=2,writer="extractive:max_chars=0"'})
    )
    assert silent.failure is None
    assert set(summaries(silent)) == {""}
    assert silent.own_calls[0].produced_tokens == 0
    assert silent.own_calls[0].consumed_tokens == history.own_calls[0].consumed_tokens > 0
    assert sum(prompt.tokens for prompt in silent.prompts) < sum(prompt.tokens for prompt in history.prompts)


def test_a_writer_may_be_a_file_beside_its_scenario(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def write(messages):\n    return 'my notes'\n")
    strategy = compose("s", {"compactor": 'summarize_old:max_tokens=250,keep_last=2,writer="mine.py:write"'}, tmp_path)
    assert summaries(replayed_or_failed(trace_of(), strategy))[0] == "my notes"
