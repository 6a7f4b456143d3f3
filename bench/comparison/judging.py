"""Gates judge a Comparison and see nothing else. They return values; reports put what was dropped into words.

A gate is a function `(rule, comparison, strategy, *, its settings) → Verdict`. Its settings are its keyword-only parameters: a gate of a scenario is
given to the gate whose settings it names, so that a new gate in one new file brings its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

import msgspec

from ..metrics import metrics
from ..model import Comparison, GateRule, Loss, Row, Verdict
from ..model.comparison import Over
from ..model.errors import ScenarioError, SpecError, misfit, nearest, one_line, unpercent
from ..plugins.registry import Entry, entries, register
from ..text.wording import counted, exact, listed
from .decision import ROUNDING as ROUNDING

GateFunction = Callable[..., Verdict]
SHARED = ("metric", "strategy", "over", "gate")
"""The settings that every gate has. `gate` names the gate meant, where the settings alone leave that open."""

LISTED = 10  # the most losses that a verdict names


def gate(
    name: str,
    *,
    needs_baseline: bool = False,
    problem: Callable[..., str | None] | None = None,
    misfit: Callable[..., str | None] | None = None,
) -> Callable[[GateFunction], GateFunction]:
    """Decorator that registers a gate. `problem` is called with its settings and says what is wrong with them (None: nothing); so is `misfit`, with
    the MetricInfo of the gate's metric before them.
    """
    add = register("gate", name, needs_baseline=needs_baseline, problem=problem, misfit=misfit)

    def checked(function: GateFunction) -> GateFunction:
        taken = sorted({item.name for item in Entry("gate", name, function).parameters} & {*SHARED})
        if taken:
            raise SpecError(f"gate {name!r}: {taken[0]!r} is what every gate has — give its own setting another name")
        return add(function)

    return checked


# ---------------------------------------------------------------- rules as they are written


def parse_rule(table: Mapping[str, Any], where: str, number: int = 0) -> GateRule:
    """A gate of a scenario as written: the metric, the strategy, and the settings of one gate. Raises ScenarioError naming what does not fit.

    >>> rule = parse_rule({"metric": "needed.recall", "min": 0.9}, "x.toml: gates[1]")
    >>> rule.gate, rule.settings, rule.number
    ('limits', {'min': 0.9}, 0)
    """
    metric = table.get("metric")
    if not isinstance(metric, str):
        raise ScenarioError(f"{where}: `metric` is missing — say which number is judged")
    where = f"{where} ({metric})"
    own = {key: value for key, value in table.items() if key not in SHARED}
    meant = _meant(own, table.get("gate"), where)
    settings = _settings(meant, own, where)
    check = meant.meta.get("problem")
    said = check(**settings) if check is not None else None
    if said:
        raise ScenarioError(f"{where}: {said}")
    try:
        shared = msgspec.convert({key: table[key] for key in SHARED if key in table}, GateRule)
    except msgspec.ValidationError as error:
        over = table.get("over", "all")
        known = "" if over in get_args(Over) else nearest(str(over), get_args(Over))
        raise ScenarioError(f"{where}: {one_line(error)}{known}") from None
    return msgspec.structs.replace(shared, gate=meant.name, settings=settings, number=number)


def _meant(own: Mapping[str, Any], named: Any, where: str) -> Entry:
    """The one gate that takes these settings and needs no others."""
    known = entries("gate")
    if named is not None:
        if not isinstance(named, str) or named not in known:
            raise ScenarioError(f"{where}: unknown gate {named!r}{nearest(str(named), known)}")
        known = {named: known[named]}
    elif not own:
        limits = (", ".join(item.name for item in entry.parameters) for entry in known.values())
        raise ScenarioError(f"{where}: no limit — set {' or '.join(limits)}")
    taking = [entry for entry in known.values() if own.keys() <= {item.name for item in entry.parameters}]
    able = [entry for entry in taking if not _missing(entry, own)]
    if len(able) == 1:
        return able[0]
    if able:
        which = f"gates {listed([entry.name for entry in able])} each take {listed(list(own))}"
        raise ScenarioError(f"{where}: {which} — write `gate = {able[0].name!r}` beside it, or the other")
    names = [item.name for entry in known.values() for item in entry.parameters]
    for key in own:
        if key not in names:
            raise ScenarioError(f"{where}: unknown key {key!r}{nearest(key, [*names, *SHARED])}")
    if taking:
        raise ScenarioError(f"{where}: gate {taking[0].name!r} also needs {listed(_missing(taking[0], own))}")
    raise ScenarioError(f"{where}: {listed(list(own))} in one gate — write one gate for each")


def _missing(entry: Entry, own: Mapping[str, Any]) -> list[str]:
    return [item.name for item in entry.parameters if item.required and item.name not in own]


def _settings(entry: Entry, own: Mapping[str, Any], where: str) -> dict[str, Any]:
    types = {item.name: item.type for item in entry.parameters}
    settings = {}
    for key, value in own.items():
        try:
            settings[key] = msgspec.convert(value, types[key])
        except msgspec.ValidationError as error:
            raise ScenarioError(f"{where}: {key} = {value!r}: {_to_write(value, error)}") from None
        except TypeError:
            unread = f"gate {entry.name!r} setting {key} has an annotation that cannot be read: {types[key]!r}"
            raise ScenarioError(f"{where}: {unread} — use int, float, str, bool or a list of them") from None
    return settings


def _to_write(value: Any, error: Exception) -> str:
    share = unpercent(value)
    return misfit(error) if share is value else f"{one_line(error)} — write {share:g}"


def require_known(rules: Sequence[GateRule], strategies: Sequence[str], where: str) -> None:
    """Raise ScenarioError for a gate on a metric or strategy that does not exist, or that no value of its metric can fail: it would always pass."""
    known = metrics()
    for number, rule in enumerate(rules, 1):
        if rule.metric not in known:
            raise ScenarioError(
                f"{where}: gates[{number}]: unknown metric {rule.metric!r}{nearest(rule.metric, known)}"
            )
        misfit = entries("gate")[rule.gate].meta.get("misfit")
        said = misfit(known[rule.metric].info, **rule.settings) if misfit is not None else None
        if said:
            raise ScenarioError(f"{where}: gates[{number}] ({rule.metric}): {said}")
        if not any(fnmatchcase(name, rule.strategy) for name in strategies):
            raise ScenarioError(
                f"{where}: gates[{number}]: no strategy is called {rule.strategy!r}{nearest(rule.strategy, strategies)}"
            )


def rules_on(rules: Sequence[GateRule], made: Mapping[str, Sequence[str]]) -> tuple[GateRule, ...]:
    """The gates of a comparison whose strategies run at several settings: a gate on such a strategy applies at each of them.

    `made` are the strategies that each name stands for; itself alone where there is nothing to set.
    """
    found: list[GateRule] = []
    for rule in rules:
        named = [name for name in made if fnmatchcase(name, rule.strategy)]
        several = dict.fromkeys(name for known in named for name in made[known] if name != known)
        missed = [name for name in several if not fnmatchcase(name, rule.strategy)]
        as_it_is = not missed or any(name in made[name] for name in named)
        patterns = ([rule.strategy] if as_it_is else []) + missed
        found.extend(msgspec.structs.replace(rule, strategy=pattern) for pattern in patterns)
    return tuple(found)


# ---------------------------------------------------------------- judging


def check(comparison: Comparison) -> tuple[Verdict, ...]:
    """Every rule on every strategy it names, in the order declared; `*` means every declared strategy, not the references.

    A strategy that the baseline knows and the scenario no longer declares is judged too, as inconclusive. So are the gates of another revision
    that are no longer there. Where one of these is gone or allows more now, or a recording could not be read, there is one verdict more: nothing
    leaves silently.
    """
    found = [judge(rule, comparison, name) for rule in comparison.rules for name in judged(rule, comparison)]
    found += _of_then(comparison)
    return (*found, *_unread(comparison)) if found else ()


def _of_then(comparison: Comparison) -> Iterator[Verdict]:
    """The verdicts of gates of another revision that are gone or others now, and one on what was loosened or vanished since."""
    against = comparison.against
    here = [msgspec.structs.replace(rule, number=0) for rule in comparison.rules]
    for rule in against.rules:
        changed = rule.metric in comparison.metrics and msgspec.structs.replace(rule, number=0) not in here
        for name in judged(rule, comparison) if changed else ():
            verdict = judge(rule, comparison, name)
            yield msgspec.structs.replace(verdict, gate=f"{verdict.gate} (a gate of {against.name})")
    if against.gone:
        more = f"; and {len(against.gone) - LISTED} more" if len(against.gone) > LISTED else ""
        look = "look at it; without --require-baseline it passes"
        then = "accept it with --update-baseline" if against.kept else look
        said = f"since {against.name}: {'; '.join(against.gone[:LISTED])}{more} — {then}"
        yield _of_all(f"the judge is that of {against.name}", "fail" if against.required else "skipped", said)


def _unread(comparison: Comparison) -> Iterator[Verdict]:
    """The verdict on files that could not be read: nothing is known of their cases."""
    if comparison.damaged:
        reasons = dict(comparison.skipped)
        first = f"{comparison.damaged[0]} cannot be read, and no gate knows its cases: {reasons[comparison.damaged[0]]}"
        more = f" (and {counted(len(comparison.damaged) - 1, 'file')} more)" if comparison.damaged[1:] else ""
        yield _of_all("every recording is read", "inconclusive", first + more)


def _of_all(gate: str, outcome: Literal["fail", "inconclusive", "skipped"], sentence: str) -> Verdict:
    """A verdict on no strategy."""
    return Verdict(gate=gate, metric="", strategy="", outcome=outcome, sentence=sentence)


def judged(rule: GateRule, comparison: Comparison) -> list[str]:
    """The strategies a rule is about."""
    known = [name for name in comparison.strategies if fnmatchcase(name, rule.strategy)]
    if not known:  # `rec*` means the reference then: a gate that judges nothing would always pass
        known = [name for name in comparison.references if fnmatchcase(name, rule.strategy)]
    if comparison.against.baseline is not None and needs_baseline(rule):
        gone = comparison.against.baseline.rows.keys() - {*comparison.everyone}
        known += [name for name in sorted(gone) if fnmatchcase(name, rule.strategy)]
    return known


def judge(rule: GateRule, comparison: Comparison, strategy: str) -> Verdict:
    """Judge one strategy by one rule. No number of an unstable strategy decides, nor of an unstable earlier version of it."""
    function: GateFunction = entries("gate")[rule.gate].target
    verdict = function(rule, comparison, strategy, **rule.settings)
    before = comparison.against.before.get(strategy) if needs_baseline(rule) else None
    unstable = next(filter(None, (unstable_on(comparison, name) for name in (strategy, before) if name)), None)
    if unstable is None or verdict.outcome not in ("pass", "fail") or comparison.failed(strategy):
        return verdict
    return msgspec.structs.replace(verdict, outcome="inconclusive", sentence=f"{unstable} ({verdict.sentence})")


def unstable_on(comparison: Comparison, strategy: str) -> str | None:
    """The sentence that a strategy is unstable, which names the first case; None for one that is not."""
    first = next(iter(comparison.unstable.get(strategy, ())), None)
    return None if first is None else f"{strategy} is unstable: replayed again, it gave something else on {first}"


def needs_baseline(rule: GateRule) -> bool:
    """True if a rule compares with a baseline."""
    return bool(entries("gate")[rule.gate].meta["needs_baseline"])


# ---------------------------------------------------------------- what gates share


def why_not(row: Row) -> str:
    """Why a row has no value to judge."""
    if row.partly:
        left = f"{counted(row.partly, 'sample')} could not be measured, and may change it"
        return f"{value_text(row)} of the rest; {left}"
    return row.why or "no reason was given"


def value_text(row: Row) -> str:
    """A value to be checked against a limit; one that is only a bound with both of its ends.

    >>> value_text(Row(strategy="s", metric="m", case=None, value=0.9, unit="fraction", n=2, low=0.4))
    'between 0.4 and 0.9'
    """
    least, most = row.least or 0.0, row.most or 0.0
    return exact(least) if least == most else f"between {exact(least)} and {exact(most)}"


def losses_on(comparison: Comparison, strategy: str, metric: str, case: str | None) -> dict[str, Any]:
    """The losses on a case as fields of a verdict, without those that the earlier version had too. `{}` for no case."""
    found = comparison.by_case[case].losses_of(strategy, metric) if case and case in comparison.by_case else None
    if found is None:
        return {}
    worst: tuple[Loss, ...] = found.worst
    earlier = comparison.against.before.get(strategy)
    known = comparison.by_case[str(case)].losses_of(earlier, metric) if earlier is not None else None
    if known is not None:
        before = {(loss.step, loss.facts, loss.count) for loss in known.worst}
        worst = tuple(loss for loss in worst if (loss.step, loss.facts, loss.count) not in before) or worst
    return {"losses": worst, "losses_total": found.places - (len(found.worst) - len(worst))}


# ---------------------------------------------------------------- the whole


@dataclass(frozen=True)
class Conclusion:
    """The result of several comparisons: the exit code of the process, and the line that explains it."""

    exit_code: int
    sentence: str


def conclude(comparisons: Sequence[Comparison]) -> Conclusion:
    """1 a gate failed, 3 nothing measured or a gate inconclusive, else 0. Bad input (2) raises before.

    A strategy that raised fails its own gates; without gates its missing numbers are rows with a reason, and the report says so. Nothing
    measured is never 0, whatever is allowed.
    """
    counts = Counter(verdict.outcome for comparison in comparisons for verdict in comparison.verdicts)
    strict = [item for item in comparisons if not item.allow_inconclusive]
    undecided = any(verdict.outcome == "inconclusive" for item in strict for verdict in item.verdicts)
    said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "no gates declared"
    if "fail" in counts:
        code, meaning = 1, "a gate failed"
    elif not comparisons or not all(map(measured_anything, comparisons)):
        values = ((item, row) for item in comparisons for row in item.rows if row.finite is not None)
        some = any(row.strategy in item.strategies for item, row in values)
        code, meaning = 3, "no strategy was measured on every case" if some else "nothing was measured"
    elif undecided:
        code, meaning = 3, "not everything could be judged"
    else:
        code, meaning = 0, "nothing failed"
    return Conclusion(code, f"gates: {said}: {meaning} (exit {code})")


def measured_anything(comparison: Comparison) -> bool:
    """True if any declared strategy has any value over all cases."""
    return any(row.finite is not None and row.strategy in comparison.strategies for row in comparison.summary)


# ---------------------------------------------------------------- gates held against the gates of before


def _limits(rule: GateRule) -> str:
    return ", ".join(f"{key} = {value!r}" for key, value in rule.settings.items())


def rule_text(rule: GateRule) -> str:
    """A gate as one clause.

    >>> rule_text(GateRule(metric="needed.recall", strategy="mine", settings={"max_drop": "1%"}))
    "needed.recall of mine: max_drop = '1%'"
    """
    return f"{rule.metric} of {rule.strategy}: {_limits(rule)}{' (worst case)' if rule.over == 'worst_case' else ''}"


def loosened(now: Sequence[GateRule], then: Sequence[GateRule], strategies: Sequence[str]) -> Iterator[str]:
    """A clause on each gate of before that no present gate replaces. A gate replaces one of its kind that is about the same metric, about no
    strategy more, and allows no less.

    >>> before, after = (GateRule(metric="m", settings={"max_drop": limit}) for limit in ("1%", "99%"))
    >>> list(loosened([after], [before], ["mine"])), list(loosened([before], [after], ["mine"]))
    (["the gate on m of *: max_drop = '1%' is now max_drop = '99%'"], [])
    >>> before, after = (GateRule(metric="m", settings={"min": 0.5, "max": most}) for most in (1, 2))
    >>> list(loosened([after], [before], ["mine"]))
    ['the gate on m of *: min = 0.5, max = 1 is now min = 0.5, max = 2']
    """
    for rule in then:
        alike = [one for one in now if (one.metric, one.gate, one.over) == (rule.metric, rule.gate, rule.over)]
        for name in [name for name in strategies if fnmatchcase(name, rule.strategy)] or [rule.strategy]:
            here = [one for one in alike if fnmatchcase(name, one.strategy)]
            if any(_replaces(one, rule) for one in here):
                continue
            left = "is gone" if not alike else f"no longer judges {name}"
            yield f"the gate on {rule_text(rule)} {f'is now {listed([*map(_limits, here)])}' if here else left}"
            break


def _replaces(now: GateRule, then: GateRule) -> bool:
    """True if each limit of a gate is in another one of its kind, the same or stricter."""
    limits = then.settings.items()
    return all(key in now.settings and _no_looser(key, now.settings[key], limit) for key, limit in limits)


def _no_looser(key: str, now: Any, then: Any) -> bool:
    """True if a limit is the same, or on the strict side by its name (`max…`, `min…`).

    >>> [_no_looser("max", now, 2) for now in (1, 2, 3, "1%")], [_no_looser("min", now, "2%") for now in ("1%", "2.0%", "3%", 3)]
    ([True, True, False, False], [False, True, True, False])
    """
    one, other = number_of(now), number_of(then)
    if now == then or one is None or other is None or one[1] != other[1]:
        return bool(now == then)
    return (key.startswith("max") and one[0] <= other[0]) or (key.startswith("min") and one[0] >= other[0])


def number_of(limit: Any) -> tuple[float, bool] | None:
    """A limit as a number, and True where it is written in percent; None for anything else."""
    if isinstance(limit, int | float):
        return float(limit), False
    try:
        return float(str(limit).strip().removesuffix("%")), str(limit).strip().endswith("%")
    except ValueError:
        return None
