"""What a strategy costs: tokens of prompts, of summaries, out of the cache, and dollars."""

from __future__ import annotations

from ..evidence.of_run import RunEvidence
from ..model import Sample, Told
from ..tokens.counting import PROMPT_TOKENS
from ..tokens.prices import provider_of, unit_prices
from . import metric

CACHE_FROM_TOKENS = 1024
"""The shortest prefix that a provider's prompt cache keeps."""

OPENAI_CACHE_STEP_TOKENS = 128
"""OpenAI reads its cache in steps of this size."""


def cached_tokens(provider: str | None, prefix_tokens: int) -> int | None:
    """How much of an unchanged prefix a provider reads from its cache, in tokens; None for one whose rule is not known here.

    >>> cached_tokens("openai", 1300), cached_tokens("anthropic", 1300), cached_tokens("openai", 1023), cached_tokens("azure", 1300)
    (1280, 1300, 0, None)
    """
    if provider not in ("openai", "anthropic"):
        return None
    if prefix_tokens < CACHE_FROM_TOKENS:
        return 0
    return (
        prefix_tokens // OPENAI_CACHE_STEP_TOKENS * OPENAI_CACHE_STEP_TOKENS if provider == "openai" else prefix_tokens
    )


@metric("cost.prompt_tokens", unit="tokens", better="lower", aggregate="sum")
def prompt_tokens(evidence: RunEvidence) -> list[Sample]:
    """Tokens of all prompts together: what the model was given to read over the whole run.

    One sample a model call, framing and tool definitions included. No model calls: no samples.

    Source: 003 §1 "Token Efficiency"; 002 Token Management

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator) for sample in prompt_tokens(example())]
    [(1, 9.0), (3, 22.0)]
    """
    return [Sample(numerator=float(prompt.tokens), step=prompt.step) for prompt in evidence.run.prompts]


@metric("cost.peak_prompt_tokens", unit="tokens", better="lower", aggregate="max")
def peak_prompt_tokens(evidence: RunEvidence) -> list[Sample]:
    """Tokens of the largest prompt.

    One sample a model call. No model calls: no samples.

    Source: 002 Current Behavior: what triggers a compaction is the size of one prompt

    >>> from bench.metrics import example
    >>> max(sample.numerator for sample in peak_prompt_tokens(example()))
    22.0
    """
    return [*prompt_tokens(evidence)]


@metric("cost.cached_prompt_tokens", unit="tokens", better="higher", aggregate="sum")
def cached_prompt_tokens(evidence: RunEvidence) -> list[Sample]:
    """Prompt tokens that the provider's prefix cache would serve.

    Tool definitions and the whole messages that a prompt shares, from its start, with the one before in its thread; then the provider's rule:
    OpenAI from 1,024 tokens up in steps of 128, Anthropic from 1,024. Nothing is shared by a thread's first prompt, after the tool
    definitions changed, or with another model's prompt. Not measured for any other provider. That a cache expires is ignored.

    Source: OpenAI guide "Prompt caching"; Anthropic documentation "Prompt caching"

    >>> from bench.metrics import example
    >>> [sample.numerator for sample in cached_prompt_tokens(example())]
    [0.0, 0.0]
    """
    samples = []
    run, models = evidence.run, evidence.of_trace.models
    for prompt, kept in zip(run.prompts, evidence.prompts.kept_prefix_tokens, strict=True):
        model = models.get(prompt.step, run.model)
        cached = cached_tokens(provider_of(model), kept)
        if cached is None:
            reason = f"the cache rule of {_provider_text(model)} is not known; known are openai and anthropic"
            samples.append(Sample(numerator=None, step=prompt.step, reason=reason))
        else:
            samples.append(Sample(numerator=float(cached), step=prompt.step))
    return samples


@metric("cost.writer_tokens", unit="tokens", better="lower", aggregate="sum")
def writer_tokens(evidence: RunEvidence) -> list[Sample]:
    """Tokens that writing summaries took: what each writer read and what it produced.

    One sample a summary; 0 where a run with prompts wrote none. No model calls: no samples.

    Source: "The Complexity Trap" (arXiv 2508.21433): summaries cost model calls of their own

    >>> from bench.metrics import example
    >>> [sample.numerator for sample in writer_tokens(example())]
    [0.0]
    """
    samples = [
        Sample(numerator=float(call.consumed_tokens + call.produced_tokens), step=call.step)
        for call in evidence.run.writer_calls
    ]
    return samples or ([Sample(numerator=0.0)] if evidence.run.prompts else [])


@metric("cost.window_overflows", unit="prompts", better="lower", aggregate="sum")
def window_overflows(evidence: RunEvidence) -> list[Sample]:
    """Prompts larger than the model's window: calls that could not have been made.

    One sample a model call, 1 or 0. Not measured where the model's window is not known.

    Source: genai-prices 0.2, `context_window` of a model

    >>> from bench.metrics import example
    >>> window_overflows(example())[0].reason
    'the context window of gpt-4o is not known'
    """
    samples = []
    for prompt in evidence.run.prompts:
        if prompt.window_tokens is None:
            reason = f"the context window of {evidence.run.model or 'an unnamed model'} is not known"
            samples.append(Sample(numerator=None, step=prompt.step, reason=reason))
        else:
            samples.append(Sample(numerator=float(prompt.tokens > prompt.window_tokens), step=prompt.step))
    return samples


@metric("cost.cost_usd", unit="usd", better="lower", aggregate="sum")
def cost_usd(evidence: RunEvidence) -> list[Sample]:
    """Dollars for all model calls at the prices of the recording's day: prompts, cache reads and writes, answers, summaries.

    One sample a model call. Cache reads as in `cost.cached_prompt_tokens`; Anthropic charges what a prompt of 1,024 tokens or more adds to
    the cache as a write. Where the provider's cache rule is not known no cache is assumed, and the sample says so. Answers cost what the
    provider recorded (`usage.completion_tokens`), else text, tool calls and reasoning as counted here. A summary costs its writer's prompt and
    answer on the same model, uncached. Not measured for a model without listed prices.

    Source: genai-prices 0.2, dated prices of a model; Anthropic documentation "Prompt caching", "Pricing"

    >>> from bench.metrics import example
    >>> [f"{sample.numerator:.6f}" for sample in cost_usd(example())]
    ['0.000043', '0.000145']
    """
    recorded_at_s = next((step.t for step in evidence.trace.steps if step.t is not None), None)
    answers = evidence.of_trace.answer_tokens(evidence.count)
    writers: dict[int, list[tuple[int, int]]] = {}
    for call in evidence.run.writer_calls:
        writers.setdefault(call.step, []).append((call.consumed_tokens, call.produced_tokens))
    samples = []
    run, models = evidence.run, evidence.of_trace.models
    for prompt, kept in zip(run.prompts, evidence.prompts.kept_prefix_tokens, strict=True):
        model = models.get(prompt.step, run.model)
        prices = unit_prices(model, recorded_at_s)
        if prices is None:
            reason = f"no prices are listed for {model or 'an unnamed model'}"
            samples.append(Sample(numerator=None, step=prompt.step, reason=reason))
            continue
        cached = cached_tokens(prices.provider, kept)
        written = 0
        if prices.provider == "anthropic" and prompt.tokens - PROMPT_TOKENS >= CACHE_FROM_TOKENS:
            written = prompt.tokens - PROMPT_TOKENS - (cached or 0)
        cost = prices.cost_usd(prompt.tokens, cached or 0, written, answers.get(prompt.step, 0))
        for consumed, produced in writers.get(prompt.step, ()):
            cost += prices.cost_usd(consumed, 0, 0, produced)
        detail = None if cached is not None else Told(text=f"no cache assumed: no known rule for {prices.provider}")
        samples.append(Sample(numerator=cost, step=prompt.step, detail=detail))
    return samples


def _provider_text(model: str | None) -> str:
    return provider_of(model) or model or "an unnamed model"
