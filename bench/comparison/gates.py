"""Gates: each rule is judged for each strategy that it names, on one stated basis.

A gate never passes without a measured value. A run that the baseline has and this comparison lacks
leaves a gate undecided. Gates of the baseline that were removed or loosened are judged too, and
reported, as replaced strategies are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from ..model.compared import Compared, GateResult
from ..model.metric import MetricInfo
from ..model.scores import Number, Rule
from ..model.signature import GateRule
from ..text.wording import counted, listed
from .against import Against, replaced
from .baseline import COUNTED, stale
from .gate_rules import LIMITS, in_words, is_as_strict, is_beyond_limit, judged_strategies, limit_of
from .totals import value_of

JUDGE = GateRule(metric="")
"""The rule of results about strategies or runs that were replaced or removed since the baseline."""

_UPDATE = "with `bench run --update-baseline`"
_NO_BASELINE = f"there is no baseline yet — accept one {_UPDATE}"
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
    results = [_result(_Gate(rule, name, against, required)) for rule, name in (*now, *then)]
    changes = [*replaced(against)] if base or not required else [_NO_BASELINE]
    # Of a strategy that is gone that alone is said.
    gone = dict.fromkeys(in_words(rule) for rule, name in then if name in compared.everyone)
    changes += [f"gate {words} is gone or looser" for words in gone]
    outcome: Outcome = "fail" if required else "skipped"
    results += [_about(outcome, change) for change in changes]
    return tuple(results)


def _about(outcome: Outcome, reason: str) -> GateResult:
    """A result that belongs to no single gate."""
    return GateResult(rule=JUDGE, strategy="", outcome=outcome, reason=reason)


def _dropped(against: Against) -> Iterator[tuple[GateRule, str]]:
    """Yield the gates of the baseline that were removed or loosened, each for one strategy."""
    compared = against.compared
    for rule in against.base.rules if against.base else ():
        strictly = [it for it in compared.rules if is_as_strict(it, rule)]
        judged = {name for it in strictly for name in judged_strategies(it, compared)}
        yield from ((rule, it) for it in judged_strategies(rule, compared) if it not in judged)


# ---------------------------------------------------------------- one gate


class _Gate(NamedTuple):
    """A rule for one strategy, and the numbers to judge it by."""

    rule: GateRule
    strategy: str
    against: Against
    required: bool

    @property
    def has_limit(self) -> bool:
        return bool({*LIMITS} & self.rule.settings.keys())

    def result(self, outcome: Outcome, reason: str, run: str | None = None) -> GateResult:
        rule, name = self.rule, self.strategy
        return GateResult(rule=rule, strategy=name, outcome=outcome, reason=reason, run=run)


def _result(gate: _Gate) -> GateResult:
    """The outcome of a gate: of the first reason against judging it, else by its values."""
    if (obstacle := next(_obstacles(gate), None)) is not None:
        return obstacle
    results = list(_by_value(gate, gate.against.compared.metrics[gate.rule.metric]))
    result = next((result for result in results if result.outcome != "pass"), results[0])
    words = _unchecked(gate) if result.outcome == "pass" else ""
    return replace(result, outcome="undecided", reason=words) if words else result


def _unchecked(gate: _Gate) -> str:
    """The reason against a gate on faithful texts that holds only as far as they were checked; ""
    for any other."""
    rule = _CHECKS.get(gate.rule.metric)
    scores = (gate.against.all.score(run, gate.strategy) for run in gate.against.all.all)
    checks = [check for score in scores if score and rule and (check := score.checks.get(rule))]
    many = sum(check.unchecked for check in checks)
    first = next((check.unchecked_text for check in checks if check.unchecked), "")
    return f"{counted(many, 'text')} could not be checked: {first}" if many else ""


_CHECKS: dict[str, Rule] = {"faithful.changed": "changed", "faithful.invented": "invented"}
"""The rules whose findings metrics count; what *hidden* does not check is no failure."""


def _obstacles(gate: _Gate) -> Iterator[GateResult]:
    """Yield the results without a value, each for a reason against judging a gate by its value, the
    strongest first."""
    rule, name, against, required = gate
    compared, base, now, before = against.compared, against.base, against.now, against.before
    info = compared.metrics.get(rule.metric)
    if info is None:
        yield gate.result("undecided", f"{rule.metric} was not measured")
        return
    if name not in compared.everyone:
        yield gate.result("undecided", f"no strategy is called {name!r}")
    for run, finding, unstable in against.all.failures(name):
        yield gate.result("undecided" if unstable else "fail", f"{name}: {finding.text}", run)
    if base is None:
        if not gate.has_limit:
            yield gate.result("skipped", _NO_BASELINE)
        return
    missing: Outcome = "fail" if required else "undecided"
    is_file = compared.against.endswith(".baseline.json")  # else that of a revision
    accept = f" — accept the values of now {_UPDATE}" if is_file else ""
    if lost := against.lost:
        what = f"missing or changed since the baseline: {listed(lost, 3)}"
        yield gate.result(missing, f"{what}{accept or ' — restore what is missing'}")
    if not now.all:
        yield gate.result("undecided", "no run of the baseline is here")
    if (
        now.all
        and not gate.has_limit
        and all(before.score(run, name) is None for run in before.all)
    ):
        yield gate.result("undecided", f"the baseline has no values of {name!r}{accept}")
    for was, run_now in zip(before.all, now.all, strict=True):
        if before.number(was, name, info.name) and not now.number(run_now, name, info.name):
            reason = f"was measured on {run_now.id} and is not any more"
            yield gate.result("undecided", reason, run_now.id)
    why = stale(compared.signature, base.signature, info)
    if why and (info.unit in COUNTED or not gate.has_limit):
        yield gate.result(missing, f"the baseline was made otherwise ({why}){accept}")


def _by_value(gate: _Gate, info: MetricInfo) -> Iterator[GateResult]:
    """Yield the outcome of a gate's value over all runs against its limit, or of the value before
    and now on the runs that both sides have.

    New runs may not rescue a value: a limit also has to hold on the runs of the baseline.
    """
    name, against = gate.strategy, gate.against
    basis = "total over all runs" if info.aggregate == "total" else info.aggregate
    worst = against.all.worst(name, info.name, lowest=info.better == "higher")
    before, now = against.before.total(name, info), against.now.total(name, info)
    if not gate.has_limit:
        gains = against.gains(name, info)
        yield _within(gate, before, now, basis, gains[0][1] if gains else worst)
        return
    # The value in the baseline stands beside a limit only if it is of the same runs.
    same = len(against.all.all) == len(against.now.all) and value_of(before) is not None
    yield _within(gate, before if same else None, against.all.total(name, info), basis, worst)
    if value_of(now) is not None:
        yield _within(gate, None, now, f"{basis} of the baseline", worst)


def _within(gate: _Gate, old: Number | None, new: Number, basis: str, run: str) -> GateResult:
    """The outcome of a value, with the one before if it is known."""
    before, value, settings = value_of(old), value_of(new), gate.rule.settings
    unknown = next((it for it in (old, new) if it is not None and value_of(it) is None), None)
    if unknown or value is None:
        result = gate.result("undecided", f"not measured: {(unknown or new).reason}", run)
        return replace(result, before=before, value=value, basis=basis)
    limit = limit_of(settings, before or 0.0)
    result = gate.result("fail" if is_beyond_limit(value, limit, settings) else "pass", "", run)
    return replace(result, before=before, value=value, limit=limit, basis=basis)


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
