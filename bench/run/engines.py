"""Engines: where cases are measured. Each is `(plan, tasks) → cases`, in any order; all give the same cases.

`alone` measures in this process, `processes` in processes of their own, where one that dies costs its case alone: it is measured once more, and then
has failed. Processes are forked, so that a strategy need not be written down to get there.
"""

from __future__ import annotations

import contextlib
import gc
import pickle
import signal
import sys
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from ..model import Case, Trace
from ..model.errors import BenchError, debugged, defect
from ..plugins.apart import can_fork
from ..plugins.keeper import end_with_parent, how_ended
from ..traces import StoredTrace
from .case import MeasuredCase, Measuring, about, case_key, is_doubtful, measured, unmeasured

TRIES = 2
"""The number of times that a case is tried before it counts as one that cannot be measured."""


@dataclass(frozen=True)
class Task:
    """A case to measure: a trace, what a scenario adds to its labels, and its place, where it lies elsewhere."""

    trace: Trace
    labels: Mapping[str, Any]
    stored: StoredTrace | None = None
    tries: int = 1

    @property
    def sent(self) -> bytes:
        """The trace as it is sent to another machine: where it lies, or itself.

        >>> from bench.metrics import example
        >>> pickle.loads(zlib.decompress(Task(example().trace, {}).sent)).id
        'example'
        """
        return zlib.compress(pickle.dumps(self.stored or self.trace, pickle.HIGHEST_PROTOCOL), zlib.Z_BEST_SPEED)


Waiting = Iterator[Task | Case]
"""Tasks, and between them cases that need no work: an engine passes these on."""

Engine = Callable[[Measuring, Waiting], Iterator[MeasuredCase | Case]]


def cases(plan: Measuring, tasks: Iterable[Task], engine: Engine, heard: Callable[[Case], None]) -> Iterator[Case]:
    """The case of every task: as it was kept, or measured by an engine, which `heard` is told, and kept. Raises what `measure` raises.

    However it ends, no process is left behind.
    """
    keys: dict[str, str | None] = {}

    def waiting() -> Waiting:
        for task in tasks:
            key = case_key(about(task.trace, plan, task.labels), plan) if plan.kept else None
            known: Case | None = plan.kept.get(key) if plan.kept else None
            keys[task.trace.id] = key
            yield known or task

    try:
        for found in engine(plan, waiting()):
            if isinstance(found, Case):
                yield found
                continue
            heard(found.case)
            if plan.kept and not any(map(is_doubtful, found.case.runs.values())):
                plan.kept.put(keys.pop(found.case.id), found.case, found.touched)
            yield found.case
    finally:
        end_children(plan)


def alone(plan: Measuring, tasks: Waiting) -> Iterator[MeasuredCase | Case]:
    """Measure in this process, one case after the other."""
    for task in tasks:
        yield task if isinstance(task, Case) else measured(task.trace, plan, task.labels)


def processes(jobs: int) -> Engine:
    """The engine of so many processes; `alone` for one, and where processes cannot be forked."""
    return (lambda plan, tasks: _Pool(tasks, plan).cases(jobs)) if can_fork() and jobs > 1 else alone


def end_children(plan: Measuring) -> None:
    """End the child processes of the strategies: a later replay starts others."""
    for strategy in plan.strategies:
        if strategy.apart is not None:
            strategy.apart.child.stop()


def next_task(tasks: Waiting) -> Generator[MeasuredCase | Case, None, Task | None]:
    """The next task; None for no more. Cases before it are passed on."""
    for task in tasks:
        if isinstance(task, Task):
            return task
        yield task
    return None


class _Worker:
    """One process, and the task that it works on."""

    def __init__(self, plan: Measuring, others: Iterable[_Worker]) -> None:
        self.pipe, theirs = get_context("fork").Pipe()
        pipes = [self.pipe, *(other.pipe for other in others)]
        self.process = get_context("fork").Process(target=_work, args=(theirs, pipes, plan))
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        self.process.start()
        theirs.close()
        self.task: Task | None = None

    def send(self, task: Task | None) -> None:
        """Give it a task; None: it has none."""
        self.task = task
        if task is not None:
            with contextlib.suppress(OSError):  # it died, which is seen when it is heard
                self.pipe.send((task.trace, task.labels))

    def end(self) -> None:
        """End the process, and its children."""
        self.pipe.close()
        self.process.terminate()
        self.process.join(5.0)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        self.process.close()


class _Pool:
    """The workers of a comparison, and the cases that they have still to measure."""

    def __init__(self, tasks: Waiting, plan: Measuring) -> None:
        self.source, self.plan = tasks, plan
        self.again: deque[Task] = deque()
        self.workers: list[_Worker] = []

    def cases(self, jobs: int) -> Iterator[MeasuredCase | Case]:
        """Every case, as each is done; no more tasks are taken than are worked on."""
        try:
            while len(self.workers) < jobs:
                task = yield from next_task(self.source)
                if task is None:
                    break
                self.workers.append(_Worker(self.plan, self.workers))
                self.workers[-1].send(task)
            while busy := {worker.pipe: worker for worker in self.workers if worker.task is not None}:
                for pipe in wait([*busy]):
                    worker = busy[pipe]  # type: ignore[index]
                    found = self.heard(worker)
                    if worker.process.exitcode is not None:
                        self.workers.remove(worker)
                        worker.end()
                        worker = _Worker(self.plan, self.workers)
                        self.workers.append(worker)
                    worker.send(self.again.popleft() if self.again else (yield from next_task(self.source)))
                    if found is not None:
                        yield found
        finally:
            for worker in self.workers:
                worker.end()

    def heard(self, worker: _Worker) -> MeasuredCase | None:
        """The case of a worker that answered; None for one that died over it, and is to be tried again."""
        task = worker.task
        if task is None:
            return None
        try:
            given = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join()
            if task.tries < TRIES:
                self.again.append(replace(task, tries=task.tries + 1))
                return None
            how = f"it ended its process ({how_ended(worker.process.exitcode or 0)})"
            return MeasuredCase(died(task, self.plan, how))
        if isinstance(given, BenchError):
            raise given
        found: MeasuredCase = given
        return found


def died(task: Task, plan: Measuring, how: str) -> Case:
    """The case of a task over which processes died too often."""
    what = f"the process that measured this case died {TRIES} times: {how}"
    return unmeasured(task.trace.id, plan, task.trace.sha256, what)


def answer(trace: Trace, plan: Measuring, labels: Mapping[str, Any]) -> MeasuredCase | BenchError:
    """In another process: a case, or the error that is to be raised where it was asked for."""
    try:
        return measured(trace, plan, labels)
    except BenchError as error:
        debugged(error)
        return error
    except Exception as error:
        debugged(error)
        return BenchError(defect(error))


def _work(pipe: Connection, others: Iterable[Connection], plan: Measuring) -> None:
    """In a worker: measure cases until the pipe closes, or it is told to end."""
    gc.freeze()  # what the parent has thrown away is not finalized here, where its threads are missing
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    end_with_parent()
    for other in others:
        other.close()
    try:
        while True:
            trace, labels = pipe.recv()
            pipe.send(answer(trace, plan, labels))
    except (EOFError, OSError):
        return
    finally:
        end_children(plan)
