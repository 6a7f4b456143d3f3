"""Cache breaks against counts by hand, and against a slow count that knows nothing of the rules of providers."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from bench.evidence.cache_breaks import FEWEST_TOKENS, cache_report
from bench.model import ContextReset, ModelTurn, Source, SystemTurn, ToolsChanged, Trace, Usage, UserTurn

CLAUDE, GPT = "claude-sonnet-4-5", "gpt-4o"


def turn(at: int, prompt: int, read: int, t: float | None = None, *, model: str = CLAUDE, thread: str = "main"):
    written = prompt - read if model == CLAUDE else None
    usage = Usage(prompt_tokens=prompt, cached_prompt_tokens=read, cache_write_tokens=written)
    return ModelTurn(index=at, model=model, usage=usage, t=t, thread=thread)


def report(*steps):
    return cache_report(Trace(id="t", source=Source(format="native"), steps=steps))


@pytest.mark.parametrize(
    ("between", "idle_s", "cause"),
    [
        (ContextReset(index=1, summary="short"), 5.0, "compaction"),
        (ToolsChanged(index=1), 5.0, "tools or system prompt changed"),
        (SystemTurn(index=1, content="Be brief."), 5.0, "tools or system prompt changed"),
        (UserTurn(index=1, content="Go on."), 301.0, "lifetime over"),
        (UserTurn(index=1, content="Go on."), 299.0, "unknown"),
    ],
)
def test_a_break_has_the_cause_that_the_recording_shows(between, idle_s, cause):
    found = report(turn(0, 20_000, 0, 0.0), between, turn(2, 21_000, 2_000, idle_s))
    (only,) = found.breaks
    assert (only.turn, only.tokens_again, only.cause) == (2, 18_000, cause)
    assert (found.judged, found.explained) == (1, int(cause != "unknown"))
    assert only.usd == pytest.approx(18_000 * (3.75 - 0.30) / 1e6)  # written again for what a read costs


def test_another_model_is_a_cause_and_writes_for_an_hour_cost_their_own_price():
    usage = Usage(prompt_tokens=20_500, cached_prompt_tokens=0, cache_write_tokens=20_500, cache_write_1h_tokens=20_500)
    (only,) = report(turn(0, 20_000, 0), ModelTurn(index=1, model="claude-opus-4-5", usage=usage)).breaks
    assert (only.cause, only.usd) == ("model changed", pytest.approx(20_000 * (10 - 0.50) / 1e6))


def test_threads_have_caches_of_their_own():
    found = report(turn(0, 20_000, 0), turn(1, 9_000, 0, thread="helper"), turn(2, 21_000, 20_000))
    assert (found.judged, found.explained, found.breaks) == (1, 1, ())


def test_only_full_blocks_are_expected_if_a_provider_reports_no_writes():
    assert report(turn(0, 5_119, 0, model=GPT), turn(1, 6_000, 4_992, model=GPT)).explained == 1
    (only,) = report(turn(0, 5_119, 0, model=GPT), turn(1, 6_000, 0, model=GPT)).breaks
    assert only.tokens_again == 4_992


def test_no_cache_break_is_found_without_reported_usage():
    silent = ModelTurn(index=0, model=CLAUDE), ModelTurn(index=1, model=CLAUDE)
    assert report(*silent).judged == 0


@given(st.lists(st.tuples(st.integers(0, 60_000), st.floats(0, 1)), min_size=1, max_size=12))
def test_the_shortfall_is_the_part_of_the_previous_prompt_that_was_not_read(drawn):
    prompts = [(prompt, int(prompt * share)) for prompt, share in drawn]
    found = report(*(turn(at, prompt, read) for at, (prompt, read) in enumerate(prompts)))
    expected = [
        (at + 1, min(before, prompt) - read)
        for at, (before, (prompt, read)) in enumerate(zip([p for p, _ in prompts], prompts[1:], strict=False), 1)
        if min(before, prompt) - read >= max(FEWEST_TOKENS, 0.01 * min(before, prompt))
    ]
    assert [(item.turn, item.tokens_again) for item in found.breaks] == expected
    assert found.judged == len(prompts) - 1
