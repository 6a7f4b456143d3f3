"""Gates: each rule is judged for each strategy that it names, on one stated basis.

A gate never passes without a measured value. A run that the baseline has and this comparison lacks
leaves a gate undecided. Gates of the baseline that were removed or loosened are judged too, and
reported, as replaced strategies are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec.structs import replace

from ..model.compared import Compared, GateResult
from ..model.metric import MetricInfo
from ..model.scores import Number, Rule
from ..model.signature import GateRule
from ..text.wording import counted, listed
from .against import Against, replaced
from .baseline import COUNTED, stale
from .gate_rules import (
    has_limit,
    in_words,
    is_as_strict,
    is_beyond_limit,
    judged_strategies,
    limit_of,
)
from .totals import value_of

JUDGE = GateRule(metric="")
"""The rule of results about strategies or runs that were replaced or removed since the baseline."""

_UPDATE = "with `bench run --update-baseline`"
_NO_BASELINE = f"there is no baseline yet — accept one {_UPDATE}"
_CHECKS: dict[str, Rule] = {"faithful.changed": "changed", "faithful.invented": "invented"}
"""The rules whose findings metrics count; what *hidden* does not check is no failure."""
_SILENT = "loss.silent_truncation"
"""The metric that counts silent losses, which the rule *hidden* does not check."""

Outcome = Literal["pass", "fail", "undecided", "skipped"]


def judge(against: Against, *, required: bool = False) -> tuple[GateResult, ...]:
    """The result of every gate on each strategy that it names.

    Gates of the baseline that were removed or loosened are judged too.

    With `required` it is a failure if there is no baseline, or if one of its gates, strategies or
    runs is missing, loosened or replaced.
    """
    compared, base = against.compared, against.base
    now = [(rule, name) for rule in compared.rules for name in judged_strategies(rule, compared)]
    then = [*_dropped(against)]
    gates = (
        GateResult(rule=rule, strategy=name, outcome="undecided") for rule, name in (*now, *then)
    )
    results = [_judged(gate, against, required) for gate in gates]
    changes = [*replaced(against)] if base or not required else [_NO_BASELINE]
    # Of a strategy that is gone that alone is said.
    gone = dict.fromkeys(in_words(rule) for rule, name in then if name in compared.everyone)
    changes += [f"gate {words} is gone or looser" for words in gone]
    outcome: Outcome = "fail" if required else "skipped"
    about = GateResult(rule=JUDGE, strategy="", outcome=outcome)
    return (*results, *(replace(about, reason=change) for change in changes))


def _dropped(against: Against) -> Iterator[tuple[GateRule, str]]:
    """Yield the gates of the baseline that were removed or loosened, each for one strategy."""
    compared = against.compared
    for rule in against.base.rules if against.base else ():
        strictly = [it for it in compared.rules if is_as_strict(it, rule)]
        judged = {name for it in strictly for name in judged_strategies(it, compared)}
        yield from ((rule, it) for it in judged_strategies(rule, compared) if it not in judged)


# ---------------------------------------------------------------- one gate


def _judged(gate: GateResult, against: Against, required: bool) -> GateResult:
    """A gate with its outcome: of the first reason against judging it, else by its values."""
    for outcome, reason, run in _obstacles(gate, against, required):
        return replace(gate, outcome=outcome, reason=reason, run=run)
    by_value = _by_limit if has_limit(gate.rule) else _by_change
    first, *others = by_value(gate, against, against.compared.metrics[gate.rule.metric])
    result = next((it for it in (first, *others) if it.outcome != "pass"), first)
    if result.outcome == "fail" and gate.rule.metric == _SILENT:
        return replace(result, reason=_unchecked(gate, against, "hidden"))
    rule = _CHECKS.get(gate.rule.metric)
    words = _unchecked(gate, against, rule) if rule and result.outcome == "pass" else ""
    return replace(result, outcome="undecided", reason=words, run=None) if words else result


def _unchecked(gate: GateResult, against: Against, rule: Rule) -> str:
    """How many texts of a gate's strategy a rule could not check, and the first of them; "" for
    none."""
    scores = ((run.id, against.all.score(run, gate.strategy)) for run in against.all.all)
    checks = [(run, score.checks[rule]) for run, score in scores if score and rule in score.checks]
    open_checks = [(run, check) for run, check in checks if check.unchecked]
    if not open_checks:
        return ""
    many, (run, first) = sum(check.unchecked for _, check in open_checks), open_checks[0]
    where = f"first in {run}: {first.unchecked_text}"
    return f"{counted(many, 'text')} could not be checked, {where}"


def _obstacles(
    gate: GateResult, against: Against, required: bool
) -> Iterator[tuple[Outcome, str, str | None]]:
    """Yield the reasons against judging a gate by its value, the strongest first, each with the
    outcome and the run."""
    name, is_limit = gate.strategy, has_limit(gate.rule)
    compared, base, now, before = against.compared, against.base, against.now, against.before
    info = compared.metrics.get(gate.rule.metric)
    if info is None:
        yield "undecided", f"{gate.rule.metric} was not measured", None
        return
    if name not in compared.everyone:
        yield "undecided", f"no strategy is called {name!r}", None
    for finding, unstable in against.all.failures(name):
        yield "undecided" if unstable else "fail", f"{name}: {finding.text}", finding.run
    if base is None:
        if not is_limit:
            yield "skipped", _NO_BASELINE, None
        return
    missing: Outcome = "fail" if required else "undecided"
    is_file = compared.against.endswith(".baseline.json")  # else that of a revision
    accept = f" — accept the values of now {_UPDATE}" if is_file else ""
    if against.lost:
        what = f"missing or changed since the baseline: {listed(against.lost, 3)}"
        way = " — restore what is damaged" if compared.damaged else accept
        yield missing, f"{what}{way or ' — restore what is missing'}", None
    if not now.all:
        yield "undecided", "no run of the baseline is here", None
    elif not is_limit and all(before.score(run, name) is None for run in before.all):
        yield "undecided", f"the baseline has no values of {name!r}{accept}", None
    for was, run_now in zip(before.all, now.all, strict=True):
        if before.number(was, name, info.name) and not now.number(run_now, name, info.name):
            yield "undecided", f"was measured on {run_now.id} and is not any more", run_now.id
    why = stale(compared.signature, base.signature, info)
    if why and (info.unit in COUNTED or not is_limit):
        yield missing, f"the baseline was made otherwise ({why}){accept}", None


def _by_change(gate: GateResult, against: Against, info: MetricInfo) -> Iterator[GateResult]:
    """Yield the outcome of the change since the baseline, over the runs that both sides have."""
    name = gate.strategy
    worst = next((run for _, run in against.gains(name, info)), _worst(gate, against, info))
    before, now = against.before.total(name, info), against.now.total(name, info)
    yield _within(gate, before, now, _basis(info), worst)


def _by_limit(gate: GateResult, against: Against, info: MetricInfo) -> Iterator[GateResult]:
    """Yield the outcome of the value over all runs, and of that over the runs of the baseline: new
    runs may not rescue it."""
    name, worst = gate.strategy, _worst(gate, against, info)
    before, now = against.before.total(name, info), against.now.total(name, info)
    # The value in the baseline stands beside a limit only if it is of the same runs.
    same = len(against.all.all) == len(against.now.all) and value_of(before) is not None
    total = against.all.total(name, info)
    yield _within(gate, before if same else None, total, _basis(info), worst)
    if value_of(now) is not None:
        yield _within(gate, None, now, f"{_basis(info)} of the baseline", worst)


def _worst(gate: GateResult, against: Against, info: MetricInfo) -> str:
    return against.all.worst(gate.strategy, info.name, lowest=info.better == "higher")


def _basis(info: MetricInfo) -> str:
    return "total over all runs" if info.aggregate == "total" else info.aggregate


def _within(gate: GateResult, old: Number | None, new: Number, basis: str, run: str) -> GateResult:
    """The outcome of a value, with the one before if it is known."""
    before, value, settings = value_of(old), value_of(new), gate.rule.settings
    known = replace(gate, before=before, value=value, basis=basis, run=run)
    unknown = next((it for it in (old, new) if it is not None and value_of(it) is None), None)
    if unknown or value is None:
        return replace(known, reason=f"not measured: {(unknown or new).reason}")
    limit = limit_of(settings, before or 0.0)
    outcome: Outcome = "fail" if is_beyond_limit(value, limit, settings) else "pass"
    return replace(known, outcome=outcome, limit=limit)


# ---------------------------------------------------------------- all gates


def is_measured(compared: Compared) -> bool:
    """True if a gate was judged by a value, or a declared strategy, which failed on no run, has any
    number; for stores, evaluators and routers the figure that answers the question."""
    if any(gate.value is not None for gate in compared.gates):
        return True
    if compared.advice.answers != "savings":
        rules = (rule for item in compared.advice.tried for rule in item.rules)
        figures = (rule for rule in rules if rule.rule == compared.advice.answers)
        return any(rule.value is not None for rule in figures)
    scores = [score for run in compared.runs for score in run.scores]
    names = {*compared.strategies} - {score.strategy for score in scores if score.failure}
    numbers = (it.numbers.values() for it in scores if it.strategy in names)
    return any(one.value is not None and one.weight for each in numbers for one in each)


def exit_code(compared: Sequence[Compared], *, allow_undecided: bool = False) -> int:
    """The exit code: 0 if all gates hold, 1 if one failed, 3 if one is undecided, a recording is
    damaged or nothing was measured."""
    outcomes = {result.outcome for item in compared for result in item.gates}
    if "fail" in outcomes:
        return 1
    is_open = "undecided" in outcomes or any(item.damaged for item in compared)
    return 3 if (is_open and not allow_undecided) or not all(map(is_measured, compared)) else 0
