"""Parts that a workflow and a release bring along: pinned actions, locked versions, notices of others' work, and a comment that needs few rights."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = [ROOT / "action.yml", ROOT / "bench/starter/workflow.yml", *(ROOT / ".github/workflows").glob("*.yml")]
STEPS = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_third_party_actions_are_pinned_by_commit(path):
    used = re.findall(r"uses: (\S+)", path.read_text())
    assert used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name) for name in used)
    assert "pull_request_target" not in path.read_text()


def test_the_action_installs_the_locked_versions():
    (install,) = (step["run"] for step in STEPS if "pip install" in step.get("run", ""))
    assert '--constraint "$BENCH/constraints.txt"' in install


def test_every_supported_python_is_in_the_matrix():
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    assert jobs["tests"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]


def test_third_party_vocabularies_ship_with_their_notice():
    assert "Copyright (c) 2022 OpenAI, Shantanu Jain" in (ROOT / "licences/tiktoken.txt").read_text()
    assert '"licences/*.txt"' in (ROOT / "pyproject.toml").read_text()


GH = """#!/bin/sh
echo "$*" >>"$CALLS"
case "$*" in
*--paginate*) printf '%s' "$KNOWN" ;;
*) exit "$REFUSES" ;;
esac
"""


@pytest.mark.parametrize(
    ("known", "refuses", "asked"),
    [
        ("", 0, "--method POST repos/o/r/issues/7/comments"),
        ("41\n", 0, "--method PATCH repos/o/r/issues/comments/41"),
        ("", 1, "POST"),
    ],
)
def test_a_comment_is_written_once_then_updated_and_a_fork_passes_without_it(tmp_path, known, refuses, asked):
    (comment,) = (step for step in STEPS if "Comment" in step.get("name", ""))
    program = tmp_path / "gh"
    program.write_text(GH)
    program.chmod(0o755)
    (tmp_path / "report.md").write_text("mail\n")
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}", "CALLS": str(tmp_path / "calls"), "KNOWN": known, "REFUSES": str(refuses),
        "RUNNER_TEMP": str(tmp_path), "REPORT": str(tmp_path / "report"), "ISSUE": "repos/o/r/issues",
        "COMMENTS": "repos/o/r/issues/7/comments",
    }  # fmt: skip
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", comment["run"]], env=environment, capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert asked in (tmp_path / "calls").read_text()
    assert ("::notice::" in done.stdout) == bool(refuses)
    assert (tmp_path / "comment.md").read_text() == "<!-- agent-memory-bench -->\nmail\n"


def test_the_comment_asks_for_no_secret():
    text = json.dumps(STEPS)
    assert "secrets." not in text
    assert "github.token" in text
