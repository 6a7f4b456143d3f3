"""The engine for many machines: each case is a task of a Dask scheduler, which gives it to another worker where one dies."""

from __future__ import annotations

import functools
import pickle
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ..model import Case, Trace
from ..model.errors import BenchError, one_line
from ..traces import StoredTrace
from .case import MeasuredCase, Measuring
from .engines import Engine, Task, Waiting, answer, died, end_children, next_task

AHEAD = 2
"""Tasks that the scheduler is given for each thread of a worker: one is worked on, the others are on their way."""

_LOOKS_S = 0.05
_ALONE_S = 60.0

_ONE_AT_A_TIME = threading.Lock()


def dask(scheduler: str | None, jobs: int) -> Engine:
    """The engine of a Dask scheduler at an address (`tcp://host:8786`); None: one on this machine, with so many workers.

    Raises BenchError without `dask[distributed]`, and where nobody answers at the address.
    """
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise BenchError("--engine dask needs dask — pip install 'agent-memory-bench[cluster]'") from None
    return partial(_on_dask, scheduler, jobs)


def _on_dask(scheduler: str | None, jobs: int, plan: Measuring, tasks: Waiting) -> Iterator[MeasuredCase | Case]:
    from distributed import Client, LocalCluster

    quiet: dict[str, Any] = {"dashboard_address": None, "silence_logs": "ERROR"}
    settings = {"n_workers": jobs, "threads_per_worker": 1, "processes": True, **quiet}
    try:
        local = LocalCluster(**settings) if scheduler is None else None
    except RuntimeError as error:  # one that ended while it started
        raise BenchError(f"the workers of Dask did not start ({one_line(error)}) — run again") from None
    try:
        try:
            client = Client(scheduler if local is None else local)
        except (OSError, ValueError) as error:
            what = f"no Dask scheduler answers at {scheduler} — start one with `dask scheduler`"
            raise BenchError(f"{what}, or write --engine dask ({error})") from None
        with client:
            yield from _Asked(client, plan).cases(tasks)
    finally:
        if local is not None:
            local.close()


class _Asked:
    """The tasks that a scheduler was given, and has not answered yet."""

    def __init__(self, client: Any, plan: Measuring) -> None:
        try:
            self.plan_bytes = zlib.compress(pickle.dumps(plan))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            what = "a function cannot be sent to other machines — name it in a spec: file.py:function"
            raise BenchError(f"{what} ({error})") from None
        self.client, self.plan = client, plan
        self.tasks: dict[Any, Task] = {}

    def cases(self, tasks: Waiting) -> Iterator[MeasuredCase | Case]:
        """Every case, as each is done; no more tasks are given than the workers need not to wait."""
        from distributed import as_completed

        done = as_completed()
        try:
            while True:
                while len(self.tasks) < AHEAD * max(1, sum(self.client.nthreads().values())):
                    task = yield from next_task(tasks)
                    if task is None:
                        break
                    done.add(self.given(task))
                if not self.tasks:
                    return
                self._wait(done)
                future = next(done)
                yield self.heard(future, self.tasks.pop(future.key))
        finally:
            self.client.run(_forget, self.plan_bytes)

    def _wait(self, done: Any) -> None:
        """Wait for an answer. Raises BenchError where no worker has been there for a while: nobody would answer."""
        alone_s = 0.0
        while not done.has_ready():
            time.sleep(_LOOKS_S)
            alone_s = 0.0 if self.client.nthreads() else alone_s + _LOOKS_S
            if alone_s > _ALONE_S:
                raise BenchError("the Dask scheduler has no worker — start some with `dask worker ADDRESS`")

    def given(self, task: Task) -> Any:
        """Give the scheduler a task."""
        future = self.client.submit(_measured_there, task.sent, self.plan_bytes, task.labels, pure=False)
        self.tasks[future.key] = task
        return future

    def heard(self, future: Any, task: Task) -> MeasuredCase:
        """The answer to a task. Raises what `measure` raises there."""
        from distributed import KilledWorker

        try:
            found = future.result()
        except KilledWorker as error:
            return MeasuredCase(died(task, self.plan, f"its workers ended ({error.last_worker.address})"))
        finally:
            future.release()
        if isinstance(found, BenchError):
            raise found
        measured: MeasuredCase = found
        return measured


# ---------------------------------------------------------------- on a worker


@functools.lru_cache(maxsize=2)
def _plan(data: bytes) -> Measuring:
    """The plan of a comparison, built once from its names and specs."""
    plan: Measuring = pickle.loads(zlib.decompress(data))
    return plan


def _measured_there(sent: bytes, plan: bytes, labels: Mapping[str, Any]) -> MeasuredCase | BenchError:
    given: Trace | StoredTrace = pickle.loads(zlib.decompress(sent))
    try:
        trace = given.read() if isinstance(given, StoredTrace) else given
    except BenchError as error:
        return error
    with _ONE_AT_A_TIME:  # a worker may have several threads
        return answer(trace, _plan(plan), labels)


def _forget(plan: bytes) -> None:
    """End the child processes of a plan."""
    with _ONE_AT_A_TIME:
        end_children(_plan(plan))
        _plan.cache_clear()
