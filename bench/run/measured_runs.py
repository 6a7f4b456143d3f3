"""The runs of one comparison, measured or from the cache, and details of a few."""

from __future__ import annotations

import functools
import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..model import Trace
from ..model.detail import ReplayDetail
from ..model.errors import BenchError
from ..model.index import TraceIndex
from ..model.scores import MeasuredRun
from ..tokens.counting import TokenCounter, encoding_for
from .cache import Cache
from .executors import Workers
from .measuring import Measuring, RunSession, rare_collection

Progress = Callable[[int, int | None], None]
"""A callback that gets the number of runs done and of all runs (None: not known yet)."""

MISSED, RUNS_EACH = "needed.missed_turns", 2
"""A report shows prompts of this many runs for each strategy: those with the most missed turns."""

_ROOM_CHARS = 20_000_000
"""The most characters of recordings to keep in memory until the details of a report are made."""

_REPLAYED_TWICE = 3
"""The runs with results on which user code is replayed a second time: the first ones."""


@dataclass(frozen=True)
class RunOptions:
    """Settings that do not change results: the workers, the cache, the progress callback.

    Without `details` no prompts are prepared for a report to show.
    """

    workers: Workers = field(default_factory=Workers)
    progress: Progress | None = None
    cache: Cache | None = None
    debug: bool = False
    details: bool = True


@dataclass(frozen=True)
class _Task:
    """One recording to measure, with its index if it is known."""

    trace: Trace
    again: bool
    index: TraceIndex | None = None

    @property
    def size(self) -> int:
        """An estimate of the characters in memory."""
        return sum(len(result.text) for result in self.trace.results) + 1000 * len(self.trace.steps)

    def session(self, measuring: Measuring) -> RunSession:
        """The session that measures it."""
        return RunSession(self.trace, measuring, self.index, self.again)


class MeasuredRuns:
    """The runs of one comparison.

    The recordings on which a strategy would have missed most turns stay in memory, as far as there
    is room, so that a report can show their prompts.
    """

    def __init__(self, measuring: Measuring, options: RunOptions) -> None:
        self._measuring, self._options = measuring, options
        self._waiting: dict[str, _Task] = {}
        self._in_memory: dict[str, _Task] = {}
        self._missed: dict[str, dict[str, float]] = {}  # turns, by run in memory and strategy

    def of(self, recordings: Iterable[Trace]) -> Iterator[MeasuredRun]:
        """Yield every run as it is done. Raises BenchError for two recordings of one name."""
        measured = self._options.workers.results(_work, self._measuring, self._tasks(recordings))
        for done, (run, index) in enumerate(measured, 1):
            self._keep_in_memory(run, index)
            if self._options.progress:
                self._options.progress(done, None)
            yield run
        if self._options.cache is not None:
            self._options.cache.trim()

    def _tasks(self, recordings: Iterable[Trace]) -> Iterator[_Task]:
        """Yield each recording as a task."""
        ids: set[str] = set()
        again = _REPLAYED_TWICE
        for trace in recordings:
            if trace.id in ids:
                raise BenchError(f"two recordings are called {trace.id!r} — give each its own id")
            ids.add(trace.id)
            if self._options.workers.count > 1 and self._options.cache is None:
                # A vocabulary that is read here is read in no worker.
                TokenCounter(encoding_for(trace.model or self._measuring.model)[0])
            self._waiting[trace.id] = _Task(trace, again > 0)
            again -= bool(trace.results)
            yield self._waiting[trace.id]

    def _keep_in_memory(self, run: MeasuredRun, index: TraceIndex | None) -> None:
        """Keep the recording of a measured run in memory if it is among the worst of some
        strategy."""
        task = replace(self._waiting.pop(run.id), index=index)
        size = task.size + sum(other.size for other in self._in_memory.values())
        if not self._options.details or size > _ROOM_CHARS:
            return
        numbers = {score.strategy: score.numbers.get(MISSED) for score in run.scores}
        missed = {name: (number and number.value) or 0.0 for name, number in numbers.items()}
        self._in_memory[run.id], self._missed[run.id] = task, missed
        wanted = {run_id for name in missed for run_id in self.worst(name)}
        for run_id in self._missed.keys() - wanted:
            del self._in_memory[run_id], self._missed[run_id]

    def worst(self, strategy: str) -> list[str]:
        """The few runs in memory on which a strategy misses most turns."""
        missed = self._missed
        return heapq.nsmallest(RUNS_EACH, missed, key=lambda run: (-missed[run][strategy], run))

    def details(self, runs: Sequence[str], strategies: tuple[str, ...]) -> Iterator[ReplayDetail]:
        """Yield the details of some strategies on runs that are in memory."""
        tasks = [replace(self._in_memory[run], again=False) for run in runs]
        work = functools.partial(_details, strategies=strategies)
        by_run = dict(self._options.workers.results(work, self._measuring, tasks))
        for run in runs:
            yield from by_run[run]


# ---------------------------------------------------------------- on a worker


@rare_collection()
def _work(measuring: Measuring, task: _Task) -> tuple[MeasuredRun, TraceIndex | None]:
    """A measured run, and its index if no cache stores it."""
    session = task.session(measuring)
    return session.measured(), session.index if measuring.cache is None else None


@rare_collection()
def _details(
    measuring: Measuring, task: _Task, *, strategies: tuple[str, ...]
) -> tuple[str, tuple[ReplayDetail, ...]]:
    """The id of a run, and the details of some strategies on it."""
    return task.trace.id, task.session(measuring).details(strategies)
