"""Many machines: the plan of a comparison is plain data, and a Dask scheduler gives the bytes of one process, whatever dies."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from bench.plugins.apart import Limits
from bench.run.case import Measuring, measure
from bench.run.engines import Task
from bench.run.job import Times
from bench.strategies.loading import put_together
from handmade import opened, shell

from bench.metrics import metrics
from bench.model.errors import BenchError
from bench.reports import report_pieces
from bench.run.verbs import compare, run_scenario
from bench.strategies import parse_strategy
from bench.traces.formats.native import encode_trace

SCENARIO = """
title = "On a cluster"
traces = ["runs"]
[strategies]
mask = { compactor = "mask_observations:keep_last=1" }
mine = { summarizer = "mine.py:cut" }
"""
SLOW = "import time\ndef cut(result):\n    time.sleep(0.05)\n    return result.text[:9]\n"
CASES = 8


def test_a_plan_is_its_names_and_specs_in_another_process(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def cut(result):\n    return result.text[:9]\n")
    items = [("old", "compactor=summarize_old:max_tokens=900"), ("mine", "summarizer=mine.py:cut")]
    given = put_together(items, tmp_path, Limits())
    plan = Measuring((*given, parse_strategy("keep_all")), tuple(metrics().values())[:9])
    data = pickle.dumps(plan)
    there = pickle.loads(data)
    assert len(data) < 10_000
    assert [str(item) for item in there.strategies] == [str(item) for item in plan.strategies]
    trace = opened(shell(2, start=2))
    try:
        assert measure(trace, there).rows == measure(trace, plan).rows
    finally:
        for strategy in (*given, *there.strategies):
            if strategy.apart is not None:
                strategy.apart.child.stop()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    for number in range(CASES):
        trace = opened(shell(2 + number % 3, start=2), id=f"run_{number:02}")
        (tmp_path / "runs" / f"{trace.id}.jsonl").write_bytes(encode_trace(trace))
    (tmp_path / "s.toml").write_text(SCENARIO)
    (tmp_path / "mine.py").write_text(SLOW)
    return tmp_path


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_real_scheduler_with_two_workers_one_of_them_killed_loses_nothing(folder: Path) -> None:
    """Seconds: a scheduler and two workers are processes that load everything."""
    distributed = pytest.importorskip("distributed")
    from bench.run.cluster import dask

    expected = b"".join(report_pieces([run_scenario(folder / "s.toml", jobs=1)], folder / "x.json"))
    killed: list[int] = []
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        pids = [worker.process.pid for worker in cluster.workers.values()]
        progressed = threading.Event()

        def kill() -> None:
            progressed.wait(60)
            os.kill(pids[1], signal.SIGKILL)
            killed.append(pids[1])

        killer = threading.Thread(target=kill)
        killer.start()
        times = Times()
        found = run_scenario(
            folder / "s.toml",
            engine=dask(cluster.scheduler_address, 2),
            times=times,
            progress=lambda done, total: progressed.set() if done == 2 else None,
        )
        killer.join()
    assert killed
    assert b"".join(report_pieces([found], folder / "x.json")) == expected
    assert len(times.seconds["mine"]) == CASES, "each case was measured once, as far as anybody was told"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_workers_are_started_here_and_read_traces_themselves_and_what_cannot_be_sent_is_said(folder: Path) -> None:
    """Seconds: as above."""
    pytest.importorskip("distributed")
    from bench.run.cluster import dask

    strategies = {"mine": "summarizer=mine.py:cut"}
    here = compare(str(folder / "runs"), strategies, base=folder)
    there = compare(f"file://{folder}/runs", strategies, base=folder, engine=dask(None, 1))
    assert there.rows == here.rows
    lock = threading.Lock()
    with pytest.raises(BenchError, match="a function cannot be sent to other machines"):
        compare(opened(shell(1)), {"mine": lambda result: str(lock)}, engine=dask(None, 1))
    with pytest.raises(BenchError, match=r"no Dask scheduler answers at nowhere"):
        compare(opened(shell(1)), "keep_all", engine=dask("nowhere", 1))


def test_without_any_worker_a_case_is_given_and_nobody_answering_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    from bench.run import cluster

    class Client:
        def nthreads(self) -> dict[str, int]:
            return {}

        def submit(self, *given: object, **options: object) -> SimpleNamespace:
            return SimpleNamespace(key="1")

        def run(self, *given: object) -> None:
            pass

    monkeypatch.setattr(
        distributed, "as_completed", lambda: SimpleNamespace(add=lambda given: None, has_ready=lambda: False)
    )
    monkeypatch.setattr(cluster, "_LOOKS_S", 0.001)
    monkeypatch.setattr(cluster, "_ALONE_S", 0.002)
    with pytest.raises(BenchError, match="the Dask scheduler has no worker"):
        list(cluster._Asked(Client(), "a plan").cases(iter([Task(shell(1), {})])))
