"""Absolute limits: a metric must not be below `min` or above `max`."""

from __future__ import annotations

from ..comparison.rows import NOTHING
from ..model import Comparison, GateRule, Row, Verdict
from . import cases, dropped_on, failed_case, gate, judged_rows, number, value_of, why_not


@gate("limits", handles=("min", "max"))
def limits(rule: GateRule, comparison: Comparison, strategy: str) -> Verdict:
    """A fixed lower or upper limit on a metric, over all cases or on the worst one.

    A strategy that raised on a case fails; a value that could not be measured is inconclusive. A failure names the worst case and what was
    dropped there.

    Source: design §5
    """
    limit = rule.min if rule.min is not None else rule.max
    bounds = " and ".join(
        text
        for text in (rule.min is not None and f"≥ {rule.min:g}", rule.max is not None and f"≤ {rule.max:g}")
        if text
    )
    name = f"{rule.metric} {bounds}" + (" (worst case)" if rule.over == "worst_case" else "")

    def verdict(outcome: str, sentence: str, row: Row | None = None, detail: tuple[str, ...] = ()) -> Verdict:
        return Verdict(gate=name, metric=rule.metric, strategy=strategy, outcome=outcome, sentence=sentence,  # type: ignore[arg-type]
                       case=row.case if row else None, value=value_of(row) if row else None, limit=limit,
                       detail=detail)  # fmt: skip

    failed = failed_case(comparison, strategy)
    if failed:
        return verdict("fail", f"{strategy} raised on {failed[0]}: {failed[1]}")
    rows = judged_rows(rule, comparison, strategy)
    unknown = [row for row in rows if value_of(row) is None]
    measured = [row for row in rows if value_of(row) is not None]
    broken = [row for row in measured if _distance(rule, row) < 0]
    if broken:
        worst = min(broken, key=lambda row: _distance(rule, row))
        where = f" on {worst.case}" if worst.case else ""
        case, named = _worst_case(rule, comparison, strategy, worst)
        lost = dropped_on(comparison, strategy, rule.metric, case)
        said = f"{strategy}: {rule.metric} is {number(worst.value or 0.0)}{where}, the limit is {bounds}{named}"
        return verdict("fail", f"{said}: {lost.clause}" if lost.clause else said, worst, lost.lines)
    if unknown and (rule.over == "all" or not measured or any(row.reason != NOTHING for row in unknown)):
        first = next((row for row in unknown if row.reason != NOTHING), unknown[0])
        where = f" on {first.case}" if first.case else ""
        return verdict("inconclusive", f"{strategy}: {rule.metric} was not measured{where}: {why_not(first)}", first)
    if not measured:
        return verdict("inconclusive", f"{strategy}: {rule.metric} has no value here")
    closest = min(measured, key=lambda row: _distance(rule, row))
    where = f" on {closest.case}" if closest.case else f" over {cases(len(comparison.cases))}"
    return verdict(
        "pass", f"{strategy}: {rule.metric} is {number(closest.value or 0.0)}{where}, within {bounds}", closest
    )


def _distance(rule: GateRule, row: Row) -> float:
    """How far a value is inside the limits; negative outside."""
    value = row.value or 0.0
    inside = []
    if rule.min is not None:
        inside.append(value - rule.min)
    if rule.max is not None:
        inside.append(rule.max - value)
    return min(inside)


def _worst_case(rule: GateRule, comparison: Comparison, strategy: str, broken: Row) -> tuple[str | None, str]:
    """The case to blame, and the clause that names it where the value is one over all cases."""
    if broken.case is not None:
        return broken.case, ""
    by_case = [
        row
        for row in comparison.rows
        if row.strategy == strategy and row.metric == rule.metric and value_of(row) is not None
    ]
    if not by_case:
        return None, ""
    low = rule.min is not None and (broken.value or 0.0) < rule.min
    worst = (min if low else max)(by_case, key=lambda row: row.value or 0.0)
    return worst.case, f"; worst on {worst.case} ({number(worst.value or 0.0)})"
