"""Git repositories of anybody: their commits are read, and nothing of theirs is started or fetched."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

import pytest
from repository import commit, git

from bench.files.git import resolve, unpack
from bench.model.errors import BenchError

CODE = Path("scenarios/mine.py")


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch):
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    CODE.parent.mkdir()
    CODE.write_text("first = 1\n")
    CODE.with_suffix(".toml").write_text("")
    commit("start")
    return tmp_path


def test_outside_a_repository_there_is_no_revision(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.setenv("GIT_DIR", str(folder / "none"))
    with pytest.raises(BenchError, match="is in no git repository"):
        resolve(folder, "HEAD")


# ---------------------------------------------------------------- repositories of strangers


@pytest.fixture
def evil_program(tmp_path):
    """A program that leaves a file where it was started, and whether it was."""
    program = tmp_path / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'started'}\ncat\n")
    program.chmod(0o755)
    return program, tmp_path / "started"


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"core.fsmonitor": "{}"},
        {"filter.evil.clean": "{}", "filter.evil.required": "true"},
        {"filter.Evil.process": "{}"},
        {"log.showSignature": "true", "gpg.program": "{}"},
        {"diff.external": "{}", "core.pager": "{}", "pager.log": "{}"},
    ],
)
def test_no_hook_or_filter_of_a_repository_is_run(settings, evil_program):
    program, mark = evil_program
    Path(".gitattributes").write_text("*.py filter=evil\n*.toml filter=Evil\n")
    start = commit("filtered")
    for name, value in settings.items():
        git("config", name, value.format(program))
    for path in (CODE, CODE.with_suffix(".toml")):
        path.write_text(path.read_text() + "\n")
    assert resolve(Path("scenarios"), "HEAD") == start
    there = program.parent / "there"
    unpack(start, Path().resolve(), there)
    assert (there / CODE).read_text() == CODE.read_text().removesuffix("\n")
    assert not mark.exists()


def test_a_missing_revision_is_reported_and_never_fetched(evil_program, tmp_path_factory, monkeypatch):
    program, mark = evil_program
    start = git("rev-parse", "HEAD")
    CODE.write_text("third = 3\n")
    commit("better")
    for name in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        git("config", name, "true")
    part = tmp_path_factory.mktemp("clones") / "part"
    git("clone", "--quiet", "--no-local", "--filter=blob:none", f"file://{Path.cwd()}", str(part))
    monkeypatch.chdir(part)
    git("config", "remote.origin.uploadpack", str(program))
    with pytest.raises(BenchError, match=r"this clone lacks files of it — fetch it"):
        unpack(start, Path().resolve(), tmp_path_factory.mktemp("there") / "files")
    assert not mark.exists()


def test_the_repository_is_that_of_the_folder(tmp_path_factory, monkeypatch):
    other = tmp_path_factory.mktemp("other")
    git("init", "--quiet", str(other))
    git("-C", str(other), "commit", "--quiet", "--allow-empty", "--message", "of another")
    start = git("rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert resolve(Path(), "HEAD") == start


def test_a_tag_is_not_taken_for_the_branch_of_its_name(repository):
    start = git("rev-parse", "HEAD")
    git("branch", "target")
    git("tag", "--annotate", "--message", "same", "target", start)
    assert resolve(Path(), "target") == start
    commit("later")
    git("tag", "--force", "target", "HEAD")
    with pytest.raises(BenchError, match=r"a tag and a branch have this name — write refs/heads/target"):
        resolve(Path(), "target")
    assert resolve(Path(), "refs/heads/target") == start


@pytest.mark.slow
@pytest.mark.parametrize("says", ["a\\000b", "\\377\\n", "", "sleep"])
def test_a_program_that_answers_anything_is_not_taken_for_git(says, tmp_path, monkeypatch):
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{'exec /bin/sleep 60' if says == 'sleep' else f'printf {says!r}'}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr("bench.files.git._ANSWERS_S", 0.3)
    with pytest.raises(BenchError, match=r"in no git repository|no such revision"):
        resolve(Path(), "HEAD")
    monkeypatch.setattr("bench.files.git._UNPACKS_S", 0.3)
    with contextlib.suppress(BenchError):  # one that says nothing and ends well is believed
        unpack("0" * 40, Path(), tmp_path / "there")


def test_a_path_out_of_the_repository_is_refused(tmp_path_factory):
    blob = git("hash-object", "-w", str(CODE))

    def tree(*entries):
        text = "".join(f"{entry}\n" for entry in entries)
        made = subprocess.run(["git", "mktree"], input=text, capture_output=True, text=True, check=True)
        return made.stdout.strip()

    inner = tree(f"100644 blob {blob}\tx.py", f"100644 blob {blob}\tx.txt", f"120000 blob {blob}\tlink.py")
    outer = tree(f"040000 tree {inner}\t..", f"040000 tree {inner}\tinside")
    there = tmp_path_factory.mktemp("there") / "work"
    for tree_of in (outer, "0" * 40):
        with pytest.raises(BenchError, match="this clone lacks files of it"):
            unpack(tree_of, Path(), there)
        assert not list(there.parent.rglob("*.py"))
    unpack(inner, Path(), there)
    assert {path.name for path in there.iterdir()} == {"x.py", "x.txt", "link.py"}
