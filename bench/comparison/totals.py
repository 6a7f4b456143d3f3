"""The numbers of a comparison over all runs: totals of amounts, means over tasks of shares.

A task is `RunFacts.task`, else each recording is its own. The runs of one task are averaged first.
Copies of a recording under other names count once.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ..model.base import grouped
from ..model.metric import MetricInfo
from ..model.scores import Finding, MeasuredRun, Number, Score
from .run_names import names_of


class Runs:
    """Measured runs, looked up by strategy and task.

    >>> from bench.model.scores import RunFacts
    >>> runs = [MeasuredRun(id=name, facts=RunFacts(sha256=name, task=task)) for name, task in (("a", "t"), ("b", "t"), ("c", ""))]
    >>> [[run.id for run in task] for task in Runs(runs).tasks]
    [['a', 'b'], ['c']]
    """

    def __init__(self, runs: Iterable[MeasuredRun]) -> None:
        distinct: dict[str, MeasuredRun] = {}
        for run in sorted(runs, key=lambda run: run.id):
            distinct.setdefault(run.facts.sha256, run)
        self.all = tuple(distinct.values())
        tasks = grouped((run.facts.task or run.facts.sha256, run) for run in self.all)
        self.tasks = tuple(map(tuple, tasks.values()))
        self._scores = {run.id: {score.strategy: score for score in run.scores} for run in self.all}

    @cached_property
    def names(self) -> dict[str, str]:
        """The name of each run, by its id."""
        return names_of([run.id for run in self.all], {it.id: it.facts.task for it in self.all})

    def score(self, run: MeasuredRun, strategy: str) -> Score | None:
        """The score of a strategy on a run; None if it was not replayed there."""
        return self._scores[run.id].get(strategy)

    def number(self, run: MeasuredRun, strategy: str, metric: str) -> Number | None:
        """One number; None if there was nothing to measure (weight 0) or it was not measured."""
        score = self.score(run, strategy)
        number = None if score is None else score.numbers.get(metric)
        return None if number is None or number.weight == 0 else number

    def failures(self, strategy: str) -> Iterator[tuple[Finding, bool]]:
        """Yield a finding for each run on which a strategy failed; True if it was only unstable."""
        for run in self.all:
            score = self.score(run, strategy)
            if score is None:
                yield Finding(None, "was not replayed", run=run.id), False
            elif score.failure is not None:
                failure = score.failure
                yield Finding(failure.step, failure.error, run=run.id), False
            elif score.unstable_at is not None:
                why = "gave something else when it was replayed again"
                yield Finding(score.unstable_at, why, run=run.id), True

    def by_task(self, strategy: str, metrics: Sequence[str]) -> list[float] | None:
        """The sum of some metrics for each task, in order; None if a run has no finite value."""
        tasks = [
            [value for metric in metrics for value in self._values(task, strategy, metric)]
            for task in self.tasks
        ]
        if sum(map(len, tasks)) < len(metrics) * len(self.all):
            return None
        return [math.fsum(values) for values in tasks]

    def means(self, strategy: str, metric: str) -> dict[int, float]:
        """The mean over the runs of each task, by the task's index. Tasks where nothing was
        measured are left out."""
        values_of_tasks = enumerate(self._values(task, strategy, metric) for task in self.tasks)
        return {task: math.fsum(values) / len(values) for task, values in values_of_tasks if values}

    def _values(self, runs: Iterable[MeasuredRun], strategy: str, metric: str) -> list[float]:
        """The values of those runs that have a finite one."""
        values = (value_of(self.number(run, strategy, metric)) for run in runs)
        return [value for value in values if value is not None]

    def share(self, strategy: str, metric: str) -> Number:
        """The mean over tasks of a share; `weight` is the number of tasks that have one.

        A run without anything to measure is left out. If a run could not be measured, the value is
        None, with the reason.
        """
        means = self.means(strategy, metric).values()
        return self._unmeasured(strategy, metric, means) or Number(
            math.fsum(means) / len(means), float(len(means))
        )

    def _unmeasured(self, strategy: str, metric: str, values: Collection[float]) -> Number | None:
        """A number without a value but with the reason, if the value of a run is not finite or
        there are no `values`; else None."""
        for run in self.all:
            number = self.number(run, strategy, metric)
            if number is not None and value_of(number) is None:
                return Number(
                    None, 0.0, f"{self.names[run.id]}: {number.reason or 'not a finite number'}"
                )
        return None if values else Number(None, 0.0, "nothing to measure")

    def counts(self, strategy: str, metric: str) -> tuple[float, float]:
        """A share over all runs as two counts: (things that have the property, all things)."""
        numbers = (self.number(run, strategy, metric) for run in self.all)
        known = [number for number in numbers if number and value_of(number) is not None]
        hits = math.fsum((number.value or 0.0) * number.weight for number in known)
        return hits, math.fsum(number.weight for number in known)

    def worst(self, strategy: str, metric: str, *, lowest: bool) -> str:
        """The id of the run where a number is worst; "" if no run has the number."""
        known = ((run.id, value_of(self.number(run, strategy, metric))) for run in self.all)
        values = {run: value if lowest else -value for run, value in known if value is not None}
        return min(values, key=lambda run: (values[run], run), default="")

    def total(self, strategy: str, info: MetricInfo) -> Number:
        """The value of a metric over all runs: a total, or a mean over tasks."""
        if info.aggregate == "mean over tasks":
            return self.share(strategy, info.name)
        values = self._values(self.all, strategy, info.name)
        if missing := self._unmeasured(strategy, info.name, values):
            return missing
        numbers = ((run, self.number(run, strategy, info.name)) for run in self.all)
        reasons = (f"{self.names[run.id]}: {it.reason}" for run, it in numbers if it and it.reason)
        return Number(math.fsum(values), float(len(values)), next(reasons, ""))


def value_of(number: Number | None) -> float | None:
    """The value of a number; None if it was not measured or is not finite."""
    if number is None or number.value is None or not math.isfinite(number.value):
        return None
    return number.value


def totals(
    runs: Runs, strategies: Sequence[str], infos: Mapping[str, MetricInfo]
) -> dict[str, dict[str, Number]]:
    """The value over all runs of each metric that was measured for a strategy, by strategy and
    metric."""
    measured: dict[str, set[str]] = {name: set() for name in strategies}
    for score in (score for run in runs.all for score in run.scores):
        measured.get(score.strategy, set()).update(score.numbers)
    return {
        name: {key: runs.total(name, info) for key, info in infos.items() if key in measured[name]}
        for name in strategies
    }
