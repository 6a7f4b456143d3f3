"""Gates: each rule is judged for each strategy that it names, and the exit code that follows.

A gate never passes without a measured value. It is undecided if a run of the baseline is missing.
Gates of the baseline that were removed or loosened are judged too, and reported, as are replaced
strategies.
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
from .rules import place_of
from .totals import value_of

JUDGE = GateRule(metric="")
"""The rule of results about strategies or runs that were replaced or removed since the baseline."""

LOST = "missing or changed since the baseline"
"""The first words of the reason of a gate whose baseline has other recordings."""
_NO_BASELINE = "there is no baseline yet"
_CHECKS: dict[str, Rule] = {"faithful.changed": "changed", "faithful.invented": "invented"}
"""The metrics that count a rule's findings; a gate on one passes only if all texts were checked."""
_SILENT = "loss.silent_truncation"
"""The metric that counts results with silent losses. A row whose values stand elsewhere counts in none,
so a gate passes at 0 only if the rule *hidden* finds nothing that is left out."""
Outcome = Literal["pass", "fail", "undecided", "skipped"]


def judge(against: Against, *, required: bool = False) -> tuple[GateResult, ...]:
    """The result of every gate, also of a removed or loosened one of the baseline, on each strategy
    that it names: in the order of the decision's rules, so that the worst failure stands first.

    With `required` it is a failure if there is no baseline, or if one of its gates, strategies or
    runs is missing, loosened or replaced.
    """
    compared, base = against.compared, against.base
    gates = [(rule, name) for rule in compared.rules for name in judged_strategies(rule, compared)]
    dropped = [*_dropped(against)]
    ordered = sorted((*gates, *dropped), key=lambda gate: place_of(gate[0].metric))
    results = [
        _judged(GateResult(rule=rule, strategy=name, outcome="undecided"), against, required)
        for rule, name in ordered
    ]
    changes = [*replaced(against)] if base or not required else [_NO_BASELINE]
    # Gates of a strategy that is gone are left out, since `replaced` reports that.
    words = dict.fromkeys(in_words(rule) for rule, name in dropped if name in compared.everyone)
    changes += [f"gate {gate} is gone or looser" for gate in words]
    outcome: Outcome = "fail" if required else "skipped"
    change_result = GateResult(rule=JUDGE, strategy="", outcome=outcome)
    way = "restore it, or run without --require-baseline" if base and required else ""
    reasons = (with_way(change, _accept(compared) or way) for change in changes)
    return (*results, *(replace(change_result, reason=reason) for reason in reasons))


def with_way(what: str, way: str) -> str:
    """A reason, and the way to go on where there is one."""
    return " — ".join(filter(None, (what, way)))


def _accept(compared: Compared) -> str:
    """The way to accept what differs from the baseline; "" where nothing can be accepted."""
    return f"accept the values of now with `{compared.accept}`" if compared.accept else ""


def _dropped(against: Against) -> Iterator[tuple[GateRule, str]]:
    """Yield the gates of the baseline that were removed or loosened, each for one strategy."""
    compared = against.compared
    for before in against.base.rules if against.base else ():
        as_strict = [rule for rule in compared.rules if is_as_strict(rule, before)]
        judged = {name for rule in as_strict for name in judged_strategies(rule, compared)}
        names = judged_strategies(before, compared)
        yield from ((before, name) for name in names if name not in judged)


# ---------------------------------------------------------------- one gate


def _judged(gate: GateResult, against: Against, required: bool) -> GateResult:
    """A gate with the outcome of the first reason not to judge its value, else of its value."""
    for outcome, reason, run in _obstacles(gate, against, required):
        return replace(gate, outcome=outcome, reason=reason, run=run)
    by_value = _by_limit if has_limit(gate.rule) else _by_change
    results = [*by_value(gate, against, against.compared.metrics[gate.rule.metric])]
    not_passed = [result for result in results if result.outcome != "pass"]
    result = (not_passed or results)[0]
    if result.outcome == "fail" and gate.rule.metric == _SILENT:
        return replace(result, reason=_unchecked(gate, against, "hidden"))
    rule = _CHECKS.get(gate.rule.metric)
    if gate.rule.metric == _SILENT and result.value == 0:
        rule = "hidden"
    words = _unchecked(gate, against, rule) if rule and result.outcome == "pass" else ""
    return replace(result, outcome="undecided", reason=words, run=None) if words else result


def _unchecked(gate: GateResult, against: Against, rule: Rule) -> str:
    """How many texts of a gate's strategy a rule could not check, and the first; "" for none."""
    scores = ((run.id, against.all.score(run, gate.strategy)) for run in against.all.all)
    checks = ((run, score.checks.get(rule)) for run, score in scores if score)
    unchecked = [(run, check) for run, check in checks if check and check.unchecked]
    if not unchecked:
        return ""
    total, (run, first) = sum(check.unchecked for _, check in unchecked), unchecked[0]
    place = f"first in {run}: {first.unchecked_text}"
    return f"{counted(total, 'text')} could not be checked, {place}"


def _obstacles(
    gate: GateResult, against: Against, required: bool
) -> Iterator[tuple[Outcome, str, str | None]]:
    """Yield the reasons not to judge a gate by its value, the strongest first, each as (outcome,
    reason, run)."""
    name, is_limit, accept = gate.strategy, has_limit(gate.rule), _accept(against.compared)
    compared, base, now, before = against.compared, against.base, against.now, against.before
    info = compared.metrics.get(gate.rule.metric)
    if info is None:
        yield "undecided", f"{gate.rule.metric} was not measured", None
        return
    if name not in compared.everyone:
        yield "undecided", f"no strategy is called {name!r}", None
    for finding, unstable in against.all.failures(name):
        yield "undecided" if unstable else "fail", finding.text, finding.run
    if base is None:
        if not is_limit:
            yield "skipped", with_way(_NO_BASELINE, accept), None
        return
    missing: Outcome = "fail" if required else "undecided"
    if against.lost:
        what = f"{LOST}: {listed(against.lost, 3)}"
        unread = ", ".join(f"{many} × {kind}" for kind, many in against.unread.items())
        is_damaged = unread or compared.damaged
        restore = f"restore what {'is damaged' if is_damaged else 'differs'}"
        instead = " in place of --require-baseline" if required else ""
        way = f"{restore} or update the branch, or run with --allow-inconclusive{instead}"
        if accept:
            way = f"{restore}, or {'delete it and ' if is_damaged else ''}{accept}"
        yield missing, with_way(f"{what}{unread and f' ({unread})'}", way), None
    if not now.all:
        yield "undecided", "no run of the baseline is here", None
    elif not is_limit and all(before.score(run, name) is None for run in before.all):
        yield "undecided", with_way(f"the baseline has no values of {name!r}", accept), None
    for run_before, run in zip(before.all, now.all, strict=True):
        if before.number(run_before, name, info.name) and not now.number(run, name, info.name):
            yield "undecided", f"was measured on {run.id} and is not any more", run.id
    why = stale(compared.signature, base.signature, info)
    if why and (info.unit in COUNTED or not is_limit):
        yield missing, with_way(f"the baseline was made otherwise ({why})", accept), None


def _by_change(gate: GateResult, against: Against, info: MetricInfo) -> Iterator[GateResult]:
    """Yield the outcome of the change since the baseline, over the runs that both sides have."""
    name, gains = gate.strategy, against.gains(gate.strategy, info)
    worst = gains[0][1] if gains else _worst(gate, against, info)
    before, now = against.before.total(name, info), against.now.total(name, info)
    yield _within(gate, before, now, _basis(info), worst)


def _by_limit(gate: GateResult, against: Against, info: MetricInfo) -> Iterator[GateResult]:
    """Yield the outcome of the value over all runs, and of the value over the runs of the baseline,
    so that good new runs cannot hide a failure."""
    name, worst = gate.strategy, _worst(gate, against, info)
    before, now = against.before.total(name, info), against.now.total(name, info)
    # The value in the baseline is shown beside the new one only if it is of the same runs.
    is_same = len(against.all.all) == len(against.now.all) and value_of(before) is not None
    total = against.all.total(name, info)
    yield _within(gate, before if is_same else None, total, _basis(info), worst)
    if value_of(now) is not None:
        yield _within(gate, None, now, f"{_basis(info)} of the baseline", worst)


def _worst(gate: GateResult, against: Against, info: MetricInfo) -> str:
    return against.all.worst(gate.strategy, info.name, lowest=info.better == "higher")


def _basis(info: MetricInfo) -> str:
    return "total over all runs" if info.aggregate == "total" else info.aggregate


def _within(gate: GateResult, old: Number | None, new: Number, basis: str, run: str) -> GateResult:
    """The outcome of a new value; the old one is None if it is not to be shown."""
    before, value, settings = value_of(old), value_of(new), gate.rule.settings
    result = replace(gate, before=before, value=value, basis=basis, run=run)
    if old is not None and before is None:
        return replace(result, reason=f"not measured: {old.reason}")
    if value is None:
        return replace(result, reason=f"not measured: {new.reason}")
    limit = limit_of(settings, before or 0.0)
    outcome: Outcome = "fail" if is_beyond_limit(value, limit, settings) else "pass"
    return replace(result, outcome=outcome, limit=limit)


# ---------------------------------------------------------------- all gates


def is_measured(compared: Compared) -> bool:
    """True if anything was measured: a gate was judged by a value, or a declared strategy that
    failed on no run has a number, or the figure that answers a question other than savings."""
    if any(gate.value is not None for gate in compared.gates):
        return True
    if compared.advice.answers != "savings":
        return any(item.figure for item in compared.advice.tried)
    scores = [score for run in compared.runs for score in run.scores]
    names = {*compared.strategies} - {score.strategy for score in scores if score.failure}
    used = (score for score in scores if score.strategy in names)
    numbers = (number for score in used for number in score.numbers.values())
    return any(number.value is not None and number.weight for number in numbers)


def exit_code(compared: Sequence[Compared], *, allow_undecided: bool = False) -> int:
    """The exit code: 0 if all gates hold, 1 if one failed, 3 if one is undecided, a recording is
    damaged or nothing was measured."""
    outcomes = {result.outcome for item in compared for result in item.gates}
    if "fail" in outcomes:
        return 1
    is_open = "undecided" in outcomes or any(item.damaged for item in compared)
    return 3 if (is_open and not allow_undecided) or not all(map(is_measured, compared)) else 0
