"""Absolute limits: a metric must not be below `min` or above `max`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...model import Comparison, GateRule, MetricInfo, Row, Verdict
from ...text.wording import counted, exact
from ..judging import ROUNDING, gate, losses_on, value_text, why_not
from ..rows import NOTHING, summary_row


def _problem(min: float | None = None, max: float | None = None) -> str | None:
    for name, limit in (("min", min), ("max", max)):
        if not math.isfinite(limit or 0):  # every comparison with NaN is false, so it would always pass
            return f"{name} = {limit}: write a number"
    if min is not None and max is not None and min > max:
        return f"min is above max ({exact(min)} > {exact(max)}): no value can pass"
    return None


def _misfit(info: MetricInfo, min: float | None = None, max: float | None = None) -> str | None:
    if info.unit == "fraction" and min is not None and min > 1:
        instead = f"write {exact(min / 100)} for {exact(min)}%"
        return f"min = {exact(min)}: no share is above 1, so it always fails — {instead}"
    if info.unit != "fraction" or (min is not None and min > 0) or (max is not None and max < 1):
        return None
    if min is not None:
        return f"min = {exact(min)}: no share is below 0, so it always passes — write a higher one"
    return f"max = {exact(max or 0.0)}: no share is above 1, so it always passes — write a lower one"


@gate("limits", problem=_problem, misfit=_misfit)
def limits(
    rule: GateRule, comparison: Comparison, strategy: str, *, min: float | None = None, max: float | None = None
) -> Verdict:
    """A fixed lower or upper limit on a metric, over all cases or on the worst one.

    Where cases are new since the baseline, those that it knows must be within the limit by themselves: new ones make up for none.

    A value that is only a bound is judged by the worse end: `min` by the least it can be, `max` by the most. A strategy that raised on a
    case fails; a value that could not be measured, or only in part, is inconclusive, unless what was measured is enough to fail. A
    failure names the worst case and what was dropped there.

    Source: ISO/IEC 25040, "acceptance criteria"
    """
    bounds = " and ".join(f"{sign} {exact(limit)}" for sign, limit in (("≥", min), ("≤", max)) if limit is not None)
    name = f"{rule.metric} {bounds}" + (" (worst case)" if rule.over == "worst_case" else "")

    def room(row: Row) -> tuple[float, float]:
        """The distances of a value to both limits, at the worse end of its bounds; negative outside."""
        above = math.inf if min is None else (row.least or 0.0) - min
        return above, math.inf if max is None else max - (row.most or 0.0)

    def slack(row: Row) -> float:
        return sorted(room(row))[0]

    def at_min(row: Row | None) -> bool:
        """True if the lower limit is the one to name: the only one, the nearer one, or the one that is missed by more."""
        above, below = (0.0, 0.0) if row is None or row.finite is None else room(row)
        return min is not None and (max is None or above <= below)

    def verdict(outcome: str, sentence: str, row: Row | None = None, **losses: Any) -> Verdict:
        return Verdict(gate=name, metric=rule.metric, strategy=strategy, outcome=outcome, sentence=sentence,  # type: ignore[arg-type]
                       case=row.case if row else None, value=row.finite if row else None,
                       limit=min if at_min(row) else max, **losses)  # fmt: skip

    def decided(row: Row) -> bool:
        """True if a row can be judged: it was measured in full, or a share that must be whole (or nothing) is already not."""
        if row.finite is None or row.partly == 0 or row.unit != "fraction":
            return row.finite is not None and row.partly == 0
        least, most = row.least or 0.0, row.most or 0.0
        return (min is not None and min >= 1 > most) or (max is not None and max <= 0 < least)

    failed = comparison.failed(strategy)
    if failed:
        return verdict("fail", f"{strategy} raised on {failed[0]}: {failed[1]}")
    by_case = comparison.rows_of(strategy, rule.metric)
    whole = comparison.row(strategy, rule.metric)
    rows = by_case if rule.over == "worst_case" else [whole] if whole is not None else []
    before = _of_known(rule.metric, comparison, by_case) if rule.over == "all" else None
    rows = [*rows, before] if before is not None else rows
    unknown = [row for row in rows if not decided(row)]
    measured = sorted(filter(decided, rows), key=slack)
    closest = measured[0] if measured else None
    where = f" over {counted(len(comparison.cases), 'case')}"
    if closest is not None and (closest.case or closest is before):
        where = f" on {closest.case}" if closest.case else f" over the cases that {comparison.against.name} has"
    if closest is not None and slack(closest) < -ROUNDING:
        worst = closest if closest.case else _worst(by_case, at_min(closest))
        named = f"; worst on {worst.case} ({value_text(worst)})" if worst is not None and not closest.case else ""
        said = f"{strategy}: {rule.metric} is {value_text(closest)}{where}, the limit is {bounds}{named}"
        blamed = None if worst is None else worst.case
        return verdict("fail", said, closest, **losses_on(comparison, strategy, rule.metric, blamed))
    if unknown and (rule.over == "all" or closest is None or any(row.reason != NOTHING for row in unknown)):
        first = next((row for row in unknown if row.reason != NOTHING), unknown[0])
        where = f" on {first.case}" if first.case else ""
        how = "measured only in part" if first.partly else "not measured"
        return verdict("inconclusive", f"{strategy}: {rule.metric} was {how}{where}: {why_not(first)}", first)
    if closest is None:
        return verdict("inconclusive", f"{strategy}: {rule.metric} has no value here")
    return verdict("pass", f"{strategy}: {rule.metric} is {value_text(closest)}{where}, within {bounds}", closest)


def _of_known(metric: str, comparison: Comparison, by_case: Sequence[Row]) -> Row | None:
    """The value over the cases that a baseline knows; None without one, or without a new case."""
    then = comparison.against.baseline
    rows = [row for row in by_case if then is not None and row.case in then.signature.traces]
    info = comparison.metrics.get(metric)
    return summary_row(info, rows[0].strategy, rows) if info is not None and 0 < len(rows) < len(by_case) else None


def _worst(by_case: Sequence[Row], low: bool) -> Row | None:
    """The case to blame for a value over all cases: the lowest one, or the highest."""
    known = [row for row in by_case if row.finite is not None]
    known.sort(key=lambda row: (row.least if low else row.most) or 0.0)
    return known[0 if low else -1] if known else None
