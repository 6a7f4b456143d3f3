"""The decision of a comparison: one object, from which the sentence, the table and the JSON are
made.
"""

from __future__ import annotations

from typing import Literal

from .base import Value
from .scores import Finding, Rule

TODAY = "recorded"
"""The strategy that everything is held against: what runs today, the recording itself."""

Verdict = Literal[
    "ship", "keep", "not certain", "no saving", "loses too much", "unfaithful", "invalid"
]
"""The verdicts, best first. "keep" is the verdict of `TODAY`."""

Mark = Literal["not checked", "inactive"]
"""Marks beside a verdict: some of its texts cannot be read; it never acted."""


class RuleResult(Value, frozen=True, kw_only=True):
    """One rule on one strategy, over all tasks: the measured value beside its limit, and examples.

    A rule that reads prose refuses when `low`, the lower 95 % bound of the strategy's rate, is
    above `limit`, its own false-alarm rate. `metric` is the one that a rule on a share looks at,
    `worst_run` the run where it is worst.
    """

    rule: Rule
    passed: bool
    metric: str = ""
    value: float | None = None
    limit: float | None = None
    low: float | None = None
    findings: tuple[Finding, ...] = ()
    worst_run: str = ""


class Price(Value, frozen=True, kw_only=True):
    """The price of a run under a strategy, and its ratio to today's (0.8: a fifth less).

    `unit` is usd, or tokens where nothing is priced. `high` is the upper end of the one-sided 97.5
    % interval of the ratio; the saving is certain where it is below 1 after Holm over all settings.
    """

    unit: Literal["usd", "tokens"]
    per_run: float
    ratio: float | None = None
    high: float | None = None
    p: float | None = None
    certain: bool = False


class Ranked(Value, frozen=True, kw_only=True):
    """One strategy in the decision: its verdict and the reason, prices, losses and rules.

    `unchecked_text` is the first in its texts that could not be checked; `""`: none.
    """

    strategy: str
    verdict: Verdict
    reason: str = ""
    marks: tuple[Mark, ...] = ()
    unchecked_text: str = ""
    cached: Price | None = None
    uncached: Price | None = None
    missed_turns: float | None = None
    far_recall: float | None = None
    rules: tuple[RuleResult, ...] = ()
    spec: str = ""


class Advice(Value, frozen=True, kw_only=True):
    """The decision.

    `advised` is the strategy to ship (None: keep what runs today), `basis` the price that decides.

    `sentence` is the first line of every output unless a gate failed. `cannot_rule_out` is the
    share of runs in which a large loss could have gone unseen with this number of tasks. `ranked`
    is the table, best first; `theoretical_minimum` the cost of a run with perfect foresight.
    """

    advised: str | None
    sentence: str
    basis: Literal["cached", "uncached", "tokens", "quality"]
    tasks: int
    runs: int
    cannot_rule_out: float | None = None
    cheapest_rejected: str | None = None
    theoretical_minimum: float | None = None
    ranked: tuple[Ranked, ...] = ()


NO_ADVICE = Advice(advised=None, sentence="Nothing was compared.", basis="tokens", tasks=0, runs=0)
"""The advice on nothing."""
