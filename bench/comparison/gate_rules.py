"""The rules of gates: reading one from its table, and judging by limits or regression."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..model.errors import ScenarioError, nearest, one_line
from ..model.metric import MetricInfo
from ..model.signature import GateRule

LIMITS, REGRESSION = ("min", "max"), ("max_drop", "max_increase")
_SHARED = ("metric", "strategy")
_ROUNDING = 1e-9


def parse_rule(table: Mapping[str, Any], where: str, infos: Mapping[str, MetricInfo]) -> GateRule:
    """A gate from its table.

    Raises ScenarioError, after `where`, for what it does not know or what would always pass.

    >>> info = MetricInfo(name="needed.recall", unit="share", better="higher", aggregate="mean over tasks")
    >>> parse_rule({"metric": "needed.recall", "max_drop": "2%"}, "gates[1]", {"needed.recall": info}).settings
    {'max_drop': '2%'}
    """
    metric = table.get("metric")
    strategy = table.get("strategy", "*")
    if not isinstance(metric, str) or metric not in infos:
        raise ScenarioError(
            f"{where}: unknown metric {one_line(metric)!r}{nearest(str(metric), infos)}"
        )
    settings = {key: value for key, value in table.items() if key not in _SHARED}
    for problem in _problems(settings, infos[metric]):
        raise ScenarioError(f"{where}: {problem}")
    if not isinstance(strategy, str):
        raise ScenarioError(f"{where}: strategy = {strategy!r}: write a name or a pattern")
    return GateRule(metric=metric, strategy=strategy, settings=settings)


def _problems(settings: Mapping[str, Any], info: MetricInfo) -> Iterator[str]:
    """Yields what is wrong with the limits of a gate."""
    for key, value in settings.items():
        size = amount(value)
        if key not in (*LIMITS, *REGRESSION):
            yield f"unknown key {key!r}{nearest(key, [*LIMITS, *REGRESSION, *_SHARED])}"
        elif key in LIMITS and (size is None or isinstance(value, str)):
            yield f"{key} = {value!r}: write a number"
        elif key in REGRESSION and (size is None or size < 0):
            yield f"{key} = {value!r}: write a number from 0 up, or a text like 2%"
    limits_set, changes_set = {*LIMITS} & settings.keys(), {*REGRESSION} & settings.keys()
    if bool(limits_set) == bool(changes_set):
        yield "write min, max, or both; or max_drop or max_increase"
    for key in ("max", "max_increase") if info.better == "higher" else ("min", "max_drop"):
        if key in settings:
            yield f"{key} judges the better direction of {info.name} — {info.better} is better"
    if info.unit == "share" and (settings.get("min", 1) <= 0 or settings.get("max", 0) >= 1):
        yield f"no value of {info.name} can fail that"


def amount(value: Any) -> float | None:
    """A limit as a number, a percentage as its share; None for anything else.

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
    """The value that a metric was allowed to reach, where it went beyond; else None.

    >>> regression(0.98, 0.90, {"max_drop": 0.01}), regression(100.0, 109.0, {"max_increase": "10%"})
    (0.97, None)
    >>> regression(0.0, 1.0, {"max_increase": "10%"})
    0.0
    """
    end = allowed(before, settings)
    beyond = end - after if "max_drop" in settings else after - end
    return end if beyond > _ROUNDING * max(1.0, abs(before)) else None


def allowed(before: float, settings: Mapping[str, Any]) -> float:
    """The value beyond which a regression fails, from the value before and the allowed change."""
    key = "max_drop" if "max_drop" in settings else "max_increase"
    change = amount(settings[key]) or 0.0
    step = abs(before) * change if isinstance(settings[key], str) else change
    return before - step if key == "max_drop" else before + step
