"""Regression: a metric must not grow or drop by more than a given change against the committed baseline."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from ..comparison.pairs import change
from ..model import Comparison, Delta, GateRule, Row, Verdict
from ..scenario import relative_limit
from . import cases, dropped_on, failed_case, gate, judged_rows, number, value_of, why_not

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


@gate("regression", handles=("max_increase", "max_drop"))
def regression(rule: GateRule, comparison: Comparison, strategy: str) -> Verdict:
    """A limit on the change since the accepted baseline: `"2%"` of its value, or a bare number as an absolute difference.

    No baseline at all: skipped. A stale baseline (made with another signature), a trace deleted, a case renamed or added, a strategy or
    metric that only one side has: inconclusive, each told apart. A failure names the case that moved most and what was dropped there.

    Source: design §5
    """
    rising = rule.max_increase is not None
    written = rule.max_increase if rising else rule.max_drop
    amount, relative = relative_limit(written if written is not None else 0) or (0.0, False)
    word = "increase" if rising else "drop"
    shown = str(written) if relative else number(amount)
    name = f"{rule.metric} {word} ≤ {shown}" + (" (worst case)" if rule.over == "worst_case" else "")

    def verdict(outcome: str, sentence: str, moved: _Moved | None = None, detail: tuple[str, ...] = ()) -> Verdict:
        return Verdict(gate=name, metric=rule.metric, strategy=strategy, outcome=outcome, sentence=f"{strategy}: {sentence}",  # type: ignore[arg-type]
                       case=moved.row.case if moved else None, value=moved.now if moved else None,
                       limit=moved.limit if moved else None, detail=detail)  # fmt: skip

    failed = failed_case(comparison, strategy)
    if failed:
        return verdict("fail", f"raised on {failed[0]}: {failed[1]}")
    if comparison.baseline is None and comparison.baseline_problem is None:
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
            side = comparison.baseline_name if before is None else f"this run ({why_not(row)})"
            where = f" on {row.case}" if row.case else ""
            return verdict("inconclusive", f"{rule.metric} was not measured{where} in {side} — {ACCEPT}")
        allowed = amount * abs(before) if relative else amount
        slack = allowed + ROUNDING * max(1.0, abs(before)) - (now - before if rising else before - now)
        judged.append(_Moved(row, now, before, before + allowed if rising else before - allowed, slack))
    if not judged:
        return verdict("inconclusive", f"{rule.metric} was not measured, neither now nor in {comparison.baseline_name}")
    worst = min(judged, key=lambda item: item.slack)
    said = f"{rule.metric} {_moved(worst)}{_change(rule, comparison, strategy, worst)}"
    if worst.slack >= 0:
        return verdict("pass", f"{said}, within an allowed {word} of {shown}", worst)
    case, named = _worst_case(comparison, strategy, rule.metric, worst, rising)
    lost = dropped_on(comparison, strategy, rule.metric, case)
    said = f"{said}, an allowed {word} of {shown} ends at {number(worst.limit)}{named}"
    return verdict("fail", f"{said}: {lost.clause}" if lost.clause else said, worst, lost.lines)


def _accepted(comparison: Comparison, strategy: str, metric: str) -> dict[str, float | None]:
    """The baseline's values of one metric by case (`""`: over all cases)."""
    return comparison.baseline.values.get(strategy, {}).get(metric, {}) if comparison.baseline else {}


def _unpaired(rule: GateRule, comparison: Comparison, strategy: str) -> str | None:
    """Why the baseline cannot be compared with; None where it can."""
    name = comparison.baseline_name
    if comparison.baseline_problem:
        return f"{name} is stale and was refused: {comparison.baseline_problem} — look at why, then {ACCEPT}"
    declared = {*comparison.strategies, *comparison.references}
    if strategy not in declared:
        return f"strategy of {name} that is no longer declared (renamed or deleted?) — declare it again, or {ACCEPT}"
    accepted = _accepted(comparison, strategy, rule.metric)
    if not accepted:
        has = comparison.baseline is not None and strategy in comparison.baseline.values
        return f"{name} has no {rule.metric}{'' if has else f': strategy {strategy} is new'} — {ACCEPT}"
    known = set(accepted) - {""}
    lost, new = sorted(known - set(comparison.cases)), sorted(set(comparison.cases) - known)
    renamed = _renamed(comparison, lost, new)
    if renamed:
        return f"renamed case: {renamed[0]} of {name} is now {renamed[1]}, the same recording — rename it back, or {ACCEPT}"
    if lost:
        return f"deleted trace: {name} has case {lost[0]}, which was not replayed — put the trace back, or {ACCEPT}"
    if new:
        return f"new case: {name} has no case {new[0]} — {ACCEPT}"
    return None


def _renamed(comparison: Comparison, lost: list[str], new: list[str]) -> tuple[str, str] | None:
    """A case of the baseline that is here under another name: its hash is that of a new case's trace under the old name."""
    signed = comparison.baseline.signature.traces if comparison.baseline else {}
    for old in lost:
        for case in new:
            trace = comparison.traces.get(case)
            if trace is not None and signed.get(old) in (trace.sha256, msgspec.structs.replace(trace, id=old).sha256):
                return old, case
    return None


def _moved(moved: _Moved) -> str:
    where = f" on {moved.row.case}" if moved.row.case else ""
    if moved.now == moved.before:
        return f"stayed at {number(moved.now)}{where}"
    return f"went from {number(moved.before)} to {number(moved.now)}{where}"


def _change(rule: GateRule, comparison: Comparison, strategy: str, moved: _Moved) -> str:
    """The change in brackets: relative, over how many cases, and its interval where there are several."""
    relative = (
        f"{(moved.now - moved.before) / abs(moved.before):+.1%}" if moved.before else f"{moved.now - moved.before:+g}"
    )
    if moved.row.case is not None:
        return f" ({relative})" if moved.now != moved.before else ""
    if moved.now == moved.before:
        return f" ({cases(len(comparison.cases))})"
    delta = _delta(rule, comparison, strategy)
    if delta is None or delta.low is None or delta.high is None:
        return f" ({relative}, {cases(len(comparison.cases))})"
    low, high = number(delta.low), number(delta.high)
    interval = f", 95% interval of the change {low} to {high}" if low != high else ""
    return f" ({relative}, {cases(delta.n)}{interval})"


def _delta(rule: GateRule, comparison: Comparison, strategy: str) -> Delta | None:
    info = comparison.metrics.get(rule.metric)
    if info is None:
        return None
    rows = [row for row in comparison.rows if row.strategy == strategy and row.metric == rule.metric]
    accepted = _accepted(comparison, strategy, rule.metric)
    return change(info, rows, accepted, comparison.signature.seed, comparison.baseline_name)


def _worst_case(
    comparison: Comparison, strategy: str, metric: str, moved: _Moved, rising: bool
) -> tuple[str | None, str]:
    """The case to blame, and the clause that names it where the value is one over all cases."""
    if moved.row.case is not None:
        return moved.row.case, ""
    accepted = _accepted(comparison, strategy, metric)
    changes = []
    for row in comparison.rows:
        if row.strategy == strategy and row.metric == metric and row.case is not None:
            now, before = value_of(row), accepted.get(row.case)
            if now is not None and before is not None:
                changes.append(((now - before) * (1 if rising else -1), row.case, before, now))
    if not changes:
        return None, ""
    _, case, before, now = max(changes, key=lambda item: item[0])
    return case, f"; most on {case} ({number(before)} → {number(now)})"
