"""A cache that keeps what ends at a mark, as Claude's does, and what earlier runs left in any cache."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from bench.evidence.of_run import RunEvidence
from bench.evidence.of_trace import TraceEvidence
from bench.evidence.pricing import CachePrefix, kept_prefixes
from generated import traces
from handmade import trace
from hypothesis import given
from recorded_usage import session
from reference.cost import marked_tokens

from bench.model import (
    Counting,
    Message,
    ModelTurn,
    Prompt,
    Run,
    Splice,
    ToolCall,
    ToolsChanged,
    Trace,
    Usage,
    UserTurn,
)
from bench.replayer.loop import Replayer
from bench.strategies import parse_strategy
from bench.tokens.cache_marks import MarkedStarts, positions


def replayed(recording: Trace, strategy: str = "keep_all") -> RunEvidence:
    of_trace = TraceEvidence(recording)
    replayer = Replayer(of_trace)
    return RunEvidence(of_trace, replayer.run(parse_strategy(strategy)), count=replayer.counter)


def chat(*kinds: str) -> tuple[list[str], dict[str, Message]]:
    """Messages in a row, by one letter each: s(ystem), u(ser), a(nswer), c(alls with a text), r(esult)."""
    roles = {"s": "system", "u": "user", "a": "assistant", "c": "assistant", "r": "tool"}
    of_kind = {"s": "system", "u": "user", "a": "model", "c": "model", "r": "result"}
    made = {
        f"{kind}{number}": Message(
            role=roles[kind[0]], text="said", kind=of_kind[kind[0]], step=number,
            tool_calls=(ToolCall(id="1", name="f"), ToolCall(id="2", name="f")) if kind[0] == "c" else (),
        )
        for number, kind in enumerate(kinds)
    }  # fmt: skip
    return list(made), made


def found_in(*prompts: list[str], messages: dict[str, Message], look_back: int = 20) -> list[int | None]:
    """How many messages each prompt finds, one after the other."""
    starts, found, before = MarkedStarts(), [], list[str]()
    for step, keys in enumerate(prompts):
        at = next((n for n, (old, new) in enumerate(zip(before, keys, strict=False)) if old != new), len(before))
        read = starts.read(step, "m", keys, min(at, len(keys)), messages, look_back, lambda used: True)
        found.append(None if read is None else read[0])
        before = keys
    return found


def test_an_end_twenty_positions_back_is_out_of_reach() -> None:
    """The example of the page: a prompt of 35 blocks looks at blocks 35 to 16, and does not find what ended at block 15."""
    keys, messages = chat(*["u"] * 40)
    assert found_in(keys[:15], keys[:34], messages=messages) == [None, 15]
    assert found_in(keys[:15], keys[:35], messages=messages) == [None, 0]  # the tool definitions


def test_a_run_of_calls_is_one_position_and_so_is_a_run_of_results() -> None:
    keys, messages = chat("u", *["c", *["r"] * 30] * 6)
    assert found_in(keys[:1], keys[: 1 + 6 * 31], messages=messages) == [
        None,
        1,
    ]  # a text, a run and a run, six times: 18
    assert found_in(keys[:1], keys[: 1 + 6 * 31], messages=messages, look_back=18) == [None, 0]


def test_what_is_masked_was_never_the_end_of_a_prompt() -> None:
    """A mask rewrites the last message of a former prompt, so no later start is found: the first prompt is, then the system prompt."""
    keys, messages = chat("s", "u", *["a", "r"] * 12)
    masked = {key: f"{key}-masked" for key in keys if key.startswith("r")}
    messages |= {masked[key]: messages[key] for key in masked}
    prompts = [
        [masked.get(key, key) if place < size - 2 else key for place, key in enumerate(keys[:size])]
        for size in range(2, 27, 2)
    ]
    assert found_in(*prompts, messages=messages) == [None] + [2] * 9 + [1] * 3
    assert found_in(*(keys[:size] for size in range(2, 27, 2)), messages=messages) == [None, *range(2, 25, 2)]


def test_a_start_that_comes_back_is_found_again() -> None:
    keys, messages = chat("s", "u", "a", "u", "a", "u")
    assert found_in(keys[:4], [keys[0], keys[5]], keys[:6], messages=messages) == [None, 1, 4]


def message(text: str = "said", **fields: Any) -> Message:
    return Message(**{"role": "assistant", "kind": "model", "text": text, **fields})


def test_what_counts_as_a_position() -> None:
    call, written = ToolCall(id="1", name="f"), ToolCall(id="2", name="f", in_text=True)
    assert positions(message()) == positions(message("")) == positions(message(" \n")) == 1  # nothing at all is one too
    assert positions(message("", tool_calls=(call, call))) == 1  # a run of calls
    assert positions(message(tool_calls=(call,))) == 2
    assert positions(message(tool_calls=(written,))) == 1  # part of its text
    assert positions(message(reasoning_tokens=40)) == 2
    assert positions(message(non_text=3)) == 4
    assert positions(message("", non_text=3)) == 3
    assert positions(message(tool_calls=(call,), reasoning_tokens=40, non_text=1)) == 4
    told = message(kind="result", role="tool", non_text=2)
    assert [positions(told), positions(told, message()), positions(told, told)] == [1, 1, 0]
    by_user = message(kind="result", role="user")  # a result that speaks as a user is a text
    assert [positions(by_user, told), positions(told, by_user)] == [1, 1]


def test_other_tools_or_another_model_before_the_same_messages_are_another_start() -> None:
    keys, messages = chat("u", "u", "u")
    starts = MarkedStarts()

    def read(step: int, begins: str, count: int, at: int) -> tuple[int, int] | None:
        return starts.read(step, begins, keys[:count], at, messages, 20, lambda used: True)

    assert [read(1, "a", 2, 0), read(2, "b", 2, 2), read(3, "b", 3, 2)] == [None, None, (2, 2)]
    assert read(4, "a", 3, 3) == (2, 1)  # back to the first: what was left there


def test_a_start_is_used_when_it_is_read_and_gone_when_it_was_not_for_long() -> None:
    keys, messages = chat("u", "u", "u", "u")
    starts = MarkedStarts()

    def read(step: int, count: int, at: int, *gone: int) -> tuple[int, int] | None:
        return starts.read(step, "m", keys[:count], at, messages, 20, lambda used: used not in gone)

    assert [read(1, 2, 0), read(2, 3, 2), read(3, 3, 3)] == [None, (2, 1), (3, 2)]
    assert read(4, 4, 3, 3) == (2, 2)  # what the third prompt used is gone: the shorter start was read by the second


def test_the_same_messages_behind_other_ones_are_another_start() -> None:
    keys, messages = chat("u", "u", "u")
    assert found_in(keys[:2], keys[1:2], messages=messages) == [None, 0]
    assert found_in([keys[0], keys[2], keys[1]], [keys[0], keys[1]], messages=messages) == [None, 0]


def test_a_marked_start_is_counted_in_messages_and_not_in_steps() -> None:
    """A step that is no message stands before them: the first prompt, of step 2, has one message, which the next one reads."""
    tools = ({"name": "bash", "parameters": {"type": "object"}},)
    recording = trace(
        ToolsChanged(index=0, tools=tools),
        UserTurn(index=1, content="word " * 3000),
        ModelTurn(index=2, content="Yes.", model="claude-sonnet-4-5", t=10.0),
        UserTurn(index=3, content="more " * 30),
        ModelTurn(index=4, content="No.", model="claude-sonnet-4-5", t=17.0),
    )
    found = replayed(recording)
    first, second = found.prompts.kept
    prompt = found.run.prompts[1]
    (added,) = (splice.added for splice in prompt.splices)
    behind = sum(found.run.message_tokens[key] for key in added)
    assert first == CachePrefix(0)
    assert len(added) == 2
    assert second == CachePrefix(prompt.tokens - 3 - behind, answered=0, idle_s=7.0)


MARKED = (
    "mask=compactor=mask_observations:keep_last=1",
    "old=compactor=summarize_old:keep_last=2,max_tokens=150",
    "window=compactor=sliding_window:keep_last=3",
    "keep_all",
    "cut=summarizer=truncate:limit=5",
)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", MARKED)
@given(recording=traces(extras=True))
def test_what_claude_finds_is_what_a_slow_search_finds(strategy: str, recording: Trace) -> None:
    steps = [
        msgspec.structs.replace(step, usage=None, model="claude-sonnet-4-5") if isinstance(step, ModelTurn) else step
        for step in recording.steps
    ]
    of_trace = TraceEvidence(msgspec.structs.replace(recording, steps=tuple(steps)))
    run = Replayer(of_trace).run(parse_strategy(strategy))
    expected = marked_tokens(of_trace.trace, run)
    assert {
        prompt.step: kept.tokens for prompt, kept in zip(run.prompts, kept_prefixes(of_trace, run), strict=True)
    } == {step: tokens for step, (tokens, _) in expected.items()}


def test_a_mask_writes_again_what_it_changed_at_claude_and_reads_up_to_it_at_openai() -> None:
    def read(model: str, strategy: str) -> list[int | None]:
        recording = session(16, Counting(message_tokens=40), model=model)
        return [call.read for call in replayed(recording, strategy).calls]

    mask = "mask=compactor=mask_observations:keep_last=1"
    assert sum(item or 0 for item in read("claude-sonnet-4-5", mask)) == 0  # what it finds is shorter than 1,024 tokens
    assert sum(item or 0 for item in read("gpt-4o", mask)) > 10_000
    assert all(read("claude-sonnet-4-5", "keep_all")[6:])


def test_what_earlier_runs_left_in_the_cache_is_there_for_every_strategy() -> None:
    """The first recorded prompt was served 1,100 tokens. A strategy is served as much of the same start, one that writes its own nothing."""
    long, turn = UserTurn(index=0, content="word " * 3000), ModelTurn(index=1, model="claude-sonnet-4-5")
    usage = Usage(prompt_tokens=3000, cached_prompt_tokens=1100, completion_tokens=5)
    recording = trace(long, msgspec.structs.replace(turn, usage=usage))
    assert [call.read for call in replayed(recording).calls] == [1100]
    (call,) = replayed(recording).calls
    assert call.written == call.prompt_tokens - 1100 - 3
    half = Run(trace_id="t", trace_sha256="", strategy="s", spec="", encoding="o200k_base",
               messages={"a": Message(role="user", text="a", kind="made")}, message_tokens={"a": 40},
               prompts=(Prompt(step=1, thread="main", splices=(Splice(at=0, removed=0, added=("a",)),), tokens=43),))  # fmt: skip
    assert [kept.warm for kept in kept_prefixes(TraceEvidence(recording), half)] == [0]
    short = trace(UserTurn(index=0, content="hi"), msgspec.structs.replace(turn, usage=usage))
    assert [kept.warm for kept in replayed(short).prompts.kept] == [4]  # the whole prompt
    assert [kept.warm for kept in replayed(trace(long, turn)).prompts.kept] == [0]
