"""Every command and every Python block of README and docs runs in a copy of the project; what cannot is listed here with the reason."""

from __future__ import annotations

import glob
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_docs import ROOT, TEXTS, blocks

import bench
from bench.cli import main

SAMPLES = ROOT / "tests" / "data" / "formats"
PAGES = [page for page in TEXTS if not page.startswith(("tests/", "bench/"))]
NOT_RUN = {
    "pip ": "downloads packages; .ci/packages installs a wheel and a checkout",
    "make ": "runs the tests or the tools themselves; CI runs each",
    "python benchmarks/": "measures for minutes; test_benchmarks.py runs parts",
    "python docs/validity.py": "measures for a minute; tests/metrics/test_findings.py runs its parts",
    "python traces/record_": "tests/traces/test_shipped_recordings.py runs it",
    "python -m pytest": "tests/traces/test_readers_page.py runs it",
    "bench show tests/data/formats/deskbot.jsonl": "a reader that the page shows; test_newcomers.py adds and uses it",
    "bench run --traces traces/terminal --strategy 'mine=summarizer=first_lines": "a rule that the page shows; test_newcomers.py adds and uses it",
    "OPENAI_BASE_URL=": "your agent is not here",
    "dask ": "starts servers; tests/run/test_cluster.py has a scheduler and workers",
    "bench run scenarios/mine.toml --engine dask": "starts a cluster; tests/run/test_cluster.py has one",
    "bench run s3://": "needs a bucket",
    "bench run runs/ --strategy 'mine=summarizer=command:": "needs dotnet; tests/strategies/test_other_peoples_code.py runs the examples",
}
"""How a command begins that is not run here, and why."""

CHEAP = ("bench --version", "bench show", "bench list", "bench import", "bench audit")
"""How a command begins that takes less than a second."""

PYTHON = {
    "CONTRIBUTING.md": "test_newcomers.py",
    "docs/python.md": "test_docs.py",
    "docs/start.md": "here",
    "README.md": "here",
    "docs/strategies.md": "here, tests/strategies/test_strategies_page.py, test_library_adapters.py, test_handles.py and test_asking_models.py",
    "docs/traces.md": "here and test_newcomers.py",
    "docs/ci.md": "here",
}
"""Pages with blocks of Python, and which tests run them."""


def commands(page: str) -> list[str]:
    """Each command of a shell that a code block of a page shows: no comment, no prompt, no path of the environment."""
    text = TEXTS[page]
    fenced = re.findall(r"^```(?:sh|console|)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    indented = re.findall(
        r"^    (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE
    )
    found = []
    for line in "\n".join([*fenced, *indented]).replace("\\\n", " ").splitlines():
        for part in re.split(r"\s+&&\s+", re.split(r"\s#\s", line)[0]):
            command = part.strip().removeprefix("$ ").removeprefix(".venv/bin/")
            if re.match(r"(?:bench|python|pytest|pip|make|dask) |[A-Z_]+=\S+ ", command):
                found.append(command)
    return found


COMMANDS = {page: commands(page) for page in TEXTS if not page.startswith(("tests/", "bench/"))}
RUN = {page: [line for line in lines if not line.startswith(tuple(NOT_RUN))] for page, lines in COMMANDS.items()}


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: a copy of what the pages name, with the functions that they show, sessions of an agent, and a graph."""
    for name in ("building_model", "analysis", "inventories", "rounds"):
        shutil.copytree(ROOT / "traces" / name, tmp_path / "traces" / name)
    for name in ("do_five_rows_suffice", "is_the_task_state_cleared"):
        for path in (ROOT / "scenarios").glob(f"{name}.*"):
            (tmp_path / "scenarios").mkdir(exist_ok=True)
            shutil.copy(path, tmp_path / "scenarios")
    for path in sorted((ROOT / "traces" / "inventories").glob("*_0[1-3].*")):
        (tmp_path / "runs").mkdir(exist_ok=True)
        shutil.copy(path, tmp_path / "runs")
    shutil.copytree(SAMPLES / "claude_code", tmp_path / "home" / ".claude" / "projects" / "my-project")
    shutil.copytree(SAMPLES / "langgraph", tmp_path / "threads")
    shutil.copytree(SAMPLES / "request_log", tmp_path / "my" / "logs")
    shutil.copy(SAMPLES / "request_log" / "litellm.jsonl", tmp_path / "runs" / "log.jsonl")
    for page, name in (
        ("README.md", "summarizers"),
        ("docs/start.md", "mine"),
        ("docs/strategies.md", "summary_utils"),
    ):
        (tmp_path / f"{name}.py").write_text(next(block for block in blocks(page, "python") if "\ndef " in block))
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "graph.py").write_text(GRAPH)
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


GRAPH = '''
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph


class State(TypedDict, total=False):
    messages: list[Any]


def app():
    """A graph of one node and one decision."""
    graph = StateGraph(State)
    graph.add_node("agent", lambda state: state)
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", lambda state: "end", {"end": END})
    return graph.compile()
'''


def ran(lines: list[str], folder: Path) -> list[tuple[str, int]]:
    """Run calls of `bench` as a shell would; return those that ended with another code than 0."""
    codes = []
    for line in lines:
        words = []
        for word in map(os.path.expanduser, shlex.split(line.replace("/tmp/", f"{folder}/tmp/"))[1:]):
            words += sorted(glob.glob(word)) if "*" in word and "=" not in word else [word]
        try:
            main(words)
            codes.append((line, 0))
        except SystemExit as ended:
            codes.append((line, int(ended.code or 0)))
    return [item for item in codes if item[1]]


def test_the_cheap_commands_of_the_pages_run_slow_because_there_are_a_dozen(copy):
    lines = sorted({line for page in RUN.values() for line in page if line.startswith(CHEAP)})
    assert len(lines) > 6
    assert ran(lines, copy) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page, lines in RUN.items() if any(not line.startswith(CHEAP) for line in lines)]
)
def test_all_commands_of_a_page_run_in_order_slow_because_traces_are_replayed(page, copy):
    there = importlib.util.find_spec("langgraph") is not None
    assert ran([line for line in RUN[page] if there or "langgraph" not in line], copy) == []


def test_every_reason_is_of_a_command_that_a_page_shows():
    shown = [line for lines in COMMANDS.values() for line in lines]
    assert [start for start in NOT_RUN if not any(line.startswith(start) for line in shown)] == []
    assert {page for page in TEXTS if page in COMMANDS and blocks(page, "python")} == PYTHON.keys()


def test_python_of_the_pages_runs(copy):
    (compared,) = (block for block in blocks("docs/strategies.md", "python") if block.startswith("bench.compare"))
    names: dict[str, object] = {"bench": bench}
    exec((copy / "summary_utils.py").read_text() + compared, names)


@pytest.mark.slow
def test_the_test_file_of_the_page_passes_slow_because_pytest_starts(copy):
    (block,) = (block for block in blocks("docs/ci.md", "python") if "def test_my_summarizer" in block)
    told = block.replace("scenarios/traces", "traces/building_model")
    given = "def my_summarizer(text: str):\n    return text\n\n\n"
    (copy / "test_mine.py").write_text(given + told)
    options = ("-q", "-p", "no:cacheprovider", "-k", "my_summarizer")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout
