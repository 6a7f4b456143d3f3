"""Workers that measure runs: this process, other processes, workers of Dask.

Each engine is a `concurrent.futures.Executor`; the results are the same. If a Dask worker dies, its
run goes to another one. If a process of this machine dies, the comparison ends.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import Any

from ..model.errors import BenchError, debugged, defect, one_line

Work = Callable[[Any, Any], Any]
"""`work(plan, task)`: one run measured."""

PROCESSES = "processes"
"""The engine on this machine."""

AHEAD = 2
"""The tasks submitted for each worker: one is worked on, the other is on its way."""

_ONE_AT_A_TIME = threading.Lock()


class Workers:
    """The workers of an engine, for any number of comparisons. They start with the first task.

    `engine` is `processes` (a `count` of 1 is this process) or the address of a Dask scheduler.
    Raises BenchError for any other.

    >>> with Workers() as workers:
    ...     [*workers.results(pow, 2, [3, 4])]
    [8, 16]
    """

    def __init__(self, count: int = 1, engine: str = PROCESSES) -> None:
        if count < 1:
            raise BenchError(f"jobs: is at least 1 process, got {count}")
        if engine != PROCESSES and "://" not in engine:
            what = "write processes, or the address that `dask scheduler` prints"
            raise BenchError(f"--engine {engine}: {what}")
        self.count, self._engine = count, engine
        self._running = contextlib.ExitStack()
        self._executor: Executor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._executor = None
        self._running.__exit__(*raised)

    def results(self, work: Work, plan: Any, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield the result of each task as it is done. A plan with functions that cannot be sent to
        another process is worked on in this one.

        Raises BenchError if a worker died, and what `work` raises.
        """
        sent = None
        if self.count > 1 or self._engine != PROCESSES:
            with contextlib.suppress(Exception):
                import cloudpickle

                sent = cloudpickle.dumps(plan)
        if sent is None:
            yield from (work(plan, task) for task in tasks)
            return
        if self._executor is None:
            start = processes(self.count) if self._engine == PROCESSES else dask(self._engine)
            self._executor, self.count = self._running.enter_context(start)
        job, source = functools.partial(_done, work, sent), iter(tasks)
        waiting: set[Future[Any]] = set()
        try:
            while True:
                next_tasks = itertools.islice(source, AHEAD * self.count - len(waiting))
                waiting.update(self._executor.submit(job, task) for task in next_tasks)
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        except BrokenProcessPool:
            self.__exit__(None, None, None)
            what = "a process that measured runs was ended, perhaps for want of memory"
            raise BenchError(f"{what} — run again, with fewer --jobs") from None


# ---------------------------------------------------------------- executors


@contextlib.contextmanager
def processes(workers: int) -> Iterator[tuple[Executor, int]]:
    """A context with processes on this machine, and their number. They are forked where possible,
    so that a script needs no `if __name__ == "__main__"`."""
    known = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in known else "spawn")
    child_end, parent_end = context.Pipe(duplex=False)
    executor = ProcessPoolExecutor(workers, context, _exit_with_parent, (child_end, parent_end))
    try:
        yield executor, workers
    except BaseException:  # end the workers now: their tasks may take minutes
        parent_end.close()
        raise
    finally:
        executor.shutdown(cancel_futures=True)
        parent_end.close()
        child_end.close()


def _exit_with_parent(child_end: Connection, parent_end: Connection) -> None:
    """Watch a pipe from a thread, and end this process when the parent closes its end or dies."""
    parent_end.close()

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            child_end.recv_bytes()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def dask(scheduler: str) -> Iterator[tuple[Executor, int]]:
    """A context with the workers of a Dask scheduler (`tcp://host:8786`), and their number.

    Raises BenchError without `dask[distributed]`, if nothing answers at the address, and if Dask
    gives up a run whose workers died.
    """
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        what = "--engine needs dask — pip install 'agent-memory-bench[cluster]'"
        raise BenchError(what) from None
    try:
        client = Client(scheduler)
    except (OSError, ValueError, RuntimeError) as error:
        what = f"no Dask scheduler answers at {scheduler} — start one with `dask scheduler`"
        raise BenchError(f"{what} ({one_line(error)})") from None
    with client:
        try:
            yield client.get_executor(pure=False), max(1, sum(client.nthreads().values()))
        except KilledWorker as error:
            what = "a run ended several workers of Dask, perhaps for want of memory"
            raise BenchError(f"{what} ({one_line(error)})") from None
        except BaseException:  # tornado would print an error for each result that cannot arrive
            logging.getLogger("tornado.application").disabled = True
            raise


# ---------------------------------------------------------------- on a worker


@functools.lru_cache(maxsize=2)
def _plan(sent: bytes) -> Any:
    return pickle.loads(sent)


def _done(work: Work, plan: bytes, task: Any) -> Any:
    """The result of a task. Raises only BenchError."""
    try:
        with _ONE_AT_A_TIME:  # a worker of Dask may have several threads
            return work(_plan(plan), task)
    except Exception as error:
        debugged(error)
        raise error if isinstance(error, BenchError) else BenchError(defect(error)) from None
