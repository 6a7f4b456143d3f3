"""The rules of gates: how a rule is read from its table, and the limit that it sets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from ..model.compared import Compared
from ..model.errors import ScenarioError, nearest, one_line
from ..model.metric import MetricInfo
from ..model.signature import GateRule

LIMITS, REGRESSION = ("min", "max"), ("max_drop", "max_increase")
_SHARED = ("metric", "strategy")
_ROUNDING = 1e-9


def parse_rule(table: Mapping[str, Any], where: str, infos: Mapping[str, MetricInfo]) -> GateRule:
    """A gate rule from its table.

    Raises ScenarioError, which starts with `where`, for an unknown key or metric and for a rule
    that would always pass.

    >>> info = MetricInfo(name="needed.recall", unit="share", better="higher", aggregate="mean over tasks")
    >>> parse_rule({"metric": "needed.recall", "max_drop": "2%"}, "gates[1]", {"needed.recall": info}).settings
    {'max_drop': '2%'}
    """
    known = (*_SHARED, *LIMITS, *REGRESSION)
    for key in table:
        if key not in known:
            raise ScenarioError(f"{where}: unknown key {key!r}{nearest(key, known)}")
    metric = table.get("metric", "")
    strategy = table.get("strategy", "*")
    if not isinstance(metric, str) or metric not in infos:
        what = f"unknown metric {one_line(metric)!r}" if metric else "a gate needs a metric"
        near = nearest(str(metric), infos, " — bench list metrics prints all")
        raise ScenarioError(f"{where}: {what}{near}")
    settings = {key: value for key, value in table.items() if key not in _SHARED}
    for problem in _problems(settings, infos[metric]):
        raise ScenarioError(f"{where}: {problem}")
    if not isinstance(strategy, str):
        raise ScenarioError(f"{where}: strategy = {strategy!r}: write a name or a pattern")
    return GateRule(metric=metric, strategy=strategy, settings=settings)


def _problems(settings: Mapping[str, Any], info: MetricInfo) -> Iterator[str]:
    """Yield the problems with the limit of a gate."""
    for key, value in settings.items():
        size = amount(value)
        if key in LIMITS and (size is None or isinstance(value, str)):
            yield f"{key} = {value!r}: write a number"
        elif key in REGRESSION and (size is None or size < 0):
            yield f"{key} = {value!r}: write a number from 0 up, or a text like 2%"
        if (key in ("min", "max_drop")) != (info.better == "higher"):
            yield f"{key} judges the better direction of {info.name} — {info.better} is better"
    if len(settings) != 1:
        yield "write one of min, max, max_drop and max_increase"
    if info.unit == "share" and (settings.get("min", 1) <= 0 or settings.get("max", 0) >= 1):
        yield f"no value of {info.name} can fail that"


def amount(value: Any) -> float | None:
    """The size of a limit: a number, or a percentage as a share; None for anything else.

    >>> amount(3), amount("2%"), amount("2"), amount("nan%"), amount(True)
    (3.0, 0.02, None, None, None)
    """
    is_percentage = isinstance(value, str) and value.endswith("%")
    try:
        number = float(value.removesuffix("%")) / 100 if is_percentage else value
    except ValueError:
        return None
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    return float(number) if is_number and math.isfinite(number) else None


def has_limit(rule: GateRule) -> bool:
    """True if a rule limits the value, False if it limits the change since the baseline."""
    return bool({*LIMITS} & rule.settings.keys())


def judged_strategies(rule: GateRule, compared: Compared) -> list[str]:
    """The declared strategies that match a rule's pattern; if none does, the references that match;
    if none does either, the pattern itself."""
    for known in (compared.strategies, compared.references):
        matches = [name for name in known if fnmatchcase(name, rule.strategy)]
        if matches:
            return matches
    return [rule.strategy]


def in_words(rule: GateRule) -> str:
    """A gate in a few words.

    >>> in_words(GateRule(metric="cost.usd", strategy="mine", settings={"max_increase": "2%"}))
    'cost.usd of mine (max_increase = 2%)'
    """
    limits = ", ".join(f"{key} = {value}" for key, value in rule.settings.items())
    return f"{rule.metric} of {rule.strategy} ({limits})"


def is_as_strict(rule: GateRule, other: GateRule) -> bool:
    """True if the other rule allows every value that this one allows, on the same strategy.

    >>> two, ten, fixed = (GateRule(metric="m", settings={"max_drop": size}) for size in ("2%", "10%", 1))
    >>> is_as_strict(two, ten), is_as_strict(ten, two), is_as_strict(two, fixed)
    (True, False, False)
    """
    limit, limit_of_other = limit_of(rule.settings, 1.0), limit_of(other.settings, 1.0)
    is_within = not is_beyond_limit(limit, limit_of_other, other.settings)
    return is_within and _kind_of(rule) == _kind_of(other)


def _kind_of(rule: GateRule) -> tuple[str, list[tuple[str, bool]]]:
    """The metric of a rule, and its setting with whether it is relative."""
    return rule.metric, [(key, isinstance(size, str)) for key, size in rule.settings.items()]


def limit_of(settings: Mapping[str, Any], before: float = 0.0) -> float:
    """The last value that a gate allows; a change is counted from the value `before`.

    >>> limit_of({"min": 0.9}), limit_of({"max_drop": 0.01}, 0.98), limit_of({"max_increase": "10%"}, 100.0)
    (0.9, 0.97, 110.0)
    """
    ((key, limit),) = settings.items()
    size = amount(limit) or 0.0
    step = abs(before) * size if isinstance(limit, str) else size
    return {"min": size, "max": size, "max_drop": before - step}.get(key, before + step)


def is_beyond_limit(value: float, limit: float, settings: Mapping[str, Any]) -> bool:
    """True if a value is beyond the last one that a gate allows.

    >>> is_beyond_limit(0.8, 0.9, {"min": 0.9}), is_beyond_limit(0.9, 0.9, {"min": 0.9}), is_beyond_limit(3, 2, {"max": 2})
    (True, False, True)
    """
    is_minimum = bool({"min", "max_drop"} & settings.keys())
    excess = limit - value if is_minimum else value - limit
    return excess > _ROUNDING * max(1.0, abs(limit))
