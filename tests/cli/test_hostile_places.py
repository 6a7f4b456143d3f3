"""Places to write to that are no plain file, or that belong to something else: they are refused, and stay what they were."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from handmade import opened
from repository import BASELINE, SCENARIO, TRACES, bench

import bench as library
from bench.files.limits import read_regular
from bench.files.writing import require_place, write_together
from bench.model import ModelTurn
from bench.model.errors import BenchError
from bench.traces.formats.native import write_traces

ROOT = Path(__file__).parents[2]


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _link(path: Path) -> None:
    Path("other.txt").write_text("mine")
    path.symlink_to("other.txt")


PLACES: dict[str, Callable[[Path], None]] = {
    "a link": _link,
    "a link to nowhere": lambda path: path.symlink_to("gone/other.txt"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a pipe": os.mkfifo,
    "a socket": _socket,
}


@pytest.mark.parametrize("name", PLACES)
def test_no_file_takes_the_place_of_what_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    PLACES[name](Path("x.html"))
    before = Path("x.html").lstat()
    with pytest.raises(BenchError, match=r"x\.html: is a (link|pipe).*whose place a file would take"):
        write_together({Path("a.json"): b"a", Path("x.html"): b"x"})
    assert (Path("x.html").lstat().st_mode, Path("x.html").lstat().st_ino) == (before.st_mode, before.st_ino)
    assert not Path("a.json").exists(), "all or none"
    assert not Path("other.txt").exists() or Path("other.txt").read_text() == "mine"


def test_a_file_or_nothing_is_a_place(tmp_path: Path) -> None:
    (tmp_path / "x.html").write_text("old")
    require_place([tmp_path / "x.html", tmp_path / "new" / "y.html", tmp_path, Path("a\0b")])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("run", SCENARIO, "-o", "a.json", "-o", "x.html"), "x.html"),
        (("compare", "s.json", "s.json", "-o", "x.html"), "x.html"),
        (("import", TRACES, "-o", "x.jsonl.gz"), "x.jsonl.gz"),
        (("import", TRACES / "survey.jsonl", "-o", "out"), "out/survey.jsonl.gz"),
        (("run", SCENARIO, "--update-baseline"), str(BASELINE)),
    ],
)
def test_every_command_refuses_a_link_before_it_works(
    repository: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str],
    place: str,
) -> None:
    if arguments[0] == "compare":
        assert bench("run", SCENARIO, "-o", "s.json") == 0
    Path(place).parent.mkdir(exist_ok=True)
    Path(place).unlink(missing_ok=True)
    Path("kept").write_text("mine")
    Path(place).symlink_to(os.path.relpath("kept", Path(place).parent))
    monkeypatch.setattr("bench.run.verbs.Replayer", lambda *given: pytest.fail("replayed"))
    capsys.readouterr()
    assert bench(*arguments) == 2
    said = capsys.readouterr().err
    assert f"{place}: is a link to " in said
    assert said.count("\n") == 1
    assert Path(place).is_symlink()
    assert Path("kept").read_text() == "mine"


@pytest.mark.slow
def test_the_starter_is_written_whole_or_not_at_all(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "new" / "scenarios" / "summarizers.py").mkdir(parents=True)
    assert bench("init", "new", "--force") == 2
    assert "cannot be written: Is a directory" in capsys.readouterr().err
    assert [path.name for path in Path("new").rglob("*") if path.is_file()] == []
    shutil.rmtree("new")
    Path("new/scenarios").mkdir(parents=True)
    Path("new/scenarios/summarizers.py").symlink_to("nowhere.py")
    assert bench("init", "new") == 2
    assert "is there already" in capsys.readouterr().err


# ---------------------------------------------------------------- the summary of a job


@pytest.mark.slow
def test_a_summary_that_nobody_reads_is_not_waited_for(repository: Path) -> None:
    os.mkfifo("summary")
    environment = {**os.environ, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "summary", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "bench", "run", str(SCENARIO)],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "error: GITHUB_STEP_SUMMARY: summary: No such device or address" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("place", ["nowhere/x", "."])
def test_nothing_is_written_where_the_summary_cannot_be(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", place)
    assert bench("run", SCENARIO, "-o", "x.md") == 2
    assert f"GITHUB_STEP_SUMMARY: {place}: " in capsys.readouterr().err
    assert not Path("x.md").exists()


@pytest.mark.slow
@pytest.mark.parametrize("place", [TRACES / "survey.jsonl", SCENARIO, BASELINE, "x.md"])
def test_a_summary_is_added_to_nothing_of_the_run(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(repository / place))
    before = Path(place).read_bytes() if Path(place).exists() else None
    assert bench("run", SCENARIO, "-o", "x.md") == 2
    assert "which writing it would destroy" in capsys.readouterr().err
    assert before == (Path(place).read_bytes() if before is not None else None)


# ---------------------------------------------------------------- imported files


@pytest.mark.parametrize(
    "ids",
    [("a:b", "a_b"), ("p" * 130 + "1", "p" * 130 + "2"), ("🙂", "🙃"), ("Run", "run"), ("caf\u00e9", "cafe\u0301"),
     ("..", "."), ("/a", "a"), ("a//b", "a/b"), ("x", "x-2", "x", "X"), (".git/config", "git/config"), ("ſ", "s")],
)  # fmt: skip
def test_every_imported_trace_has_a_file_of_its_own(tmp_path: Path, ids: tuple[str, ...]) -> None:
    known = dict.fromkeys(ids)
    traces = [opened([ModelTurn(index=2, content=name)], id=name) for name in known]
    write_traces(traces, tmp_path / "all.jsonl")
    assert bench("import", tmp_path / "all.jsonl", "-o", tmp_path / "out") == 0
    assert {trace.id for trace in library.load(tmp_path / "out").traces} == set(known), "and none of them is hidden"


# ---------------------------------------------------------------- files without an end, and folders that cannot be listed


def test_a_regular_file_that_would_have_us_wait_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Waiting:
        def read(self, size: int) -> None:
            return None

        def __enter__(self) -> Waiting:
            return self

        def __exit__(self, *error: object) -> None:
            os.close(self.descriptor)

        def __init__(self, descriptor: int, mode: str) -> None:
            self.descriptor = descriptor

    (tmp_path / "kmsg").write_bytes(b"")
    monkeypatch.setattr("os.fdopen", Waiting)
    with pytest.raises(OSError, match="is no file with an end"):
        read_regular(tmp_path / "kmsg")


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["**", "**/*.jsonl"])
def test_a_folder_that_a_pattern_cannot_list_is_an_error_of_the_pattern(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], pattern: str
) -> None:
    scandir = os.scandir

    def unlisted(place: str) -> object:
        if Path(place).name == "traces":
            raise OSError(22, "Invalid argument", str(place))
        return scandir(place)

    monkeypatch.setattr("os.scandir", unlisted)
    SCENARIO.write_text(SCENARIO.read_text().replace('"traces"', f'"{pattern}"').replace("traces/*.jsonl", pattern))
    assert bench("run", SCENARIO) == 2
    said = capsys.readouterr().err
    assert "traces cannot be listed: Invalid argument — give a narrower pattern" in said
    assert str(SCENARIO) in said


def test_a_pattern_that_matches_everything_is_told_early(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(30):
        Path(f"many/{number}").mkdir(parents=True)
    monkeypatch.setenv("BENCH_LIMITS", "files=10")
    assert bench("run", "--traces", "**") == 2
    assert "**: holds more than 10 files" in capsys.readouterr().err
