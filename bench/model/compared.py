"""A comparison: every run under every strategy, the advice, the gates, and the moves against the
baseline.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Literal

import msgspec

from .advice import NO_ADVICE, Advice
from .base import Value
from .detail import ReplayDetail
from .errors import BenchError, nearest, one_line
from .metric import MetricInfo
from .scores import MeasuredRun, Number
from .signature import GateRule, Signature

if TYPE_CHECKING:
    import pandas as pd


class GateResult(Value, frozen=True, kw_only=True):
    """The outcome of one gate for one strategy, with the values before and now.

    `before` is None without a baseline.

    `basis` says how the values are computed: "mean over tasks" or "total over all runs". The
    outcome is "undecided" if a value was not measured; that never passes. `run` is the worst run.
    """

    rule: GateRule
    strategy: str
    outcome: Literal["pass", "fail", "undecided", "skipped"]
    reason: str = ""
    before: float | None = None
    value: float | None = None
    limit: float | None = None
    basis: str = ""
    run: str | None = None


class Move(Value, frozen=True, kw_only=True):
    """A number that differs from the baseline over all runs, and in how many it got better and
    worse."""

    strategy: str
    metric: str
    before: float | None
    after: float | None
    better: bool | None
    improved_runs: int = 0
    regressed_runs: int = 0


class Skipped(Value, frozen=True, kw_only=True):
    """A file, or a part of one, that was not read, and why."""

    path: str
    reason: str
    damaged: bool = False


class Compared(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The result of a comparison, the input of reports and gates.

    `details` are of the few runs and strategies that a report shows. `totals` are over all runs: by
    strategy, then metric. `specs_before` are the specs of the strategies in `against`, where they
    are known; `new_runs` are the runs that it does not have. `file` is the path of the scenario in
    its repository, `accept` the command that makes these values its baseline; "" without one.
    """

    title: str
    file: str = ""
    accept: str = ""
    asks: str = ""
    signature: Signature
    strategies: tuple[str, ...]
    references: tuple[str, ...] = ()
    specs: dict[str, str] = {}
    runs: tuple[MeasuredRun, ...] = ()
    metrics: dict[str, MetricInfo] = {}
    totals: dict[str, dict[str, Number]] = {}
    advice: Advice = NO_ADVICE
    rules: tuple[GateRule, ...] = ()
    gates: tuple[GateResult, ...] = ()
    against: str = ""
    new_runs: int = 0
    specs_before: dict[str, str] = {}
    moves: tuple[Move, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    details: tuple[ReplayDetail, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def everyone(self) -> tuple[str, ...]:
        """The declared strategies, then the references."""
        return (*self.strategies, *self.references)

    @property
    def damaged(self) -> tuple[Skipped, ...]:
        """The files that were not read because they are damaged."""
        return tuple(item for item in self.skipped if item.damaged)

    def number(self, strategy: str, metric: str, run: str | None = None) -> Number:
        """One number of a strategy, on one run or over all runs; its value is None if it was not
        measured. Raises BenchError for an unknown strategy, metric or run.

        >>> signed = Signature(bench_version="1", facts_version="1", prices_date="")
        >>> Compared(title="", signature=signed, strategies=("mine",)).number("mime", "cost.usd")
        Traceback (most recent call last):
        bench.model.errors.BenchError: no strategy is called 'mime' — did you mean mine?
        """
        runs = {item.id: item for item in self.runs}
        for what, name, known in (
            ("strategy", strategy, self.everyone),
            ("metric", metric, self.metrics),
            ("run", run, runs),
        ):
            if name is not None and name not in known:
                about = f"no {what} is called {one_line(name)!r}{nearest(name, known)}"
                raise BenchError(one_line(about))
        if run is None:
            numbers = self.totals.get(strategy, {})
        else:
            scores = (it.numbers for it in runs[run].scores if it.strategy == strategy)
            numbers = next(scores, {})
        return numbers.get(metric, Number(None, 0.0, "nothing to measure"))

    def __repr__(self) -> str:
        """The title and the answer: the fields would fill screens."""
        title, sentence = one_line(self.title)[:80], one_line(self.advice.sentence)[:300]
        return f"<Compared '{title}': {sentence}>"

    def to_frame(self, what: Literal["runs", "totals", "gates"] = "runs") -> pd.DataFrame:
        """The comparison as a pandas frame: a row for each strategy, metric and run.

        Or `totals` over all runs, or `gates`.

        `value` is NaN where nothing was measured, `reason` says why. Raises BenchError for another
        table.
        """
        import pandas as pd

        if what == "gates":
            names = ("strategy", "outcome", "before", "value", "limit", "basis", "run", "reason")
            gates = [(gate.rule.metric, *attrgetter(*names)(gate)) for gate in self.gates]
            return pd.DataFrame(gates, columns=["metric", *names])
        if what == "totals":
            tables = [(strategy, "", numbers) for strategy, numbers in self.totals.items()]
        elif what == "runs":
            tables = [(s.strategy, run.id, s.numbers) for run in self.runs for s in run.scores]
        else:
            known = nearest(str(what), ("runs", "totals", "gates"))
            raise BenchError(f"to_frame({what!r}): no such table{known}")
        rows = [
            (strategy, name, run, n.value, n.weight, self._unit(name), n.reason)
            for strategy, run, numbers in tables
            for name, n in numbers.items()
        ]
        columns = ["strategy", "metric", "run", "value", "weight", "unit", "reason"]
        frame = pd.DataFrame(rows, columns=columns)
        frame["value"] = frame["value"].astype("float64")
        return frame

    def _unit(self, metric: str) -> str:
        return self.metrics[metric].unit if metric in self.metrics else ""
