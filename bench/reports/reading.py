"""The view of a comparison that panels share: marks, rows, values, names of runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..comparison.rules import place_of
from ..comparison.totals import Runs, value_of
from ..comparison.wording import Pricing, change, pricing_of, quantity, unseen
from ..model.advice import REFUSED, TODAY, Advice, Price, Ranked, RuleResult
from ..model.compared import Compared, GateResult, Move
from ..model.metric import MetricInfo
from ..model.scores import MeasuredRun, Number
from ..text.wording import counted
from .charts import Mark

IN_TOKENS = (
    "Tokens are compared, not prices, where runs name no model with a known price: "
    "`--model` sets one."
)
"""The reason to count tokens and not money."""
REPLAY_LIMIT = "Actions stay as recorded: if tasks then succeed is not measured."
"""The limit of replay."""
MISSED_TURN = "A missed turn would have lacked something that it used"
OLD_FACT = "An old fact is one that a turn used and that was last shown six or more turns before"
MISSED = "needed.missed_turns"


@dataclass(frozen=True)
class Reading:
    """A comparison with what panels look up in it. Nothing here decides anything."""

    compared: Compared

    # ------------------------------------------------------------ strategies

    @property
    def advice(self) -> Advice:
        """The advice."""
        return self.compared.advice

    def mark(self, strategy: str) -> Mark:
        """The sign of a strategy."""
        if strategy == TODAY:
            return "today"
        if strategy == self.advice.advised:
            return "advised"
        item = self.advice.item(strategy)
        if item is None or item.verdict not in ("ship", *REFUSED):
            return "other"
        return "acceptable" if item.verdict == "ship" else "rejected"

    def title(self, strategy: str) -> str:
        """The name of a strategy; "today" for the one that all others are compared with."""
        return "today" if strategy == TODAY else strategy

    def spec(self, strategy: str) -> str:
        """The spec of a strategy without the strategy's name; "" where it is not known."""
        item = self.advice.item(strategy)
        spec = self.compared.specs.get(strategy) or (item.spec if item else "")
        return "" if spec == strategy else spec.removeprefix(f"{strategy}=")

    # ------------------------------------------------------------ prices

    @cached_property
    def pricing(self) -> Pricing:
        """The way in which all prices are stated."""
        return pricing_of(self.advice)

    def price_move(self, item: Ranked) -> str:
        """Today's price and that of a strategy, with their unit."""
        before, after = map(self.pricing.money, (self.advice.todays_price, item.price))
        return f"{before} → {after} {self.pricing.unit}"

    def interval(self, price: Price) -> str:
        """The ends of the 95% interval of a price's change; "" without one."""
        return " to ".join(map(change, price.interval or ()))

    @cached_property
    def figure(self) -> RuleResult | None:
        """The figure of a store, evaluator or router that answers the question, of the first rule;
        None if that is about savings, or nothing was measured."""
        about = (it for it in self.advice.tried if it.answers == self.advice.answers)
        figures = [figure for it in about if (figure := it.figure)]
        return min(figures, key=lambda figure: place_of(figure.metric), default=None)

    @cached_property
    def is_shaped(self) -> bool:
        """True if the question is about prompts, or a strategy changes what they cost or miss."""
        return self.advice.answers == "savings" or any(map(self.shapes_prompts, self.advice.ranked))

    def shapes_prompts(self, item: Ranked) -> bool:
        """True if a strategy's prompts cost or miss something else than today's."""
        price = item.price
        return bool(item.missed_turns) or (price is not None and price.ratio not in (None, 1))

    @property
    def counts_tokens(self) -> bool:
        """True if tokens are compared, since not all runs have prices."""
        return self.advice.unit == "tokens"

    @property
    def price_axis(self) -> str:
        """The words for the prices that decide: price per 1,000 runs, with cache."""
        unit = self.pricing.unit
        return unit if self.counts_tokens else f"price {unit}, with cache"

    # ------------------------------------------------------------ numbers

    @cached_property
    def known(self) -> Runs:
        """The runs that count, by strategy: where a recording was copied, only the first copy."""
        return Runs(self.compared.runs)

    @property
    def runs(self) -> tuple[MeasuredRun, ...]:
        """The runs that count."""
        return self.known.all

    @property
    def size(self) -> str:
        """The number of runs, tasks and copies in words; copies of a run do not count as runs."""
        runs, tasks = self.advice.runs, self.advice.tasks
        copies = len(self.compared.runs) - len(self.runs)
        of_tasks = f" of {counted(tasks, 'task')}" if 0 < tasks < runs else ""
        others = f" ({counted(copies, 'copy', 'copies')} not counted)" if copies else ""
        return f"{counted(runs, 'different run' if copies else 'run')}{of_tasks}{others}"

    def measured_on(self, basis: str = "") -> str:
        """A sentence on the runs that were measured, and what they cannot show."""
        return f"Measured on {self.size}{basis}; {unseen(self.advice) or 'others may differ'}."

    def number(self, strategy: str, metric: str) -> Number | None:
        """One number over all runs; None if it was not measured."""
        number = self.compared.totals.get(strategy, {}).get(metric)
        return None if value_of(number) is None else number

    def at(self, run: MeasuredRun, strategy: str, metric: str) -> float | None:
        """The value of one metric of a strategy on a run; None if it was not measured."""
        return value_of(self.known.number(run, strategy, metric))

    def stated(self, total: float | None, metric: str, runs: int | None = None) -> str:
        """A value over some runs, by default all, in words: prices and tokens for one run."""
        info = self.compared.metrics.get(metric)
        is_cost = info and info.aggregate == "total" and info.unit in ("usd", "tokens")
        many = self.advice.runs if runs is None else runs
        per_run = total / many if is_cost and total is not None and many else total
        return quantity(per_run, self.unit(metric))

    def unit(self, metric: str) -> str:
        """The unit of a metric; "count" for an unknown one."""
        return self.compared.metrics[metric].unit if metric in self.compared.metrics else "count"

    def label(self, metric: str) -> str:
        """The short name of a metric."""
        info: MetricInfo | None = self.compared.metrics.get(metric)
        return (info.label if info else "") or metric

    # ------------------------------------------------------------ the baseline

    @property
    def against(self) -> str:
        """The name of the baseline: of a file without its folder; "" without a baseline."""
        name = self.compared.against
        return name.rpartition("/")[2] if name.endswith(".json") else name

    @property
    def shared_runs(self) -> int:
        """The number of runs that the baseline has too: a move is over these alone."""
        return len(self.runs) - self.compared.new_runs

    def move(self, strategy: str, metric: str) -> Move | None:
        """The move of one number of a strategy against the baseline; None if it did not move."""
        wanted = (strategy, metric)
        moves = self.compared.moves
        return next((one for one in moves if (one.strategy, one.metric) == wanted), None)

    @cached_property
    def judged_gates(self) -> tuple[GateResult, ...]:
        """The gates that were judged, without the changes of the scenario."""
        gates = (gate for gate in self.compared.gates if gate.rule.metric)
        return tuple(gate for gate in gates if gate.outcome != "skipped")

    @cached_property
    def failed_gates(self) -> tuple[GateResult, ...]:
        """The gates that did not pass and the changes that count so: first those that failed, then
        those that could not decide."""
        others = (it for it in self.compared.gates if it.outcome not in ("pass", "skipped"))
        return tuple(sorted(others, key=lambda gate: gate.outcome != "fail"))

    # ------------------------------------------------------------ names of runs

    def name(self, run: str) -> str:
        """The name of a run."""
        return self.known.names.get(run, run)
