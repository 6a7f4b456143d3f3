"""Regression: a metric must not grow or drop by more than a given change against the committed baseline."""

from __future__ import annotations

from ..model import Comparison, GateRule, Row, Verdict
from ..scenario import relative_limit
from . import failed_case, gate, judged_rows

ROUNDING = 1e-9
"""Slack on a limit: a value equal to the limit passes whatever the last bit of a float says."""


@gate("regression", handles=("max_increase", "max_drop"))
def regression(rule: GateRule, comparison: Comparison, strategy: str) -> Verdict:
    """A limit on the change since the accepted baseline: `"2%"` of its value, or a bare number as an absolute difference.

    No baseline at all: skipped. A baseline that lacks this value, or of another signature: inconclusive.

    Source: design §5
    """
    rising = rule.max_increase is not None
    written = rule.max_increase if rising else rule.max_drop
    parsed = relative_limit(written if written is not None else 0)
    amount, relative = parsed if parsed else (0.0, False)
    word = "increase" if rising else "drop"
    shown = f"{amount:.4g}" if not relative else f"{written}"
    name = f"{rule.metric} {word} ≤ {shown}" + (" (worst case)" if rule.over == "worst_case" else "")

    def verdict(outcome: str, sentence: str, row: Row | None = None, limit: float | None = None) -> Verdict:
        return Verdict(gate=name, metric=rule.metric, strategy=strategy, outcome=outcome, sentence=sentence,  # type: ignore[arg-type]
                       case=row.case if row else None, value=row.value if row else None, limit=limit)  # fmt: skip

    failed = failed_case(comparison, strategy)
    if failed:
        return verdict("fail", f"{strategy} raised on {failed[0]}: {failed[1]}")
    if comparison.baseline_problem:
        return verdict(
            "inconclusive",
            f"{strategy}: baseline refused: {comparison.baseline_problem} — accept a new one with --update-baseline",
        )
    if comparison.baseline is None:
        return verdict(
            "skipped", f"{strategy}: no baseline yet for {rule.metric} — accept this run with --update-baseline"
        )
    accepted = comparison.baseline.values.get(strategy, {}).get(rule.metric, {})
    lost = sorted(set(accepted) - {""} - set(comparison.cases))
    new = sorted(set(comparison.cases) - set(accepted)) if accepted else []
    if lost or new or not accepted:
        what = (
            f"case {lost[0]} of the baseline was not replayed" if lost
            else f"the baseline has no case {new[0]}" if new
            else f"the baseline has no {rule.metric} of {strategy}"
        )  # fmt: skip
        return verdict("inconclusive", f"{strategy}: {what} — accept the change with --update-baseline")
    judged: list[tuple[float, Row, float, float]] = []
    for row in judged_rows(rule, comparison, strategy):
        before = accepted.get(row.case or "")
        if row.value is None and before is None:
            continue
        if row.value is None or before is None:
            side = "the baseline" if before is None else f"this run ({row.reason})"
            return verdict("inconclusive", f"{strategy}: {rule.metric} was not measured in {side}", row)
        allowed = amount * abs(before) if relative else amount
        change = row.value - before if rising else before - row.value
        judged.append((allowed + ROUNDING * max(1.0, abs(before)) - change, row, before, allowed))
    if not judged:
        return verdict("inconclusive", f"{strategy}: {rule.metric} was not measured, neither now nor in the baseline")
    slack, row, before, allowed = min(judged, key=lambda item: item[0])
    where = f" on {row.case}" if row.case else ""
    limit = before + allowed if rising else before - allowed
    moved = f"{rule.metric} went from {before:g} to {row.value:g}{where}"
    if slack < 0:
        return verdict("fail", f"{strategy}: {moved}, an allowed {word} of {shown} ends at {limit:g}", row, limit)
    return verdict("pass", f"{strategy}: {moved}, within an allowed {word} of {shown}", row, limit)
