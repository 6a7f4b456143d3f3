"""Measurements and what is made of them: samples, rows, deltas, gates, verdicts, and the comparison that holds them all."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .base import SCHEMA_VERSION, Value
from .run import Run
from .trace import Trace

# ---------------------------------------------------------------- scores


class Sample(Value, frozen=True, kw_only=True):
    """One measurement: `numerator` alone, or over `denominator` for a pooled metric; `reason` says why there is no value."""

    numerator: float | None
    denominator: float | None = None
    step: int | None = None
    call_id: str | None = None
    reason: str | None = None
    detail: dict[str, Any] = {}


class Row(Value, frozen=True, kw_only=True):
    """One metric of one strategy on one case (`case` None: over all cases). `value` None means not measured, for `reason`.

    `n` counts what was measured: denominators for pooled metrics, samples for the others.
    """

    strategy: str
    metric: str
    case: str | None
    value: float | None
    unit: str
    n: float
    reason: str | None = None
    marks: tuple[str, ...] = ()


class Signature(Value, frozen=True, kw_only=True):
    """The settings that made a set of scores. `compare` refuses scores whose signatures differ in anything but what is compared."""

    bench_version: str
    traces: dict[str, str]
    strategies: dict[str, str]
    encodings: tuple[str, ...]
    facts_version: str
    prices_date: str
    seed: int
    code: dict[str, str] = {}


class Delta(Value, frozen=True, kw_only=True):
    """One metric of one strategy against the reference, paired by case: `better` is None within the noise floor."""

    strategy: str
    reference: str
    metric: str
    delta: float | None
    relative: float | None
    low: float | None
    high: float | None
    relative_low: float | None = None
    relative_high: float | None = None
    n: int
    better: bool | None
    reason: str | None = None


class GateRule(Value, frozen=True, kw_only=True):
    """One declared limit. Exactly one of `min`, `max` (absolute), `max_increase`, `max_drop` (against the baseline) is set.

    A relative limit is `"2%"` (of the baseline) or a bare number (absolute difference). `over`: all cases pooled, or the worst one.
    """

    metric: str
    strategy: str = "*"
    min: float | None = None
    max: float | None = None
    max_increase: str | float | None = None
    max_drop: str | float | None = None
    over: Literal["all", "worst_case"] = "all"


class Verdict(Value, frozen=True, kw_only=True):
    """What a gate decided, in one sentence. `detail` names what was dropped, a line a result, for a gate that failed."""

    gate: str
    metric: str
    strategy: str
    outcome: Literal["pass", "fail", "inconclusive", "skipped"]
    sentence: str
    case: str | None = None
    value: float | None = None
    limit: float | None = None
    detail: tuple[str, ...] = ()


class Moment(Value, frozen=True, kw_only=True):
    """One metric of one strategy over all cases, as a history kept it from an earlier run.

    `run` numbers the runs of the scenario in the order kept, `commit` is the git commit it ran at (None outside a repository), `dirty` says
    that files differed from it. `changed` names what but strategies differs from the run before: such values do not compare.
    """

    run: int
    commit: str | None
    dirty: bool
    at: str
    strategy: str
    metric: str
    value: float | None
    changed: tuple[str, ...] = ()


class Baseline(Value, frozen=True, kw_only=True):
    """Accepted values, committed beside a scenario: per strategy, metric and case (`""`: over all cases)."""

    schema: int = SCHEMA_VERSION
    signature: Signature
    values: dict[str, dict[str, dict[str, float | None]]]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that gates and panels may see: the scores, the paired deltas, and the Runs and Traces behind them.

    `baseline_name` says in words what `baseline` is; where that is another revision of the code, `before` maps a strategy to the one here
    that is its earlier self. `history` are earlier runs, oldest first. `allow_inconclusive`: such a verdict does not fail the whole.
    """

    title: str
    signature: Signature
    strategies: tuple[str, ...]
    references: tuple[str, ...]
    cases: tuple[str, ...]
    rows: tuple[Row, ...]
    summary: tuple[Row, ...]
    deltas: tuple[Delta, ...]
    rules: tuple[GateRule, ...]
    traces: dict[str, Trace]
    runs: dict[tuple[str, str], Run]
    samples: dict[tuple[str, str, str], tuple[Sample, ...]]
    metrics: dict[str, MetricInfo]
    skipped: tuple[tuple[str, str], ...] = ()
    baseline: Baseline | None = None
    baseline_problem: str | None = None
    baseline_name: str = "the baseline"
    before: dict[str, str] = {}
    history: tuple[Moment, ...] = ()
    allow_inconclusive: bool = False
    budgets: tuple[int, ...] = ()
    verdicts: tuple[Verdict, ...] = ()

    def row(self, strategy: str, metric: str, case: str | None = None) -> Row | None:
        """The row of one metric for one strategy and case (None: over all cases); None where there is none."""
        pool = self.summary if case is None else self.rows
        for row in pool:
            if row.strategy == strategy and row.metric == metric and row.case == case:
                return row
        return None


class MetricInfo(Value, frozen=True, kw_only=True):
    """What a metric declares about itself: its unit, which way is better, and how samples add up."""

    name: str
    unit: str
    better: Literal["lower", "higher"]
    aggregate: Literal["sum", "max", "pooled"]
    title: str = ""
