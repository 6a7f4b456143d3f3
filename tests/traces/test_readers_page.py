"""The files that docs/traces.md and CONTRIBUTING.md show, put where they say into a copy of the project, pass its tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("docs/traces.md", "CONTRIBUTING.md"))
ADDED = [
    "bench/strategies/documents/first_lines.py",
    "bench/strategies/policies/acme.py",
    "bench/metrics/model_calls.py",
]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the bench and its tests with the files of the two pages in it."""
    folder = tmp_path_factory.mktemp("readers")
    for name in ("bench", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "gold"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    files = re.findall(r"`([\w/]+\.\w+)`[^\n`]*:\n\n```\w+\n(.*?)^```$", PAGES, re.DOTALL | re.MULTILINE)
    assert [path for path, _ in files] == [
        "tests/data/formats/deskbot.jsonl",
        "bench/traces/formats/deskbot.py",
        *ADDED,
    ]
    for path, text in files:
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def ran(folder: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    return done.stdout


@pytest.mark.slow
def test_the_documented_reader_passes_the_tests_of_every_reader(copied: Path) -> None:
    options = ("-v", "-p", "no:cacheprovider", "-k", "deskbot")
    printed = ran(copied, "pytest", "tests/traces/test_readers.py", *options)
    found = re.search(r"(\d+) passed", printed)
    assert found is not None
    assert int(found[1]) >= 5


@pytest.mark.slow
def test_a_private_reader_is_named_by_its_path(copied: Path) -> None:
    text = (copied / "bench/traces/formats/deskbot.py").read_text(encoding="utf-8")
    text = text.replace("from . import", "from bench.traces.formats import")
    text = text.replace("from .. import", "from bench.traces import")
    own = copied / "my" / "own.py"
    own.parent.mkdir()
    own.write_text(
        text.replace("from ..", "from bench.traces.").replace('"deskbot")\n', '"my_own")\n'), encoding="utf-8"
    )
    assert "36 walls" in ran(copied, "bench", "show", "my/own.py:Deskbot:tests/data/formats/deskbot.jsonl")


@pytest.mark.slow
def test_the_examples_of_contributing_are_registered(copied: Path) -> None:
    ran(copied, "pytest", "-p", "no:cacheprovider", *ADDED, "tests/plugins/test_newcomers.py")
    assert "cost.model_calls" in ran(copied, "bench", "list", "metrics")
