"""Samples into rows: within a case, then over all cases or as a mean over tasks; a value that could not be measured is a row that says why."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from ..model import Case, Columns, Comparison, Failure, MetricInfo, Row, Run, Sample

NOTHING = "nothing to measure"


def failure_reason(run: Run) -> str | None:
    """Why a failed run has no scores: where the strategy raised and what; None for a run that finished."""
    if run.failure is None:
        return None
    return f"strategy raised{place_of(run.failure)}: {run.failure.error}"


def place_of(failure: Failure) -> str:
    """The place where a strategy raised: its slot, if it was one of its own, and the step, if it had come to one.

    >>> [place_of(Failure(step=step, slot=slot, error="")) for step, slot in ((3, "store"), (0, "strategy"), (-1, "strategy"))]
    [' in store at step 3', ' at step 0', '']
    """
    slot = "" if failure.slot == "strategy" else f" in {failure.slot}"
    return f"{slot} at step {failure.step}" if failure.step >= 0 else slot


def case_row(info: MetricInfo, run: Run, samples: Sequence[Sample]) -> Row:
    """One metric of one run as a row: the samples added up as the metric declares, or None with the reason."""
    reason = failure_reason(run)
    value, n = (None, 0.0) if reason else aggregate(info, samples)
    bounded = [item for item in samples if item.upper_bound or item.least is not None or item.most is not None]
    if value is None:
        reason = reason or next((item.reason for item in samples if item.numerator is None and item.reason), NOTHING)
        return row_of(info, run.strategy, run.trace_id, reason=reason, marks=_marks(info, run, bounded))
    low, high = bounds(info, samples) if bounded else (None, None)
    partly = sum(sample.numerator is None for sample in samples)
    marks = (*_marks(info, run, bounded), *([f"{partly} of {len(samples)} not measured"] if partly else []))
    return row_of(info, run.strategy, run.trace_id, value, n, low=low, high=high, partly=partly, marks=marks)


def row_of(
    info: MetricInfo, strategy: str, case: str | None, value: float | None = None, n: float = 0.0, **more: Any
) -> Row:
    """A row of a metric; with nothing but a `reason` that of a case that could not be measured at all."""
    return Row(strategy=strategy, metric=info.name, case=case, value=value, unit=info.unit, n=n, **more)


def aggregate(info: MetricInfo, samples: Sequence[Sample]) -> tuple[float | None, float]:
    """The value of a set of samples and how much was measured. One unmeasured sample makes a sum or a maximum unknown.

    >>> declared = MetricInfo(name="m", unit="fraction", better="higher", aggregate="pooled")
    >>> aggregate(declared, [Sample(numerator=1, denominator=2), Sample(numerator=2, denominator=2)])
    (0.75, 4.0)
    >>> aggregate(declared, [])
    (None, 0.0)
    """
    numerators = [sample.numerator for sample in samples if sample.numerator is not None]
    if info.aggregate == "pooled":
        total = math.fsum([sample.denominator or 0.0 for sample in samples if sample.numerator is not None])
        return (math.fsum(numerators) / total, total) if total else (None, 0.0)
    if not numerators or len(numerators) < len(samples):
        return None, 0.0
    return (max(numerators) if info.aggregate == "max" else math.fsum(numerators)), float(len(numerators))


def bounds(info: MetricInfo, samples: Sequence[Sample]) -> tuple[float | None, float | None]:
    """The least and the most that the value of some samples can be; (None, None) where it is exact, or where nothing was measured.

    >>> declared = MetricInfo(name="m", unit="fraction", better="higher", aggregate="pooled")
    >>> bounds(declared, [Sample(numerator=1, denominator=2), Sample(numerator=2, denominator=2, least=1)])
    (0.5, 0.75)
    >>> bounds(declared, [Sample(numerator=1, denominator=2)])
    (None, None)
    """
    measured = [sample for sample in samples if sample.numerator is not None]
    if all(sample.low == sample.high == sample.numerator for sample in measured):
        return None, None
    low, _ = aggregate(info, [msgspec.structs.replace(sample, numerator=sample.low) for sample in measured])
    high, _ = aggregate(info, [msgspec.structs.replace(sample, numerator=sample.high) for sample in measured])
    return low, high


def _marks(info: MetricInfo, run: Run, bounded: Sequence[Sample]) -> tuple[str, ...]:
    marks = []
    if run.encoding_assumed and info.unit in ("tokens", "usd"):
        marks.append(f"tokens counted with {run.encoding}: the model's own encoding is not known")
    if any(sample.low != sample.numerator for sample in bounded):
        marks.append("upper bound: some values were looked for as whole tokens")
    if any(sample.high != sample.numerator for sample in bounded):
        marks.append("lower bound: some values can only be higher")
    return tuple(marks)


def summary_row(info: MetricInfo, strategy: str, rows: Sequence[Row]) -> Row:
    """One metric of one strategy over all cases. A case with nothing to measure is left out; one that could not be measured, or on which
    the strategy raised, makes the whole unknown, because a sum over the rest would be compared with sums over all.
    """
    missing = [row for row in rows if row.value is None and row.reason != NOTHING]
    measured = [row for row in rows if row.value is not None]
    marks = tuple(dict.fromkeys(mark for row in rows for mark in row.marks))
    if missing or not measured:
        why = [f"{len(missing)} of {len(rows)} cases not measured: {row.case}: {row.reason}" for row in missing[:1]]
        return row_of(info, strategy, None, reason=why[0] if why else NOTHING, marks=marks)

    def over_all(end: str) -> float | None:
        return combine(info, [(getattr(row, end) or 0.0, row.n) for row in measured])

    bounded = any(row.low is not None or row.high is not None for row in measured)
    low, high = (over_all("least"), over_all("most")) if bounded else (None, None)
    value, n = over_all("value"), sum(row.n for row in measured)
    partly = 0 if value is None else sum(row.partly for row in measured)
    return row_of(info, strategy, None, value, n, low=low, high=high, partly=partly, marks=marks)


def combine(info: MetricInfo, values: Sequence[tuple[float, float]]) -> float | None:
    """(value, n) of several cases as one value, by the metric's own aggregate; None for no cases."""
    if not values:
        return None
    if info.aggregate == "max":
        return max(value for value, _ in values)
    if info.aggregate == "sum":
        return math.fsum(value for value, _ in values)
    total = math.fsum(n for _, n in values)
    return math.fsum(value * n for value, n in values) / total if total else None


def summarized(rows: Columns, infos: Mapping[str, MetricInfo]) -> tuple[Row, ...]:
    """The rows over all cases, in the order of the rows."""
    return tuple(summary_row(infos[metric], strategy, of_one) for (strategy, metric), of_one in rows.by_column())


@dataclass(frozen=True)
class Total:
    """One metric of one strategy over some cases: the rows that have a value, and the cases that were not measured in full, with the reason."""

    rows: tuple[Row, ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()

    @property
    def missing(self) -> tuple[str, str] | None:
        """The first case that was not measured in full, and why; None for none."""
        return self.unknown[0] if self.unknown else None

    @property
    def known(self) -> float:
        """The sum over the measured cases."""
        return math.fsum(row.finite or 0.0 for row in self.rows)

    @property
    def a_run(self) -> float | None:
        """The mean over the cases; None where one of them could not be measured, or nothing was."""
        return self.known / len(self.rows) if self.rows and not self.unknown else None

    @property
    def at_least(self) -> bool:
        """True if some value can only be higher."""
        return any(row.most is not None and row.most > (row.finite or 0.0) for row in self.rows)


def total(comparison: Comparison, strategy: str, metric: str, cases: Sequence[str]) -> Total:
    """One metric of one strategy over some cases. A case with nothing to measure is left out."""
    rows, unknown = [], []
    for case in cases:
        row = comparison.rows.get(strategy, metric, case)
        if row is None or (row.finite is None and row.reason == NOTHING):
            continue
        if row.finite is None or row.partly:
            unknown.append((case, row.status))
        if row.finite is not None:
            rows.append(row)
    return Total(tuple(rows), tuple(unknown))


def tasks(cases: Sequence[Case]) -> tuple[tuple[str, ...], ...]:
    """The cases of each task, in order: its label, else the recording itself. A recording that is there twice, under another name, is left out.

    >>> from bench.model import RecordingShown
    >>> shown = {"a": "1", "b": "2", "c": "2"}
    >>> tasks([Case(id=name, recording=RecordingShown(sha256=sha)) for name, sha in shown.items()])
    (('a',), ('b',))
    """
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for case in cases:
        copy = case.recording.steps_sha256 or case.recording.sha256
        if copy not in seen:
            seen.add(copy)
            found.setdefault(case.recording.task or case.recording.sha256, []).append(case.id)
    return tuple(map(tuple, found.values()))


def over_tasks(values: Mapping[str, float], by_task: Collection[Sequence[str]]) -> float | None:
    """The mean over tasks of the mean over the cases of a task; None for no values.

    >>> over_tasks({"a": 0.0, "b": 1.0, "c": 1.0}, [("a", "b"), ("c", "d")])
    0.75
    """
    means = []
    for cases in by_task:
        known = [values[case] for case in cases if case in values]
        if known:
            means.append(math.fsum(known) / len(known))
    return math.fsum(means) / len(means) if means else None
