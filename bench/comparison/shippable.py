"""Which strategies may be recommended at all, and what speaks against one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..model import Comparison, Row, Verdict
from ..plugins.registry import entries
from ..plugins.spec import parse_spec, split_top
from .rows import NOTHING

COMPETING = ("recorded", "keep_all")
"""The references that may win: what is run today, and keeping everything."""

NEVER = ("drop_all", "clairvoyant", "floor")
"""The references that say what is possible and cannot be shipped: nothing is kept, or the future is read."""

DOLLARS, TOKENS = "cost.with_refetches_usd", "cost.with_refetches_tokens"
"""The price of a strategy: what all calls cost, those that repair faults included."""

BROKEN: tuple[tuple[str, Literal["invalid_prompts", "task_missing", "system_missing", "overflows"]], ...] = (
    ("prompt.invalid", "invalid_prompts"),
    ("prompt.task_missing", "task_missing"),
    ("prompt.system_missing", "system_missing"),
    ("cost.window_overflows", "overflows"),
)
"""Counts of prompts that must be 0, and what is wrong with them."""


@dataclass(frozen=True)
class Obstacle:
    """One reason why a strategy does not qualify.

    `raised` (on `case`, with `reason`), `unstable` (on `case`), `invalid_prompts`, `task_missing`, `system_missing`, `overflows` (`count`
    prompts), `gates`, `undecided` (the `gates`), `unmeasured` (`metric`, with `reason`), `keeps_too_little`, and of one part of it
    `keeps_too_little_far`, `_result`, `_user`, `_model` (`value` where `limit` is asked), `untested` (it drops what results say, and of that only
    `count` things were needed later).
    """

    kind: Literal[
        "raised", "unstable", "invalid_prompts", "task_missing", "system_missing", "overflows", "gates", "undecided", "unmeasured",
        "keeps_too_little", "keeps_too_little_far", "keeps_too_little_result", "keeps_too_little_user", "keeps_too_little_model", "untested",
    ]  # fmt: skip
    count: int = 0
    case: str | None = None
    metric: str = ""
    reason: str = ""
    gates: tuple[str, ...] = ()
    value: float | None = None
    limit: float | None = None


def able(comparison: Comparison) -> tuple[str, ...]:
    """The strategies that compete: the declared ones, what is run today and keeping everything; none that reads the future or keeps nothing."""
    named = (*comparison.strategies, *(name for name in COMPETING if name in comparison.references))
    return tuple(
        name
        for name in named
        if name not in NEVER and not _reads_the_future(comparison.signature.strategies.get(name, "")[len(name) + 1 :])
    )


def _reads_the_future(spec: str) -> bool:
    """Whether a compactor of a strategy's slots knows what later turns need.

    >>> _reads_the_future("compactor=floor:recall=0.9"), _reads_the_future("summarizer=truncate:limit=5")
    (True, False)
    >>> _reads_the_future("summarizer=truncate:limit=5+compactor=floor:recall=0.9"), _reads_the_future("")
    (True, False)
    """
    knowing = {name for name, entry in entries("compactor").items() if entry.meta.get("needs_future")}
    slots = (part.partition("=") for part in split_top(spec, "+"))
    return any(slot == "compactor" and parse_spec(written).target in knowing for slot, _, written in slots)


# ---------------------------------------------------------------- what is added up


@dataclass
class _Total:
    """One metric of one strategy over all cases, so that a case can be left out without adding up again. `unknown` are cases not measured."""

    rows: dict[str, Row]
    weight: float
    value: float
    least: float
    unknown: dict[str, str]


class Totals:
    """What strategies score over all cases, or over all but one."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self._known: dict[tuple[str, str], _Total] = {}
        self._failures: dict[str, list[tuple[str, str]]] = {}
        self._unstable: dict[str, list[str]] = {}
        for case in comparison.cases:
            for name, run in case.runs.items():
                if run.failure is not None:
                    self._failures.setdefault(name, []).append((case.id, run.failure.error))
                if run.unstable_at is not None:
                    self._unstable.setdefault(name, []).append(case.id)

    def value(self, strategy: str, metric: str, without: str | None = None) -> float | None:
        """The value over all cases; None where one of them could not be measured, or nothing was."""
        return self._over(strategy, metric, without, least=False)

    def least(self, strategy: str, metric: str, without: str | None = None) -> float | None:
        """The least that the value over all cases can be."""
        return self._over(strategy, metric, without, least=True)

    def on(self, strategy: str, metric: str, case: str) -> float | None:
        """The value on one case."""
        row = self._total(strategy, metric).rows.get(case)
        return None if row is None else row.finite

    def count(self, strategy: str, metric: str, without: str | None = None) -> float:
        """How many things a share is of, over the cases that were measured."""
        total = self._total(strategy, metric)
        own = total.rows.get(without) if without is not None else None
        return total.weight - (self._weight(own) if own is not None else 0.0)

    def cases(self, strategy: str, metric: str) -> tuple[str, ...]:
        """The cases on which something was measured."""
        return tuple(self._total(strategy, metric).rows)

    def missing(self, strategy: str, metric: str, without: str | None = None) -> tuple[str, str] | None:
        """The first case that could not be measured in full, with why; None for none."""
        unknown = self._total(strategy, metric).unknown
        return next(((case, why) for case, why in unknown.items() if case != without), None)

    def failed(self, strategy: str, without: str | None = None) -> tuple[str, str] | None:
        """The first case on which a strategy raised, with what it raised; None for none."""
        return next((item for item in self._failures.get(strategy, ()) if item[0] != without), None)

    def unstable(self, strategy: str, without: str | None = None) -> str | None:
        """The first case on which a strategy gave something else when it was replayed again; None for none."""
        return next((case for case in self._unstable.get(strategy, ()) if case != without), None)

    def known(self, strategy: str, metric: str, without: str | None = None) -> float:
        """The sum over the cases that were measured, whatever the others are."""
        total = self._total(strategy, metric)
        own = total.rows.get(without) if without is not None else None
        return total.value - (own.finite or 0.0 if own is not None else 0.0)

    def can_be_higher(self, strategy: str, metric: str) -> bool:
        """Whether any case says that its value is the least it can be."""
        rows = self._total(strategy, metric).rows.values()
        return any(row.most is not None and row.finite is not None and row.most > row.finite for row in rows)

    def _over(self, strategy: str, metric: str, without: str | None, *, least: bool) -> float | None:
        total = self._total(strategy, metric)
        if not total.rows.keys() - {without} or self.missing(strategy, metric, without):
            return None
        value, weight = (total.least if least else total.value), total.weight
        own = total.rows.get(without) if without is not None else None
        if own is not None:
            value -= ((own.least if least else own.finite) or 0.0) * self._weight(own)
            weight -= self._weight(own)
        return value / weight if self._pooled(metric) else value  # a row with a value is of one thing at least

    def _total(self, strategy: str, metric: str) -> _Total:
        if (strategy, metric) not in self._known:
            self._known[strategy, metric] = self._added(strategy, metric)
        return self._known[strategy, metric]

    def _added(self, strategy: str, metric: str) -> _Total:
        measured: dict[str, Row] = {}
        unknown: dict[str, str] = {}
        for case in self._comparison.case_ids:
            row = self._comparison.row(strategy, metric, case)
            if row is None or (row.finite is None and row.reason == NOTHING):
                continue
            if row.finite is None or row.partly:
                unknown[case] = row.status
            if row.finite is not None:
                measured[case] = row
        rows = measured.values()
        return _Total(
            rows=measured,
            weight=math.fsum(self._weight(row) for row in rows),
            value=math.fsum((row.finite or 0.0) * self._weight(row) for row in rows),
            least=math.fsum((row.least or 0.0) * self._weight(row) for row in rows),
            unknown=unknown,
        )

    def _weight(self, row: Row) -> float:
        return row.n if self._pooled(row.metric) else 1.0

    def _pooled(self, metric: str) -> bool:
        info = self._comparison.metrics.get(metric)
        return info is not None and info.aggregate == "pooled"


def price_metric(comparison: Comparison, totals: Totals, candidates: Sequence[str]) -> str:
    """What a price is counted in: dollars, or tokens where some run has no price under any strategy."""
    unpriced = {
        case
        for case in comparison.case_ids
        if all(
            (row := comparison.row(name, DOLLARS, case)) is None or (row.finite is None and row.reason != NOTHING)
            for name in candidates
        )
    }
    return TOKENS if unpriced or not comparison.cases else DOLLARS


# ---------------------------------------------------------------- what speaks against one


def obstacles(
    totals: Totals,
    named: tuple[str, str],
    verdicts: Sequence[Verdict],
    allow_inconclusive: bool,
    without: str | None = None,
) -> Iterator[Obstacle]:
    """Why a strategy (with the metric of its price) cannot be judged or shipped, whatever it keeps; `without`: on the other cases.

    `verdicts` are those of its gates; `allow_inconclusive`: one that could not decide speaks against nobody.
    """
    name, price = named
    failed = totals.failed(name, without)
    if failed is not None:
        yield Obstacle("raised", case=failed[0], reason=failed[1])
        return
    unstable = totals.unstable(name, without)
    if unstable is not None:
        yield Obstacle("unstable", case=unstable)
    for metric, kind in BROKEN:
        count = totals.known(name, metric, without)
        if count > 0:
            yield Obstacle(kind, count=int(count))
        elif kind != "overflows" and (missing := totals.missing(name, metric, without)) is not None:
            yield Obstacle("unmeasured", metric=metric, case=missing[0], reason=missing[1])
    if red := tuple(item.gate for item in verdicts if item.outcome == "fail"):
        yield Obstacle("gates", count=len(red), gates=red)
    open_gates = tuple(item.gate for item in verdicts if item.outcome == "inconclusive")
    if open_gates and not allow_inconclusive:
        yield Obstacle("undecided", count=len(open_gates), gates=open_gates)
    for metric, needed in ((price, True), ("needed.recall", True), ("needed.recall.far", False)):
        missing = totals.missing(name, metric, without)
        if missing is not None:
            yield Obstacle("unmeasured", metric=metric, case=missing[0], reason=missing[1])
        elif needed and totals.value(name, metric, without) is None:
            yield Obstacle("unmeasured", metric=metric, reason=NOTHING)
