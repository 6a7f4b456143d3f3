"""The cache of cases: the same bytes with and without it, and nothing that changed is hidden by it."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import bench.run.case
import pytest
from bench.plugins.touched import Touched
from bench.run.cache import CaseCache, identity, outside
from handmade import opened, shell
from repository import bench as bench_command

from bench.files.cache import Cache, cache_of_cases
from bench.model.errors import BenchError
from bench.reports import report_pieces
from bench.run.verbs import compare, run_scenario
from bench.strategies import parse_strategy
from bench.traces.formats.native import encode_trace

ROOT = Path(__file__).parents[2]
SCENARIO = """
title = "CaseCache"
traces = ["runs"]
[strategies]
mask = { compactor = "mask_observations:keep_last=1" }
mine = { summarizer = "mine.py:cut" }
"""
MINE = "from rules import most\ndef cut(result):\n    return result.text[:most()]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two traces and a scenario whose strategy imports a module beside it, which reads a file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bench.run.job.REFERENCES", ("keep_all", "recorded", "floor"))
    (tmp_path / "runs").mkdir()
    for turns in (2, 3):
        trace = opened(shell(turns, start=2), id=f"run_{turns}")
        (tmp_path / "runs" / f"{trace.id}.jsonl").write_bytes(encode_trace(trace))
    (tmp_path / "s.toml").write_text(SCENARIO)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "rules.py").write_text(
        "import os\ndef most():\n    return int(open(__file__[:-8] + 'most.txt').read()) + len(os.environ.get('MORE', ''))\n"
    )
    (tmp_path / "most.txt").write_text("9")
    return tmp_path


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The strategies that were really replayed, in order; empty it between runs."""
    done: list[str] = []
    real = bench.run.case.replayed

    def counted(replayer, strategy):
        done.append(strategy.name)
        return real(replayer, strategy)

    monkeypatch.setattr(bench.run.case, "replayed", counted)
    return done


def made(folder: Path, **given) -> bytes:
    """The bytes of a report of the scenario."""
    kept = {"case_cache": Cache(folder / "kept"), **given}
    return b"".join(report_pieces([run_scenario(folder / "s.toml", **kept)], folder / "x.json"))


def test_an_unchanged_run_replays_nothing_and_gives_the_same_bytes(
    folder: Path, replays: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    without = made(folder, case_cache=None)
    first = made(folder)
    assert len(replays) == 2 * 2 * 5
    replays.clear()
    assert made(folder) == first == without
    assert replays == []
    monkeypatch.setenv("BENCH_LIMITS", "cache=1")
    for _, _, path in list(Cache(folder / "kept").files()):
        path.write_bytes(b"damaged")
    assert made(folder) == first
    assert list(Cache(folder / "kept").files()) == [], (
        "what is above the limit goes at the end of a run that keeps something"
    )


def test_one_changed_strategy_is_replayed_alone(folder: Path, replays: list[str]) -> None:
    made(folder)
    replays.clear()
    (folder / "s.toml").write_text(SCENARIO.replace("keep_last=1", "keep_last=2"))
    found = made(folder)
    assert replays == ["mask"] * 2
    assert found == made(folder, case_cache=None)


CHANGES = {
    "a variable": lambda folder: os.environ.update(MORE="abc"),
    "its file": lambda folder: (folder / "mine.py").write_text(MINE.replace("[:most()]", "[:most() + 1]")),
    "a file that it reads": lambda folder: (folder / "most.txt").write_text("12"),
    "a module that it imports": lambda folder: (folder / "rules.py").write_text("def most():\n    return 4\n"),
    "a module that hides another": lambda folder: (folder / "runs" / "x.py").touch() or (folder / "rules").mkdir(),
}


@pytest.mark.slow
def test_what_code_of_a_file_looked_at_is_seen_when_it_changes(
    folder: Path, replays: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MORE", "")
    made(folder)
    for what, change in CHANGES.items():
        replays.clear()
        change(folder)
        found = made(folder)
        assert replays == ["mine"] * 2, what
    assert found == made(folder, case_cache=None)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    ["open('log.txt', 'a').write('x')", "__import__('subprocess').run(['true'])",
     "__import__('socket').socket(__import__('socket').AF_UNIX).connect_ex('/nowhere')"],
)  # fmt: skip
def test_code_whose_effects_nobody_can_know_is_never_kept(folder: Path, replays: list[str], line: str) -> None:
    """Seconds: two runs a line."""
    (folder / "mine.py").write_text(f"def cut(result):\n    {line}\n    return result.text[:5]\n")
    made(folder)
    replays.clear()
    made(folder)
    assert replays == ["mine"] * 2


def test_a_strategy_that_failed_is_tried_again(folder: Path, replays: list[str]) -> None:
    (folder / "mine.py").write_text("def cut(result):\n    raise ValueError('no')\n")
    made(folder)
    replays.clear()
    made(folder)
    assert replays == ["mine"] * 2


def test_what_a_plug_in_of_a_package_gives_is_never_kept() -> None:
    known = parse_strategy("cut=summarizer=truncate:limit=9")
    (plugin,) = known.plugins["summarizer"]
    theirs = replace(plugin, entry=replace(plugin.entry, target=made))
    assert identity(known) is not None
    assert identity(replace(known, plugins={"summarizer": (theirs,)})) is None


def test_a_function_that_was_passed_is_never_kept(tmp_path: Path, replays: list[str]) -> None:
    trace = opened(shell(2, start=2))
    for _ in range(2):
        replays.clear()
        compare(trace, {"mine": lambda result: result.text[:4]}, case_cache=Cache(tmp_path))
    assert replays == ["mine"]


@pytest.mark.slow
def test_settings_that_count_are_part_of_the_key_and_a_damaged_entry_is_none(folder: Path, replays: list[str]) -> None:
    """Seconds: nine runs."""
    first = made(folder)
    damages = (lambda data: data[:-9], lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:], lambda data: b"")
    for damaged in damages:
        for _, _, path in list(Cache(folder / "kept").files()):
            path.write_bytes(damaged(path.read_bytes()))
        replays.clear()
        assert made(folder) == first
        assert len(replays) == 2 * 5
    for said, counts in (("seed = 3", False), ("calibrate = false", True), ('model = "gpt-4o"', True)):
        replays.clear()
        (folder / "s.toml").write_text(said + "\n" + SCENARIO)
        found = made(folder)
        assert bool(replays) == counts
        assert found == made(folder, case_cache=None)


def test_another_trace_and_other_labels_are_measured(folder: Path, replays: list[str]) -> None:
    made(folder)
    replays.clear()
    (folder / "s.toml").write_text(SCENARIO + '[labels.run_2]\nroutes = { "3" = "abort" }\n')
    (folder / "runs" / "run_3.jsonl").write_bytes(encode_trace(opened(shell(5, start=2), id="run_3")))
    found = made(folder)
    assert len(replays) == 2 * 5
    assert found == made(folder, case_cache=None)


class Evil:
    """Runs code when it is read."""

    def __reduce__(self):
        return os.mkdir, ("evil",)


def test_an_entry_that_somebody_wrote_runs_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cache = Cache(tmp_path / "kept")
    cache.put("key", pickle.dumps(Evil()))
    assert CaseCache(cache).get("key") is None
    assert not Path("evil").exists()


def test_it_stays_below_its_limit_and_keeps_what_was_read_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path)
    for number in range(10):
        cache.put(f"k{number}", os.urandom(1000))
        (path,) = [path for _, _, path in cache.files() if cache.folder / path == cache._path(f"k{number}")]
        os.utime(path, (number, number))
    assert cache.get("k0") is not None
    monkeypatch.setenv("BENCH_LIMITS", "cache=5000")
    cache.trim(since=time.time() + 60)
    assert all(cache.get(f"k{number}") for number in (9, 8, 7, 0)), "nothing was written since"
    for at, number in enumerate((1, 2, 3, 4, 5, 6, 7, 8, 9, 0)):
        os.utime(cache._path(f"k{number}"), (at, at))
    cache.trim(since=time.time() - 60)
    assert [number for number in range(10) if cache.get(f"k{number}")] == [0, 7, 8, 9]
    assert cache.clear() > 4000
    assert list(cache.files()) == []


def test_a_folder_that_cannot_be_written_keeps_nothing_and_fails_nothing(folder: Path) -> None:
    (folder / "kept").write_text("a file")
    assert made(folder) == made(folder, case_cache=None)


def test_what_was_looked_at_is_held_against_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    seen = Touched(paths={str(file): ""})
    assert seen.is_as_it_was()
    file.write_text("x")
    assert not seen.is_as_it_was()
    assert not Touched(why="it starts processes").is_as_it_was()


def test_a_cache_that_a_repository_brings_decides_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_CACHE", str(folder / "kept"))
    made(folder)
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    assert cache_of_cases() is not None
    subprocess.run(["git", "-C", str(folder), "add", "--force", "kept"], check=True)
    with pytest.raises(BenchError, match="files are part of a repository"):
        cache_of_cases()


def test_the_command_shows_and_clears_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made(folder)
    monkeypatch.setenv("BENCH_CACHE", str(folder / "kept"))
    for arguments, said in ((["cache"], "14 entries"), (["cache", "--clear"], "14 entries"), (["cache"], "0 entries")):
        assert bench_command(*arguments) == 0
        assert said in capsys.readouterr().out
    monkeypatch.setenv("BENCH_CACHE", "off")
    bench_command("cache")
    assert "nothing is kept" in capsys.readouterr().out


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_where_it_was_in_processes_of_their_own(folder: Path) -> None:
    """Seconds: each run is a process that loads everything."""
    for turns in range(5, 15):
        trace = opened(shell(turns, start=2), id=f"run_{turns}")
        (folder / "runs" / f"{trace.id}.jsonl").write_bytes(encode_trace(trace))
    command = [sys.executable, "-m", "bench", "run", "s.toml", "--jobs", "2", "-o", "x.json", "-o", "x.html"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "BENCH_CACHE": str(folder / "kept")}
    started = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(list(Cache(folder / "kept").files())) < 6 * 8 and time.monotonic() < deadline:
        time.sleep(0.02)
    started.send_signal(signal.SIGKILL)
    started.wait()
    before = len(list(Cache(folder / "kept").files()))
    assert 6 * 8 <= before < 12 * 9, "it was killed in the middle"
    both = [subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0], "two runs share it"
    after = [(folder / name).read_bytes() for name in ("x.json", "x.html")]
    subprocess.run(command, cwd=folder, env={**environment, "BENCH_CACHE": "off"}, check=True, capture_output=True)
    assert [(folder / name).read_bytes() for name in ("x.json", "x.html")] == after


def test_a_metric_of_another_package_is_named(monkeypatch):
    brought = SimpleNamespace(name="theirs", target=pickle.loads)
    monkeypatch.setattr("bench.run.cache.entries", lambda kind: {"theirs": brought} if kind == "metric" else {})
    assert outside.__wrapped__() == "theirs"
    monkeypatch.setattr("bench.run.cache.entries", lambda kind: {})
    assert outside.__wrapped__() == ""
