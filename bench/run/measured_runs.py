"""The runs of one comparison, measured now or kept from earlier, and details of a few."""

from __future__ import annotations

import functools
import heapq
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from ..model import Trace
from ..model.detail import ReplayDetail
from ..model.errors import BenchError
from ..model.index import TraceIndex
from ..model.scores import MeasuredRun
from ..tokens.counting import TokenCounter, encoding_for
from .executors import Workers
from .kept import Kept
from .measuring import Measuring, RunSession, rare_collection

Progress = Callable[[int, int | None], None]
"""Called with the runs done, and of how many (None: not known yet)."""

MISSED, RUNS_EACH = "needed.missed_turns", 2
"""A report shows prompts of so many runs for each strategy: of those with most of these."""

_ROOM_CHARS = 20_000_000
"""The characters of recordings that stay in memory until the details of a report are made."""

_REPLAYED_TWICE = 3
"""The runs with results on which user code is replayed a second time: the first ones."""

_MOST_SHARED = 2000
"""The numbers and checks that all runs share: the first ones, most of which come again."""


@dataclass(frozen=True)
class Running:
    """Settings that change no result: who measures, and what is kept.

    Without `details` no prompts are prepared for a report to show.
    """

    workers: Workers = field(default_factory=Workers)
    progress: Progress | None = None
    kept: Kept | None = None
    debug: bool = False
    details: bool = True


@dataclass(frozen=True)
class _Task:
    """One recording to measure; its index where it is known."""

    trace: Trace
    twice: bool
    index: TraceIndex | None = None

    @property
    def size(self) -> int:
        """About the characters that it takes in memory."""
        return sum(len(result.text) for result in self.trace.results) + 1000 * len(self.trace.steps)

    def session(self, measuring: Measuring, kept: Kept | None) -> RunSession:
        """The session that measures it."""
        return RunSession(self.trace, measuring, kept, self.index, self.twice)


class MeasuredRuns:
    """The runs of one comparison.

    The recordings on which a strategy would have missed most turns stay in memory, as far as there
    is room, so that a report can show their prompts.
    """

    def __init__(self, measuring: Measuring, running: Running) -> None:
        self._plan, self._running = (measuring, running.kept), running
        self._waiting: dict[str, _Task] = {}
        self._in_memory: dict[str, tuple[_Task, dict[str, float]]] = {}  # with the turns missed
        self._shared: dict[str, Any] = {}

    def of(self, recordings: Iterable[Trace]) -> Iterator[MeasuredRun]:
        """Yield every run as it is done. Raises BenchError for two recordings of one name."""
        measured = self._running.workers.results(_work, self._plan, self._tasks(recordings))
        for done, (run, index) in enumerate(measured, 1):
            self._measured(run, index)
            if self._running.progress:
                self._running.progress(done, None)
            yield self._sharing(run)
        if self._running.kept is not None:
            self._running.kept.trim()

    def _tasks(self, recordings: Iterable[Trace]) -> Iterator[_Task]:
        """Yield each recording as a task."""
        ids: set[str] = set()
        to_repeat = _REPLAYED_TWICE
        for trace in recordings:
            if trace.id in ids:
                raise BenchError(f"two recordings are called {trace.id!r} — give each its own id")
            ids.add(trace.id)
            if trace.results:
                to_repeat -= 1
            if self._running.workers.count > 1 and self._running.kept is None:
                # A vocabulary that is read here is read in no worker.
                TokenCounter(encoding_for(trace.model or self._plan[0].model)[0])
            self._waiting[trace.id] = _Task(trace, twice=to_repeat >= 0)
            yield self._waiting[trace.id]

    def _measured(self, run: MeasuredRun, index: TraceIndex | None) -> None:
        """A run is measured: its recording stays where a strategy missed more than in others."""
        task = replace(self._waiting.pop(run.id), index=index)
        size = task.size + sum(other.size for other, _ in self._in_memory.values())
        if not self._running.details or size > _ROOM_CHARS:
            return
        missed = {score.strategy: score.numbers.get(MISSED) for score in run.scores}
        turns = {name: (number and number.value) or 0.0 for name, number in missed.items()}
        self._in_memory[run.id] = task, turns
        wanted = {run_id for name in turns for run_id in self.worst(name)}
        for run_id in self._in_memory.keys() - wanted:
            del self._in_memory[run_id]

    def worst(self, strategy: str) -> list[str]:
        """The few runs in memory on which most turns of a strategy would have missed something."""
        runs = self._in_memory
        return heapq.nsmallest(RUNS_EACH, runs, key=lambda run: (-runs[run][1][strategy], run))

    def _sharing(self, run: MeasuredRun) -> MeasuredRun:
        """The run with values that earlier runs hold too: most are equal, so memory is saved."""
        scores = tuple(
            msgspec.structs.replace(
                score,
                strategy=sys.intern(score.strategy),
                numbers={sys.intern(name): self._one(one) for name, one in score.numbers.items()},
                checks={sys.intern(name): self._one(one) for name, one in score.checks.items()},
            )
            for score in run.scores
        )
        return msgspec.structs.replace(run, scores=scores)

    def _one(self, value: Any) -> Any:
        """A value as an earlier run holds it already: 0.0 and -0.0 are two values."""
        if len(self._shared) >= _MOST_SHARED:
            return self._shared.get(repr(value), value)
        return self._shared.setdefault(repr(value), value)

    def details(self, runs: Sequence[str], strategies: tuple[str, ...]) -> Iterator[ReplayDetail]:
        """Yield the details of some strategies on runs that are in memory."""
        tasks = [replace(self._in_memory[run][0], twice=False) for run in runs]
        work = functools.partial(_details, strategies=strategies)
        by_run = dict(self._running.workers.results(work, self._plan, tasks))
        for run in runs:
            yield from by_run[run]


# ---------------------------------------------------------------- on a worker


@rare_collection()
def _work(
    plan: tuple[Measuring, Kept | None], task: _Task
) -> tuple[MeasuredRun, TraceIndex | None]:
    """A run measured, and its index where nothing else keeps it."""
    session = task.session(*plan)
    return session.measured(), session.index if plan[1] is None else None


@rare_collection()
def _details(
    plan: tuple[Measuring, Kept | None], task: _Task, *, strategies: tuple[str, ...]
) -> tuple[str, tuple[ReplayDetail, ...]]:
    """The id of a run, and the details of some strategies on it."""
    return task.trace.id, task.session(*plan).details(strategies)
