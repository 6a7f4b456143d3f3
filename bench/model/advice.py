"""The decision of a comparison: the one object behind the sentence, the table and the JSON."""

from __future__ import annotations

from typing import Literal

from .base import Value
from .scores import Finding, Rule

TODAY = "recorded"
"""The strategy that all others are compared with: what runs today, the recording itself."""

Verdict = Literal[
    "ship", "keep", "not certain", "no gain", "loses too much", "unfaithful", "invalid"
]
"""The verdicts, best first. "keep" is the verdict of `TODAY`."""

REFUSED: tuple[Verdict, ...] = ("loses too much", "unfaithful", "invalid")
"""The verdicts of strategies that a rule other than the last refuses."""

Mark = Literal["not checked", "inactive"]
"""Marks beside a verdict: some texts could not be checked; the strategy changed nothing."""


Answers = Literal["savings", "stored", "judged", "routed"]
"""The question that a comparison answers."""


Unit = Literal["usd", "tokens"]
"""The unit of the prices that decide: dollars, or tokens if not all runs have prices."""


class RuleResult(Value, frozen=True, kw_only=True):
    """The result of one rule for one strategy, over all tasks: the measured value, its limit, and
    examples.

    A rule that reads prose refuses if `low`, the lower 95 % bound of the strategy's rate, is above
    `limit`, the rule's false-alarm rate. `metric` is set for a rule on a share. `hits` of `of` things in all runs have what a share counts, and
    `interval` is the 95 % interval of its mean over `tasks`, None for too few of them.
    """

    rule: Rule
    passed: bool
    metric: str = ""
    value: float | None = None
    limit: float | None = None
    low: float | None = None
    hits: float | None = None
    of: float | None = None
    tasks: int = 0
    interval: tuple[float, float] | None = None
    findings: tuple[Finding, ...] = ()


class Price(Value, frozen=True, kw_only=True):
    """The price of a run under a strategy, and its ratio to today's (0.8: a fifth less).

    Tokens include those of a strategy's own calls. `high` is the upper end of the one-sided 97.5 %
    interval of the ratio (None for too few tasks); the saving is certain if it is below 1 after
    Holm's correction over all settings. `expected` is the ratio to expect on other tasks of the best
    of many settings (None: not chosen among many).
    """

    unit: Unit
    per_run: float
    ratio: float | None = None
    high: float | None = None
    expected: float | None = None
    p: float | None = None
    certain: bool = False

    @property
    def saves(self) -> bool:
        """True if it is lower than today's by more than noise, certain or not."""
        return self.ratio is not None and self.ratio < 1 - NOISE

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the ratio; None where it is not known.

        >>> Price(unit="usd", per_run=1, ratio=0.9, high=0.93).interval
        (0.8709677419354839, 0.93)
        """
        if not self.ratio or not self.high:
            return None
        other = self.ratio * self.ratio / self.high
        return min(self.high, other), max(self.high, other)


NOISE = 0.001
"""A ratio that differs from 1 by less than this is not a saving."""


class Ranked(Value, frozen=True, kw_only=True):
    """One strategy in the decision: its verdict and the reason, prices, losses and rules.

    `answers` is the question that it is judged by: that of the comparison if it fills a slot that
    this is about. `price` decides; in dollars it is that with the provider's cache. `condition`
    says where alone it is known to save, `unchecked_text` what could not be checked first, and why;
    `""` for everywhere, and if all was checked. In `handle_turns` turns something that was used
    would have to be fetched by its handle.
    """

    strategy: str
    verdict: Verdict
    answers: Answers = "savings"
    reason: str = ""
    condition: str = ""
    marks: tuple[Mark, ...] = ()
    unchecked_text: str = ""
    price: Price | None = None
    uncached: Price | None = None
    missed_turns: float | None = None
    far_recall: float | None = None
    handle_turns: float = 0.0
    rules: tuple[RuleResult, ...] = ()
    spec: str = ""

    @property
    def saves(self) -> bool:
        """True if the price that decides is lower than today's, certainly or not."""
        return self.price is not None and self.price.saves

    def result(self, rule: str) -> RuleResult | None:
        """The first result of a rule; None without one."""
        return next((one for one in self.rules if one.rule == rule), None)

    @property
    def figure(self) -> RuleResult | None:
        """The figure of its store, evaluator or routers that answers its question; None if that is
        about savings, and if nothing was measured."""
        result = self.result(self.answers)
        return result if result and result.value is not None else None

    @property
    def broken(self) -> tuple[RuleResult, ...]:
        """The results of the rules that the strategy breaks: *ran* alone if it failed on some runs,
        since the other rules only measured the others."""
        broken = tuple(rule for rule in self.rules if not rule.passed)
        return broken[:1] if broken and broken[0].rule == "ran" and broken[0].findings else broken

    @property
    def failed(self) -> RuleResult | None:
        """The result of the first rule that the strategy breaks; None if it breaks none."""
        return next(iter(self.broken), None)


class Advice(Value, frozen=True, kw_only=True):
    """The decision.

    `advised` is the strategy to ship (None: keep what runs today). `answers` is the question:
    "savings", or "judged", "stored" or "routed" if the strategies fill only evaluators, stores or
    routers; `unit` is that of prices, `unpriced` says why it is tokens if some runs have a price and
    some have none.
    `assumed` is True if the shares of the provider's cache are not recorded.

    `sentence` is the first line of every output unless a gate failed, `short` its beginning, without
    what is certain. `subject` is the strategy that it is about (the one to ship, or the one that
    comes closest; "" for none), `ranked` the table, best first.
    """

    advised: str | None
    sentence: str
    short: str = ""
    answers: Answers = "savings"
    unit: Unit
    unpriced: str = ""
    assumed: bool = False
    tasks: int
    runs: int
    subject: str = ""
    ranked: tuple[Ranked, ...] = ()

    def item(self, strategy: str | None) -> Ranked | None:
        """The strategy of a name; None without one."""
        return next((item for item in self.ranked if item.strategy == strategy), None)

    @property
    def todays_price(self) -> Price | None:
        """The price of what runs today that decides; None where it is not known."""
        today = self.item(TODAY)
        return today.price if today else None

    @property
    def tried(self) -> tuple[Ranked, ...]:
        """The strategies but for what runs today."""
        return tuple(item for item in self.ranked if item.strategy != TODAY)


NO_ADVICE = Advice(advised=None, sentence="Nothing was compared.", unit="tokens", tasks=0, runs=0)
"""The advice if nothing was compared."""
