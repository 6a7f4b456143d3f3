"""The rates at which the rules that read prose find something in honest texts."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import cast

from ..model.scores import Rule


@cache
def false_alarms() -> dict[Rule, float]:
    """The measured rate of false alarms of each rule that reads prose, 0–1, from `false_alarms.toml`.

    >>> sorted(false_alarms()) == ["instructed", "invented", "misattributed"], max(false_alarms().values()) < 0.1
    (True, True)
    """
    tables = tomllib.loads(files("bench.evidence").joinpath("false_alarms.toml").read_text("utf-8"))
    return {
        cast(Rule, rule): sum(item["flagged"] for item in measured) / sum(item["texts"] for item in measured)
        for rule, measured in tables.items()
    }
