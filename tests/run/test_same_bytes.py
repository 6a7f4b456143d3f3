"""The same bytes wherever runs are measured: in one process, in several, on a cluster, and where one of these is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest
from handmade import conversation_of, shell
from warm import processes_in

import bench
from bench.model.errors import BenchError
from bench.run.executors import Workers
from bench.traces.formats.native import write_traces

ROOT = Path(__file__).parents[2]
PRINT = """
import sys, msgspec, bench
found = bench.compare("traces/analysis/aborted.jsonl", sys.argv[1:])
sys.stdout.buffer.write(msgspec.json.encode([found.runs, found.gates, found.advice, found.signature]))
"""
STRATEGIES = (
    "old=summarizer=head_tail+compactor=summarize_old:max_tokens=4000,threshold=0.5+store=truncate+evaluator=step_v1",
    "apart=compactor=separate_commands:max_tokens=4000+store=external+routers=[executor,step_evaluator]",
)
KILLS = """import os, pathlib, time
def f(result):
    mark = pathlib.Path(__file__).with_name("kill")
    if result.index == 5 and not mark.exists():
        number = os.getppid()
        for _ in range(3):  # above: the server, the importer, the warden
            number = int(pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
        mark.write_text(str(number))
        time.sleep(20)
    return result.text[:9]
"""


def kill_once(mark):
    """Kill the process that a strategy names as the one that measures it."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with contextlib.suppress(OSError, ValueError):
            return os.kill(int(mark.read_text()), signal.SIGKILL)
        time.sleep(0.02)


@pytest.mark.slow
def test_processes_with_other_hash_seeds_give_the_same_bytes():
    first, second = (
        subprocess.run(
            [sys.executable, "-c", PRINT, *STRATEGIES],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "BENCH_CACHE": "off"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in "12"
    )
    assert len(first) > 10_000
    assert first == second


@pytest.fixture
def compared(tmp_path, monkeypatch):
    """A function that compares a strategy of a file on nine runs, in some place; the bytes of what it found."""
    monkeypatch.chdir(tmp_path)
    runs = [conversation_of(shell(3, start=2), id=f"run_{number}") for number in range(9)]

    def compare(code, **where):
        Path("mine.py").write_text(code)
        found = bench.compare(runs, ["mine=summarizer=mine.py:f"], **where)
        assert [score.failure for run in found.runs for score in run.scores if score.failure] == []
        return msgspec.json.encode([found.runs, found.advice])

    return compare


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs the parent of a process")
def test_a_killed_worker_of_three_changes_nothing(compared, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("BENCH_WRITABLE", os.getcwd())
    cluster = distributed.LocalCluster(3, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs="ERROR")
    here = compared(KILLS.replace("if result.index", "if False and result.index"))
    killer = threading.Thread(target=kill_once, args=(Path("kill").absolute(),))
    killer.start()
    with cluster:
        assert compared(KILLS, jobs=3, engine=cluster.scheduler_address) == here
    killer.join()
    assert Path("kill").exists()


def ends_its_worker(plan, task):
    os._exit(1)


@pytest.mark.slow
def test_a_run_that_ends_every_worker_is_an_error_of_the_user():
    distributed = pytest.importorskip("distributed")
    import dask as settings

    with (
        settings.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(1, dashboard_address="127.0.0.1:0", silence_logs="CRITICAL") as cluster,
        pytest.raises(BenchError, match="ended several workers"),
        Workers(1, cluster.scheduler_address) as jobs,
    ):
        list(jobs.results(ends_its_worker, None, [1]))


def test_two_jobs_give_the_same_bytes_as_one(compared):
    code = "def f(result):\n    return result.text[:9]\n"
    assert compared(code, jobs=2) == compared(code)


SLEEPS = "import time\ndef f(result):\n    time.sleep(0.05)\n    return result.text[:9]\n"
SEES_PROCESSES = pytest.mark.skipif(
    not Path("/proc/self/cwd").exists(), reason="needs to see the processes in a folder"
)
COMPARES = 'import bench\nbench.compare("runs.jsonl", ["mine=summarizer=mine.py:f"], jobs=2)\n'


@contextlib.contextmanager
def running_here(command, processes):
    """A command in this folder, which has started so many processes."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, env=environment, start_new_session=True, stderr=subprocess.PIPE, text=True
    ) as running:
        until = time.monotonic() + 60
        while (found := len(processes_in(Path.cwd()))) < processes and time.monotonic() < until:
            time.sleep(0.05)
        try:
            assert found >= processes
            yield running
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)


@pytest.mark.slow
@SEES_PROCESSES
def test_a_killed_comparison_leaves_no_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(SLEEPS)
    write_traces([conversation_of(shell(3, start=2), id=f"run_{number}") for number in range(40)], Path("runs.jsonl"))
    with running_here([sys.executable, "-c", COMPARES], processes=6) as running:
        running.kill()
        running.wait()
        until = time.monotonic() + 10
        while processes_in(tmp_path) and time.monotonic() < until:
            time.sleep(0.05)
        assert processes_in(tmp_path) == []
