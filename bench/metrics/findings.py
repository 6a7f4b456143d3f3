"""Whether what is concluded from the stored records is what the untruncated ones say."""

from __future__ import annotations

from ..facts.findings import agree, judged
from ..model import Run, Sample, Trace
from . import metric


@metric("findings.agreement", unit="fraction", better="higher", aggregate="pooled")
def agreement(trace: Trace, run: Run) -> list[Sample]:
    """Share of tool results whose evaluation and extraction come out the same from the stored record as from the untruncated one.

    0–1. Timestamps are left out; types count (1 is not 1.0). One sample a result that has either on the untruncated record. What came out
    otherwise is spelled out in a report, when it is written. Nothing evaluated or extracted: no samples.

    Source: design §4 "findings"

    >>> from bench.metrics import example
    >>> agreement(*example())
    []
    """
    return [
        Sample(numerator=float(agree(outcome)), denominator=1.0, step=outcome.step, call_id=outcome.call_id)
        for outcome in run.results
        if judged(outcome)
    ]
