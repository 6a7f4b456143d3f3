"""Agreement of what is concluded from the stored records with what the untruncated ones say."""

from __future__ import annotations

from typing import Any, Literal

from ..evidence.of_replay import ReplayEvidence
from ..model.replay import StepOutcome
from ..model.scores import Number
from ..text.answers import same
from . import example as example, mean, metric


@metric("findings.agreement", unit="share", better="higher", aggregate="mean over tasks")
def agreement(evidence: ReplayEvidence) -> Number:
    """Share of tool results whose evaluation and extraction come out the same from the stored
    record as from the untruncated one.

    0–1, of the results that have either on the untruncated record. Timestamps are left out; types
    count (1 is not 1.0). Nothing evaluated or extracted: nothing to measure.

    Source: 004 Issue Analysis "incorrect scientific conclusions"

    >>> agreement(example()).value
    """
    results = [
        item
        for item in evidence.replay.results
        if item.evaluation_untruncated is not None or item.extraction_untruncated is not None
    ]
    return mean([_agrees(item, "evaluation") and _agrees(item, "extraction") for item in results])


@metric("findings.evaluation_agreement", unit="share", better="higher", aggregate="mean over tasks")
def evaluation_agreement(evidence: ReplayEvidence) -> Number:
    """Share of tool results that the evaluator judges the same from the stored record as from the
    untruncated one.

    0–1, of the results that are evaluated on the untruncated record. Nothing evaluated: nothing to
    measure.

    Source: 004 §5.2

    >>> evaluation_agreement(example()).value
    """
    results = [item for item in evidence.replay.results if item.evaluation_untruncated is not None]
    return mean([_agrees(item, "evaluation") for item in results])


@metric("findings.extraction_agreement", unit="share", better="higher", aggregate="mean over tasks")
def extraction_agreement(evidence: ReplayEvidence) -> Number:
    """Share of tool results from whose stored record the same findings are read back as from the
    untruncated one.

    0–1, of the results from whose untruncated record something is extracted. Nothing extracted:
    nothing to measure.

    Source: 004 §3.2

    >>> extraction_agreement(example()).value
    """
    results = [item for item in evidence.replay.results if item.extraction_untruncated is not None]
    return mean([_agrees(item, "extraction") for item in results])


def _agrees(outcome: StepOutcome, kind: Literal["evaluation", "extraction"]) -> bool:
    untruncated, stored = getattr(outcome, f"{kind}_untruncated"), getattr(outcome, kind)
    return untruncated is stored or same_findings(untruncated, stored)


def same_findings(untruncated: Any, stored: Any) -> bool:
    """True if two findings say the same; timestamps and the order of keys do not count, types do.

    >>> same_findings({"a": 1, "timestamp": 5}, {"a": 1}), same_findings({"a": 1}, {"a": 1.0})
    (True, False)
    """
    return same(_without_times(untruncated), _without_times(stored))


def _without_times(findings: Any) -> Any:
    if isinstance(findings, dict):
        return {key: _without_times(item) for key, item in findings.items() if key != "timestamp"}
    if isinstance(findings, list | tuple):
        return [_without_times(item) for item in findings]
    return findings
