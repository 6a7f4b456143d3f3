"""`bench run --against REV`: the strategies' files as they were at a revision are the baseline, in one command."""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path

import pytest
from repository import BASELINE, BETTER, SCENARIO, SUMMARIZERS, WORSE, bench, commit, git, init

from bench.files.git import commit_of, resolve, unpack
from bench.model.errors import BenchError


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch, capsys, measured_cases):
    monkeypatch.setenv("BENCH_CACHE", str(measured_cases))
    for name, value in (("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")):
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    init()
    BASELINE.unlink()
    commit("start")
    capsys.readouterr()
    return tmp_path


def scores():
    return json.loads(Path("x.json").read_text())


@pytest.mark.slow
def test_a_worse_file_fails_without_any_stored_baseline(capsys):
    start = git("rev-parse", "HEAD")
    SUMMARIZERS.write_text(WORSE)
    assert bench("run", SCENARIO, "--against", "HEAD", "-o", "x.json") == 1
    assert "went from 1 to 0." in " ".join(capsys.readouterr().out.split())
    assert {"mine", f"mine@{start[:9]}"} <= {row["strategy"] for row in scores()["rows"]}, "the report holds both"
    failed = [item for item in scores()["verdicts"] if item["outcome"] == "fail"]
    assert any(item["metric"] == "needed.recall" and "went from 1 to 0." in item["sentence"] for item in failed)
    assert all("dropped" in item["sentence"] for item in failed)
    signature = scores()["signature"]
    assert set(signature["code"]) == {"summarizers.py:summarize", f"scenarios/summarizers@{start[:9]}.py:summarize"}
    assert str(Path.cwd()) not in Path("x.json").read_text()


@pytest.mark.slow
def test_what_lies_beside_the_file_is_that_of_the_revision_too():
    rules = SUMMARIZERS.with_name("rules.py")
    rules.write_text("LIMIT = 100_000\n")
    SUMMARIZERS.write_text("from rules import LIMIT\n\ndef summarize(result):\n    return result.text[:LIMIT]\n")
    start = commit("a limit beside it")
    rules.write_text("LIMIT = 100\n")
    assert bench("run", SCENARIO, "--against", "HEAD", "-o", "x.json") == 1
    code = scores()["signature"]["code"]
    assert code["rules.py"] != code[f"scenarios/rules.py@{start[:9]}"]


@pytest.mark.slow
def test_what_was_lost_before_too_is_not_said_to_be_new():
    SUMMARIZERS.write_text("def summarize(result):\n    return result.text[:2000]\n")
    commit("cut at 2000")
    SUMMARIZERS.write_text(
        "def summarize(result):\n    return result.text[:2000] if result.index > 10 else 'nothing'\n"
    )
    assert bench("run", SCENARIO, "--against", "HEAD", "-o", "x.json") == 1
    (failed,) = [
        item
        for item in scores()["verdicts"]
        if item["outcome"] == "fail" and item["metric"] == "loss.fact_recall.shown"
    ]
    assert failed["losses"]
    assert not any(line.startswith("step 14 ") for line in failed["losses"]), "step 14 was cut at 2000 before, too"


@pytest.mark.slow
def test_the_same_code_passes_every_gate_and_a_cheaper_one_stays_green():
    commit("again")
    assert bench("run", SCENARIO, "--against", "HEAD~1", "-o", "x.json") == 0
    assert {item["outcome"] for item in scores()["verdicts"]} == {"pass"}
    SUMMARIZERS.write_text(BETTER)
    assert bench("run", SCENARIO, "--against", "HEAD") == 0


@pytest.mark.slow
def test_twice_gives_the_same_bytes():
    SUMMARIZERS.write_text(BETTER)
    made = []
    for _ in range(2):
        assert bench("run", SCENARIO, "--against", "HEAD", "-o", "x.json", "-o", "x.html") == 0
        made.append((Path("x.json").read_bytes(), Path("x.html").read_bytes()))
    assert made[0] == made[1]


@pytest.mark.slow
def test_a_strategy_whose_function_is_new_is_inconclusive_and_says_why():
    SUMMARIZERS.write_text("def short(result):\n    return result.text\n")
    commit("another name")
    SUMMARIZERS.write_text(BETTER)
    assert bench("run", SCENARIO, "--against", "HEAD", "-o", "x.json") == 3
    said = [item["sentence"] for item in scores()["verdicts"] if item["outcome"] == "inconclusive"]
    assert all(f"no mine of HEAD ({git('rev-parse', 'HEAD')[:9]}) to compare with: " in sentence for sentence in said)
    assert all("has no function 'summarize'" in sentence and "baseline" not in sentence for sentence in said)
    assert any("has no function 'summarize'" in item["reason"] for item in scores()["skipped"])


@pytest.mark.slow
def test_a_file_under_another_name_is_held_against_what_it_was():
    SUMMARIZERS.unlink()
    SUMMARIZERS.with_name("other.py").write_text(WORSE)
    SCENARIO.write_text(SCENARIO.read_text().replace("summarizers.py:", "other.py:"))
    assert bench("run", SCENARIO, "--against", "HEAD") == 1


@pytest.mark.slow
def test_a_file_that_did_not_exist_then():
    new = SCENARIO.with_name("new.toml")
    SUMMARIZERS.rename(SUMMARIZERS.with_name("other.py"))
    new.write_text(SCENARIO.read_text().replace("summarizers.py:", "other.py:"))
    assert bench("run", new, "--against", "HEAD", "-o", "x.json") == 3
    assert any("scenarios/other.py did not exist at" in item["reason"] for item in scores()["skipped"])
    assert any("scenarios/other.py did not exist at" in item["sentence"] for item in scores()["verdicts"])


@pytest.mark.slow
@pytest.mark.parametrize("revision", ["no-such-branch", "--help", "HEAD~9"])
def test_a_revision_that_is_not_there_is_one_line(revision, capsys):
    assert bench("run", SCENARIO, f"--against={revision}") == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: {SCENARIO}: {revision}: no such revision in this clone — fetch it")
    assert said.count("\n") == 1


def test_a_new_scenario_without_files_has_nothing_to_compare(capsys):
    new = SCENARIO.with_name("new.toml")
    new.write_text(SCENARIO.read_text().replace("summarizers.py:summarize", "truncate:limit=100"))
    assert bench("run", new, "--against", "HEAD") == 2
    assert "no strategy runs a file" in capsys.readouterr().err
    assert bench("run", new, "--against", "HEAD", "--update-baseline") == 2


def test_outside_a_repository(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.setenv("GIT_DIR", str(folder / "none"))
    assert commit_of(folder) is None
    with pytest.raises(BenchError, match="is in no git repository"):
        resolve(folder, "HEAD")


def test_a_commit_says_whether_files_differ_from_it():
    found = commit_of(Path())
    assert found is not None
    assert (found.sha, found.subject, found.dirty) == (git("rev-parse", "HEAD"), "start", False)
    SUMMARIZERS.write_text(WORSE)
    assert commit_of(Path()).dirty


# ---------------------------------------------------------------- repositories of strangers


@pytest.fixture
def started(tmp_path):
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
def test_what_a_repository_wants_started_is_not(settings, started):
    program, mark = started
    Path(".gitattributes").write_text("*.py filter=evil\n*.toml filter=Evil\n")
    start = commit("filtered")
    for name, value in settings.items():
        git("config", name, value.format(program))
    for path in (SUMMARIZERS, SCENARIO):
        path.write_text(path.read_text() + "\n")
    assert commit_of(Path()).dirty
    assert resolve(Path("scenarios"), "HEAD") == start
    there = program.parent / "there"
    unpack(start, Path().resolve(), there, program.parent / "index")
    assert (there / SUMMARIZERS).read_text() == SUMMARIZERS.read_text().removesuffix("\n")
    assert not mark.exists()


def test_nothing_is_fetched_and_what_this_clone_lacks_is_said(started, tmp_path_factory, monkeypatch):
    program, mark = started
    start = git("rev-parse", "HEAD")
    SUMMARIZERS.write_text(BETTER)
    commit("better")
    for name in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        git("config", name, "true")
    part = tmp_path_factory.mktemp("clones") / "part"
    git("clone", "--quiet", "--no-local", "--filter=blob:none", f"file://{Path.cwd()}", str(part))
    monkeypatch.chdir(part)
    git("config", "remote.origin.uploadpack", str(program))
    with pytest.raises(BenchError, match=r"this clone does not hold what it was — fetch it"):
        unpack(start, Path().resolve(), tmp_path_factory.mktemp("there"), part / ".git" / "other")
    assert not mark.exists()


def test_the_repository_is_the_one_that_the_folder_is_in(tmp_path_factory, monkeypatch):
    other = tmp_path_factory.mktemp("other")
    git("init", "--quiet", str(other))
    git("-C", str(other), "commit", "--quiet", "--allow-empty", "--message", "of another")
    start = git("rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert commit_of(Path()).subject == "start"
    assert resolve(Path(), "HEAD") == start


@pytest.mark.slow
@pytest.mark.parametrize("says", ["a\\000b", "\\377\\n", "", "sleep"])
def test_a_git_that_answers_anything_is_no_git(says, tmp_path, monkeypatch):
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{'exec /bin/sleep 60' if says == 'sleep' else f'printf {says!r}'}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr("bench.files.git._ANSWERS_S", 0.3)
    assert commit_of(Path()) is None
    with pytest.raises(BenchError, match=r"in no git repository|no such revision"):
        resolve(Path(), "HEAD")
    monkeypatch.setattr("bench.files.git._UNPACKS_S", 0.3)
    with contextlib.suppress(BenchError):  # one that says nothing and ends well is believed
        unpack("0" * 40, Path(), tmp_path / "there", tmp_path / "index")


def test_a_name_that_leads_out_of_the_repository_is_no_file_of_it(tmp_path_factory):
    blob = git("hash-object", "-w", str(SUMMARIZERS))

    def tree(*entries):
        text = "".join(f"{entry}\n" for entry in entries)
        made = subprocess.run(["git", "mktree"], input=text, capture_output=True, text=True, check=True)
        return made.stdout.strip()

    inner = tree(f"100644 blob {blob}\tx.py", f"100644 blob {blob}\tx.txt", f"120000 blob {blob}\tlink.py")
    outer = tree(f"040000 tree {inner}\t..", f"040000 tree {inner}\tinside")
    there = tmp_path_factory.mktemp("there") / "work"
    for tree_of in (outer, "0" * 40):
        with pytest.raises(BenchError, match="this clone does not hold what it was"):
            unpack(tree_of, Path(), there, there.with_name("index"))
        assert not list(there.parent.rglob("*.py"))
    unpack(inner, Path(), there, there.with_name("index"))
    assert {path.name for path in there.iterdir()} == {"x.py", "x.txt", "link.py"}
