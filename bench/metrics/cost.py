"""The cost of a strategy: tokens of prompts and summaries, out of the cache, in dollars, and with every fault repaired by one more call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ..evidence.of_run import RunEvidence
from ..evidence.pricing import PricedCall, Refetch, own_usd
from ..model import Sample, Told, WriterCall, grouped
from ..text.wording import counted
from . import DOES_NOT_FIT, example as example, metric, sample


@metric("cost.prompt_tokens", unit="tokens", better="lower", aggregate="sum", version=2)
def prompt_tokens(evidence: RunEvidence) -> list[Sample]:
    """Tokens of all prompts together: what the model was given to read over the whole run.

    One sample a model call, framing and tool definitions included. No model calls: no samples.

    Source: 003 §1 "Token Efficiency"; 002 Token Management

    >>> [(sample.step, sample.numerator) for sample in prompt_tokens(example())]
    [(1, 9.0), (3, 22.0)]
    """
    return [sample(prompt.tokens, prompt.step) for prompt in evidence.run.prompts]


@metric("cost.peak_prompt_tokens", unit="tokens", better="lower", aggregate="max", version=2)
def peak_prompt_tokens(evidence: RunEvidence) -> list[Sample]:
    """Tokens of the largest prompt.

    One sample a model call. No model calls: no samples.

    Source: 002 Current Behavior: what triggers a compaction is the size of one prompt

    >>> max(sample.numerator for sample in peak_prompt_tokens(example()))
    22.0
    """
    return list(prompt_tokens(evidence))


@metric("cost.cached_prompt_tokens", unit="tokens", better="higher", aggregate="sum", version=3)
def cached_prompt_tokens(evidence: RunEvidence) -> list[Sample]:
    """Prompt tokens that the provider's prompt cache would serve.

    Tool definitions and the whole messages that a prompt shares, from its start, with the one before in its thread; at Claude, which keeps only what
    ends at a mark, with any earlier one up to its end or that of its system prompt, no more than 20 positions back. Then the provider's rule for
    that model (how long the start must be, in what steps it is read, how long it is kept where the trace has times), and the share of it that was
    served when the trace was recorded, where its usage tells (where usage does not say it, anything up to all). A thread's first prompt is served
    what the recording's own was, of the same messages. Nothing is shared after the tool definitions changed, or with another model's prompt. One
    sample a model call; not measured for a provider whose rule is not known here.

    Source: for each provider the page that `bench.tokens.caching.cache_rule` names

    >>> [sample.numerator for sample in cached_prompt_tokens(example())]
    [0.0, 0.0]
    """
    return [
        Sample(
            numerator=None,
            step=call.step,
            reason=f"the cache rule of {call.provider or call.model or 'an unnamed model'} is not known here",
        )
        if call.read is None
        else _between(call.read, None if call.otherwise is None else call.otherwise.read, call.step)
        for call in evidence.calls
    ]


def _between(value: float, other: float | None, step: int, detail: Told | None = None) -> Sample:
    """A sample that may as well be another value, or any between the two."""
    low, high = min(value, value if other is None else other), max(value, value if other is None else other)
    least, most = low if low < value else None, high if high > value else None
    return Sample(numerator=float(value), step=step, least=least, most=most, detail=detail)


@metric("cost.writer_tokens", unit="tokens", better="lower", aggregate="sum")
def writer_tokens(evidence: RunEvidence) -> list[Sample]:
    """Tokens that a strategy's own calls of a model took, to write summaries or for anything else: what each read and what it produced.

    One sample a call; 0 where a run with prompts made none. Counted by the provider where a model was really asked and said so. No model calls
    in the trace: no samples.

    Source: "The Complexity Trap" (arXiv 2508.21433): summaries cost model calls of their own

    >>> [sample.numerator for sample in writer_tokens(example())]
    [0.0]
    """
    samples = [sample(call.consumed_tokens + call.produced_tokens, call.step) for call in evidence.run.writer_calls]
    return samples or ([sample(0)] if evidence.run.prompts else [])


@metric("cost.writer_seconds", unit="seconds", better="lower", aggregate="sum")
def writer_seconds(evidence: RunEvidence) -> list[Sample]:
    """Seconds that the models which a strategy itself asked took to answer, as they were recorded.

    One sample a call of a model that was really asked; a rule that stands in for one takes no time. None asked: no samples. Not measured where a
    cassette does not say.

    Source: "The Complexity Trap" (arXiv 2508.21433): summaries cost model calls of their own

    >>> writer_seconds(example())
    []
    """
    asked = [call for call in evidence.run.writer_calls if call.model is not None]
    unknown = "the cassette names no time"
    return [
        Sample(numerator=call.seconds, step=call.step, reason=unknown if call.seconds is None else None)
        for call in asked
    ]


@metric("cost.window_overflows", unit="prompts", better="lower", aggregate="sum", version=2)
def window_overflows(evidence: RunEvidence) -> list[Sample]:
    """Prompts larger than the model's window: calls that could not have been made.

    One sample a model call, 1 or 0. Not measured where the model's window is not known.

    Source: genai-prices 0.2, `context_window` of a model

    >>> window_overflows(example())[0].reason
    'the context window of gpt-4o is not known'
    """
    samples = []
    for prompt in evidence.run.prompts:
        if prompt.window_tokens is None:
            reason = f"the context window of {evidence.run.model or 'an unnamed model'} is not known"
            samples.append(Sample(numerator=None, step=prompt.step, reason=reason))
        else:
            samples.append(sample(prompt.tokens > prompt.window_tokens, prompt.step))
    return samples


@metric("cost.cost_usd", unit="usd", better="lower", aggregate="sum", version=3)
def cost_usd(evidence: RunEvidence) -> list[Sample]:
    """Dollars for all model calls at the prices of the recording's day: prompts, cache reads and writes, answers, the strategy's own calls.

    One sample a model call, and one for a step at which the strategy alone asked a model. Cache reads as in `cost.cached_prompt_tokens`; where the
    provider charges writes (Claude, gpt-5.6 and later), what a prompt adds to the cache is one. Claude's cache counts as asked for unless the
    recorded usage shows that it was not. Where the provider's cache rule is not known no cache is assumed, and the sample says so. Usage that does
    not say what the cache served bounds the price: what the rule allows (where the provider promises nothing: no cache), up or down to the other end.
    Answers cost what the provider recorded (`usage.completion_tokens`), unless their text is much longer (it was counted too early), else text, tool
    calls and reasoning as counted here. A strategy's own call costs its prompt and answer, uncached, on the model that was asked, else (a summary by
    a rule that stands in for a model) on that of the turn. Not measured for a model without listed prices, or where a prompt does not fit the model's
    window.

    Source: genai-prices 0.2, dated prices of a model; for each provider the page that `bench.tokens.caching.cache_rule` names

    >>> [f"{sample.numerator:.6f}" for sample in cost_usd(example())]
    ['0.000043', '0.000145']
    """
    return _dollars(evidence, evidence.calls)


@metric("cost.uncached_usd", unit="usd", better="lower", aggregate="sum")
def uncached_usd(evidence: RunEvidence) -> list[Sample]:
    """Dollars for all model calls if no prompt cache served anything: `cost.cost_usd` with every prompt token at its full price.

    Samples are as in `cost.cost_usd`, and so is what is not measured.

    Source: "The Complexity Trap" (arXiv 2508.21433), whose prices ignore prompt caching

    >>> [f"{sample.numerator:.6f}" for sample in uncached_usd(example())]
    ['0.000043', '0.000145']
    """
    return _dollars(evidence, evidence.uncached_calls)


def _dollars(
    evidence: RunEvidence, calls: Iterable[PricedCall], repairs: Mapping[int, Refetch] | None = None
) -> list[Sample]:
    """The dollars of some calls, each with the repair of its turn, and of the strategy's own calls."""
    own = grouped((call.step, call) for call in evidence.run.writer_calls)
    if larger := _beyond(evidence):
        return larger
    samples = []
    for call in calls:
        repair = (repairs or {}).get(call.step)
        usd, other = call.usd(repair), None if call.otherwise is None else call.otherwise.usd(repair)
        if usd is None:
            unnamed = "the trace names no model — name one with --model"
            reason = unnamed if call.model is None else f"no prices are listed for {call.model}"
            samples.append(Sample(numerator=None, step=call.step, reason=reason))
            own.pop(call.step, None)
            continue
        told = _told(repair) or _assumed(call)
        samples.append(_with_own(evidence, (usd, other), call.step, own.pop(call.step, ()), told))
    return [*samples, *(_with_own(evidence, (0.0, None), step, written) for step, written in own.items())]


def _with_own(
    evidence: RunEvidence,
    usd: tuple[float, float | None],
    step: int,
    calls: Sequence[WriterCall],
    detail: Told | None = None,
) -> Sample:
    """The dollars of one step, which may be other ones, with those of the strategy's own calls."""
    more = 0.0
    for call in calls:
        own = own_usd(evidence.of_trace, call)
        if own is None:
            reason = f"no prices are listed for {call.model or 'an unnamed model'}, which the strategy asked"
            return Sample(numerator=None, step=step, reason=reason)
        more += own
    return _between(usd[0] + more, None if usd[1] is None else usd[1] + more, step, detail)


def _assumed(call: PricedCall) -> Told | None:
    if call.otherwise is not None:
        return Told(text="the recording does not say what the cache served")
    return Told(text=f"no cache assumed: no known rule for {call.provider}") if call.read is None else None


def _beyond(evidence: RunEvidence) -> list[Sample]:
    """The first call that could not be made, as the sample of a run that has no price; `[]` where every prompt fits, or no window is known."""
    known = (item for item in evidence.run.prompts if item.window_tokens is not None)
    larger = [item for item in known if item.tokens > (item.window_tokens or 0)]
    if not larger:
        return []
    reason = f"{DOES_NOT_FIT}: {counted(len(larger), 'prompt')} above {larger[0].window_tokens:,} tokens"
    return [Sample(numerator=None, step=larger[0].step, reason=reason)]


_NAMED = 5  # facts that a repair cannot fetch


@metric("cost.with_refetches_tokens", unit="tokens", better="lower", aggregate="sum", version=4)
def with_refetches_tokens(evidence: RunEvidence) -> list[Sample]:
    """Prompt tokens of the run if every fault were repaired by one more call, and the tokens of its summaries.

    A repair is the prompt of the faulting turn again, an answer of the trace's median length that calls a tool, and the smallest untruncated results
    that hold what was missing (for a handle: what it resolves to). One sample a model call, with its summaries; a model that a strategy asked
    elsewhere has a sample of its own. Where nothing holds what is gone, as with what a user had said, the call is counted and nothing is fetched: a
    lower bound, and the sample says so. No model calls: no samples. Not measured where a prompt does not fit the model's window.

    Source: average access time of caches, hit time and miss rate times penalty (Hennessy and Patterson, Computer Architecture, appendix B)

    >>> [(sample.step, sample.numerator) for sample in with_refetches_tokens(example())]
    [(1, 9.0), (3, 60.0)]
    """
    if larger := _beyond(evidence):
        return larger
    samples, written = [], Counter[int]()
    for call in evidence.run.writer_calls:
        written[call.step] += call.consumed_tokens + call.produced_tokens
    for prompt in evidence.run.prompts:
        repair = evidence.refetches.get(prompt.step)
        again = prompt.tokens + repair.new_tokens if repair else 0
        tokens = prompt.tokens + again + written.pop(prompt.step, 0)
        samples.append(sample(tokens, prompt.step, detail=_told(repair)))
    return samples + [sample(tokens, step) for step, tokens in sorted(written.items())]


@metric("cost.with_refetches_usd", unit="usd", better="lower", aggregate="sum", version=4)
def with_refetches_usd(evidence: RunEvidence) -> list[Sample]:
    """Dollars of the run if every fault were repaired by one more call: `cost.cost_usd` and the repairs.

    The prompt that is sent again is read from the cache as far as the provider's rule says; the answer that asks and what it fetches are new. One
    sample a model call, with its summaries. A lower bound as in `cost.with_refetches_tokens`. Not measured for a model without listed prices.

    Source: average access time of caches (Hennessy and Patterson, Computer Architecture, appendix B); prices of genai-prices 0.2

    >>> [f"{sample.numerator:.6f}" for sample in with_refetches_usd(example())]
    ['0.000043', '0.000260']
    """
    return _dollars(evidence, evidence.calls, evidence.refetches)


@metric("cost.uncached_with_refetches_usd", unit="usd", better="lower", aggregate="sum")
def uncached_with_refetches_usd(evidence: RunEvidence) -> list[Sample]:
    """Dollars of the run without any prompt cache if every fault were repaired by one more call: `cost.uncached_usd` and the repairs.

    Samples are as in `cost.with_refetches_usd`, and so is what is not measured.

    Source: average access time of caches (Hennessy and Patterson, Computer Architecture, appendix B); prices of genai-prices 0.2

    >>> [f"{sample.numerator:.6f}" for sample in uncached_with_refetches_usd(example())]
    ['0.000043', '0.000260']
    """
    return _dollars(evidence, evidence.uncached_calls, evidence.refetches)


def _told(repair: Refetch | None) -> Told | None:
    if repair is None or not repair.beyond:
        return None
    facts = ", ".join(repair.beyond[:_NAMED])
    return Told(text=f"a lower bound: no result gives {facts} again")
