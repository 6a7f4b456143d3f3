"""Regression: a metric must not grow or drop by more than a given change against the committed baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...model import Comparison, GateRule, MetricInfo, Row, Verdict
from ...text.wording import counted, exact, interval, moved
from ..baselines import SharedCases, shared_cases
from ..intervals import change
from ..judging import ROUNDING, gate, losses_on, number_of, value_text, why_not
from ..rows import NOTHING, combine

ACCEPT = "accept the change with --update-baseline"
ALLOW = "look at it; --allow-inconclusive lets it pass"
"""The next step where nothing can be accepted: the run is compared with another revision or another file of scores."""

NEW_NAMED = 3  # the most new cases that a verdict names


@dataclass(frozen=True)
class _Moved:
    """One judged value against its baseline, over all shared cases (`case` None) or on one; `slack` is what is left of the allowed change."""

    case: str | None
    now: float
    before: float
    limit: float
    slack: float

    @property
    def went(self) -> str:
        """The change in words."""
        where = f" on {self.case}" if self.case else ""
        if self.now == self.before:
            return f"stayed at {exact(self.now)}{where}"
        return f"went from {exact(self.before)} to {exact(self.now)}{where}"


def relative_limit(limit: str | float | None) -> tuple[float, bool] | None:
    """A declared change as (amount, is it relative); None where there is none, or it cannot be read or is negative.

    >>> relative_limit("2%"), relative_limit(0.01), relative_limit("two")
    ((0.02, True), (0.01, False), None)
    """
    amount, relative = number_of(limit) or (math.nan, False)
    if not 0 <= amount < math.inf or relative is not isinstance(limit, str):
        return None
    return amount / 100 if relative else amount, relative


def _problem(max_increase: str | float | None = None, max_drop: str | float | None = None) -> str | None:
    if max_increase is not None and max_drop is not None:
        return "max_increase and max_drop in one gate — write one gate for each"
    for name, limit in (("max_increase", max_increase), ("max_drop", max_drop)):
        if limit is not None and relative_limit(limit) is None:
            return f'{name} = {limit!r}: write "2%" for a relative limit or a number for an absolute one, not negative'
    return None


def _misfit(
    info: MetricInfo, max_increase: str | float | None = None, max_drop: str | float | None = None
) -> str | None:
    rises = ("max_increase", max_increase, "max_drop", "lower")
    name, limit, other, better = rises if max_drop is None else ("max_drop", max_drop, "max_increase", "higher")
    written = repr(limit) if isinstance(limit, str) else exact(limit or 0.0)
    if info.better != better:
        return f"{info.better} is better, so {name} passes whatever gets worse — write {other} = {written}"
    found = relative_limit(limit)
    if found and found[0] >= 1 and (name == "max_drop" if found[1] else info.unit == "fraction"):
        return f"{name} = {written}: nothing can change by more than that, so it always passes — write a smaller one"
    return None


@gate("regression", needs_baseline=True, problem=_problem, misfit=_misfit)
def regression(
    rule: GateRule,
    comparison: Comparison,
    strategy: str,
    *,
    max_increase: str | float | None = None,
    max_drop: str | float | None = None,
) -> Verdict:
    """A limit on the change since the accepted baseline: `"2%"` of its value, or a bare number as an absolute difference.

    The cases that both sides have are judged, over all of them or on the worst one; a drop by the least that a value can be, an increase by
    the most. A regression there fails, whatever else is to be said. A new case is named and not judged. A deleted, renamed or re-recorded
    case, one that was taken out of the baseline, one that only one side measured, and one measured in part, are inconclusive; so are a stale
    baseline, and a strategy or metric that only one side has. No baseline at all: skipped, or a failure where one is required. A failure
    names the case that moved most and what was dropped there.

    Source: ISO/IEC 25040, "acceptance criteria"; regression testing against an accepted result
    """
    rising = max_increase is not None
    amount, relative = relative_limit(max_increase if rising else max_drop) or (0.0, False)
    word, text = "increase" if rising else "drop", f"{exact(amount * 100)}%" if relative else exact(amount)
    name = f"{rule.metric} {word} ≤ {text}" + (" (worst case)" if rule.over == "worst_case" else "")

    def verdict(outcome: str, sentence: str, found: _Moved | None = None, **losses: Any) -> Verdict:
        return Verdict(gate=name, metric=rule.metric, strategy=strategy, outcome=outcome, sentence=f"{strategy}: {sentence}",  # type: ignore[arg-type]
                       case=found.case if found else None, value=found.now if found else None,
                       limit=found.limit if found else None, **losses)  # fmt: skip

    failed = comparison.failed(strategy)
    if failed:
        return verdict("fail", f"raised on {failed[0]}: {failed[1]}")
    against = comparison.against
    if against.baseline is None:
        how = f"no baseline yet for {rule.metric} — accept this run with --update-baseline"
        return verdict("fail", f"{how} (one is required)") if against.required else verdict("skipped", how)
    then = ACCEPT if against.kept else ALLOW
    accepted = against.baseline.of(strategy, rule.metric)
    problem = _unpaired(comparison, strategy, rule.metric, bool(accepted), then)
    if problem:
        return verdict("inconclusive", problem)
    sides = _Sides(rule, comparison, strategy, rising, accepted)
    new = _new(sides.cases, against.name)
    doubts = [*_doubts(sides.cases, against.name), *sides.doubts()]
    judged = list(sides.judged(amount, relative))
    if not judged:
        first = doubts[0] if doubts else new or f"{rule.metric} was not measured, neither now nor in {against.name}"
        return verdict("inconclusive", f"{first} — {then}")
    worst = min(judged, key=lambda item: item.slack)
    said = f"{rule.metric} {worst.went}{sides.change(worst)}"
    if worst.slack < 0:
        case, named = sides.worst_case(worst)
        said = f"{said}, an allowed {word} of {text} ends at {exact(worst.limit)}{named}"
        said = "; ".join(filter(None, (said, new, *doubts[:1])))
        return verdict("fail", said, worst, **losses_on(comparison, strategy, rule.metric, case))
    if doubts:
        return verdict("inconclusive", f"{doubts[0]} — {then}; the cases that both have hold: {said}")
    return verdict("pass", "; ".join(filter(None, (f"{said}, within an allowed {word} of {text}", new))), worst)


def _unpaired(comparison: Comparison, strategy: str, metric: str, has: bool, then: str) -> str | None:
    """Why the baseline cannot be compared with at all; None where it can. `has`: it has rows of this metric of this strategy."""
    against = comparison.against
    name, why, stale = against.name, against.missing.get(strategy), against.stale.get(metric)
    if why is not None:
        return f"no {strategy} of {name} to compare with: {why}{'' if ' — ' in why else f' — {then}'}"
    if stale is not None:
        return f"{name} is stale for {metric}: {stale} — look at why, then {then}"
    if strategy not in comparison.everyone:
        return f"strategy of {name} that is no longer declared (renamed or deleted?) — declare it again, or {then}"
    if not has:
        known = against.baseline is not None and strategy in against.baseline.rows
        return f"{name} has no {metric}{'' if known else f': strategy {strategy} is new'} — {then}"
    return None


def _doubts(cases: SharedCases, name: str) -> Iterator[str]:
    """The accepted cases that are no longer the same, a clause each."""
    yield from (f"renamed case: {before} of {name} is now {now}, the same recording" for before, now in cases.renamed)
    yield from (f"removed case: {name} was made with case {case} and has no value for it" for case in cases.removed)
    yield from (f"deleted trace: {name} has case {case}, which was not replayed" for case in cases.lost)
    yield from (f"case {case} {what} as in {name}" for case, what in cases.other)


def _new(cases: SharedCases, name: str) -> str:
    """The clause that names new cases; `""` for none."""
    more = f" and {len(cases.new) - NEW_NAMED} more" if len(cases.new) > NEW_NAMED else ""
    word = "new case" if len(cases.new) == 1 else "new cases"
    return f"{word}, not judged: {name} has no case {', '.join(cases.new[:NEW_NAMED])}{more}" if cases.new else ""


@dataclass
class _Sides:
    """One metric of one strategy, now and as accepted. A rising limit judges the most that each value can be, else the least."""

    rule: GateRule
    comparison: Comparison
    strategy: str
    rising: bool
    accepted: dict[str, Row]

    @cached_property
    def cases(self) -> SharedCases:
        """The cases of both sides."""
        return shared_cases(self.comparison, self.accepted)

    def end(self, row: Row | None) -> float | None:
        """The end of a value that is judged; None where no limit can judge it, or where it was measured only in part."""
        return None if row is None or row.finite is None or row.partly else row.most if self.rising else row.least

    def row(self, case: str | None) -> Row | None:
        """The row of a case (None: over all cases)."""
        return self.comparison.row(self.strategy, self.rule.metric, case)

    @cached_property
    def paired(self) -> list[tuple[Row, float, Row, float]]:
        """The shared cases that both sides measured: the row, what is judged of it, the accepted row, and what is judged of that."""
        both = ((self.row(case), self.accepted[case]) for case in self.cases.shared)
        ends = ((row, self.end(row), then, self.end(then)) for row, then in both)
        return [(row, now, then, old) for row, now, then, old in ends if row and now is not None and old is not None]

    def doubts(self) -> Iterator[str]:
        """Why some shared cases cannot be judged, nor what is judged over all of them."""
        metric, against = self.rule.metric, self.comparison.against
        if self.rule.over == "all" and self._altered:
            yield f"the {metric} of {against.name} over all cases is not what its cases come to"
        for case in self.cases.shared:
            row, before = self.row(case), self.end(self.accepted[case])
            # what neither side measured leaves the whole unknown, where there was something to measure
            needed = row is not None and self.rule.over == "all" and row.reason != NOTHING
            if row is None or (self.end(row) is None and before is None and not needed):
                continue
            if row.partly:
                yield f"{metric} was measured only in part on {case}: {row.partly} left out"
            elif self.end(row) is None:
                yield f"{metric} was not measured on {case} in this run ({why_not(row)})"
            elif before is not None and self._hides(self.accepted[case], row):
                yield f"{metric} of {against.name} on {case} is {value_text(self.accepted[case])}, less exact than now"
            elif before is None:
                then = self.comparison.row(against.before.get(self.strategy, ""), metric, case)
                why = "" if then is None else f" ({why_not(then)})"
                yield f"{metric} was not measured on {case} in {against.name}{why}"

    def _hides(self, then: Row, now: Row) -> bool:
        """True if what got worse may lie between the ends of an accepted value, which are farther apart than those of now."""
        least, most, ours, theirs = (end or 0.0 for end in (then.least, then.most, now.least, now.most))
        return most - least > theirs - ours + ROUNDING and (theirs > least if self.rising else ours < most)

    def judged(self, amount: float, relative: bool) -> Iterator[_Moved]:
        """The values that a gate judges: the one over all shared cases, or that of each."""
        values: list[tuple[str | None, float, float]] = [(row.case, now, then) for row, now, _, then in self.paired]
        if self.rule.over == "all":
            whole = self._whole()
            values = [] if whole is None else [(None, *whole)]
        for case, now, before in values:
            room = amount * abs(before) if relative else amount
            gone = now - before if self.rising else before - now
            slack = room + ROUNDING * max(1.0, abs(before)) - gone
            yield _Moved(case, now, before, before + room if self.rising else before - room, slack)

    def _whole(self) -> tuple[float, float] | None:
        """The values that are judged over all shared cases, now and accepted; None where nothing was measured on both sides."""
        info = self.comparison.metrics.get(self.rule.metric)
        if info is None or not self.paired:
            return None
        now, before = self.end(self.row(None)), self.end(self.accepted.get(""))
        if not self.cases.all_shared or len(self.paired) < len(self.cases.shared) or self._altered:
            now = None
        if now is None or before is None:
            now = combine(info, [(value, row.n) for row, value, _, _ in self.paired])
            before = combine(info, [(value, then.n or row.n) for row, _, then, value in self.paired])
        return None if now is None or before is None else (now, before)

    @cached_property
    def _altered(self) -> bool:
        """True if the accepted value over all cases is not made of those of the cases; False where nobody knows what a case weighs."""
        info, whole = self.comparison.metrics.get(self.rule.metric), self.end(self.accepted.get(""))
        ends = ((self.end(row), row.n) for case, row in self.accepted.items() if case)
        known = [(end, n) for end, n in ends if end is not None]
        if info is None or whole is None:
            return False
        made = combine(info, known)
        unweighed = info.aggregate == "pooled" and not all(n for _, n in known)
        return not unweighed and made is not None and abs(made - whole) > ROUNDING * max(1.0, abs(whole))

    def change(self, found: _Moved) -> str:
        """The change in brackets: relative, over how many cases, and its interval where there is one."""
        relative = moved(found.before, found.now)
        if found.case is not None:
            return f" ({relative})" if found.now != found.before else ""
        rows = [row for row, _, _, _ in self.paired]
        over = counted(len(rows), "case")
        if found.now == found.before:
            return f" ({over})"
        comparison = self.comparison
        info = comparison.metrics[self.rule.metric]
        delta = change(info, rows, self.accepted, comparison.signature.seed, comparison.against.name)
        ends = interval(delta.low, delta.high) if delta is not None else None
        said = f", 95% interval of the change {ends[0]} to {ends[1]}" if ends is not None else ""
        return f" ({relative}, {over}{said})"

    def worst_case(self, found: _Moved) -> tuple[str | None, str]:
        """The case to blame, and the clause that names it where the value is one over all cases."""
        if found.case is not None:
            return found.case, ""
        most = max if self.rising else min
        row, now, _, before = most(self.paired, key=lambda item: item[1] - item[3])
        return row.case, f"; most on {row.case} ({exact(before)} → {exact(now)})"
