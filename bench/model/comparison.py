"""Values made of measurements: signatures, gates, verdicts, baselines, and the comparison that holds them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from .base import Value, grouped
from .case import Case, Loss
from .errors import BenchError, nearest
from .many import CaseList, Columns
from .run import Economy, Failure
from .score import Delta, MetricInfo, Row

if TYPE_CHECKING:
    import pandas as pd

SIGNED = (
    ("bench_version", "bench version"),
    ("encodings", "token encodings"),
    ("facts_version", "fact pattern"),
    ("prices_date", "price tables"),
    ("calibration", "calibration of token counts"),
    ("model", "model of traces that name none"),
    ("seed", "seed"),
)
"""The settings that make two sets of scores comparable, each with what it is called. Traces and strategies are told apart by name."""


class Signature(Value, frozen=True, kw_only=True):
    """The settings that made a set of scores.

    By case, `traces` are the hashes of the recordings, `questions` those of what the scenario asks of them, `case_encodings` the encodings that
    count their tokens. `metrics` are the versions of the families of metrics that gates judge. `calibration` is the version of how counts of tokens
    are fitted on recorded usage, "off" where they are not; `model` is that of traces which name none (`""`: not given).
    """

    bench_version: str
    traces: dict[str, str]
    strategies: dict[str, str]
    encodings: tuple[str, ...]
    facts_version: str
    prices_date: str
    seed: int
    code: dict[str, str] = {}
    questions: dict[str, str] = {}
    calibration: str = "off"
    model: str = ""
    case_encodings: dict[str, tuple[str, ...]] = {}
    metrics: dict[str, int] = {}

    def differences(self, other: Signature) -> Iterator[tuple[str, str, str, str]]:
        """Each setting that differs from another signature's: its field, what it is called, and both values as text.

        >>> one = Signature(bench_version="1", traces={}, strategies={}, encodings=("a", "b"), facts_version="1", prices_date="", seed=0)
        >>> list(one.differences(msgspec.structs.replace(one, seed=7)))
        [('seed', 'seed', '0', '7')]
        """
        for field, word in SIGNED:
            mine, theirs = getattr(self, field), getattr(other, field)
            if mine != theirs:
                yield field, word, _said(mine), _said(theirs)
        for family in sorted(self.metrics.keys() & other.metrics.keys()):
            if self.metrics[family] != other.metrics[family]:
                yield "metrics", f"version of {family}", str(self.metrics[family]), str(other.metrics[family])

    def case_differs(self, other: Signature, case: str) -> str | None:
        """The difference of another signature in one case, as a clause; None for none, or a case that is not here."""
        if case in self.traces and other.traces.get(case) != self.traces[case]:
            return "is another recording under the same name"
        asked_otherwise = self.questions.get(case) != other.questions.get(case)
        return "is asked other questions (labels or probes)" if asked_otherwise else None


def _said(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


Over = Literal["all", "worst_case"]


class GateRule(msgspec.Struct, frozen=True, kw_only=True):
    """One declared gate: the metric and strategy it is about, over all cases or the worst one, and the settings of its own that it was given.

    `number` is its place among the gates of its scenario, from 1.
    """

    metric: str
    strategy: str = "*"
    over: Over = "all"
    gate: str = ""
    settings: dict[str, Any] = {}
    number: int = 0


class Verdict(Value, frozen=True, kw_only=True):
    """The decision of a gate, in one sentence. `losses` are what was dropped on `case`, for a gate that failed; reports put them into words."""

    gate: str
    metric: str
    strategy: str
    outcome: Literal["pass", "fail", "inconclusive", "skipped"]
    sentence: str
    case: str | None = None
    value: float | None = None
    limit: float | None = None
    losses: tuple[Loss, ...] = ()
    losses_total: int = 0


class Baseline(Value, frozen=True, kw_only=True):
    """Accepted rows, committed beside a scenario: per strategy, metric and case (`""`: over all cases).

    `n` of a row is the weight of its case in a pooled value, 0 where it was not kept. `rules` are the gates that were accepted with them.
    """

    signature: Signature
    rows: dict[str, dict[str, dict[str, Row]]]
    rules: tuple[GateRule, ...] = ()

    def of(self, strategy: str, metric: str) -> dict[str, Row]:
        """The rows of one metric of one strategy by case; `{}` for none."""
        return self.rows.get(strategy, {}).get(metric, {})


KEPT = "the baseline"
"""The name of the baseline that a scenario keeps in a file."""


class Against(Value, frozen=True, kw_only=True):
    """The baseline that a comparison is held against (None: none yet), and its name.

    `stale` says by metric why its accepted values no longer compare; the others do. `gone` are clauses on gates, scenarios, baselines and recordings
    that vanished or were loosened since. `required`: that there is no baseline yet, or that any of these is gone, is a failure. Where it is another
    revision of the code, `before` maps a strategy to the one here that is its earlier self, `missing` says of one that has none there why, and
    `rules` are the gates of there, which are judged too.
    """

    baseline: Baseline | None = None
    name: str = KEPT
    stale: dict[str, str] = {}
    required: bool = False
    before: dict[str, str] = {}
    missing: dict[str, str] = {}
    rules: tuple[GateRule, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """True if it is the baseline that the scenario keeps, into which a run can be accepted."""
        return self.name == KEPT


class Tuning(msgspec.Struct, frozen=True, kw_only=True):
    """The choice that a comparison judges: it was made on another part of the cases, which `seed` drew."""

    chosen_on: Comparison
    seed: int


MAX_FAULT_RATE, MIN_FAR_RECALL = 0.05, 0.9
"""The default limits of a strategy: the share of turns that would have missed something, and what it keeps of what was needed from far back.

Means over tasks. They refuse the clearest harm that was published (10 events of OpenHands' masking: 2.27 times the turns, 11 points fewer solved)
and pass what was harmless (58 events) on three corpora of coding runs.
"""


class Comparison(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything that gates and panels may see: the cases with their rows, the rows over all cases, and what is made of them.

    `skipped` are files that were left out, each with the reason; `damaged` those of them that may have held a case. `history` are earlier runs and
    this one, oldest first. `allow_inconclusive`: such a verdict does not fail the whole. A strategy qualifies with a fault rate of at most
    `max_fault_rate` and a recall from far back of at least `min_far_recall`. Its price is that with the provider's `cache`, or without any. `asks`
    is the strategy that the title asks about (`""`: none). `tuning`: these are the cases that a setting is judged on which was chosen on others;
    None: nothing was chosen beforehand.
    """

    title: str
    signature: Signature
    strategies: tuple[str, ...]
    references: tuple[str, ...]
    cases: CaseList
    rows: Columns
    summary: tuple[Row, ...]
    deltas: tuple[Delta, ...] = ()
    metrics: dict[str, MetricInfo]
    rules: tuple[GateRule, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    damaged: tuple[str, ...] = ()
    against: Against = Against()
    allow_inconclusive: bool = False
    max_fault_rate: float = MAX_FAULT_RATE
    min_far_recall: float = MIN_FAR_RECALL
    cache: Economy = "provider"
    verdicts: tuple[Verdict, ...] = ()
    tuning: Tuning | None = None
    asks: str = ""

    def __post_init__(self) -> None:
        for name, kind in (("cases", CaseList), ("rows", Columns)):
            if not isinstance(getattr(self, name), kind):
                msgspec.structs.force_setattr(self, name, kind(getattr(self, name)))

    @property
    def everyone(self) -> tuple[str, ...]:
        """The declared strategies, then the references that were added."""
        return (*self.strategies, *self.references)

    @cached_property
    def case_ids(self) -> tuple[str, ...]:
        """The names of the cases, in order."""
        return tuple(self.cases.by_name)

    @property
    def by_case(self) -> Mapping[str, Case]:
        """The cases by name."""
        return self.cases.by_name

    @cached_property
    def totals(self) -> dict[tuple[str, str], Row]:
        """The rows over all cases by (strategy, metric)."""
        return {(row.strategy, row.metric): row for row in self.summary}

    def row(self, strategy: str, metric: str, case: str | None = None) -> Row | None:
        """The row of one metric for one strategy and case (None: over all cases); None where there is none."""
        return self.totals.get((strategy, metric)) if case is None else self.rows.get(strategy, metric, case)

    def value(self, strategy: str, metric: str, case: str | None = None) -> float | None:
        """The value of a row; None where there is none, or where it was not measured."""
        row = self.row(strategy, metric, case)
        return None if row is None else row.value

    def delta(self, strategy: str, metric: str, reference: str | None = None) -> Delta | None:
        """The difference of a strategy against a reference (None: the first it is held against); None where there is none."""
        known = self.differences.get((strategy, metric), ())
        return next((item for item in known if reference in (None, item.reference)), None)

    @cached_property
    def differences(self) -> dict[tuple[str, str], list[Delta]]:
        """Every difference by (strategy, metric), in the order of the references."""
        return grouped(((item.strategy, item.metric), item) for item in self.deltas)

    def rows_of(self, strategy: str, metric: str) -> list[Row]:
        """The rows of one metric of one strategy, in the order of the cases."""
        return self.rows.of(strategy, metric)

    @cached_property
    def failures(self) -> dict[str, list[tuple[str, Failure]]]:
        """The cases on which a strategy raised, each with what it raised, by strategy."""
        return grouped(
            (name, (case.id, run.failure)) for case in self.cases for name, run in case.runs.items() if run.failure
        )

    @cached_property
    def unstable(self) -> dict[str, list[str]]:
        """The cases on which a strategy gave something else when it was replayed again, by strategy."""
        return grouped(
            (name, case.id) for case in self.cases for name, run in case.runs.items() if run.unstable_at is not None
        )

    def failed(self, strategy: str) -> tuple[str, str] | None:
        """The first case on which a strategy raised, with what it raised; None where it finished everywhere."""
        return next(((case, failure.said) for case, failure in self.failures.get(strategy, ())), None)

    def to_frame(self, what: Literal["rows", "summary", "verdicts"] = "rows") -> pd.DataFrame:
        """The comparison as a pandas frame: `rows`, one per strategy, metric and case (the default), `summary`, the same over all cases, or
        `verdicts`, one per gate and strategy. No rows: the columns alone. Raises BenchError for any other table.

        `low` and `high` bound a value, and are the value itself where it is exact; all three are NaN where nothing was measured. `status` always
        says what a value is: exact, bounds, partly measured, or why there is none. So no column is empty where a value stands.

        >>> empty = Signature(bench_version="1", traces={}, strategies={}, encodings=(), facts_version="1", prices_date="", seed=0)
        >>> nothing = Comparison(title="t", signature=empty, strategies=(), references=(), cases=(), rows=(), summary=(), metrics={})
        >>> list(nothing.to_frame().columns)
        ['strategy', 'metric', 'case', 'value', 'low', 'high', 'unit', 'n', 'status']
        """
        import pandas as pd

        shown = ("strategy", "metric", "case", "value", "low", "high", "unit", "n", "status")
        judged = ("strategy", "gate", "metric", "outcome", "case", "value", "limit", "sentence")
        fields = {"value": "finite", "low": "least", "high": "most"}
        tables: dict[str, tuple[Sequence[Row | Verdict], dict[str, str]]] = {
            "rows": ([*self.rows], {name: fields.get(name, name) for name in shown}),
            "summary": (self.summary, {name: fields.get(name, name) for name in shown}),
            "verdicts": (self.verdicts, {name: name for name in judged}),
        }
        if what not in tables:
            raise BenchError(f"to_frame({what!r}): no such table{nearest(what, tables)}")
        items, columns = tables[what]
        numbers = ("value", "low", "high", "limit", "n")
        return pd.DataFrame(
            {
                name: pd.Series(
                    [getattr(item, field) for item in items], dtype="float64" if name in numbers else "object"
                )
                for name, field in columns.items()
            }
        )
