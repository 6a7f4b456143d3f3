"""Cases measured in processes of their own: the same cases in the same way, several at a time.

A worker that dies costs its case a second try; a case on which it dies again is a row that says so. The processes are forked, so that a strategy
need not be written down to get there.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from .case import Measuring, measure, unmeasured
from .errors import BenchError, debugged, defect
from .model import Case, Trace

TRIES = 2
"""How often a case is tried before it counts as one that cannot be measured."""

PATIENCE_S = 2.0
"""How long a worker that is told to stop has to end what its strategies started."""

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

    Raises what `measure` raises. However it ends, no process is left behind. Where processes cannot be forked, all is measured in this one.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        yield from (measure(trace, measuring, labels) for trace, labels in tasks)
        return
    context = multiprocessing.get_context("fork")
    source, again = iter(tasks), deque[tuple[Task, int]]()
    workers: list[_Worker] = []

    def start() -> _Worker:
        ours, theirs = context.Pipe()
        not_its_own = [*(worker.pipe for worker in workers), ours]  # a fork has these too, and no pipe would ever end
        process = context.Process(target=_work, args=(theirs, not_its_own, measuring), daemon=True)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the worker ignores it
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
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
        with contextlib.suppress(OSError):  # it died while it waited: its pipe says so when it is read
            worker.pipe.send(worker.task)
        return True

    try:
        while len(workers) < jobs:
            worker = start()
            workers.append(worker)
            if not assign(worker):
                break
        while busy := [worker for worker in workers if worker.task is not None]:
            ready = wait([item for worker in busy for item in (worker.pipe, worker.process.sentinel)])
            for worker in [worker for worker in busy if {worker.pipe, worker.process.sentinel} & {*ready}]:
                task, answer = worker.task, _received(worker.pipe)
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
                elif answer is not None:
                    yield answer
                assign(worker)
    finally:
        for worker in workers:
            _stop(worker)


def _received(pipe: Connection) -> Case | BenchError | None:
    """What a worker answered; None for one that died."""
    try:
        answer: Case | BenchError | None = pipe.recv() if pipe.poll() else None
    except (EOFError, OSError):
        return None
    return answer


def _given_up(task: Task, worker: _Worker, measuring: Measuring) -> Case:
    code = worker.process.exitcode
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    problem = f"the process that measured this case died {TRIES} times ({how})"
    return unmeasured(task[0].id, measuring, task[0].sha256, problem)


def _stop(worker: _Worker) -> None:
    """End a worker and what its strategies started: asked first, since only it can end what has left its group."""
    worker.pipe.close()
    ended = [worker.process.sentinel]
    if not wait(ended, timeout=0.05):
        worker.process.terminate()
        wait(ended, timeout=PATIENCE_S)
    if worker.process.pid is not None:
        try:
            os.killpg(worker.process.pid, signal.SIGKILL)  # not yet waited for, so that nobody else has its number
        except (ProcessLookupError, PermissionError):  # nothing is left of its group, or it never had one
            worker.process.kill()
    worker.process.join()


class _Stopped(BaseException):
    """A worker is to stop: unlike SystemExit, no strategy's failure."""


def _on_terminate(number: int, frame: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _Stopped


def _work(pipe: Connection, not_its_own: Iterable[Connection], measuring: Measuring) -> None:
    """What a worker does: measure what it is sent until the pipe closes. It leads a group of its own, with all that its strategies start.

    Ctrl-C is for the parent, which ends its workers itself.
    """
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, _on_terminate)
    for other in not_its_own:
        other.close()
    with contextlib.suppress(_Stopped, EOFError, OSError):
        while True:
            trace, labels = pipe.recv()
            pipe.send(_answer(trace, labels, measuring))


def _answer(trace: Trace, labels: Mapping[str, Any], measuring: Measuring) -> Case | BenchError:
    """The case, or what was raised, as it can be sent."""
    try:
        return measure(trace, measuring, labels)
    except Exception as error:
        debugged(error)
        return error if isinstance(error, BenchError) else BenchError(defect(error))
