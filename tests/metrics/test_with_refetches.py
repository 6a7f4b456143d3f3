"""Cost with refetches: all calls, every repair, and what summaries cost."""

from __future__ import annotations

import pytest
from generated import SHORTENING, traces
from handmade import opened, run_of, shell
from hypothesis import given, strategies as st
from measured import evidence_of, measured

from bench.model import Trace

OLD = "old=compactor=summarize_old:keep_last=2,max_tokens=150"


def total(name: str, recording: Trace, strategy: str) -> float:
    return sum(sample.numerator or 0.0 for sample in measured(name, recording, run_of(recording, strategy)))


@pytest.mark.slow
@given(recording=traces(extras=True), strategy=st.sampled_from(SHORTENING))
def test_it_is_the_prompts_the_summaries_and_the_repairs(recording: Trace, strategy: str) -> None:
    parts = total("cost.prompt_tokens", recording, strategy) + total("cost.writer_tokens", recording, strategy)
    evidence = evidence_of(recording, run_of(recording, strategy))
    again = {prompt.step: prompt.tokens for prompt in evidence.run.prompts}
    repairs = sum(again[step] + repair.new_tokens for step, repair in evidence.refetches.items())
    assert total("cost.with_refetches_tokens", recording, strategy) == parts + repairs
    assert repairs >= sum(again[step] for step in {missed.turn for missed, _ in evidence.missed})


def test_a_summary_is_not_free_where_no_price_is_known() -> None:
    recording = opened(shell(30, start=2))
    assert total("cost.writer_tokens", recording, OLD) > 0
    assert total("cost.with_refetches_tokens", recording, OLD) >= sum(
        total(name, recording, OLD) for name in ("cost.prompt_tokens", "cost.writer_tokens")
    )
