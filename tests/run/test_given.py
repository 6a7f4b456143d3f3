"""What a scenario says of its traces: a label that nothing would read is an error, since a gate would pass without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from handmade import opened, shell

from bench import compare, load
from bench.model import Comparison
from bench.model.errors import ScenarioError
from bench.reports.panels.trust import trust
from bench.run.verbs import run_scenario
from bench.traces.formats.native import encode_trace

SCENARIO = """
traces = ["one.jsonl"]
[strategies]
all = {{ store = "full" }}
[labels.one]
{}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "one.jsonl").write_bytes(encode_trace(opened(shell(2, start=2), id="one")))
    return tmp_path


def run(folder: Path, labels: str) -> Comparison:
    (folder / "s.toml").write_text(SCENARIO.format(labels))
    return run_scenario(folder / "s.toml")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ('route = { "3" = "abort" }', "nothing reads 'route' — did you mean routes?"),
        ('script = { "1" = "x" }', "nothing reads 'script' — did you mean scripts?"),
        ('routes = "abort"', "routes = 'abort': write a table of steps, `4 = \"complete\"`"),
        ('routes = { "99" = "abort" }', "routes: no step is '99' — `bench show` lists the steps of a trace"),
        ('routes = { "03" = "abort" }', "routes: no step is '03'"),
        ('scripts = { "3" = "x" }', "scripts: no user's turn is '3'"),
    ],
)
def test_a_label_that_nothing_would_read_is_an_error(folder: Path, labels: str, said: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        run(folder, labels)
    assert f"labels for case 'one': {said}" in str(raised.value)
    assert "s.toml" in str(raised.value)


@pytest.mark.parametrize("labels", ['routes = { "-1" = "a", "3" = "b" }', 'scripts = { "1" = "x" }', "reviewer = 7"])
def test_what_is_read_or_is_somebodys_own_is_none(folder: Path, labels: str) -> None:
    run(folder, labels)


def test_a_probe_of_an_unknown_case_is_an_error(folder: Path) -> None:
    with pytest.raises(ScenarioError, match="no case is called 'two'"):
        run(folder, '[[probes]]\ncase = "two"\nquestion = "which?"\nexpected = "run_7"')


def test_a_label_where_no_router_decides_is_said_to_be_unread(folder: Path) -> None:
    why = "no router of any strategy decides there, so nothing reads it"
    assert run(folder, 'routes = { "3" = "a" }').skipped == (("label of one, step 3", why),)
    (folder / "r.py").write_text("def route(state):\n    return 'a'\n")
    (folder / "s.toml").write_text(
        SCENARIO.format('routes = { "3" = "a", "2" = "a" }') + '[strategies.routed]\nrouters = ["r.py:route"]\n'
    )
    assert run_scenario(folder / "s.toml").skipped == (("label of one, step 2", why),)


def test_one_recording_under_several_names_is_said(folder: Path) -> None:
    """Copies make nothing surer. Their files differ, since the names are in them."""
    for name in ("one", "two", "three"):
        (folder / f"{name}.jsonl").write_bytes(encode_trace(opened(shell(2, start=2), id=name)))
    (folder / "other.jsonl").write_bytes(encode_trace(opened(shell(3, start=2), id="other")))
    said = " ".join(str(block) for block in trust(compare(load(folder), "keep_all")))
    assert "3 cases are 1 recording under several names, first one and three: what they say counts more" in said
    (folder / "two.jsonl").unlink()
    (folder / "three.jsonl").unlink()
    assert "several names" not in " ".join(str(block) for block in trust(compare(load(folder), "keep_all")))
