"""The view of a comparison that panels share: marks, rows, values, names of runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..comparison.prices import METRICS, price_of
from ..comparison.reasons import unit_of
from ..comparison.rules import TABLE
from ..comparison.totals import Runs, value_of
from ..comparison.wording import money, price_basis
from ..model.advice import TODAY, Advice, Price, Ranked
from ..model.compared import Compared, GateResult, Move
from ..model.metric import MetricInfo
from ..model.scores import MeasuredRun, Rule
from .charts import Mark
from .numbers import PriceBasis, count, counted, shortened

REFUSED = ("loses too much", "unfaithful", "invalid")
"""The verdicts of strategies that a rule refuses."""

_UNNUMBERED = 5  # rows of a table without numbers
_INACTIVE = 3  # of more strategies that changed nothing a line names them
MISSED, RATE = "needed.missed_turns", "needed.missed_turn_rate"


@dataclass(frozen=True)
class Reading:
    """A comparison with what panels look up in it. Nothing here decides anything."""

    compared: Compared

    @property
    def advice(self) -> Advice:
        """The advice."""
        return self.compared.advice

    @property
    def ranked(self) -> tuple[Ranked, ...]:
        """The strategies in the order of the advice."""
        return self.advice.ranked

    @cached_property
    def by_name(self) -> dict[str, Ranked]:
        """The ranked strategies by name."""
        return {item.strategy: item for item in self.ranked}

    @cached_property
    def inactive(self) -> tuple[str, ...]:
        """The strategies that changed nothing, if they are so many that tables leave them out; else
        ()."""
        names = tuple(item.strategy for item in self.ranked if "inactive" in item.marks)
        return names if len(names) > _INACTIVE else ()

    @cached_property
    def row_numbers(self) -> dict[str, int]:
        """The number of each strategy's row, for charts without room for names; {} for few rows."""
        names = [item.strategy for item in self.ranked if item.strategy not in self.inactive]
        if len(names) <= _UNNUMBERED:
            return {}
        return {name: place for place, name in enumerate(names, 1)}

    def mark(self, strategy: str) -> Mark:
        """The sign of a strategy."""
        if strategy == TODAY:
            return "today"
        if strategy == self.advice.advised:
            return "advised"
        item = self.by_name.get(strategy)
        return "rejected" if item is not None and item.verdict in REFUSED else "other"

    def title(self, strategy: str) -> str:
        """The name of a strategy; "today" for the one that all others are compared with."""
        return "today" if strategy == TODAY else strategy

    def spec(self, strategy: str) -> str:
        """The spec of a strategy without the strategy's name; "" where it is not known."""
        item = self.by_name.get(strategy)
        spec = self.compared.specs.get(strategy) or (item.spec if item else "")
        return "" if spec == strategy else spec.removeprefix(f"{strategy}=")

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
        others = f" and {counted(copies, 'copy', 'copies')}" if copies else ""
        return f"{counted(runs, 'run')}{of_tasks}{others}"

    @property
    def sample(self) -> str:
        """The number of tasks in words, or of runs if each run is its own task."""
        return counted(self.advice.tasks, unit_of(self.advice))

    def limit(self, rule: Rule) -> float | None:
        """The limit of a rule, which is the same for every strategy; None if the rule was not
        applied."""
        limits = (
            result.limit for item in self.ranked for result in item.rules if result.rule == rule
        )
        return next((limit for limit in limits if limit is not None), None)

    def price(self, item: Ranked) -> Price | None:
        """The price of a strategy that decides, with or without the cache."""
        return price_of(item, self.advice.basis)

    @property
    def price_metric(self) -> str:
        """The metric of the price that decides."""
        return METRICS["tokens" if self.advice.basis == "quality" else self.advice.basis]

    @cached_property
    def counts_tokens(self) -> bool:
        """True if nothing is priced, so that tokens are compared."""
        return {price.unit for item in self.ranked if (price := self.price(item))} == {"tokens"}

    @cached_property
    def price_basis(self) -> PriceBasis:
        """The basis that all prices are stated on: by today's price, else by the first price."""
        items = sorted(self.ranked, key=lambda item: item.strategy != TODAY)
        prices = [price for item in items if (price := self.price(item))]
        finite = [price for price in prices if math.isfinite(price.per_run)]
        return price_basis(finite[0]) if finite else PriceBasis(1, "a run")

    def money(self, price: Price | None) -> str:
        """A price without its unit."""
        return "not priced" if price is None else money(price, self.price_basis.runs)

    @property
    def economy(self) -> str:
        """The words for the price that decides, with or without the cache; "" where no price
        does."""
        words = {"cached": "with cache", "uncached": "without cache"}
        return words.get(self.advice.basis, "")

    @property
    def price_axis(self) -> str:
        """The words for the prices that decide: price per 1,000 runs, with cache."""
        if self.counts_tokens:
            return self.price_basis.words
        return ", ".join(filter(None, [f"price {self.price_basis.words}", self.economy]))

    def move(self, strategy: str, metric: str) -> Move | None:
        """The move of one number of a strategy against the baseline; None if it did not move."""
        wanted = (strategy, metric)
        return next(
            (one for one in self.compared.moves if (one.strategy, one.metric) == wanted), None
        )

    @cached_property
    def candidate(self) -> Ranked | None:
        """The first strategy in the order of the advice that no rule except the last refuses."""
        others = (item for item in self.ranked if item.strategy != TODAY)
        return next((item for item in others if item.verdict not in REFUSED), None)

    def value(self, strategy: str, metric: str) -> float | None:
        """The value of one number over all runs; None if it was not measured."""
        return value_of(self.compared.totals.get(strategy, {}).get(metric))

    def values(self, metric: str) -> set[float]:
        """The distinct values of one number over all strategies."""
        return {value for name in self.everyone if (value := self.value(name, metric)) is not None}

    def counts(self, strategy: str, metric: str) -> str:
        """A share as a count over all runs, "251 of 364"; "" where the metric does not count
        things."""
        numbers = (self.known.number(run, strategy, metric) for run in self.runs)
        known = [one for one in numbers if one and value_of(one) is not None]
        size = math.fsum(one.weight for one in known)
        hits = math.fsum((one.value or 0.0) * one.weight for one in known)
        even = self.unit(metric) == "share" and abs(hits - round(hits)) < 1e-6
        return f"{count(round(hits))} of {count(size)}" if even and size > 1 else ""

    def info(self, metric: str) -> MetricInfo:
        """The declaration of a metric; an unknown one is declared as a count where less is
        better."""
        unknown = MetricInfo(
            name=metric, unit="count", better="lower", aggregate="total", label=metric
        )
        return self.compared.metrics.get(metric, unknown)

    def unit(self, metric: str) -> str:
        """The unit of a metric."""
        return self.info(metric).unit

    def label(self, metric: str) -> str:
        """The short name of a metric."""
        return self.info(metric).label or metric

    @cached_property
    def measure(self) -> str:
        """The metric that answers a scenario that is not about savings; "" if none was measured."""
        names = [
            name for asked in TABLE if asked.rule == self.compared.answers for name in asked.metrics
        ]
        tried = [item.strategy for item in self.ranked]
        known = (name for name in names if any(self.value(one, name) is not None for one in tried))
        return next(known, "")

    @cached_property
    def measured(self) -> list[tuple[str, float]]:
        """Each strategy's value of the measure, best first; among equals the advised one first."""
        order = ("advised", "other", "rejected", "today")
        names = sorted(
            (item.strategy for item in self.ranked), key=lambda name: order.index(self.mark(name))
        )
        values = [
            (name, value) for name in names if (value := self.value(name, self.measure)) is not None
        ]
        sign = 1 if self.info(self.measure).better == "lower" else -1

        def rank(named: tuple[str, float]) -> float:
            _, value = named
            return sign * value

        return sorted(values, key=rank)

    @property
    def everyone(self) -> tuple[str, ...]:
        """Today, the declared strategies, the references, each once."""
        return tuple(dict.fromkeys((TODAY, *self.compared.everyone)))

    def at(self, run: MeasuredRun, strategy: str, metric: str) -> float | None:
        """The value of one metric of a strategy on a run; None if it was not measured."""
        return value_of(self.known.number(run, strategy, metric))

    @cached_property
    def names(self) -> dict[str, str]:
        """The name of each run: the part of its path that differs, or its task where it is a line
        of a file."""
        names = short_names([run.id for run in self.compared.runs])
        tasks: dict[str, list[str]] = {}
        for run in sorted(self.runs, key=lambda run: (len(run.id), run.id)):  # #2 comes before #10
            if "#" not in names[run.id]:
                continue
            names[run.id] = run.id.rpartition("/")[2]
            if run.facts.task and not run.facts.task.startswith(_NO_NAME):
                tasks.setdefault(run.facts.task, []).append(run.id)
        for task, ids in tasks.items():
            name = f"task {task}" if task.isdigit() else shortened(task, _LONGEST)
            names |= {
                run: f"{name}, run {place}" if len(ids) > 1 else name
                for place, run in enumerate(ids, 1)
            }
        return names

    def name(self, run: str) -> str:
        """The name of a run."""
        return self.names.get(run, run)

    @cached_property
    def judged_gates(self) -> tuple[GateResult, ...]:
        """The gates that were judged."""
        return tuple(gate for gate in self.compared.gates if gate.outcome != "skipped")

    @cached_property
    def failed_gates(self) -> tuple[GateResult, ...]:
        """The gates that did not pass: first those that failed, then those that could not
        decide."""
        others = (gate for gate in self.judged_gates if gate.outcome != "pass")
        return tuple(sorted(others, key=lambda gate: gate.outcome != "fail"))


_NO_NAME = "asks "  # a task without a name is the digest of its question
_LONGEST = 40  # letters of a task


def short_names(ids: Sequence[str]) -> dict[str, str]:
    """A short name for each id: the folders of its path by which it differs from every other one.

    >>> short_names(["tau/a/1.json", "tau/b/1.json"])
    {'tau/a/1.json': 'a', 'tau/b/1.json': 'b'}
    >>> short_names(["walls/model-1/r1/run", "walls/model-2/r2/run", "doors/model-1/r1/run"]).values()
    dict_values(['walls/model-1', 'walls/model-2', 'doors/model-1'])
    >>> short_names(["tau/a/1.json"])
    {'tau/a/1.json': '1.json'}
    """
    if len(ids) < 2:
        return {name: name.rpartition("/")[2] or name for name in ids}
    parts = [dict(enumerate(name.replace("#", "/#").split("/"))) for name in ids]

    def joined(kept: Iterable[int]) -> list[str]:
        return [
            "/".join(part[at] for at in kept if at in part).replace("/#", "#") for part in parts
        ]

    kept: Sequence[int] = range(max(map(len, parts)))
    for at in reversed(kept):
        rest = [other for other in kept if other != at]
        names = joined(rest)
        if all(names) and len(set(names)) == len(set(ids)):
            kept = rest
    return dict(zip(ids, joined(kept), strict=True))
