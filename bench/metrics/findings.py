"""Whether what is concluded from the stored records is what the untruncated ones say."""

from __future__ import annotations

from typing import Any

from ..model import ResultOutcome, Run, Sample, Trace, compact_json
from . import metric

_EXPLAINED = 20  # results of one run whose difference is spelled out
_CHANGES = 10  # differences listed of one result
_VALUE_CHARS = 120
_DIFF_CHARS = 20_000  # findings longer than this as JSON are not compared in detail: deepdiff takes seconds on them


@metric("findings.agreement", unit="fraction", better="higher", aggregate="pooled")
def agreement(trace: Trace, run: Run) -> list[Sample]:
    """Share of tool results whose evaluation and extraction come out the same from the stored record as from the untruncated one.

    0–1. Timestamps are left out; types count (1 is not 1.0). One sample a result that has either on the untruncated record; where they differ its
    detail lists up to 10 `changes`: path, kind, before (untruncated) and after (stored), for the first 20 such results. Nothing evaluated or
    extracted: no samples.

    Source: design §4 "findings"

    >>> from bench.metrics import example
    >>> agreement(*example())
    []
    """
    samples: list[Sample] = []
    explained = 0
    for outcome in run.results:
        untruncated, stored = _sides(outcome)
        if not any(value is not None for value in untruncated.values()):
            continue
        before, after = compact_json(untruncated), compact_json(stored)
        detail: dict[str, Any] = {}
        if before != after and explained < _EXPLAINED:
            explained += 1
            detail["changes"] = (
                _changes(untruncated, stored) if max(len(before), len(after)) <= _DIFF_CHARS else "too long to compare"
            )
        samples.append(
            Sample(
                numerator=float(before == after),
                denominator=1.0,
                step=outcome.step,
                call_id=outcome.call_id,
                detail=detail,
            )
        )
    return samples


def _sides(outcome: ResultOutcome) -> tuple[dict[str, Any], dict[str, Any]]:
    """The findings on the untruncated and on the stored record."""
    return (
        {
            "evaluation": _comparable(outcome.evaluation_untruncated),
            "extraction": _comparable(outcome.extraction_untruncated),
        },
        {"evaluation": _comparable(outcome.evaluation), "extraction": _comparable(outcome.extraction)},
    )


def _comparable(findings: Any) -> Any:
    """Findings without timestamps and with sorted keys."""
    if isinstance(findings, dict):
        return {key: _comparable(findings[key]) for key in sorted(findings, key=str) if key != "timestamp"}
    if isinstance(findings, list | tuple):
        return [_comparable(item) for item in findings]
    return findings


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[dict[str, str]]:
    from deepdiff import DeepDiff

    diff = DeepDiff(before, after, view="tree", ignore_nan_inequality=True, threshold_to_diff_deeper=0)
    changes = [
        {
            "path": ".".join(map(str, change.path(output_format="list"))),
            "kind": kind,
            "before": _shortened(change.t1),
            "after": _shortened(change.t2),
        }
        for kind, found in diff.items()
        for change in found
    ]
    return sorted(changes, key=lambda change: (change["path"], change["kind"]))[:_CHANGES]


def _shortened(value: Any) -> str:
    text = "" if type(value).__name__ == "NotPresent" else value if isinstance(value, str) else compact_json(value)
    return text if len(text) <= _VALUE_CHARS else text[: _VALUE_CHARS - 1] + "…"
