"""Annotations and job summaries of GitHub Actions: on the right file, and nothing of a recording obeyed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_folder import SCENARIO
from repository import bench

from bench.cli.outcome import inside_actions

pytestmark = pytest.mark.usefixtures("folder")

COMMAND = re.compile(r"^::(error|warning) (?:file=([^,]*),)?title=(.*?)::(.*)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def actions(monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")


def scenario(*gates: str, name: str = "one.toml") -> str:
    head = SCENARIO.partition("[[gates]]")[0].replace("limit=900", "limit=5")
    Path(name).write_text("\n".join([head, *(f"[[gates]]\n{gate}\n" for gate in gates)]))
    return name


FAILS = 'metric = "needed.recall"\nstrategy = "mine"\nmin = 1'
PASSES = 'metric = "prompt.invalid"\nstrategy = "mine"\nmax = 0'
WAITS = 'metric = "cost.prompt_tokens"\nstrategy = "mine"\nmax_increase = 0'


def test_failed_gates_are_errors_and_waiting_gates_are_warnings_on_their_scenario(capsys):
    assert bench("run", scenario(FAILS, PASSES, WAITS, name="100%, a.toml")) == 1
    found = COMMAND.findall(capsys.readouterr().out)
    assert [(kind, file) for kind, file, _, _ in found] == [
        ("error", "100%25%2C a.toml"),
        ("warning", "100%25%2C a.toml"),
    ]
    assert ["needed facts kept" in found[0][3], "prompt tokens" in found[1][3]] == [True, True]
    assert all(len(message) > 20 for *_, message in found)
    first = Path("summary.md").read_text()
    assert "needed" in first
    bench("run", "one.toml")
    assert bench("run", "none.toml") == 2
    assert "::error title=bench::none.toml: No such file" in capsys.readouterr().out
    assert Path("summary.md").read_text().startswith(first), "a job's summary is added to"


def test_outside_of_actions_nothing_is_annotated(capsys, monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert not inside_actions()
    assert bench("run", scenario(FAILS)) == 1
    assert not COMMAND.search(capsys.readouterr().out)
