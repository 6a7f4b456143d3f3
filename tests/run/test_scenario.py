"""Scenario files: read whole, or refused in one line that names the file, the key and the nearest valid one."""

from __future__ import annotations

import contextlib
import random

import pytest
from hypothesis import given, strategies as st
from orders import ORDERS

import bench
from bench.model.errors import BenchError, ScenarioError, TraceError
from bench.run.scenario import ScenarioFile, is_scenario, read_scenario

WHOLE = """
title = "A title"
traces = ["native:runs/*.jsonl", "b.json"]

[strategies]
keep_all = {}
mine = { store = "truncate:limit=80", routers = ["executor", "step_evaluator"] }

[[gates]]
metric = "cost.prompt_tokens"
max_increase = "2%"

[[probes]]
question = "how many?"
expected = 3
"""
SOUND = 'traces = ["orders.jsonl"]\n[strategies]\nkeep_all = {}\n'


def scenario_file(folder, text):
    path = folder / "one.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_scenario_with_every_key_is_read(tmp_path):
    scenario = read_scenario(scenario_file(tmp_path, WHOLE))
    assert (scenario.title, scenario.traces) == ("A title", ("native:runs/*.jsonl", "b.json"))
    assert scenario.strategies == {
        "keep_all": {},
        "mine": {"store": "truncate:limit=80", "routers": ["executor", "step_evaluator"]},
    }
    assert scenario.gates == ({"metric": "cost.prompt_tokens", "max_increase": "2%"},)
    assert [(probe.question, probe.expected) for probe in scenario.probes] == [("how many?", 3)]
    assert (scenario.base, scenario.path) == (tmp_path, tmp_path / "one.toml")
    assert scenario.baseline_path == tmp_path / "one.baseline.json"
    assert read_scenario(scenario_file(tmp_path, f"\ufeff{SOUND}")).title == "one"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "traces"),
        ('traces = ["a"]', "strategies"),
        ("traces = []\n[strategies]\nkeep_all = {}", "traces"),
        ('traces = "a"\n[strategies]\nkeep_all = {}', "`traces"),
        ("traces = [1]\n[strategies]\nkeep_all = {}", "`traces[1]`"),
        ('traces = ["a"]\nstrategies = ["keep_all"]', "`strategies"),
        ("title = 3\n" + SOUND, "`title"),
        ("tarces = []\n" + SOUND, "did you mean traces?"),
        ("base = 'x'\n" + SOUND, "unknown key 'base'"),
        ("title = \n" + SOUND, "not TOML"),
        (b"\xff\xfe", "not TOML"),
        ("gates = 3\n" + SOUND, "`gates"),
        (f"probes = {'[' * 900}{']' * 900}\n" + SOUND, "nested"),
        (f"title = {9**99}\n" + SOUND, "64 bits"),
        ('asks = "kep_all"\n' + SOUND, "did you mean keep_all?"),
        (SOUND + "[[probes]]\nquestoin = 'x'\n", "did you mean question?"),
        (SOUND + "[[probes]]\nquestion = 'x'\n", "probes[1]"),
    ],
)
def test_an_unusable_scenario_gives_a_reason(tmp_path, text, names):
    with pytest.raises(ScenarioError) as caught:
        read_scenario(scenario_file(tmp_path, text))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'one.toml'}: ")
    assert names in message
    assert "\n" not in message


def test_a_missing_scenario_is_an_error(tmp_path):
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(ScenarioError, match=path.name):
            read_scenario(path)


@given(key=st.sampled_from(ScenarioFile.__struct_fields__), value=st.one_of(st.booleans(), st.integers(), st.text()))
def test_any_value_in_a_scenario_is_read_or_refused(tmp_path_factory, key, value):
    text = str(value).lower() if isinstance(value, bool | int) else f"'{value}'"
    path = scenario_file(tmp_path_factory.mktemp("any"), f"{key} = {text}\n{SOUND}".encode("utf-8", "replace"))
    with contextlib.suppress(BenchError):
        assert read_scenario(path).traces


@pytest.mark.parametrize("gate", ["min = 1", 'metric = "m"\nmni = 1', 'metric = "needed.recal"\nmin = 1'])
def test_a_gate_that_cannot_be_used_is_named_before_anything_is_replayed(tmp_path, gate):
    with pytest.raises(ScenarioError, match=r"one\.toml: gates\[1\]"):
        bench.run_scenario(scenario_file(tmp_path, f"{SOUND}[[gates]]\n{gate}\n"))


IMPORTED = {
    "a random number": "random.random()",
    "the order of a set": "list(set(str(number) for number in range(99)))[:12]",
}


@pytest.mark.parametrize("drawn", IMPORTED.values(), ids=IMPORTED)
def test_code_that_depends_on_when_it_was_imported_is_unstable(tmp_path, monkeypatch, drawn):
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    (tmp_path / "orders.jsonl").write_text(ORDERS)
    (tmp_path / "mine.py").write_text(f"import random\nDRAWN = str({drawn})\ndef f(result): return DRAWN\n")
    path = scenario_file(tmp_path, SOUND.replace("keep_all = {}", 'mine = { summarizer = "mine.py:f" }'))
    (run,) = bench.run_scenario(path).runs
    assert any(score.unstable_at is not None for score in run.scores)


def test_user_code_is_replayed_twice_for_the_first_three_traces(capsys):
    paths = [f"traces/rounds/round_0{number}.jsonl" for number in range(1, 5)]
    code = {"odd": lambda result: str(random.random()), "no": lambda result: result.nothing}
    compared = bench.compare(paths, code, debug=True)
    assert "result.nothing" in capsys.readouterr().err
    unstable = [score.unstable_at for run in compared.runs for score in run.scores if score.strategy == "odd"]
    assert unstable == [7, 7, 7, None]
    assert [item.verdict for item in compared.advice.ranked if item.strategy == "odd"] == ["invalid"]


def test_a_scenario_reads_no_traces_outside_its_repository(tmp_path):
    (tmp_path / "orders.jsonl").write_text(ORDERS)
    inside = tmp_path / "project"
    (inside / ".git").mkdir(parents=True)
    with pytest.raises(TraceError, match=r"orders\.jsonl"):
        bench.run_scenario(scenario_file(inside, SOUND.replace("orders", "../orders")))


def test_a_toml_file_is_a_scenario_only_with_traces_and_strategies(tmp_path):
    for text, expected in (
        (f"\ufeff{SOUND}", True),
        ("[tool.x]\na = 1\n", False),
        ("traces = [", False),
        (f"{SOUND}[", True),
    ):
        assert is_scenario(scenario_file(tmp_path, text)) == expected
