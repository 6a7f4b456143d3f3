"""What is concluded from a stored record against what the untruncated one says: whether they agree, and change by change where they do not."""

from __future__ import annotations

from typing import Any

from ..model import ResultOutcome, compact_json

MAX_CHANGES = 10
"""How many differences of one result are listed."""

_VALUE_CHARS = 120
_DIFF_CHARS = 20_000  # findings longer than this as JSON are not compared in detail: deepdiff takes seconds on them


def judged(outcome: ResultOutcome) -> bool:
    """Whether anything was evaluated or extracted from the untruncated record."""
    return outcome.evaluation_untruncated is not None or outcome.extraction_untruncated is not None


def agree(outcome: ResultOutcome) -> bool:
    """Whether evaluation and extraction come out the same from both records. Timestamps and the order of keys do not count; types do."""
    untruncated = outcome.evaluation_untruncated, outcome.extraction_untruncated
    stored = outcome.evaluation, outcome.extraction
    if compact_json(untruncated) == compact_json(stored):
        return True
    return same(untruncated, stored)


def same(untruncated: Any, stored: Any) -> bool:
    """Whether two findings say the same; timestamps and the order of keys do not count, types do.

    >>> same({"a": 1, "timestamp": 5}, {"a": 1}), same({"a": 1}, {"a": 1.0})
    (True, False)
    """
    return compact_json(_comparable(untruncated)) == compact_json(_comparable(stored))


def changes(outcome: ResultOutcome) -> list[dict[str, str]] | None:
    """What came out otherwise from the stored record: path, kind, before (untruncated) and after (stored), up to 10 of them by path.

    `[]` where both agree, None where the findings are too long to compare in detail.
    """
    before, after = (
        {"evaluation": _comparable(evaluation), "extraction": _comparable(extraction)}
        for evaluation, extraction in (
            (outcome.evaluation_untruncated, outcome.extraction_untruncated),
            (outcome.evaluation, outcome.extraction),
        )
    )
    if max(len(compact_json(before)), len(compact_json(after))) > _DIFF_CHARS:
        return None
    from deepdiff import DeepDiff

    diff = DeepDiff(before, after, view="tree", ignore_nan_inequality=True, threshold_to_diff_deeper=0)
    found = [
        {
            "path": ".".join(map(str, change.path(output_format="list"))),
            "kind": kind,
            "before": _shortened(change.t1),
            "after": _shortened(change.t2),
        }
        for kind, of_kind in diff.items()
        for change in of_kind
    ]
    return sorted(found, key=lambda change: (change["path"], change["kind"]))[:MAX_CHANGES]


def _comparable(findings: Any) -> Any:
    """Findings without timestamps and with sorted keys."""
    if isinstance(findings, dict):
        return {key: _comparable(findings[key]) for key in sorted(findings, key=str) if key != "timestamp"}
    if isinstance(findings, list | tuple):
        return [_comparable(item) for item in findings]
    return findings


def _shortened(value: Any) -> str:
    text = "" if type(value).__name__ == "NotPresent" else value if isinstance(value, str) else compact_json(value)
    return text if len(text) <= _VALUE_CHARS else text[: _VALUE_CHARS - 1] + "…"
