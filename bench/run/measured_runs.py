"""The runs of one comparison, measured by its workers or kept from earlier ones, and details of a
few.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import msgspec

from ..model import Trace
from ..model.detail import ReplayDetail
from ..model.errors import BenchError
from ..model.index import TraceIndex
from ..model.scores import MeasuredRun, Number, Score
from ..plugins.worker import Limits
from ..tokens.counting import TokenCounter, encoding_for
from .executors import Workers
from .kept import Kept
from .measuring import Measuring, RunSession

Progress = Callable[[int, int | None], None]
"""Called with the runs done, and of how many (None: not known yet)."""

Labelled = Iterable[tuple[Trace, Mapping[str, Any]]]
"""Recordings, each with the labels that a scenario adds."""

_ROOM_CHARS = 20_000_000
"""The characters of recordings that stay in memory until the details of a report are made."""

_REPLAYED_TWICE = 3
"""The runs with results on which user code is replayed a second time: the first ones."""


@dataclass(frozen=True)
class Running:
    """Settings that change nothing of the result: who measures runs, limits of user code, what is
    kept.

    Without `details` no prompts are prepared for a report to show.
    """

    workers: Workers = field(default_factory=Workers)
    limits: Limits = field(default_factory=Limits)
    progress: Progress | None = None
    kept: Kept | None = None
    debug: bool = False
    details: bool = True


class _Plan(NamedTuple):
    """All that a process needs to measure any run."""

    measuring: Measuring
    kept: Kept | None


@dataclass(frozen=True)
class _Task:
    """One recording to measure, with the labels of the scenario; its index where it is known."""

    trace: Trace
    labels: Mapping[str, Any]
    twice: bool
    index: TraceIndex | None = None

    @property
    def size(self) -> int:
        """About the characters that it takes in memory."""
        return sum(len(result.text) for result in self.trace.results) + 1000 * len(self.trace.steps)

    def session(self, plan: _Plan) -> RunSession:
        """The session that measures it."""
        return RunSession(
            self.trace,
            plan.measuring,
            plan.kept,
            labels=self.labels,
            index=self.index,
            twice=self.twice,
        )


class MeasuredRuns:
    """The runs of one comparison.

    Recordings stay in memory, as far as there is room, so that a report can show their prompts.
    """

    def __init__(self, measuring: Measuring, running: Running) -> None:
        self._plan, self._running = _Plan(measuring, running.kept), running
        self._in_memory: dict[str, _Task] = {}
        self._from_earlier: list[MeasuredRun] = []
        self._numbers: dict[str, Number] = {}

    def of(self, recordings: Labelled) -> Iterator[MeasuredRun]:
        """Yield every run as it is done. Raises BenchError for two recordings of one name."""
        for done, run in enumerate(self._each(recordings), 1):
            if self._running.progress:
                self._running.progress(done, None)
            yield run
        if self._running.kept is not None:
            self._running.kept.trim()

    def _each(self, recordings: Labelled) -> Iterator[MeasuredRun]:
        """Yield the runs that are measured now, then those that were kept from earlier."""
        tasks = self._to_measure(recordings)
        for run, index in self._running.workers.results(_work, self._plan, tasks):
            if run.id in self._in_memory:
                self._in_memory[run.id] = replace(self._in_memory[run.id], index=index)
            yield self._sharing(run)
        yield from self._from_earlier

    def _to_measure(self, recordings: Labelled) -> Iterator[_Task]:
        """Yield the recordings whose run is not kept from earlier."""
        for task in self._tasks(recordings):
            run = task.session(self._plan).known()
            if run is not None:
                self._from_earlier.append(self._sharing(run))
                continue
            # A vocabulary that is read here is read in no worker.
            if self._running.workers.count > 1:
                TokenCounter(encoding_for(task.trace.model or self._plan.measuring.model)[0])
            yield task

    def _tasks(self, recordings: Labelled) -> Iterator[_Task]:
        """Yield each recording as a task; it stays in memory as long as there is room."""
        ids: set[str] = set()
        room, to_repeat = _ROOM_CHARS, _REPLAYED_TWICE
        for trace, labels in recordings:
            if trace.id in ids:
                raise BenchError(f"two recordings are called {trace.id!r} — give each its own id")
            ids.add(trace.id)
            if trace.results:
                to_repeat -= 1
            task = _Task(trace, labels, twice=to_repeat >= 0)
            if self._running.details and task.size <= room:
                room -= task.size
                self._in_memory[trace.id] = task
            yield task

    def _sharing(self, run: MeasuredRun) -> MeasuredRun:
        """The run with values that others hold too: most are equal, so memory is saved."""
        scores: list[Score] = []
        for score in run.scores:
            numbers = self._shared_numbers(score.numbers)
            checks = score.checks
            for other in scores:
                if _is_same(other.numbers, numbers):
                    numbers = other.numbers
                if other.checks == checks:
                    checks = other.checks
            scores.append(msgspec.structs.replace(score, numbers=numbers, checks=checks))
        return msgspec.structs.replace(run, scores=tuple(scores))

    def _shared_numbers(self, numbers: Mapping[str, Number]) -> dict[str, Number]:
        """A table whose equal numbers are one object, in all runs."""
        known = self._numbers
        return {sys.intern(name): known.setdefault(repr(one), one) for name, one in numbers.items()}

    @property
    def in_memory(self) -> Sequence[str]:
        """The runs of which details can be made."""
        return tuple(self._in_memory)

    def details(self, runs: Sequence[str], strategies: tuple[str, ...]) -> Iterator[ReplayDetail]:
        """Yield the details of some strategies on runs that are in memory."""
        tasks = [replace(self._in_memory[run], twice=False) for run in runs]
        by_run = {
            task.trace.id: task.session(self._plan).kept_details(strategies) for task in tasks
        }
        missing = [task for task in tasks if by_run[task.trace.id] is None]
        work = functools.partial(_details, strategies=strategies)
        by_run |= self._running.workers.results(work, self._plan, missing)
        for run in runs:
            yield from by_run[run] or ()


def _is_same(one: Mapping[str, Number], other: Mapping[str, Number]) -> bool:
    """True if two tables hold the very same numbers: 0.0 equals -0.0, and is written otherwise."""
    return one.keys() == other.keys() and all(one[name] is other[name] for name in one)


# ---------------------------------------------------------------- on a worker


def _work(plan: _Plan, task: _Task) -> tuple[MeasuredRun, TraceIndex | None]:
    """A run measured, and its index where nothing else keeps it."""
    session = task.session(plan)
    return session.measured(), session.index if plan.kept is None else None


def _details(
    plan: _Plan, task: _Task, *, strategies: tuple[str, ...]
) -> tuple[str, tuple[ReplayDetail, ...]]:
    """The id of a run, and the details of some strategies on it."""
    return task.trace.id, task.session(plan).details(strategies)
