"""What is concluded from a stored record against what the untruncated one says: whether they agree."""

from __future__ import annotations

from typing import Any

from ..model import ResultOutcome
from ..text.equality import same


def judged(outcome: ResultOutcome) -> bool:
    """Whether anything was evaluated or extracted from the untruncated record."""
    return outcome.evaluation_untruncated is not None or outcome.extraction_untruncated is not None


def agree(outcome: ResultOutcome) -> bool:
    """Whether evaluation and extraction come out the same from both records. Timestamps and the order of keys do not count; types do."""
    return same_findings(outcome.evaluation_untruncated, outcome.evaluation) and same_findings(
        outcome.extraction_untruncated, outcome.extraction
    )


def same_findings(untruncated: Any, stored: Any) -> bool:
    """Whether two findings say the same; timestamps and the order of keys do not count, types do.

    >>> same_findings({"a": 1, "timestamp": 5}, {"a": 1}), same_findings({"a": 1}, {"a": 1.0})
    (True, False)
    """
    return same(without_times(untruncated), without_times(stored))


def without_times(findings: Any) -> Any:
    """Findings without their timestamps, at any depth."""
    if isinstance(findings, dict):
        return {key: without_times(item) for key, item in findings.items() if key != "timestamp"}
    if isinstance(findings, list | tuple):
        return [without_times(item) for item in findings]
    return findings
