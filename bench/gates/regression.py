"""Regression: a metric must not grow or drop by more than a given change against the committed baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..comparison.pairs import change
from ..model import Comparison, Delta, GateRule, Row, Verdict
from ..text.wording import counted, exact
from . import gate, judged_rows, losses_on, value_of, why_not

ROUNDING = 1e-9
"""Slack on a limit: a value equal to the limit passes whatever the last bit of a float says."""

ACCEPT = "accept the change with --update-baseline"


@dataclass(frozen=True)
class _Moved:
    """One judged value against its baseline; `slack` is what is left of the allowed change, negative beyond it."""

    row: Row
    now: float
    before: float
    limit: float
    slack: float


def relative_limit(limit: str | float) -> tuple[float, bool] | None:
    """A declared change as (amount, is it relative); None where it cannot be read or is negative.

    >>> relative_limit("2%"), relative_limit(0.01), relative_limit("two")
    ((0.02, True), (0.01, False), None)
    """
    if isinstance(limit, int | float):
        return (float(limit), False) if 0 <= limit < math.inf else None
    number = limit.strip().removesuffix("%")
    try:
        amount = float(number)
    except ValueError:
        return None
    if not 0 <= amount < math.inf or not limit.strip().endswith("%"):
        return None
    return amount / 100, True


def _problem(max_increase: str | float | None = None, max_drop: str | float | None = None) -> str | None:
    given = {
        name: limit for name, limit in (("max_increase", max_increase), ("max_drop", max_drop)) if limit is not None
    }
    if len(given) > 1:
        return "max_increase and max_drop in one gate — write one gate for each"
    for name, limit in given.items():
        if relative_limit(limit) is None:
            return f'{name} = {limit!r}: write "2%" for a relative limit or a number for an absolute one, not negative'
    return None


@gate("regression", needs_baseline=True, problem=_problem)
def regression(
    rule: GateRule,
    comparison: Comparison,
    strategy: str,
    *,
    max_increase: str | float | None = None,
    max_drop: str | float | None = None,
) -> Verdict:
    """A limit on the change since the accepted baseline: `"2%"` of its value, or a bare number as an absolute difference.

    No baseline at all: skipped. A stale baseline (made with another signature), a trace deleted, a case renamed or added, a strategy or
    metric that only one side has: inconclusive, each told apart. A failure names the case that moved most and what was dropped there.

    Source: ISO/IEC 25040, "acceptance criteria"; regression testing against an accepted result
    """
    rising = max_increase is not None
    written = max_increase if rising else max_drop
    amount, relative = relative_limit(written if written is not None else 0) or (0.0, False)
    word = "increase" if rising else "drop"
    shown = str(written) if relative else exact(amount)
    name = f"{rule.metric} {word} ≤ {shown}" + (" (worst case)" if rule.over == "worst_case" else "")

    def verdict(outcome: str, sentence: str, moved: _Moved | None = None, **losses: Any) -> Verdict:
        return Verdict(gate=name, metric=rule.metric, strategy=strategy, outcome=outcome, sentence=f"{strategy}: {sentence}",  # type: ignore[arg-type]
                       case=moved.row.case if moved else None, value=moved.now if moved else None,
                       limit=moved.limit if moved else None, **losses)  # fmt: skip

    failed = comparison.failed(strategy)
    if failed:
        return verdict("fail", f"raised on {failed[0]}: {failed[1]}")
    if comparison.against.baseline is None and comparison.against.problem is None:
        return verdict("skipped", f"no baseline yet for {rule.metric} — accept this run with --update-baseline")
    problem = _unpaired(rule, comparison, strategy)
    if problem:
        return verdict("inconclusive", problem)
    judged = []
    for row in judged_rows(rule, comparison, strategy):
        now, before = value_of(row), _accepted(comparison, strategy, rule.metric).get(row.case or "")
        if now is None and before is None:
            continue
        if now is None or before is None:
            side = comparison.against.name if before is None else f"this run ({why_not(row)})"
            where = f" on {row.case}" if row.case else ""
            return verdict("inconclusive", f"{rule.metric} was not measured{where} in {side} — {ACCEPT}")
        allowed = amount * abs(before) if relative else amount
        slack = allowed + ROUNDING * max(1.0, abs(before)) - (now - before if rising else before - now)
        judged.append(_Moved(row, now, before, before + allowed if rising else before - allowed, slack))
    if not judged:
        return verdict("inconclusive", f"{rule.metric} was not measured, neither now nor in {comparison.against.name}")
    worst = min(judged, key=lambda item: item.slack)
    said = f"{rule.metric} {_moved(worst)}{_change(rule, comparison, strategy, worst)}"
    if worst.slack >= 0:
        return verdict("pass", f"{said}, within an allowed {word} of {shown}", worst)
    case, named = _worst_case(comparison, strategy, rule.metric, worst, rising)
    said = f"{said}, an allowed {word} of {shown} ends at {exact(worst.limit)}{named}"
    return verdict("fail", said, worst, **losses_on(comparison, strategy, rule.metric, case))


def _accepted(comparison: Comparison, strategy: str, metric: str) -> dict[str, float | None]:
    """The baseline's values of one metric by case (`""`: over all cases)."""
    return comparison.against.baseline.of(strategy, metric) if comparison.against.baseline else {}


def _unpaired(rule: GateRule, comparison: Comparison, strategy: str) -> str | None:
    """Why the baseline cannot be compared with; None where it can."""
    name = comparison.against.name
    if comparison.against.problem:
        return f"{name} is stale and was refused: {comparison.against.problem} — look at why, then {ACCEPT}"
    declared = comparison.everyone
    if strategy not in declared:
        return f"strategy of {name} that is no longer declared (renamed or deleted?) — declare it again, or {ACCEPT}"
    accepted = _accepted(comparison, strategy, rule.metric)
    if not accepted:
        has = comparison.against.baseline is not None and strategy in comparison.against.baseline.values
        return f"{name} has no {rule.metric}{'' if has else f': strategy {strategy} is new'} — {ACCEPT}"
    known = set(accepted) - {""}
    lost, new = sorted(known - set(comparison.case_ids)), sorted(set(comparison.case_ids) - known)
    renamed = _renamed(comparison, lost, new)
    if renamed:
        return f"renamed case: {renamed[0]} of {name} is now {renamed[1]}, the same recording — rename it back, or {ACCEPT}"
    if lost:
        return f"deleted trace: {name} has case {lost[0]}, which was not replayed — put the trace back, or {ACCEPT}"
    if new:
        return f"new case: {name} has no case {new[0]} — {ACCEPT}"
    return None


def _renamed(comparison: Comparison, lost: list[str], new: list[str]) -> tuple[str, str] | None:
    """A case of the baseline that is here under another name: the same recording."""
    signed = comparison.against.baseline.signature.traces if comparison.against.baseline else {}
    for old in lost:
        for case in new:
            if signed.get(old) == comparison.signature.traces.get(case):
                return old, case
    return None


def _moved(moved: _Moved) -> str:
    where = f" on {moved.row.case}" if moved.row.case else ""
    if moved.now == moved.before:
        return f"stayed at {exact(moved.now)}{where}"
    return f"went from {exact(moved.before)} to {exact(moved.now)}{where}"


def _change(rule: GateRule, comparison: Comparison, strategy: str, moved: _Moved) -> str:
    """The change in brackets: relative, over how many cases, and its interval where there are several."""
    relative = (
        f"{(moved.now - moved.before) / abs(moved.before):+.1%}" if moved.before else f"{moved.now - moved.before:+g}"
    )
    if moved.row.case is not None:
        return f" ({relative})" if moved.now != moved.before else ""
    if moved.now == moved.before:
        return f" ({counted(len(comparison.cases), 'case')})"
    delta = _delta(rule, comparison, strategy)
    if delta is None or delta.low is None or delta.high is None:
        return f" ({relative}, {counted(len(comparison.cases), 'case')})"
    low, high = exact(delta.low), exact(delta.high)
    interval = f", 95% interval of the change {low} to {high}" if low != high else ""
    return f" ({relative}, {counted(delta.n, 'case')}{interval})"


def _delta(rule: GateRule, comparison: Comparison, strategy: str) -> Delta | None:
    info = comparison.metrics.get(rule.metric)
    if info is None:
        return None
    found = (comparison.row(strategy, rule.metric, case) for case in comparison.case_ids)
    rows = [row for row in found if row is not None]
    accepted = _accepted(comparison, strategy, rule.metric)
    return change(info, rows, accepted, comparison.signature.seed, comparison.against.name)


def _worst_case(
    comparison: Comparison, strategy: str, metric: str, moved: _Moved, rising: bool
) -> tuple[str | None, str]:
    """The case to blame, and the clause that names it where the value is one over all cases."""
    if moved.row.case is not None:
        return moved.row.case, ""
    accepted = _accepted(comparison, strategy, metric)
    changes = []
    for case in comparison.case_ids:
        row = comparison.row(strategy, metric, case)
        now, before = value_of(row) if row is not None else None, accepted.get(case)
        if now is not None and before is not None:
            changes.append(((now - before) * (1 if rising else -1), case, before, now))
    if not changes:
        return None, ""
    _, case, before, now = max(changes, key=lambda item: item[0])
    return case, f"; most on {case} ({exact(before)} → {exact(now)})"
