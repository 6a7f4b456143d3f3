"""Runs that are killed at random moments, that run beside each other, and whose disk is full or read-only: what they leave behind is whole.

`KILLS` in the environment says how many kills there are; `make kills` makes 100.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from pathlib import Path

import pytest
from repository import BASELINE, SCENARIO, SUMMARIZERS, WORSE, bench as command, init
from warm import Warm, processes_in, run_warm

import bench

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("KILLS", "24"))
ACTS = ("run", "update", "import", "init", "audit")
OUTPUTS = ("x.html", "x.json", "x.md")


@pytest.fixture
def folder(tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(
        "BENCH_CACHE", str(tmp_path_factory.mktemp("kept") / "kept.sqlite")
    )  # what is kept is written to as well
    init()
    return tmp_path


def start(act, folder):
    """A process that does one of the acts."""
    arguments = {
        "run": ["run", SCENARIO, *(f"-o{name}" for name in OUTPUTS)],
        "update": ["run", SCENARIO, "--update-baseline", "-ox.json"],
        "import": ["import", "scenarios/traces", "-o", "all.jsonl.gz"],
        "init": ["init", "traces"],
        "audit": ["audit", "scenarios/traces", "-o", "x.html", "-o", "x.json", "-o", "x.md"],
    }[act]
    new = folder / "new"
    shutil.copytree(folder / "scenarios/traces", new / "traces", dirs_exist_ok=True)
    return Warm("bench", arguments, new if act == "init" else folder)


def clear():
    """Remove what acts write, since some refuse to write over it."""
    for name in (*OUTPUTS, "all.jsonl.gz", "out.jsonl"):
        Path(name).unlink(missing_ok=True)
    shutil.rmtree("new", ignore_errors=True)


def check_whole(act, said, before):
    """Files that an act left behind, whenever it was killed, are complete or absent."""
    for name in OUTPUTS:
        if Path(name).exists():
            assert Path(name).read_text().rstrip().endswith({"x.html": "</html>"}.get(name, "")), name
    if Path("x.json").exists():
        json.loads(Path("x.json").read_text())
    json.loads(BASELINE.read_text())
    there = [Path(name).exists() for name in OUTPUTS]
    if act in ("run", "audit"):
        assert all(there) or not any(there), "all reports, or none"
    if act == "update":
        assert Path("x.json").exists() == (BASELINE.read_bytes() != before), "the report and the baseline, or none"
    if act == "import" and Path("all.jsonl.gz").exists():
        assert len(bench.load("all.jsonl.gz").traces) == len(bench.load("scenarios/traces").traces)
    if act == "init":
        written = [
            path
            for path in Path("new").rglob("*")
            if path.is_file() and path.parts[1] != "traces" and ".bench-" not in str(path)
        ]
        assert len(written) in (0, 4), "all files, or none"


@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS)
def test_a_kill_at_any_moment_leaves_no_partial_file(folder, act):
    """Each kill falls at a random moment of the time that the act takes; a run after it works as if there had been none."""
    chance = random.Random(act)
    whole = accepted = BASELINE.read_bytes()
    if act == "update":
        SUMMARIZERS.write_text(WORSE)
    begun = time.monotonic()
    assert start(act, folder).wait(120) in (0, 1)
    took = time.monotonic() - begun
    ours = set(processes_in(folder))  # some of them are about to end
    killed = ended = 0
    for _ in range(max(1, KILLS // len(ACTS))):
        clear()
        BASELINE.write_bytes(accepted)
        running = start(act, folder)
        if running.wait(chance.uniform(0, took)) is None:
            running.kill()
            killed += 1
        else:
            ended += 1
        check_whole(act, running.printed[0], whole)
    assert killed + ended == max(1, KILLS // len(ACTS))
    until = time.monotonic() + 20
    while not ours.issuperset(processes_in(folder)) and time.monotonic() < until:
        time.sleep(0.05)
    assert ours.issuperset(processes_in(folder)), "what a killed process started ends with it"
    clear()
    assert start(act, folder).wait(120) in (0, 1)
    assert len(list(Path().rglob(".*.bench-*"))) <= killed * len(OUTPUTS), "hidden files of those killed alone"
    print(f"\n{act}: {killed} killed, {ended} ended before, within {took:.1f} s; nothing half done")


@pytest.mark.slow
def test_two_simultaneous_runs_both_succeed(folder):
    """Reports are one of the two, whole."""
    both = [start("run", folder) for _ in range(2)]
    assert [running.wait(120) for running in both] == [0, 0]
    check_whole("run", "", b"")


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
del sys.argv[1]
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
from bench.cli import main
main(sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1000, 20_000])
def test_a_full_disk_leaves_the_old_files(folder, limit):
    """No file may grow above the limit: the run fails with one line, and neither a report nor a baseline is touched."""
    pytest.importorskip("resource")
    assert command("run", SCENARIO, "-o", "x.json", "-o", "x.html") == 0
    SUMMARIZERS.write_text(WORSE)
    kept = {
        path: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    arguments = ["run", SCENARIO, "--update-baseline", "-o", "x.json", "-o", "x.html"]
    done = run_warm("-c", FULL, limit, *arguments, cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "Traceback" not in done.stderr
    now = {
        path: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert now == kept


@pytest.mark.slow
def test_a_read_only_folder_prints_one_line(folder, capsys):
    if os.geteuid() == 0:
        pytest.skip("no folder is read-only for root")
    (folder / "locked").mkdir(mode=0o500)
    assert command("run", SCENARIO, "-o", "y.json", "-o", "locked/x.json") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not Path("y.json").exists()
