"""Gates: each rule on each strategy that it names, on one basis, which is named.

A gate never passes on what was not measured. Runs that only one side has are named, not judged; a
run that the baseline has and this comparison lacks leaves a gate undecided. Gates that were
loosened or are gone, and strategies that were replaced, are named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from ..model.compared import Compared, GateResult
from ..model.metric import MetricInfo
from ..model.signature import GateRule
from .against import as_then, loosened, moved_runs, shared_runs
from .baseline import ScoreFile, stale
from .gate_rules import allowed, limits, regression
from .totals import Runs, is_finite

JUDGE = GateRule(metric="", gate="judge")
"""The rule of results that say what was loosened, replaced or removed since the baseline."""

_UPDATE = "with --update-baseline"
_BASIS = {"mean over tasks": "mean over tasks", "total": "total over all runs"}
Outcome = Literal["pass", "fail", "undecided", "skipped"]


def judge(
    compared: Compared, base: ScoreFile | None, *, required: bool = False
) -> tuple[GateResult, ...]:
    """The result of every gate on each strategy that it names.

    Gates of the baseline that are not the same are judged too.

    `required`: that there is no baseline, and that gates, strategies or runs of it are gone or
    loosened, is a failure.
    """
    own = [msgspec.structs.replace(rule, number=0) for rule in compared.rules]
    then = [
        rule
        for rule in (base.rules if base else ())
        if msgspec.structs.replace(rule, number=0) not in own
    ]
    runs = Runs(compared.runs)
    results = [
        _judged(compared, base, _Gate(rule, name, runs), required)
        for rule in (*compared.rules, *then)
        for name in _named(rule, compared)
    ]
    if base is not None:
        outcome: Outcome = "fail" if required else "skipped"
        changes = loosened(base, compared)
        results += [
            GateResult(rule=JUDGE, strategy="", outcome=outcome, reason=change)
            for change in changes
        ]
    if results:
        results += [
            GateResult(
                rule=JUDGE, strategy="", outcome="undecided", reason=f"{item.path}: {item.reason}"
            )
            for item in compared.skipped
            if item.damaged
        ]
    return tuple(results)


def _named(rule: GateRule, compared: Compared) -> list[str]:
    """The strategies that a rule names.

    Without a declared one these are references, without any its own pattern.
    """
    for known in (compared.strategies, compared.references):
        matches = [name for name in known if fnmatchcase(name, rule.strategy)]
        if matches:
            return matches
    return [rule.strategy]


# ---------------------------------------------------------------- one gate


@dataclass(frozen=True)
class _Gate:
    """One rule on one strategy, and the runs of now."""

    rule: GateRule
    name: str
    now: Runs

    def ends(self, outcome: Outcome, reason: str = "", **values: Any) -> GateResult:
        """The result of this gate."""
        return GateResult(
            rule=self.rule, strategy=self.name, outcome=outcome, reason=reason, **values
        )


def _judged(compared: Compared, base: ScoreFile | None, gate: _Gate, required: bool) -> GateResult:
    """The result of one gate: that there is nothing to judge, else by limits or by regression."""
    info = compared.metrics.get(gate.rule.metric)
    if info is None:
        return gate.ends("undecided", f"{gate.rule.metric} was not measured")
    if gate.name not in compared.everyone:
        return gate.ends("undecided", f"no strategy is called {gate.name!r}")
    if failed := _not_replayed(gate):
        return failed
    if gate.rule.gate == "limits":
        return _by_limits(gate, info, None if base is None else Runs(base.runs))
    refusal: Outcome = "fail" if required else "undecided"
    if base is None:
        reason = f"there is no baseline yet — accept one {_UPDATE}"
        return gate.ends("fail" if required else "skipped", reason)
    if why := stale(compared.signature, base.signature, info):
        return gate.ends(
            refusal, f"the baseline was made otherwise ({why}) — accept a new one {_UPDATE}"
        )
    return _by_regression(gate, info, Runs(base.runs))


def _not_replayed(gate: _Gate) -> GateResult | None:
    """The first run on which a strategy failed or is not stable; None where there is none."""
    for run in gate.now.all:
        score = gate.now.score(run, gate.name)
        if score is None:
            return gate.ends("fail", f"{gate.name} was not replayed", run=run.id)
        if score.failure is not None:
            return gate.ends("fail", f"{gate.name} raised: {score.failure.error}", run=run.id)
        if score.unstable_at is not None:
            reason = f"{gate.name} gives something else when it is replayed again"
            return gate.ends("undecided", reason, run=run.id)
    return None


def _by_limits(gate: _Gate, info: MetricInfo, then: Runs | None) -> GateResult:
    """The value over all runs, or of the worst run, beside its limits.

    A value that keeps them only with runs that the baseline lacks does not keep them.
    """
    rule, total = gate.rule, gate.now.total(gate.name, info)
    worst = gate.now.worst(gate.name, rule.metric, lowest=info.better == "higher")
    basis = _BASIS[info.aggregate] if rule.over == "all" else "worst run"
    if total.value is None or not is_finite(total) or worst is None:
        return gate.ends("undecided", f"not measured: {total.reason}", basis=basis)
    value = total.value if rule.over == "all" else worst[1]
    broken = limits(value, rule.settings)
    if broken is None and then is not None and rule.over == "all":
        known = as_then(gate.now, then, shared_runs(gate.now, then)).total(gate.name, info).value
        if known is not None and (broken := limits(known, rule.settings)) is not None:
            value, basis = known, f"{basis} of the baseline"
    limit = next(iter(rule.settings.values())) if broken is None else broken
    outcome: Outcome = "pass" if broken is None else "fail"
    return gate.ends(outcome, value=value, limit=limit, basis=basis, run=worst[0])


def _by_regression(gate: _Gate, info: MetricInfo, then: Runs) -> GateResult:
    """The value before and now, on the runs that both sides have."""
    both = shared_runs(gate.now, then)
    here, there = as_then(gate.now, then, both), then.only(both)
    if missing := _not_comparable(gate, info, here, there, then):
        return missing
    old, new = there.total(gate.name, info), here.total(gate.name, info)
    before, after = old.value, new.value
    if before is None or after is None or not is_finite(old) or not is_finite(new):
        return gate.ends(
            "undecided", f"not measured: {old.reason or new.reason}", before=before, value=after
        )
    moved = moved_runs(then, gate.now, gate.name, info, both)
    worst = gate.now.worst(gate.name, info.name, lowest=info.better == "higher")
    return gate.ends(
        "pass" if regression(before, after, gate.rule.settings) is None else "fail",
        before=before,
        value=after,
        limit=allowed(before, gate.rule.settings),
        basis=_BASIS[info.aggregate],
        run=moved[0].run if moved else worst[0] if worst else None,
    )


def _not_comparable(
    gate: _Gate, info: MetricInfo, here: Runs, there: Runs, then: Runs
) -> GateResult | None:
    """The result where a run of the baseline, or its number, is here no more; None where all are.

    `here` and `there` are the runs that both sides have, `then` all of the baseline.
    """
    shared = {run.id for run in there.all}
    if lost := [run.id for run in then.all if run.id not in shared]:
        names = f"{', '.join(lost[:3])}{' and more' if len(lost) > 3 else ''}"
        return gate.ends(
            "undecided", f"not here as in the baseline: {names} — restore, or accept {_UPDATE}"
        )
    if not shared:
        return gate.ends("undecided", "no run of the baseline is here")
    measured = {run.id for run in here.all if here.number(run, gate.name, info.name)}
    for run in there.all:
        if there.number(run, gate.name, info.name) and run.id not in measured:
            return gate.ends(
                "undecided", f"was measured on {run.id} and is not any more", run=run.id
            )
    return None


# ---------------------------------------------------------------- all gates


def is_measured(compared: Compared) -> bool:
    """True if any number of any strategy could be measured."""
    numbers = (
        number for run in compared.runs for score in run.scores for number in score.numbers.values()
    )
    return any(number.value is not None and number.weight for number in numbers)


def exit_code(compared: Sequence[Compared], *, allow_undecided: bool = False) -> int:
    """0 where all gates hold, 1 where one failed, 3 where one is undecided or nothing was measured."""
    outcomes = {result.outcome for item in compared for result in item.gates}
    if "fail" in outcomes:
        return 1
    return (
        3
        if not all(map(is_measured, compared)) or ("undecided" in outcomes and not allow_undecided)
        else 0
    )
