"""Scenario files: what they say, and one line for every way in which they cannot be used."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import repository
from bench.comparison.gates.regression import relative_limit
from bench.comparison.judging import parse_rule
from hypothesis import given, strategies as st

import bench
from bench.model import GateRule
from bench.model.errors import ScenarioError, SpecError, TraceError
from bench.run.scenario import read_scenario

WHOLE = """
title = "A title"
traces = ["native:runs/*.jsonl", "b.json"]
seed = 7

[strategies]
keep_all = {}
mine = { store = "truncate:limit=80", routers = ["executor", "step_evaluator"] }

[[gates]]
metric = "needed.recall"
strategy = "mine"
min = 0.95

[[gates]]
metric = "cost.prompt_tokens"
max_increase = "2%"
over = "worst_case"

[labels.case-1]
routes = { "3" = "abort" }
"""


def written(folder, text):
    path = folder / "one.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_whole_scenario(tmp_path):
    scenario = read_scenario(written(tmp_path, WHOLE))
    assert scenario.title == "A title"
    assert scenario.traces == ("native:runs/*.jsonl", "b.json")
    assert scenario.seed == 7
    assert list(scenario.strategies) == ["keep_all", "mine"]
    assert scenario.strategies["mine"]["routers"] == ["executor", "step_evaluator"]
    assert scenario.gates == (
        {"metric": "needed.recall", "strategy": "mine", "min": 0.95},
        {"metric": "cost.prompt_tokens", "max_increase": "2%", "over": "worst_case"},
    )
    assert [parse_rule(table, "one.toml", number) for number, table in enumerate(scenario.gates, 1)] == [
        GateRule(metric="needed.recall", strategy="mine", gate="limits", settings={"min": 0.95}, number=1),
        GateRule(
            metric="cost.prompt_tokens", over="worst_case", gate="regression", settings={"max_increase": "2%"}, number=2
        ),
    ]
    assert scenario.labels == {"case-1": {"routes": {"3": "abort"}}}
    assert (scenario.base, scenario.path) == (tmp_path, tmp_path / "one.toml")
    assert scenario.baseline_path == tmp_path / "one.baseline.json"


SOUND = 'traces = ["a"]\n[strategies]\nkeep_all = {}\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "`traces` is missing or empty"),
        ('traces = ["a"]', "`strategies` is missing or empty"),
        ("traces = []\n[strategies]\nkeep_all = {}", "`traces` is missing or empty"),
        ('traces = "a"\n[strategies]\nkeep_all = {}', "`traces`: Expected `array`, got `str`"),
        ('traces = [1]\n[strategies]\nkeep_all = {}', "`traces`: Expected `str`, got `int` - at `$[0]`"),
        ('traces = ["a"]\nstrategies = ["keep_all"]', "`strategies`: Expected `object`, got `array`"),
        ('traces = ["a"]\n[strategies]\nkeep_all = "x"', "`strategies`: Expected `object`, got `str`"),
        ("title = 3\n" + SOUND, "`title`: Expected `str`, got `int`"),
        ('seed = "x"\n' + SOUND, "`seed`: Expected `int`, got `str`"),
        ("tarces = []\n" + SOUND, "unknown key 'tarces' — did you mean traces?"),
        ("title = \n" + SOUND, "not TOML"),
        (b"\xff\xfe", "not TOML"),
        (SOUND + 'gates = 3\n', "`strategies`: Expected `object`, got `int`"),  # a key below [strategies] is one
        ("gates = 3\n" + SOUND, "`gates`: Expected `array`, got `int`"),
        ("labels = 3\n" + SOUND, "`labels`: Expected `object`, got `int`"),
    ],
)  # fmt: skip
def test_a_scenario_that_cannot_be_used_says_why(tmp_path, text, says):
    with pytest.raises(ScenarioError) as caught:
        read_scenario(written(tmp_path, text))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'one.toml'}: ")
    assert says in message
    assert "\n" not in message


def test_a_scenario_that_is_not_there(tmp_path):
    with pytest.raises(ScenarioError, match=r"none\.toml: No such file or directory"):
        read_scenario(tmp_path / "none.toml")
    with pytest.raises(ScenarioError, match="Is a directory"):
        read_scenario(tmp_path)


@pytest.mark.parametrize(
    ("gate", "says"),
    [
        ("min = 1", "gates[1]: `metric` is missing — say which number is judged"),
        ("metric = 3\nmin = 1", "gates[1]: `metric` is missing"),
        ('metric = "m"\nmni = 1', "gates[1] (m): unknown key 'mni' — did you mean min?"),
        ('metric = "m"\nmin = 1\nstrtegy = "a"', "unknown key 'strtegy' — did you mean strategy?"),
        ('metric = "m"\nmin = "x"', "gates[1] (m): min = 'x': Expected `float | null`"),
        ('metric = "m"\nmin = 1\nover = "some"', "gates[1] (m): Invalid enum value 'some'"),
        ('metric = "m"\nmin = 1\nstrategy = 3', "gates[1] (m): Expected `str`, got `int`"),
        ('metric = "m"', "gates[1] (m): no limit — set "),
        ('metric = "m"\nmin = 1\nmax_drop = 1', "gates[1] (m): min and max_drop in one gate"),
        ('metric = "m"\nmax_drop = 1\nmax_increase = 1', "gates[1] (m): max_increase and max_drop in one gate"),
        ('metric = "m"\nmax_drop = "2"', "gates[1] (m): max_drop = '2': write \"2%\""),
        ('metric = "m"\nmax_increase = -1', "not negative"),
        ('metric = "m"\nmin = 1', "gates[1]: unknown metric 'm'"),
        ('metric = "needed.recal"\nmin = 1', "gates[1]: unknown metric 'needed.recal' — did you mean needed.recall"),
        (
            'metric = "needed.recall"\nmin = 1\nstrategy = "al"',
            "no strategy is called 'al' — known: ",
        ),
    ],
)
def test_a_gate_that_cannot_be_used_says_why_before_anything_is_replayed(tmp_path, gate, says):
    with pytest.raises(ScenarioError) as caught:
        bench.run_scenario(written(tmp_path, f"{SOUND}[[gates]]\n{gate}\n"))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'one.toml'}: gates[1]")
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"min": 0.5}, None),
        ({"min": 0.5, "max": 1.0}, None),
        ({"max_drop": 0}, None),
        ({"max_increase": "0%"}, None),
        ({}, "no limit"),
        ({"max": 1.0, "max_increase": "2%"}, "max and max_increase in one gate"),
        ({"max_drop": "two"}, "max_drop = 'two'"),
        ({"max_drop": -0.1}, "not negative"),
        ({"min": 2.0, "max": 1.0}, "min is above max"),
        ({"min": float("nan")}, "min = nan"),
        ({"max": float("nan")}, "max = nan"),
        ({"max_drop": float("nan")}, "max_drop = nan"),
        ({"max_increase": float("inf")}, "max_increase = inf"),
    ],
)
def test_a_gate_is_sound_or_says_what_is_wrong(fields, problem):
    if problem is None:
        assert parse_rule({"metric": "m", **fields}, "one.toml: gates[1]").settings == fields
    else:
        with pytest.raises(ScenarioError) as caught:
            parse_rule({"metric": "m", **fields}, "one.toml: gates[1]")
        assert problem in str(caught.value)


@given(st.floats(0, 1e6))
def test_a_relative_limit_is_a_share_and_a_number_is_an_amount(amount):
    assert relative_limit(f"{amount!r}%") == (amount / 100, True)
    assert relative_limit(f" {amount!r} % ") == (amount / 100, True)
    assert relative_limit(amount) == (amount, False)


@pytest.mark.parametrize("limit", ["2", "", "%", "-1%", "nan%", "inf%", "2 %%", -1, -0.5, float("nan"), float("inf")])
def test_a_limit_that_is_none(limit):
    assert relative_limit(limit) is None


def test_limits_are_the_scenarios_and_an_option_beats_them(tmp_path):
    (tmp_path / "t.jsonl").write_bytes((Path(__file__).parents[2] / "tests/metrics/worked/walls.jsonl").read_bytes())
    path = tmp_path / "s.toml"
    path.write_text(
        'traces = ["t.jsonl"]\nmax_fault_rate = 0.5\nmin_far_recall = 1\nstrategies = { cut = { store = "truncate" } }\n'
    )
    assert (read_scenario(path).max_fault_rate, read_scenario(path).min_far_recall) == (0.5, 1.0)
    compared = bench.run_scenario(path)
    assert (compared.max_fault_rate, compared.min_far_recall) == (0.5, 1.0)
    report = tmp_path / "x.json"

    def decided(*options):
        assert repository.bench("run", path, "-o", report, *options) == 0
        decision = json.loads(report.read_text())["advice"]
        return decision["max_fault_rate"], decision["min_far_recall"]

    assert decided() == (0.5, 1.0)
    path.write_text(path.read_text().replace("max_fault_rate = 0.5\nmin_far_recall = 1\n", ""))
    assert decided() == (0.05, 0.9)


def test_the_cache_is_the_scenarios_and_an_option_beats_it(tmp_path):
    (tmp_path / "t.jsonl").write_bytes((Path(__file__).parents[2] / "tests/metrics/worked/walls.jsonl").read_bytes())
    path, report = tmp_path / "s.toml", tmp_path / "x.json"
    path.write_text(
        'traces = ["t.jsonl"]\ncache = "none"\nmodel = "gpt-4o"\nstrategies = { cut = { store = "truncate" } }\n'
    )

    def decided(*options):
        assert repository.bench("run", path, "-o", report, *options) == 0
        advice = json.loads(report.read_text())["advice"]
        return advice["cache"], advice["metric"]

    assert decided() == ("none", "cost.uncached_with_refetches_usd")
    with pytest.raises(SpecError, match="`cache`: 'never' is no cache"):
        bench.compare(tmp_path / "t.jsonl", ["keep_all"], cache="never")


@pytest.mark.parametrize(
    ("line", "says"),
    [("cache = \"off\"", "`cache`: 'off' is no cache — write \"provider\" or \"none\""),
     ("max_fault_rate = 1.5", "`max_fault_rate`: 1.5 is no share — write a number from 0 to 1"),
     ("min_far_recall = -0.1", "`min_far_recall`: -0.1 is no share"), ("min_far_recall = nan", "is no share"),
     ('max_fault_rate = "much"', "`max_fault_rate`: Expected `float`"), ("max_fault = 1.0", "unknown key 'max_fault' — did you mean max_fault_rate"),
     ("keep = 0.9", "`keep` is no longer a key — write max_fault_rate"), ("keep_far = 0.9", "`keep_far` is no longer a key — write min_far_recall")],
)  # fmt: skip
def test_a_share_that_is_none_is_refused(tmp_path, line, says):
    path = tmp_path / "s.toml"
    path.write_text(f'{line}\ntraces = ["t.jsonl"]\nstrategies = {{ cut = {{ store = "truncate" }} }}\n')
    with pytest.raises(ScenarioError) as error:
        read_scenario(path)
    assert says in str(error.value)
    assert str(error.value).startswith(f"{path}: ")


def test_a_scenario_reads_no_traces_outside_its_repository(tmp_path):
    """Neither by a path, a pattern, nor a link; a command line may allow it, and outside a repository there is nothing to leave."""
    (tmp_path / "elsewhere").mkdir()
    outside = tmp_path / "elsewhere" / "t.json"
    outside.write_text('{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "4711"}]}')
    inside = tmp_path / "repository"
    inside.mkdir()
    (inside / "link.json").symlink_to(outside)
    for number, text in enumerate(
        ("../elsewhere/t.json", "../elsewhere", "../elsewhere/*.json", "link.json", str(outside))
    ):
        scenario = inside / f"{number}.toml"
        scenario.write_text(f'traces = ["{text}"]\n[strategies.keep_all]\n')
        assert len(bench.run_scenario(scenario).cases) == 1
        (inside / ".git").mkdir()
        with pytest.raises(TraceError, match="lies outside the repository"):
            bench.run_scenario(scenario)
        assert len(bench.run_scenario(replace(read_scenario(scenario), outside=True)).cases) == 1
        (inside / ".git").rmdir()
