"""Agreement of what is concluded from the stored records with what the untruncated ones say."""

from __future__ import annotations

from typing import Literal

from ..evidence.losses import agree, judged, same_findings
from ..evidence.of_run import RunEvidence
from ..model import Run, Sample
from . import example as example, metric, sample


@metric("findings.agreement", unit="fraction", better="higher", aggregate="pooled")
def agreement(evidence: RunEvidence) -> list[Sample]:
    """Share of tool results whose evaluation and extraction come out the same from the stored record as from the untruncated one.

    0–1. Timestamps are left out; types count (1 is not 1.0). One sample a result that has either on the untruncated record. What came out
    otherwise is spelled out in a report, when it is written. Nothing evaluated or extracted: no samples.

    Source: 004 Issue Analysis "incorrect scientific conclusions"

    >>> agreement(example())
    []
    """
    results = filter(judged, evidence.run.results)
    return [sample(agree(outcome), outcome.step, outcome.call_id, of=1) for outcome in results]


@metric("findings.evaluation_agreement", unit="fraction", better="higher", aggregate="pooled")
def evaluation_agreement(evidence: RunEvidence) -> list[Sample]:
    """Share of tool results that the evaluator judges the same from the stored record as from the untruncated one.

    0–1. One sample a result that is evaluated on the untruncated record; nothing evaluated: no samples.

    Source: 004 §5.2

    >>> evaluation_agreement(example())
    []
    """
    return _agreements(evidence.run, "evaluation")


@metric("findings.extraction_agreement", unit="fraction", better="higher", aggregate="pooled")
def extraction_agreement(evidence: RunEvidence) -> list[Sample]:
    """Share of tool results from whose stored record the same findings are read back as from the untruncated one.

    0–1. One sample a result from whose untruncated record something is extracted; nothing extracted: no samples.

    Source: 004 §3.2

    >>> extraction_agreement(example())
    []
    """
    return _agreements(evidence.run, "extraction")


def _agreements(run: Run, what: Literal["evaluation", "extraction"]) -> list[Sample]:
    found = ((item, getattr(item, f"{what}_untruncated"), getattr(item, what)) for item in run.results)
    return [
        sample(same_findings(untruncated, stored), item.step, item.call_id, of=1)
        for item, untruncated, stored in found
        if untruncated is not None
    ]
