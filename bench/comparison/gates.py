"""Gates: each rule is judged for each strategy that it names, on one stated basis.

A gate never passes without a measured value. A run that the baseline has and this comparison lacks
leaves a gate undecided. Gates of the baseline are judged too, even if they were removed; replaced
strategies are reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal

from ..model.compared import Compared, GateResult
from ..model.metric import MetricInfo
from ..model.signature import GateRule
from .against import Against, replaced
from .baseline import stale
from .gate_rules import LIMITS, is_beyond_limit, limit_of
from .totals import Runs, value_of

JUDGE = GateRule(metric="")
"""The rule of results about strategies or runs that were replaced or removed since the baseline."""

_UPDATE = "with `bench run --update-baseline`"
_NO_BASELINE = f"there is no baseline yet — accept one {_UPDATE}"
_BASIS = {"mean over tasks": "mean over tasks", "total": "total over all runs"}
Outcome = Literal["pass", "fail", "undecided", "skipped"]
Ending = dict[str, Any]
"""The fields of a result beside its rule and strategy."""


def judge(
    compared: Compared, against: Against | None, *, required: bool = False
) -> tuple[GateResult, ...]:
    """The result of every gate on each strategy that it names.

    Gates of the baseline that are not the same are judged too.

    With `required` it is a failure if there is no baseline, or if one of its strategies or runs is
    missing or was replaced.
    """
    then = [rule for rule in (against.base.rules if against else ()) if rule not in compared.rules]
    runs = Runs(compared.runs)
    results = [
        GateResult(
            rule=rule, strategy=name, **_ending(rule, name, runs, compared, against, required)
        )
        for rule in (*compared.rules, *then)
        for name in _matching_strategies(rule, compared)
    ]
    if against is not None:
        outcome: Outcome = "fail" if required else "skipped"
        results += [_about(outcome, change) for change in replaced(against)]
    elif required:
        results.append(_about("fail", _NO_BASELINE))
    if results:
        damaged = [f"{item.path}: {item.reason}" for item in compared.skipped if item.damaged]
        results += [_about("undecided", reason) for reason in damaged]
    return tuple(results)


def _about(outcome: Outcome, reason: str) -> GateResult:
    """A result that belongs to no single gate."""
    return GateResult(rule=JUDGE, strategy="", outcome=outcome, reason=reason)


def _matching_strategies(rule: GateRule, compared: Compared) -> list[str]:
    """The declared strategies that match a rule's pattern; if none does the matching references,
    else the pattern itself."""
    for known in (compared.strategies, compared.references):
        matches = [name for name in known if fnmatchcase(name, rule.strategy)]
        if matches:
            return matches
    return [rule.strategy]


# ---------------------------------------------------------------- one gate


def _ending(
    rule: GateRule,
    name: str,
    runs: Runs,
    compared: Compared,
    against: Against | None,
    required: bool,
) -> Ending:
    """The outcome of one gate: by its limit or by regression, unless there is nothing to judge."""
    info = compared.metrics.get(rule.metric)
    if info is None:
        return _undecided_ending(f"{rule.metric} was not measured")
    if name not in compared.everyone:
        return _undecided_ending(f"no strategy is called {name!r}")
    if failed := _not_replayed(name, runs):
        return failed
    if against is not None and (missing := _not_comparable(name, info, against, required)):
        return missing
    if {*LIMITS} & rule.settings.keys():
        return _by_limit(rule, name, info, runs, against)
    if against is None:
        return {"outcome": "skipped", "reason": _NO_BASELINE}
    if why := stale(compared.signature, against.base.signature, info):
        reason = f"the baseline was made otherwise ({why}) — accept a new one {_UPDATE}"
        return {"outcome": "fail" if required else "undecided", "reason": reason}
    return _by_regression(rule, name, info, against)


def _undecided_ending(reason: str, **values: Any) -> Ending:
    return {"outcome": "undecided", "reason": reason, **values}


def _not_replayed(name: str, runs: Runs) -> Ending | None:
    """The outcome for a strategy that failed or is unstable on some run; None if all is well."""
    first = next(runs.failures(name), None)
    if first is None:
        return None
    run, finding, unstable = first
    outcome = "undecided" if unstable else "fail"
    return {"outcome": outcome, "reason": f"{name}: {finding.text}", "run": run}


def _by_limit(
    rule: GateRule, name: str, info: MetricInfo, runs: Runs, against: Against | None
) -> Ending:
    """The outcome of the value over all runs against its limit.

    New runs may not rescue it: it also has to hold on the runs of the baseline.
    """
    total, basis = runs.total(name, info), _BASIS[info.aggregate]
    value, run = value_of(total), runs.worst(name, info.name, lowest=info.better == "higher")
    if value is None:
        return _undecided_ending(f"not measured: {total.reason}", basis=basis)
    ending = {**_within(value, limit_of(rule.settings), rule), "basis": basis, "run": run}
    known = value_of(against.shared_now.total(name, info)) if against else None
    if known is not None and ending["outcome"] == "pass":
        there = _within(known, limit_of(rule.settings), rule)
        if there["outcome"] == "fail":
            ending |= {**there, "basis": f"{basis} of the baseline"}
    return ending


def _by_regression(rule: GateRule, name: str, info: MetricInfo, against: Against) -> Ending:
    """The outcome of the value before and now, on the runs that both sides have."""
    old, new = against.shared_before.total(name, info), against.shared_now.total(name, info)
    before, after = value_of(old), value_of(new)
    if before is None or after is None:
        return _undecided_ending(
            f"not measured: {old.reason or new.reason}", before=before, value=after
        )
    moved = against.moved_runs(name, info)
    worst = against.now.worst(name, info.name, lowest=info.better == "higher")
    run = moved[0].run if moved else worst
    ending = _within(after, limit_of(rule.settings, before), rule)
    return {**ending, "before": before, "basis": _BASIS[info.aggregate], "run": run}


def _within(value: float, end: float, rule: GateRule) -> Ending:
    """The outcome of a value: it fails beyond the limit."""
    outcome = "fail" if is_beyond_limit(value, end, rule.settings) else "pass"
    return {"outcome": outcome, "value": value, "limit": end}


def _not_comparable(name: str, info: MetricInfo, against: Against, required: bool) -> Ending | None:
    """The outcome if a run of the baseline, or its number, is missing now; None if none is."""
    here, there = against.shared_now, against.shared_before
    if lost := [run.id for run in against.baseline.all if run.id not in against.shared]:
        names = f"{', '.join(lost[:3])}{' and more' if len(lost) > 3 else ''}"
        reason = f"not here as in the baseline: {names} — restore, or accept {_UPDATE}"
        return {"outcome": "fail" if required else "undecided", "reason": reason}
    if not against.shared:
        return _undecided_ending("no run of the baseline is here")
    for was, run in zip(there.all, here.all, strict=True):
        if there.number(was, name, info.name) and not here.number(run, name, info.name):
            return _undecided_ending(f"was measured on {run.id} and is not any more", run=run.id)
    return None


# ---------------------------------------------------------------- all gates


def is_measured(compared: Compared) -> bool:
    """True if any number of any strategy could be measured."""
    numbers = (
        number for run in compared.runs for score in run.scores for number in score.numbers.values()
    )
    return any(number.value is not None and number.weight for number in numbers)


def exit_code(compared: Sequence[Compared], *, allow_undecided: bool = False) -> int:
    """The exit code: 0 if all gates hold, 1 if one failed, 3 if one is undecided or nothing was
    measured."""
    outcomes = {result.outcome for item in compared for result in item.gates}
    if "fail" in outcomes:
        return 1
    undecided = "undecided" in outcomes and not allow_undecided
    return 3 if undecided or not all(map(is_measured, compared)) else 0
