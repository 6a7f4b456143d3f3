"""What a strategy spends beyond a reference that was told to serve no more than the strategy did."""

from __future__ import annotations

from ..evidence.of_run import RunEvidence
from ..model import Sample, Told
from . import metric

UNKNOWN = "nothing may be replayed here, so the reference is not known"


@metric("needed.tokens_over_oracle", unit="tokens", better="lower", aggregate="sum", version=2)
def tokens_over_oracle(evidence: RunEvidence) -> list[Sample]:
    """Prompt tokens beyond the fewest with which a verbatim selection reaches the same `needed.recall` on the same case.

    The selection is `floor:recall=…`: system turns and needed facts until they are needed last, the facts given up that cost most. It is a good
    selection, not a proven optimum, and it does not rewrite: below 0 a strategy beat it. No dependencies: no sample.

    Source: the clairvoyant optimum of cache research (Belady 1966)

    >>> from bench.metrics import example
    >>> tokens_over_oracle(example())[0].numerator
    20.0
    """
    return _beyond(evidence, "floor")


@metric("needed.tokens_over_clairvoyant", unit="tokens", better="lower", aggregate="sum", version=2)
def tokens_over_clairvoyant(evidence: RunEvidence) -> list[Sample]:
    """Prompt tokens beyond those of `clairvoyant` told to reach the same `needed.recall` on the same case.

    `clairvoyant:recall=…` keeps the whole conversation and of each result the lines still needed, so a strategy that drops conversation can
    be below 0. No dependencies: no sample.

    Source: the clairvoyant optimum of cache research (Belady 1966)

    >>> from bench.metrics import example
    >>> tokens_over_clairvoyant(example())[0].numerator
    20.0
    """
    return _beyond(evidence, "clairvoyant")


def _beyond(evidence: RunEvidence, reference: str) -> list[Sample]:
    judged = [item.present for item in evidence.prompts.scan.judged]
    if not judged:
        return []
    if evidence.oracle_tokens is None:
        return [Sample(numerator=None, reason=UNKNOWN)]
    theirs = evidence.oracle_tokens(reference, sum(judged) / len(judged))
    ours = sum(prompt.tokens for prompt in evidence.run.prompts)
    told = Told(text=f"{reference} needs {theirs} tokens for {sum(judged)} of {len(judged)}")
    return [Sample(numerator=float(ours - theirs), detail=told)]
