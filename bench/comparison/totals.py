"""Each metric of each strategy, over runs or as a mean over tasks: what the decision reads."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..model import Case, Comparison, Row
from .rows import NOTHING


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
        row = comparison.table.get((strategy, metric, case))
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


def over_tasks(values: Mapping[str, float], grouped: Collection[Sequence[str]]) -> float | None:
    """The mean over tasks of the mean over the cases of a task; None for no values.

    >>> over_tasks({"a": 0.0, "b": 1.0, "c": 1.0}, [("a", "b"), ("c", "d")])
    0.75
    """
    means = []
    for cases in grouped:
        known = [values[case] for case in cases if case in values]
        if known:
            means.append(math.fsum(known) / len(known))
    return math.fsum(means) / len(means) if means else None
