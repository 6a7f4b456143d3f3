"""Cases in processes: the same bytes as in one, a process that dies costs its own case alone, and none is left behind."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bench.run.case import Measuring, measured
from bench.run.engines import Task, processes
from compared import untimed, untimed_xml
from generated import traces as drawn_traces
from handmade import SMALL, opened, result, shell
from hypothesis import given
from repository import bench as bench_command

import bench
from bench.metrics import metrics
from bench.model import ModelTurn
from bench.model.errors import BenchError, SpecError
from bench.plugins.apart import Limits
from bench.strategies import parse_strategy
from bench.traces.formats.native import encode_trace

ROOT = Path(__file__).parents[2]

SCENARIO = """
title = "In processes"
traces = ["runs"]

[strategies]
mine = { summarizer = "mine.py:cut" }
mask = { compactor = "mask_observations:keep_last=1" }

[[gates]]
metric = "needed.recall"
min = 0.9
over = "worst_case"

[[gates]]
metric = "loss.fact_recall.end"
min = 0.99

[labels.facts]
routes = { "3" = "abort" }
"""
CUT = "def cut(result):\n    return result.text[:8]\n"


def facts(name, text="found 4711 rows in /data/x.csv "):
    return opened([result(text * 4, index=2), ModelTurn(index=3, content="4711")], id=name)


TRACES = [facts("facts"), *(opened(shell(turns, start=2), id=f"shell_{turns}") for turns in (3, 4, 5)), facts("more")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with five traces and a scenario, in which the process works."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for trace in TRACES:
        (tmp_path / "runs" / f"{trace.id}.jsonl").write_bytes(encode_trace(trace))
    (tmp_path / "one.toml").write_text(SCENARIO)
    (tmp_path / "mine.py").write_text(CUT)
    return tmp_path


def command(*arguments):
    return [sys.executable, "-m", "bench", *map(str, arguments)]


def environment():
    return {"PYTHONPATH": str(ROOT), "HOME": str(Path.home()), "PATH": "/usr/bin:/bin", "BENCH_CACHE": "off"}


@pytest.fixture
def run(folder, capfd):
    """Run a command in this process; its exit code, and what it and its workers print."""

    def done(*arguments):
        capfd.readouterr()
        return (bench_command(*arguments), *capfd.readouterr())

    return done


# ---------------------------------------------------------------- the same


@pytest.mark.slow
def test_any_number_of_jobs_gives_the_same_bytes(folder, run):
    endings = (".json", ".csv", ".md", ".txt", ".xml", ".html")
    made = {}
    for jobs in (1, 3):
        outputs = [part for ending in endings for part in ("-o", f"{jobs}/x{ending}")]
        code, out, err = run("run", "one.toml", "--jobs", jobs, *outputs)
        assert (code, err) == (1, "")
        made[jobs] = [untimed_xml((folder / str(jobs) / f"x{ending}").read_bytes()) for ending in endings]
        made[jobs].append(out.replace(f"{jobs}/x", "x").encode())
    assert made[1] == made[3]
    assert len(json.loads(made[3][0])["cases"]) == 5


def test_compare_in_processes_is_compare(folder):
    strategies = {"mine": lambda result: result.text[:30], "mask": "compactor=mask_observations"}
    one, several = (bench.compare(TRACES, strategies, jobs=jobs) for jobs in (1, 3))
    assert untimed(several) == untimed(one)


@given(drawn_traces(extras=True))
def test_a_trace_that_was_sent_to_a_process_is_the_same_trace(trace):
    """What msgspec leaves out of JSON depends on which object a default is; neither the hash nor the file may."""
    sent = pickle.loads(pickle.dumps(trace))
    assert sent == trace
    assert sent.sha256 == trace.sha256
    assert encode_trace(sent) == encode_trace(trace)


@pytest.mark.parametrize("name", SMALL)
def test_odd_traces_survive_the_way_to_a_process(name):
    sent = pickle.loads(pickle.dumps(SMALL[name]))
    assert (repr(sent), sent.sha256) == (repr(SMALL[name]), SMALL[name].sha256)


def test_no_more_traces_are_taken_than_are_worked_on():
    taken, done = [], 0

    def source():
        for number in range(8):
            taken.append(number)
            yield Task(opened(shell(1, start=2), id=f"t{number}"), {})

    measuring = Measuring((parse_strategy("keep_all"),), tuple(metrics().values())[:3])
    for _ in processes(2)(measuring, source()):
        done += 1
        assert len(taken) <= done + 2
    assert done == len(taken) == 8


# ---------------------------------------------------------------- what goes wrong

DIES = """
import os, pathlib, signal

def cut(result):
    {how}
    return result.text[:8]
"""
HOWS = {
    "signal 9": "('more' in result.text) and os.kill(os.getpid(), signal.SIGKILL)",
    "exit code 7": "('more' in result.text) and os._exit(7)",
}


def rows(document, case=None):
    return [row for row in document["rows"] if case is None or row["case"] == case]


@pytest.fixture
def deadly(folder):
    """The folder, with one case on whose text a strategy can die."""
    (folder / "runs" / "more.jsonl").write_bytes(encode_trace(facts("more", "more: 4711 rows in /data/x.csv ")))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("died", ["signal 9", "exit code 7"])
def test_a_process_that_dies_costs_its_own_case_alone(deadly, run, died):
    assert run("run", "one.toml", "--jobs", 2, "-o", "whole.json")[0] == 1
    (deadly / "mine.py").write_text(DIES.format(how=HOWS[died]))
    code, out, err = run("run", "one.toml", "--jobs", 2, "-o", "x.json", "-o", "x.html")
    assert (code, err) == (1, "")
    whole, found = (json.loads((deadly / name).read_text()) for name in ("whole.json", "x.json"))
    lost = [row for row in rows(found, "more") if row["strategy"] == "mine"]
    assert {(row["value"], row["reason"]) for row in lost} == {
        (None, f"strategy raised: it ended its process ({died}) — a strategy returns or raises")
    }
    assert [row for row in rows(found) if row not in lost] == [
        row for row in rows(whole) if (row["case"], row["strategy"]) != ("more", "mine")
    ]
    assert f"it ended its process ({died})" in " ".join(out.split())


class Deadly:
    """A measurement that ends its process over one case, as often as it is told."""

    def __init__(self, folder, times):
        self.folder, self.times = folder, times

    def __call__(self, trace, measuring, labels):
        marks = len(list(self.folder.glob("died-*")))
        if trace.id == "more" and marks < self.times:
            (self.folder / f"died-{marks}").touch()
            os._exit(3)
        return measured(trace, measuring, labels)


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2])
def test_a_worker_that_dies_costs_its_case_a_second_try(tmp_path, monkeypatch, times):
    whole = bench.compare(TRACES, ["keep_all"])
    monkeypatch.setattr("bench.run.engines.measured", Deadly(tmp_path, times))
    found = bench.compare(TRACES, ["keep_all"], jobs=2)
    lost = {row.reason for row in found.rows if row.case == "more"}
    said = "the process that measured this case died 2 times: it ended its process (exit code 3)"
    assert (found.rows == whole.rows) == (times == 1)
    assert times == 1 or all(said in (reason or "") for reason in lost)
    assert [row for row in found.rows if row.case != "more"] == [row for row in whole.rows if row.case != "more"]


@pytest.mark.slow
def test_what_is_wrong_with_a_trace_or_a_scenario_is_the_same_line(folder, run):
    (folder / "one.toml").write_text(SCENARIO.replace("[labels.facts]", "[labels.fatcs]"))
    said = {jobs: run("run", "one.toml", "--jobs", jobs) for jobs in (1, 2)}
    assert said[1] == said[2]
    assert said[1][0] == 2
    assert "labels for unknown case 'fatcs' — did you mean facts?" in said[1][2]


def test_a_defect_in_a_process_is_one_line_with_its_place(folder, monkeypatch):
    def broken(*given):
        return {}["nowhere"]

    monkeypatch.setattr("bench.run.case.case_row", broken)
    with pytest.raises(BenchError, match=r"^defect in bench at test_workers\.py:\d+: KeyError: 'nowhere'"):
        bench.compare(TRACES, ["keep_all"], jobs=2)
    monkeypatch.setattr("bench.run.engines.measured", Refuses())
    with pytest.raises(BenchError, match=r"^as it is$"):
        bench.compare(TRACES, ["keep_all"], jobs=2)


class Refuses:
    """A measurement of what cannot be measured."""

    def __call__(self, trace, measuring, labels):
        raise BenchError("as it is")


# ---------------------------------------------------------------- nothing left behind

SLOW = """
import os, pathlib, subprocess, time

def cut(result):
    pathlib.Path(f"pid-{os.getpid()}").touch()
    if not pathlib.Path("child").exists():
        pathlib.Path("child").write_text(str(subprocess.Popen(["sleep", "600"]).pid))
    time.sleep(600)
    return result.text
"""


def alive(pid):
    """Whether a process runs; one that ended and was not yet waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def until(met, seconds=30.0):
    """Wait until something holds; whether it did."""
    end = time.monotonic() + seconds
    while not met():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def below(pid):
    """The processes that a process started, and those that they started."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            found.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
        except (OSError, IndexError):
            continue
    return [item for child in found.get(pid, []) for item in (child, *below(child))]


@pytest.fixture
def slow(folder):
    """A run in two processes that are in the middle of their cases, with all of its processes. Nothing of it outlives the test."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("processes are looked up in /proc")
    (folder / "mine.py").write_text(SLOW)
    started = subprocess.Popen(
        command("run", "one.toml", "--jobs", 2), cwd=folder, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert until(
        lambda: len(list(folder.glob("pid-*"))) == 2 and (folder / "child").exists() and (folder / "child").read_text()
    )
    everyone = below(started.pid)
    assert len(everyone) >= 3, "two workers and what a strategy started"
    yield started, everyone
    for pid in [started.pid, *everyone]:
        if alive(pid):
            os.kill(pid, signal.SIGKILL)
    started.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("whom", ["the group, as a terminal does", "the process alone"])
def test_ctrl_c_leaves_no_process_behind(slow, whom):
    started, everyone = slow
    if whom == "the process alone":
        os.kill(started.pid, signal.SIGINT)
    else:
        os.killpg(started.pid, signal.SIGINT)
    out, err = started.communicate(timeout=30)
    assert (started.returncode, out, err.strip()) == (130, "", "error: interrupted")
    assert until(lambda: not any(map(alive, everyone)), 5), [pid for pid in everyone if alive(pid)]


@pytest.mark.slow
@pytest.mark.parametrize("does", ["time.sleep(1.5)", "LOCK.acquire() and LOCK.acquire()"])
def test_a_worker_does_not_wait_for_a_parent_that_is_gone(folder, does):
    """Killed outright, the parent cannot end anybody: its workers find their pipes closed, and who waits for a lock is ended by its keeper."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("processes are looked up in /proc")
    (folder / "mine.py").write_text(
        "import os, pathlib, threading, time\n\nLOCK = threading.Lock()\n\ndef cut(result):\n"
        f"    pathlib.Path(f'pid-{{os.getpid()}}').touch()\n    {does}\n    return ''\n"
    )
    started = subprocess.Popen(
        command("run", "one.toml", "--jobs", 2), cwd=folder, env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    assert until(lambda: len(list(folder.glob("pid-*"))) == 2)
    everyone = below(started.pid)
    started.kill()
    started.wait()
    assert len(everyone) >= 6, "two workers, each with a child, its keeper and its fork"
    assert until(lambda: not any(map(alive, everyone))), "they end, at the latest when their case is done"


@pytest.mark.parametrize(("seconds", "mib"), [(0, 4096), (-1, 4096), (float("nan"), 4096), (60, 255), (60, 0)])
def test_limits_that_leave_nothing_to_work_with_are_refused(seconds, mib):
    with pytest.raises(SpecError, match="more than 0 s and at least 256 MiB"):
        Limits(seconds, mib)
    assert Limits(0.1, 256).memory_mib == 256


def test_a_run_that_ends_early_ends_its_processes(folder):
    before = set(below(os.getpid()))
    with pytest.raises(ZeroDivisionError):
        bench.compare(TRACES, ["keep_all"], jobs=2, progress=lambda done, total: 1 / 0)
    assert until(lambda: not any(alive(pid) for pid in {*below(os.getpid())} - before), 10)


@pytest.mark.slow
def test_files_in_folders_with_blanks_have_a_child_each(tmp_path, monkeypatch):
    """One file patches Python for good; the other has another name in the same place of its path."""
    monkeypatch.chdir(tmp_path)
    for folder in ("one b", "two b", "a=1", "b=1"):
        (tmp_path / folder).mkdir()
    patches = "import builtins\nreal = builtins.len\nbuiltins.len = lambda given: 7\n"
    plain = "def cut(result): return result.text[:len(result.text)]\n"
    for bad, good in (("one b", "two b"), ("a=1", "b=1")):
        (tmp_path / bad / "mine.py").write_text(patches + plain)
        (tmp_path / good / "mine.py").write_text(plain)
        both = {bad: {"summarizer": f'"{bad}/mine.py":cut'}, good: {"summarizer": f'"{good}/mine.py":cut'}}
        trace = opened([result("twelve chars", index=2), ModelTurn(index=3, content="x")])
        found = bench.compare(trace, both)
        assert (
            found.value(good, "cost.prompt_tokens")
            == found.value("keep_all", "cost.prompt_tokens")
            != found.value(bad, "cost.prompt_tokens")
        )


@pytest.mark.slow
def test_waiting_is_not_processor_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "import time\ndef waits(r):\n    time.sleep(0.6)\ndef works(r):\n    until = time.process_time() + 0.6\n"
        "    while time.process_time() < until: pass\n"
    )
    trace = opened([result("text", index=2)])
    waits, works = (
        bench.replay(trace, f"m=summarizer=mine.py:{name}", limits=Limits(0.3)).failure for name in ("waits", "works")
    )
    assert waits is None
    assert works.step == -1
