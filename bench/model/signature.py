"""The settings that made a set of scores, and the gates declared on them."""

from __future__ import annotations

from typing import Any

import msgspec

from .base import Value


class Signature(Value, frozen=True, kw_only=True):
    """The settings that made a set of scores.

    `calibration` is the version of the calibration of token counts, "off" without; `model` applies
    to traces that name none (`""`: not given). `encodings` count the tokens, by run.
    """

    bench_version: str
    facts_version: str
    prices_date: str
    calibration: str = "off"
    model: str = ""
    encodings: dict[str, str] = {}


class GateRule(msgspec.Struct, frozen=True, kw_only=True):
    """One declared gate: its metric, the strategies that it names, and its limits.

    `settings` has one of `min` and `max`, limits on the value, or `max_drop` and `max_increase`,
    limits on its change since the baseline.
    """

    metric: str
    strategy: str = "*"
    settings: dict[str, Any] = {}


MAX_FAULT_RATE, MIN_FAR_RECALL = 0.05, 0.9
"""The default limits: the share of turns that would have missed something, and far recall.

Means over tasks. They refuse the clearest harm that was published (10 events of OpenHands' masking:
2.27 times the turns, 11 points fewer solved) and pass what was harmless (58 events) on three
corpora of coding runs.
"""
