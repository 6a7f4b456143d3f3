"""Somebody else's git repository with the starter in it: what the tests of gates in CI work in."""

from __future__ import annotations

import atexit
import contextlib
import io
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from bench.cli import main

SUMMARIZERS = Path("scenarios/summarizers.py")
SCENARIO = Path("scenarios/summaries.toml")
BASELINE = Path("scenarios/summaries.baseline.json")
TRACES = Path("scenarios/traces")
RECORDED = Path(__file__).parent / "data" / "starter"

WORSE = "def summarize(result):\n    return result.text[:100]\n"
BETTER = "def summarize(result):\n    return result.text\n"


def git(*arguments: str) -> str:
    """The output of a git command, in the present folder, under a made-up name."""
    command = ["git", "-c", "user.name=somebody", "-c", "user.email=somebody@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(message: str) -> str:
    """Commit everything; gives the hash."""
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "--message", message)
    return git("rev-parse", "HEAD")


def bench(*arguments: object) -> int:
    """The exit code of the command line, as in a process of its own."""
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as done:
        return int(done.code or 0)
    return 0


@cache
def _starter() -> Path:
    """A folder with what `bench init` writes; made once a process, because it replays."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shutil.copytree(RECORDED, folder / TRACES)
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        assert bench("init", TRACES) == 0
    return folder


def init() -> None:
    """Put what `bench init` writes into the present folder."""
    shutil.copytree(_starter(), Path(), dirs_exist_ok=True)
