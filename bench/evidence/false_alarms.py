"""The false-alarm rates of the rules that read prose, measured on honest texts."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, cast

from ..model.scores import FalseAlarms, Rule


@cache
def false_alarms() -> dict[Rule, FalseAlarms]:
    """The measured rates of false alarms of each rule that reads prose, from `false_alarms.toml`.

    >>> sorted(false_alarms()), false_alarms()["invented"].text < false_alarms()["invented"].summary
    (['instructed', 'invented', 'misattributed'], True)
    """
    tables = tomllib.loads(files("bench.evidence").joinpath("false_alarms.toml").read_text("utf-8"))
    return {
        cast(Rule, rule): FalseAlarms(*(_rate(measured, kind) for kind in FalseAlarms._fields))
        for rule, measured in tables.items()
    }


def _rate(measured: list[dict[str, Any]], kind: str) -> float:
    """The share of flagged texts among those of a kind, or among all if none of that kind was
    measured."""
    of_kind = [item for item in measured if item["kind"] == kind] or measured
    return float(sum(item["flagged"] for item in of_kind) / sum(item["texts"] for item in of_kind))
