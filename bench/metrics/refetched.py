"""What a strategy costs when every fault is repaired by one more call: whether its saving survives what it lost."""

from __future__ import annotations

from collections import Counter

from ..evidence.of_run import RunEvidence
from ..evidence.refetch import Refetch
from ..model import Sample, Told
from . import metric, metric_of

_NAMED = 5


@metric("cost.with_refetches_tokens", unit="tokens", better="lower", aggregate="sum")
def with_refetches_tokens(evidence: RunEvidence) -> list[Sample]:
    """Prompt tokens of the run if every fault were repaired by one more call, and the tokens of its summaries.

    A repair is the prompt of the faulting turn again, an answer of the trace's median length that calls a tool, and the smallest untruncated
    results that hold what was missing (for a handle: what it resolves to). One sample a model call, with its summaries; a model that a strategy
    asked elsewhere has a sample of its own. Where nothing holds what is gone, as with what a user had said, the call is counted and nothing is
    fetched: a lower bound, and the sample says so. No model calls: no samples.

    Source: average access time of caches, hit time and miss rate times penalty (Hennessy and Patterson, Computer Architecture, appendix B)

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator) for sample in with_refetches_tokens(example())]
    [(1, 9.0), (3, 60.0)]
    """
    samples, written = [], Counter[int]()
    for call in evidence.run.writer_calls:
        written[call.step] += call.consumed_tokens + call.produced_tokens
    for prompt in evidence.run.prompts:
        repair = evidence.refetches.get(prompt.step)
        again = prompt.tokens + repair.new_tokens if repair else 0
        tokens = prompt.tokens + again + written.pop(prompt.step, 0)
        samples.append(Sample(numerator=float(tokens), step=prompt.step, detail=_told(repair)))
    return samples + [Sample(numerator=float(tokens), step=step) for step, tokens in sorted(written.items())]


@metric("cost.with_refetches_usd", unit="usd", better="lower", aggregate="sum")
def with_refetches_usd(evidence: RunEvidence) -> list[Sample]:
    """Dollars of the run if every fault were repaired by one more call: `cost.cost_usd` and the repairs.

    The prompt that is sent again is read from the cache as far as the provider's rule says; the answer that asks and what it fetches are new. One
    sample a model call, with its summaries. A lower bound as in `cost.with_refetches_tokens`. Not measured for a model without listed prices.

    Source: average access time of caches (Hennessy and Patterson, Computer Architecture, appendix B); prices of genai-prices 0.2

    >>> from bench.metrics import example
    >>> [f"{sample.numerator:.6f}" for sample in with_refetches_usd(example())]
    ['0.000043', '0.000260']
    """
    calls = {call.step: call for call in evidence.calls}
    samples = []
    for sample in metric_of("cost.cost_usd").samples(evidence):
        step = sample.step if sample.step is not None else -1
        repair, call = evidence.refetches.get(step), calls.get(step)
        if sample.numerator is None or repair is None or call is None:
            samples.append(sample)
            continue
        more = call.again_usd(repair.new_tokens, repair.answer_tokens)
        samples.append(
            Sample(numerator=sample.numerator + (more or 0.0), step=step, detail=_told(repair) or sample.detail)
        )
    return samples


def _told(repair: Refetch | None) -> Told | None:
    if repair is None or not repair.beyond:
        return None
    facts = ", ".join(repair.beyond[:_NAMED])
    return Told(text=f"a lower bound: no result gives {facts} again")
