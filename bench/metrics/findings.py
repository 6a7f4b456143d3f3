"""Agreement between findings from stored records and findings from untruncated ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..evidence.of_replay import ReplayEvidence
from ..model import Record
from ..model.base import LISTS
from ..model.replay import StepOutcome
from ..model.scores import Number
from ..strategies import read_back, untruncated_record
from ..strategies.documents.document_004 import ENRICHMENT, enrichment
from ..text.answers import same
from . import mean, share_metric


@share_metric("findings.{}agreement", places=("", "evaluation_", "extraction_"))
def agreement(evidence: ReplayEvidence, place: str) -> Number:
    """Share of tool results whose evaluation and extraction (or whichever exists) are the same from
    the stored record as from the untruncated one.

    From 0 (none) to 1 (all), of the results that have either on the untruncated record. Timestamps
    are left out; types count (1 is not 1.0). If nothing is evaluated or extracted, there is nothing
    to measure.

    Source: 004 Issue Analysis "incorrect scientific conclusions", §3.2, §5.2
    """
    kinds = [place] if place else ["evaluation_", "extraction_"]
    enriching = (result for result in evidence.trace.results if result.function == ENRICHMENT)
    full = {result.index: untruncated_record(result) for result in enriching}
    judged = ([*_agreements(full.get(it.step), it, kinds)] for it in evidence.replay.results)
    return mean([all(agreements) for agreements in judged if agreements])


def _agreements(full: Record | None, outcome: StepOutcome, kinds: Sequence[str]) -> Iterator[bool]:
    """Yield for each kind of finding on the untruncated record True if the stored one agrees; `full`
    is that record, if something can be extracted from it."""
    if "evaluation_" in kinds and outcome.evaluation_untruncated is not None:
        yield same_findings(outcome.evaluation_untruncated, outcome.evaluation)
    if full is not None and "extraction_" in kinds:
        untruncated = enrichment(full)
        if untruncated is not None:
            stored = read_back(outcome.record, outcome.stored)
            is_full = stored.value is full.value and stored == full
            yield is_full or same_findings(untruncated, enrichment(stored))


def same_findings(untruncated: Any, stored: Any) -> bool:
    """True if two findings are equal; timestamps and the order of keys do not matter, types do.

    >>> same_findings({"a": 1, "timestamp": 5}, {"a": 1}), same_findings({"a": 1}, {"a": 1.0})
    (True, False)
    """
    return same(_without_times(untruncated), _without_times(stored))


def _without_times(findings: Any) -> Any:
    """Findings without their timestamps."""
    if isinstance(findings, dict):
        return {key: _without_times(item) for key, item in findings.items() if key != "timestamp"}
    if isinstance(findings, LISTS):
        return [_without_times(item) for item in findings]
    return findings
