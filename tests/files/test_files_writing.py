"""The one way a file is written: whole or not at all, with the permissions that it had or that the user's umask says."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from bench.cli import main
from bench.files.writing import write_together
from bench.model.errors import BenchError


def test_a_file_is_written_completely_and_its_folder_created(tmp_path):
    path = tmp_path / "new" / "folder" / "x.txt"
    write_together({path: b"one"})
    write_together({path: b"two"})
    assert path.read_bytes() == b"two"
    assert [item.name for item in path.parent.iterdir()] == ["x.txt"]


def test_a_failed_write_is_reported_and_leaves_no_file(tmp_path):
    (tmp_path / "file").write_text("a file")
    (tmp_path / "folder").mkdir()
    for name in ("file/x.txt", "folder"):
        with pytest.raises(BenchError, match="cannot be written"):
            write_together({tmp_path / name: b"one"})
    assert sorted(item.name for item in tmp_path.iterdir()) == ["file", "folder"]


def test_a_write_that_breaks_off_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.txt"
    write_together({path: b"old"})

    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(BenchError, match=r"x\.txt: cannot be written: No space left on device"):
        write_together({path: b"new"})
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["x.txt"]


def test_permissions_are_those_of_the_old_file_or_of_the_umask(tmp_path):
    path = tmp_path / "x.txt"
    before = os.umask(0o027)
    try:
        write_together({path: b"new"})
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write_together({path: b"newer"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def everything(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_no_file_is_replaced_if_the_place_of_one_is_a_folder(tmp_path):
    write_together({tmp_path / name: b"old" for name in ("a", "b")})
    before = everything(tmp_path)
    (tmp_path / "c").mkdir()
    with pytest.raises(BenchError):
        write_together({tmp_path / name: b"new" for name in ("a", "b", "c")})
    assert everything(tmp_path) == before


def test_files_of_other_processes_are_never_removed(tmp_path, monkeypatch):
    """Hidden files and folders that look like temporary ones of a process that is gone belong to somebody."""
    monkeypatch.chdir(tmp_path)
    for name in (".results.bench-2025/data.csv", ".x.txt.bench-999999999-abc", ".x.txt.bench-1", ".x.txt.bench-"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    before = everything(tmp_path)
    write_together({Path("x.txt"): b"one"})
    write_together({Path("x.txt"): b"two", Path("y.txt"): b"two"})
    with pytest.raises(SystemExit):
        main(["list", "store"])
    assert everything(tmp_path) == {**before, "x.txt": b"two", "y.txt": b"two"}


def test_no_file_is_replaced_if_the_contents_of_one_fail(tmp_path):
    write_together({tmp_path / "a": b"1", tmp_path / "b": iter([b"2", b"3"])})
    assert everything(tmp_path) == {"a": b"1", "b": b"23"}
    with pytest.raises(ZeroDivisionError):
        write_together({tmp_path / "a": b"new", tmp_path / "b": (b"%d" % (1 // n) for n in (1, 0))})
    assert everything(tmp_path) == {"a": b"1", "b": b"23"}
