"""Absolute limits: a metric must not be below `min` or above `max`."""

from __future__ import annotations

from ..model import Comparison, GateRule, Row, Verdict
from . import failed_case, gate, judged_rows


@gate("limits", handles=("min", "max"))
def limits(rule: GateRule, comparison: Comparison, strategy: str) -> Verdict:
    """A fixed lower or upper limit on a metric, over all cases or on the worst one.

    A strategy that raised on a case fails; a value that could not be measured is inconclusive.

    Source: design §5
    """
    limit = rule.min if rule.min is not None else rule.max
    bounds = " and ".join(
        text
        for text in (rule.min is not None and f"≥ {rule.min:g}", rule.max is not None and f"≤ {rule.max:g}")
        if text
    )
    name = f"{rule.metric} {bounds}" + (" (worst case)" if rule.over == "worst_case" else "")

    def verdict(outcome: str, sentence: str, row: Row | None = None) -> Verdict:
        return Verdict(gate=name, metric=rule.metric, strategy=strategy, outcome=outcome, sentence=sentence,  # type: ignore[arg-type]
                       case=row.case if row else None, value=row.value if row else None, limit=limit)  # fmt: skip

    failed = failed_case(comparison, strategy)
    if failed:
        return verdict("fail", f"{strategy} raised on {failed[0]}: {failed[1]}")
    rows = judged_rows(rule, comparison, strategy)
    unknown = [row for row in rows if row.value is None]
    measured = [row for row in rows if row.value is not None]
    broken = [row for row in measured if _distance(rule, row) < 0]
    if broken:
        worst = min(broken, key=lambda row: _distance(rule, row))
        where = f" on {worst.case}" if worst.case else ""
        return verdict("fail", f"{strategy}: {rule.metric} is {worst.value:g}{where}, the limit is {bounds}", worst)
    if unknown and (rule.over == "all" or not measured or any(row.reason != "nothing to measure" for row in unknown)):
        first = next((row for row in unknown if row.reason != "nothing to measure"), unknown[0])
        where = f" on {first.case}" if first.case else ""
        return verdict("inconclusive", f"{strategy}: {rule.metric} was not measured{where}: {first.reason}", first)
    closest = min(measured, key=lambda row: _distance(rule, row))
    where = f" on {closest.case}" if closest.case else ""
    return verdict("pass", f"{strategy}: {rule.metric} is {closest.value:g}{where}, within {bounds}", closest)


def _distance(rule: GateRule, row: Row) -> float:
    """How far a value is inside the limits; negative outside."""
    value = row.value or 0.0
    inside = []
    if rule.min is not None:
        inside.append(value - rule.min)
    if rule.max is not None:
        inside.append(rule.max - value)
    return min(inside)
