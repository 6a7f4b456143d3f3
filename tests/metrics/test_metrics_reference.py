"""Every metric against its slow and obvious twin, on hand-made and generated traces under strategies of every kind."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import pytest
from bench.tokens.calibration import count_error
from generated import traces
from handmade import SMALL, run_of
from hypothesis import given, strategies as st
from measured import evidence_of, measured, replayer_of
from reference import cost, loss
from reference.dependencies import dependencies

from bench.model import ContextReset, ModelTurn, Run, Sample, Trace
from bench.text.common_words import COMMON_WORDS
from bench.tokens.counting import TokenCounter

STRATEGIES = (
    "keep_all",
    "recorded",
    "drop_all",
    "clairvoyant",
    "floor",
    "cut=summarizer=truncate:limit=60+store=truncate:limit=60",
    "console=summarizer=output_summary+store=by_function+evaluator=step_v1",
    "table=summarizer=table_console+store=external",
    "mask=compactor=mask_observations:keep_last=1",
    "old=compactor=summarize_old:keep_last=2,max_tokens=150",
    "window=compactor=sliding_window:keep_last=3",
)


def by_step(samples: Sequence[Sample]) -> dict[int, tuple[float, float]]:
    """Samples of one step added up."""
    found: dict[int, tuple[float, float]] = {}
    for sample in samples:
        above, below = found.get(sample.step, (0.0, 0.0))
        found[sample.step] = above + sample.numerator, below + (sample.denominator or 0.0)
    return found


def values(samples: Sequence[Sample]) -> dict[int, float | None]:
    return {sample.step: sample.numerator for sample in samples}


def check(trace: Trace, strategy: str) -> None:
    run = run_of(trace, strategy)
    check_cost(trace, run)
    check_loss(trace, run)
    check_needs(trace, run)


def check_cost(trace: Trace, run: Run) -> None:
    tokens = cost.prompt_tokens(trace, run)
    assert values(measured("cost.prompt_tokens", trace, run)) == tokens
    assert values(measured("cost.peak_prompt_tokens", trace, run)) == tokens
    models = {turn.index: turn.model or run.model for turn in trace.model_turns}
    shared = cost.shared_tokens(trace, run)
    cached = {step: cost.cached(trace, run, models[step], shared, step) for step in shared}
    assert values(measured("cost.cached_prompt_tokens", trace, run)) == cached
    for name, caches in (("cost.cost_usd", True), ("cost.uncached_usd", False)):
        dollars = cost.cost_usd(trace, run, caches=caches)
        ours = values(measured(name, trace, run))
        assert ours.keys() == dollars.keys()
        for step, expected in dollars.items():
            assert ours[step] == expected or math.isclose(ours[step], expected)
    over = {p.step: None if p.window_tokens is None else float(tokens[p.step] > p.window_tokens) for p in run.prompts}
    assert values(measured("cost.window_overflows", trace, run)) == over
    written = sum(call.consumed_tokens + call.produced_tokens for call in run.writer_calls)
    assert sum(sample.numerator for sample in measured("cost.writer_tokens", trace, run)) == written
    if not any(isinstance(step, ContextReset) for step in trace.steps):
        sizes = replayer_of(trace).prepared.calibration.sizes
        counted = [
            (turn.index, cost.recorded_prompt_tokens(trace, run, turn, sizes), turn.usage.prompt_tokens)
            for turn in trace.model_turns
            if turn.usage is not None and turn.usage.prompt_tokens
        ]
        assert count_error(trace, evidence_of(trace, run).count, sizes) == counted


def check_loss(trace: Trace, run: Run) -> None:
    for place in ("shown", "end", "stored"):
        assert by_step(measured(f"loss.fact_recall.{place}", trace, run)) == loss.facts(trace, run, place)
        samples = measured(f"loss.leaf_recall.{place}", trace, run)
        ours = {s.step: (s.numerator, s.denominator, s.upper_bound) for s in samples}
        assert ours == loss.leaves(trace, run, place)


def check_needs(trace: Trace, run: Run) -> None:
    wanted = loss.needs(trace, run, dependencies(trace, COMMON_WORDS))
    assert by_step(measured("needed.recall", trace, run)) == wanted
    assert values(measured("needed.faults", trace, run)) == {turn: kept < of for turn, (kept, of) in wanted.items()}
    missed = sum(kept < of for kept, of in wanted.values())
    rate = [(float(missed), float(len(run.prompts)))] if run.prompts else []
    assert [(s.numerator, s.denominator) for s in measured("needed.fault_rate", trace, run)] == rate


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", SMALL)
def test_small_traces(name: str, strategy: str) -> None:
    check(SMALL[name], strategy)


@given(trace=traces(extras=True), strategy=st.sampled_from(STRATEGIES))
def test_generated_traces(trace: Trace, strategy: str) -> None:
    """Without the usage, which is random here and which tokens would be counted by."""
    check(without_usage(trace), strategy)


def without_usage(trace: Trace) -> Trace:
    steps = [msgspec.structs.replace(step, usage=None) if isinstance(step, ModelTurn) else step for step in trace.steps]
    return msgspec.structs.replace(trace, steps=tuple(steps))


@given(trace=traces(extras=True))
def test_our_count_of_recorded_prompts(trace: Trace) -> None:
    run = run_of(without_usage(trace), "keep_all")  # by the plain rule
    if not any(isinstance(step, ContextReset) for step in trace.steps):
        counted = [
            (turn.index, cost.recorded_prompt_tokens(trace, run, turn, {}), turn.usage.prompt_tokens)
            for turn in trace.model_turns
            if turn.usage is not None
        ]
        assert count_error(trace, TokenCounter(run.encoding), {}) == counted
