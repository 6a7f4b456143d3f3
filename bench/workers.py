"""Cases measured in processes of their own: the same cases in the same way, several at a time.

A worker that dies costs its case a second try; a case on which it dies again is a row that says so. The processes are forked, so that a strategy
need not be written down to get there.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from .case import Measuring, measure, unmeasured
from .errors import BenchError
from .model import Case, Trace

TRIES = 2
"""How often a case is tried before it counts as one that cannot be measured."""

Task = tuple[Trace, Mapping[str, Any]]


@dataclass
class _Worker:
    """One process, the pipe to it, and the task it works on with the number of the try."""

    process: BaseProcess
    pipe: Connection
    task: Task | None = None
    tried: int = 0


def measured_in_processes(tasks: Iterable[Task], measuring: Measuring, jobs: int) -> Iterator[Case]:
    """The case of every task, as each is done: at most `jobs` at a time, and no more tasks are taken than are worked on.

    Raises what `measure` raises. However it ends, no process is left behind.
    """
    context = multiprocessing.get_context("fork")
    source, again = iter(tasks), deque[tuple[Task, int]]()
    workers: list[_Worker] = []

    def start() -> _Worker:
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, measuring), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def assign(worker: _Worker) -> bool:
        """Give a worker its next task; False where there is none."""
        if again:
            worker.task, tried = again.popleft()
            worker.tried = tried + 1
        else:
            worker.task, worker.tried = next(source, None), 1
        if worker.task is None:
            return False
        worker.pipe.send(worker.task)
        return True

    try:
        while len(workers) < jobs:
            worker = start()
            workers.append(worker)
            if not assign(worker):
                break
        while any(worker.task is not None for worker in workers):
            for pipe in wait([worker.pipe for worker in workers if worker.task is not None]):
                worker = next(item for item in workers if item.pipe is pipe)
                task = worker.task
                try:
                    answer = worker.pipe.recv()
                except (EOFError, OSError):
                    answer = None
                if answer is None and task is not None:
                    _stop(worker)
                    workers.remove(worker)
                    if worker.tried < TRIES:
                        again.append((task, worker.tried))
                    else:
                        yield _given_up(task, worker, measuring)
                    worker = start()
                    workers.append(worker)
                elif isinstance(answer, BaseException):
                    raise answer
                else:
                    yield answer
                assign(worker)
    finally:
        for worker in workers:
            _stop(worker)


def _given_up(task: Task, worker: _Worker, measuring: Measuring) -> Case:
    code = worker.process.exitcode
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    problem = f"the process that measured this case died {TRIES} times ({how})"
    return unmeasured(task[0].id, measuring, task[0].sha256, problem)


def _stop(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.join(timeout=0.05)
    if worker.process.is_alive():
        worker.process.kill()
    worker.process.join()


def _work(pipe: Connection, measuring: Measuring) -> None:
    """What a worker does: measure what it is sent until the pipe closes. Ctrl-C is for the parent, which ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            trace, labels = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer: Any = measure(trace, measuring, labels)
        except Exception as error:
            answer = error if isinstance(error, BenchError) else BenchError(f"{type(error).__name__}: {error}")
        pipe.send(answer)
