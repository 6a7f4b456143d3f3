"""Gates: two plain functions, limits and regression, judged before → after on one base, which is
named.

A gate never passes on what was not measured. Differences against a baseline are of the same
recordings, so they are exact. Runs that only one side has are named, not judged; a run that the
baseline has and this comparison lacks leaves a gate undecided. Gates that were loosened or are
gone, and strategies that were replaced, are named.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from ..model.compared import Compared, GateResult, Move, RunMove
from ..model.errors import ScenarioError, nearest, one_line
from ..model.metric import MetricInfo
from ..model.signature import GateRule
from ..plugins.spec import parse_spec, split_top
from .baseline import ScoreFile, score_bytes, score_file_of, stale
from .rules import filled
from .totals import Runs, is_finite

LIMITS, REGRESSION = ("min", "max"), ("max_drop", "max_increase")
_SHARED = ("metric", "strategy", "over")
_ROUNDING = 1e-9
JUDGE = GateRule(metric="", gate="judge")
"""The rule of results that say what was loosened, replaced or removed since the baseline."""


# ---------------------------------------------------------------- rules


def parse_rule(table: Mapping[str, Any], where: str, infos: Mapping[str, MetricInfo], number: int = 0) -> GateRule:
    """A gate from its table.

    Raises ScenarioError, after `where`, for what it does not know or what would always pass.

    >>> info = MetricInfo(name="needed.recall", unit="fraction", better="higher", aggregate="pooled")
    >>> parse_rule({"metric": "needed.recall", "max_drop": "2%"}, "gates[1]", {"needed.recall": info}).settings
    {'max_drop': '2%'}
    """
    metric = table.get("metric")
    if not isinstance(metric, str) or metric not in infos:
        raise ScenarioError(f"{where}: unknown metric {one_line(metric)!r}{nearest(str(metric), infos)}")
    settings = {key: value for key, value in table.items() if key not in _SHARED}
    for key, value in settings.items():
        if key not in (*LIMITS, *REGRESSION):
            raise ScenarioError(f"{where}: unknown key {key!r}{nearest(key, [*LIMITS, *REGRESSION, *_SHARED])}")
        if (
            _amount(value) is None
            or (key in LIMITS and isinstance(value, str))
            or (key in REGRESSION and (_amount(value) or 0.0) < 0)
        ):
            raise ScenarioError(
                f"{where}: {key} = {value!r}: write a number{'' if key in LIMITS else ' from 0 up, or a text like 2%'}"
            )
    if not settings or ({*LIMITS} & settings.keys() and {*REGRESSION} & settings.keys()):
        raise ScenarioError(f"{where}: write min, max, or both; or max_drop or max_increase")
    info = infos[metric]
    useless = [key for key in settings if key == ("max" if info.better == "higher" else "min")]
    useless += [key for key in settings if key == ("max_increase" if info.better == "higher" else "max_drop")]
    if useless:
        raise ScenarioError(f"{where}: {useless[0]} judges the better direction of {metric} — {info.better} is better")
    if info.unit == "fraction" and (settings.get("min", 1) <= 0 or settings.get("max", 0) >= 1):
        raise ScenarioError(f"{where}: no value of {metric} can fail that")
    over = table.get("over", "all")
    if over not in ("all", "worst_run"):
        raise ScenarioError(f"{where}: over = {over!r}: write all or worst_run")
    gate = "limits" if {*LIMITS} & settings.keys() else "regression"
    if over == "worst_run" and gate == "regression":
        raise ScenarioError(f"{where}: over = 'worst_run' goes with min and max")
    strategy = table.get("strategy", "*")
    if not isinstance(strategy, str):
        raise ScenarioError(f"{where}: strategy = {strategy!r}: write a name or a pattern")
    return GateRule(metric=metric, strategy=strategy, over=over, gate=gate, settings=settings, number=number)


def _amount(value: Any) -> float | None:
    """A limit as a number, a percentage as its share; None for anything else."""
    percentage = isinstance(value, str) and value.endswith("%")
    try:
        amount = float(value.removesuffix("%")) / 100 if percentage else value
    except ValueError:
        return None
    is_number = isinstance(amount, int | float) and not isinstance(amount, bool)
    return float(amount) if is_number and math.isfinite(amount) else None


# ---------------------------------------------------------------- judging


def judge(compared: Compared, base: ScoreFile | None, *, required: bool = False) -> tuple[GateResult, ...]:
    """Every gate of a comparison, and those of its baseline that are not the same, on each strategy
    that it names.

    `required`: that there is no baseline, and that gates, strategies or runs of it are gone or
    loosened, is a failure.
    """
    own = [msgspec.structs.replace(rule, number=0) for rule in compared.rules]
    then = tuple(rule for rule in (base.rules if base else ()) if msgspec.structs.replace(rule, number=0) not in own)
    results = [
        _judged(compared, base, rule, name, required)
        for rule in (*compared.rules, *then)
        for name in _named(rule, compared)
    ]
    changes = [] if base is None else [*changed_judge(base, compared)]
    outcome: Literal["fail", "skipped"] = "fail" if required else "skipped"
    results += [GateResult(rule=JUDGE, strategy="", outcome=outcome, reason=change) for change in changes]
    if results:
        damaged = [item for item in compared.skipped if item.damaged]
        results += [
            GateResult(rule=JUDGE, strategy="", outcome="undecided", reason=f"{item.path}: {item.reason}")
            for item in damaged
        ]
    return tuple(results)


def accepted(compared: Compared) -> tuple[Compared, bytes]:
    """A comparison judged against itself, and its score file, which is the new baseline."""
    scores = score_file_of(compared)
    return msgspec.structs.replace(compared, gates=judge(compared, scores), moves=()), score_bytes(scores)


def limits(value: float, settings: Mapping[str, Any]) -> float | None:
    """The limit that a value breaks; None where it keeps all.

    >>> limits(0.8, {"min": 0.9}), limits(0.9, {"min": 0.9, "max": 1.0}), limits(3, {"max": 2})
    (0.9, None, 2)
    """
    low, high = settings.get("min"), settings.get("max")
    if low is not None and value < low - _ROUNDING:
        return float(low)
    return high if high is not None and value > high + _ROUNDING else None


def regression(before: float, after: float, settings: Mapping[str, Any]) -> float | None:
    """The value that a metric may reach at most, or at least, if it went beyond; None where it did
    not.

    >>> regression(0.98, 0.90, {"max_drop": 0.01}), regression(100.0, 109.0, {"max_increase": "10%"})
    (0.97, None)
    >>> regression(0.0, 1.0, {"max_increase": "10%"})
    0.0
    """
    allowed = _allowed(before, settings)
    beyond = allowed - after if "max_drop" in settings else after - allowed
    return allowed if beyond > _ROUNDING * max(1.0, abs(before)) else None


def _allowed(before: float, settings: Mapping[str, Any]) -> float:
    """The value beyond which a gate fails, from the value before and the allowed change."""
    key = "max_drop" if "max_drop" in settings else "max_increase"
    amount = _amount(settings[key]) or 0.0
    step = abs(before) * amount if isinstance(settings[key], str) else amount
    return before - step if key == "max_drop" else before + step


def _named(rule: GateRule, compared: Compared) -> list[str]:
    """The strategies that a rule is about; the references where it names no declared one; itself
    where it names nobody.
    """
    for known in (compared.strategies, compared.references):
        matches = [name for name in known if fnmatchcase(name, rule.strategy)]
        if matches:
            return matches
    return [rule.strategy]


def _judged(compared: Compared, base: ScoreFile | None, rule: GateRule, name: str, required: bool) -> GateResult:
    info, runs = compared.metrics.get(rule.metric), Runs(compared.runs)
    result = GateResult(rule=rule, strategy=name, outcome="undecided")

    def ended(outcome: Literal["pass", "fail", "undecided", "skipped"], reason: str, **more: Any) -> GateResult:
        return msgspec.structs.replace(result, outcome=outcome, reason=reason, **more)

    if info is None or name not in compared.everyone:
        return ended("undecided", f"no strategy is called {name!r}" if info else f"{rule.metric} was not measured")
    for run in runs.all:
        score = runs.score(run, name)
        if score is None or score.failure is not None:
            why = "was not replayed" if score is None or score.failure is None else f"raised: {score.failure.error}"
            return ended("fail", f"{name} {why}", run=run.id)
        if score.unstable_at is not None:
            return ended("undecided", f"{name} gives something else when it is replayed again", run=run.id)
    lowest = info.better == "higher"
    worst = runs.worst(name, rule.metric, lowest=lowest)
    where = worst[0] if worst else None
    if rule.gate == "limits":
        total = runs.total(name, info)
        basis = _basis(info) if rule.over == "all" else "worst run"
        if not is_finite(total) or total.value is None or worst is None:
            return ended("undecided", f"not measured: {total.reason}", basis=basis)
        value = total.value if rule.over == "all" else worst[1]
        limit = limits(value, rule.settings)
        if limit is None and base is not None and rule.over == "all" and info.aggregate == "pooled":
            then = Runs(base.runs)
            among = as_then(runs, then, shared_runs(runs, then)).total(name, info).value
            if among is not None and (beyond := limits(among, rule.settings)) is not None:
                value, limit, basis = among, beyond, f"{basis} of the baseline"
        given = next(iter(rule.settings.values()))
        return ended(
            "pass" if limit is None else "fail",
            "",
            value=value,
            limit=given if limit is None else limit,
            basis=basis,
            run=where,
        )
    if base is None:
        return ended("fail" if required else "skipped", "there is no baseline yet — accept one with --update-baseline")
    old = Runs(base.runs)
    why = stale(compared.signature, base.signature, info)
    if why:
        outcome: Literal["fail", "undecided"] = "fail" if required else "undecided"
        return ended(outcome, f"the baseline was made otherwise ({why}) — accept a new one with --update-baseline")
    both = shared_runs(runs, old)
    lost = sorted({run.id for run in old.all} - both)
    if lost:
        names = f"{', '.join(lost[:3])}{' and more' if len(lost) > 3 else ''}"
        return ended("undecided", f"not here as in the baseline: {names} — restore, or accept with --update-baseline")
    if not both:
        return ended("undecided", "no run of the baseline is here")
    here, there = as_then(runs, old, both), old.only(both)
    unmeasured = [
        run.id for run in there.all if there.number(run, name, info.name) and not _same(here, run.id, name, info.name)
    ]
    if unmeasured:
        return ended("undecided", f"was measured on {unmeasured[0]} and is not any more", run=unmeasured[0])
    before, after = there.total(name, info), here.total(name, info)
    if before.value is None or after.value is None or not is_finite(before) or not is_finite(after):
        return ended(
            "undecided", f"not measured: {before.reason or after.reason}", before=before.value, value=after.value
        )
    beyond = regression(before.value, after.value, rule.settings)
    moved = _moved_runs(old, runs, name, info, both)
    return ended(
        "pass" if beyond is None else "fail",
        "",
        before=before.value,
        value=after.value,
        limit=_allowed(before.value, rule.settings),
        basis=_basis(info),
        run=moved[0].run if moved else where,
    )


def _basis(info: MetricInfo) -> str:
    return {"pooled": "mean over tasks", "max": "largest of all runs", "sum": "total over all runs"}[info.aggregate]


def _same(runs: Runs, run: str, name: str, metric: str) -> bool:
    return any(runs.number(item, name, metric) for item in runs.all if item.id == run)


def as_then(now: Runs, then: Runs, both: set[str]) -> Runs:
    """The runs of now that both sides have, under the tasks of then: another label is no other
    weight.
    """
    tasks = {run.id: run.facts.task for run in then.all}
    return Runs(
        msgspec.structs.replace(run, facts=msgspec.structs.replace(run.facts, task=tasks[run.id]))
        for run in now.all
        if run.id in both
    )


def shared_runs(now: Runs, then: Runs) -> set[str]:
    """The runs that both sides have: the same recording, under the same name, asked the same
    questions.
    """
    known = {run.id: (run.facts.sha256, run.questions_sha256) for run in then.all}
    return {run.id for run in now.all if known.get(run.id) == (run.facts.sha256, run.questions_sha256)}


# ---------------------------------------------------------------- what changed since the baseline


def changed_judge(base: ScoreFile, compared: Compared) -> Iterator[str]:
    """A clause on each gate that is gone or allows more, and each judged strategy that is gone or
    runs other code.
    """
    for rule in base.rules:
        same = [
            now for now in compared.rules if (now.metric, now.over, now.gate) == (rule.metric, rule.over, rule.gate)
        ]
        judged = [name for name in base.specs if fnmatchcase(name, rule.strategy)] or [rule.strategy]
        for name in judged:
            if not any(fnmatchcase(name, now.strategy) and _as_strict(now.settings, rule.settings) for now in same):
                what = "is gone" if not any(fnmatchcase(name, now.strategy) for now in same) else "allows more"
                wanted = ", ".join(f"{key} = {value}" for key, value in rule.settings.items())
                yield f"the gate {rule.metric} ({wanted}) on {name} {what}"
    both = shared_runs(Runs(compared.runs), Runs(base.runs))
    for run in sorted({run.id for run in base.runs} - both):
        here = any(item.id == run for item in compared.runs)
        yield f"run {run} of the baseline {'is another recording now' if here else 'is gone'}"
    for name in sorted({name for rule in base.rules for name in base.specs if fnmatchcase(name, rule.strategy)}):
        now = compared.specs.get(name)
        if now is None:
            yield f"strategy {name}, which was judged, is gone"
        elif _targets(base.specs[name]) != _targets(now):
            yield f"strategy {name}, which was judged, was {base.specs[name]} and is {now}"


def _as_strict(now: Mapping[str, Any], then: Mapping[str, Any]) -> bool:
    """True if limits allow no more than earlier ones. A percentage and a number do not compare."""
    for key, before in then.items():
        after = now.get(key)
        if after is None or isinstance(after, str) != isinstance(before, str):
            return False
        one, other = _amount(after) or 0.0, _amount(before) or 0.0
        if one < other if key == "min" else one > other:
            return False
    return True


def _targets(spec: str) -> list[tuple[str, str, str]]:
    """The code in each slot of a spec, without its settings: these may change."""
    return sorted(
        (slot, part.target, part.attribute or "")
        for slot, value in filled(spec).items()
        for part in map(parse_spec, split_top(value.strip("[]"), ","))
    )


def moves(compared: Compared, base: ScoreFile) -> tuple[Move, ...]:
    """Every number of a declared strategy that differs from the baseline on the runs that both
    have.
    """
    now, then = Runs(compared.runs), Runs(base.runs)
    both = shared_runs(now, then)
    here, there = as_then(now, then, both), then.only(both)
    all_moves = []
    for name in compared.strategies:
        for metric, info in compared.metrics.items():
            if stale(compared.signature, base.signature, info):
                continue
            before, after = there.total(name, info).value, here.total(name, info).value
            runs = _moved_runs(then, now, name, info, both)
            if before is None or after is None or (before == after and not runs):
                continue
            worse = sum(_is_worse(move, info) for move in runs)
            better = None if before == after else (after < before) == (info.better == "lower")
            all_moves.append(
                Move(
                    strategy=name, metric=metric, before=before, after=after, better=better,
                    improved_runs=len(runs) - worse, regressed_runs=worse, runs=runs,
                )
            )  # fmt: skip
    return tuple(all_moves)


def _moved_runs(then: Runs, now: Runs, name: str, info: MetricInfo, both: set[str]) -> tuple[RunMove, ...]:
    """The runs in which a number moved, the worst first."""
    old = {run.id: then.number(run, name, info.name) for run in then.all if run.id in both}
    new = {run.id: now.number(run, name, info.name) for run in now.all if run.id in both}
    moved = [
        RunMove(run, before.value, after.value)
        for run in sorted(both)
        if (before := old[run]) and (after := new[run]) and before.value is not None and after.value is not None
        and before.value != after.value
    ]  # fmt: skip
    sign = 1 if info.better == "higher" else -1
    return tuple(sorted(moved, key=lambda move: (sign * (move.after - move.before), move.run)))


def _is_worse(move: RunMove, info: MetricInfo) -> bool:
    return (move.after > move.before) == (info.better == "lower")


def is_measured(compared: Compared) -> bool:
    """True if any number of any strategy could be measured."""
    numbers = (number for run in compared.runs for score in run.scores for number in score.numbers.values())
    return any(number.value is not None and number.weight for number in numbers)


def exit_code(compared: Sequence[Compared], *, allow_undecided: bool = False) -> int:
    """0 where every gate passed or was skipped, 1 where one failed, 3 where one is undecided or
    nothing was measured.
    """
    outcomes = {result.outcome for item in compared for result in item.gates}
    if "fail" in outcomes:
        return 1
    return 3 if not all(map(is_measured, compared)) or ("undecided" in outcomes and not allow_undecided) else 0
