"""The one way a file is written: whole or not at all, with the permissions that it had or that the user's umask says."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
from pathlib import Path

import pytest

from bench.files.writing import (
    folder_in_place,
    scratch,
    settle,
    write_atomically,
    write_new,
    write_together,
    written_together,
)
from bench.model.errors import BenchError


def test_a_file_is_written_whole_and_its_folder_made(tmp_path):
    path = tmp_path / "new" / "folder" / "x.txt"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert [item.name for item in path.parent.iterdir()] == ["x.txt"]


def test_what_cannot_be_written_is_said_and_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("a file")
    with pytest.raises(BenchError, match="cannot be written"):
        write_atomically(tmp_path / "file" / "x.txt", b"one")
    (tmp_path / "folder").mkdir()
    with pytest.raises(BenchError, match="cannot be written"):
        write_atomically(tmp_path / "folder", b"one")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["file", "folder"]


def test_a_write_that_breaks_off_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.txt"
    write_atomically(path, b"old")

    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(BenchError, match=r"x\.txt: cannot be written: No space left on device"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["x.txt"]


def test_permissions_are_those_of_the_old_file_else_what_the_umask_says(tmp_path):
    path = tmp_path / "x.txt"
    before = os.umask(0o027)
    try:
        write_atomically(path, b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write_atomically(path, b"newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def everything(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("breaks", [1, 2, 3])
def test_several_files_give_their_places_back_where_one_cannot_take_its_own(tmp_path, monkeypatch, breaks):
    for name in ("a", "b"):
        write_atomically(tmp_path / name, b"old")
    before, replace, calls = everything(tmp_path), os.replace, []

    def breaking(source, target):
        calls.append(target)
        if len(calls) == breaks:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr("os.replace", breaking)
    with pytest.raises(BenchError, match="cannot be written"):
        write_together({tmp_path / name: b"new" for name in ("a", "b", "c")})
    assert everything(tmp_path) == before


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_takes_its_place_whole_or_not_at_all(tmp_path, there):
    folder = tmp_path / "out"
    if there:
        write_atomically(folder / "old.txt", b"old")
    before = everything(tmp_path)

    def breaks_off():
        with folder_in_place(folder) as stage:
            write_atomically(stage / "deep/one.txt", b"one")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        breaks_off()
    assert everything(tmp_path) == before
    assert folder.exists() == there
    with folder_in_place(folder) as stage:
        write_atomically(stage / "deep/one.txt", b"one")
        assert not (folder / "deep").exists()
    assert everything(tmp_path) == {**before, "out/deep/one.txt": b"one"}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o777 & ~umask()


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_what_a_killed_process_left_is_removed_and_what_a_running_one_has_stays(tmp_path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    (tmp_path / f".x.txt.bench-{ended.pid}-abc").write_text("half")
    (tmp_path / f".x.txt.bench-{os.getppid()}-abc").write_text("on its way")
    (tmp_path / ".x.txt.bench-no-number").write_text("somebody's")
    write_atomically(tmp_path / "x.txt", b"one")
    assert f".x.txt.bench-{ended.pid}-abc" not in everything(tmp_path)
    assert len(everything(tmp_path)) == 3


def test_a_new_file_does_not_take_the_place_of_another(tmp_path):
    assert write_new(tmp_path / "x", b"one")
    assert not write_new(tmp_path / "x", b"two")
    assert everything(tmp_path) == {"x": b"one"}


# ---------------------------------------------------------------- a process that is killed

CALLS = ("link", "replace", "unlink", "fsync", "chmod")


def killed_at(moment, act):
    """Do something in a process that is killed at its n-th call that changes a folder; True if it ended before that."""
    pytest.importorskip("fcntl", reason="the process is forked")
    number = os.fork()
    if number == 0:
        left = [moment]

        def killing(call):
            def called(*given, **named):
                left[0] -= 1
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*given, **named)

            return called

        for name in CALLS:
            setattr(os, name, killing(getattr(os, name)))
        act()
        os._exit(0)
    return os.waitpid(number, 0)[1] == 0


def together(folder):
    write_together({folder / name: b"new" for name in ("a", "b", "c")})


def with_a_history(folder):
    with written_together({folder / "a": b"new", folder / "c": b"new"}, folder / "history"):
        os.chmod(folder / "history", 0o600)
        (folder / "history").write_bytes(b"a run more")
        os.chmod(folder / "history", 0o600)


def a_folder(folder):
    with folder_in_place(folder) as stage:
        for name in ("a", "b", "c"):
            write_atomically(stage / name, b"new")


@pytest.mark.parametrize("act", [together, with_a_history, a_folder])
def test_whenever_a_process_is_killed_the_next_one_leaves_all_or_nothing(act, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    old, ended, moment, found = {"a": b"old", "b": b"old", "history": b"runs"}, False, 0, set()
    while not ended:
        moment += 1
        folder = tmp_path / str(moment)
        folder.mkdir()
        for name, data in old.items():
            (folder / name).write_bytes(data)
        ended = killed_at(moment, lambda folder=folder: act(folder))
        settle()
        assert not list((tmp_path / "state").rglob("[0-9]*-*"))
        visible = {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}
        found.add(frozenset(visible.items()))
        act(folder)
        assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    new = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert found == {frozenset(old.items()), frozenset(new.items())}
    assert moment > 10


def test_what_somebody_changed_since_is_not_taken_back(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    for moment in range(1, 20):
        killed_at(moment, lambda: write_together({Path("a"): b"one", Path("b"): b"two"}))
        Path("a").write_bytes(b"their own")
        settle()
        assert Path("a").read_bytes() == b"their own"


def test_a_journal_that_somebody_planted_removes_nothing_of_theirs(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    file = tmp_path / "kept"
    file.write_text("x")
    about = file.stat()
    planted = tmp_path / "agent-memory-bench" / "writing" / "999999999-x"
    planted.parent.mkdir(parents=True)
    state = [about.st_ino, about.st_size, about.st_mtime_ns]
    move = {"path": str(file), "staged": str(file), "state": state, "old": None}
    planted.write_text(json.dumps({"moves": [move], "decides": None, "was": None}))
    settle()
    assert (file.read_text(), planted.exists()) == ("x", False)


def test_a_scratch_folder_goes_and_the_next_one_removes_that_of_a_killed_process(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / ".here.bench-999999999-x").mkdir()
    with scratch("here") as folder:
        assert [path.name for path in tmp_path.iterdir()] == [folder.name]
    assert not [*tmp_path.iterdir()]


def test_each_command_removes_what_killed_ones_left_here_and_among_temporary_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    ended = subprocess.Popen(["true"])
    ended.wait()
    for folder in (tmp_path, tmp_path / "temporary"):
        folder.mkdir(exist_ok=True)
        for number in (ended.pid, os.getpid()):
            (folder / f".x.html.bench-{number}-abc").write_text("half")
            (folder / f".against.bench-{number}-abc" / "files").mkdir(parents=True)
    os.symlink("temporary", f".linked.bench-{ended.pid}-abc")
    settle()
    left = sorted(path.name for path in tmp_path.rglob(".*.bench-*"))
    stay = [f".against.bench-{os.getpid()}-abc"] * 2 + [f".x.html.bench-{os.getpid()}-abc"] * 2
    assert [name for name in left if "linked" not in name] == stay
