"""The pytest plugin, as somebody's own pytest runs it: scenarios as items, readable failures, the fixture, xdist and benchmark."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from repository import BASELINE, SCENARIO, SUMMARIZERS, TRACES, WORSE, bench

ROOT = Path(__file__).parents[1]
ITEMS = [
    "measured something",
    "mine[needed.recall max_drop=0.01]",
    "mine[loss.fact_recall.shown max_drop=0.05]",
    "mine[cost.prompt_tokens max_increase=10%]",
    "mine[needed.recall min=0.5 worst_case]",
]


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert bench("init") == 0
    capsys.readouterr()
    return tmp_path


def run(*arguments, plugins=()):
    """The exit code and output of pytest in a process of its own, with this plugin, and no other but those named."""
    loaded = [part for name in ("bench.pytest_plugin", *plugins) for part in ("-p", name)]
    command = [sys.executable, "-m", "pytest", *loaded, "-p", "no:cacheprovider", "--color=no", *arguments]
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    environment = {**outside, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "INTERNALERROR" not in done.stdout + done.stderr
    return done.returncode, done.stdout + done.stderr


def test_a_folder_of_scenarios_is_collected_one_item_a_gate():
    folder = SCENARIO.parent
    (folder / "notes.toml").write_text("[tool.other]\nx = 1\n")
    Path("pyproject.toml").write_text('traces = ["x"]\n[strategies]\na = {}\n')
    (Path("elsewhere")).mkdir()
    Path("elsewhere/named.toml").write_text(SCENARIO.read_text())
    code, said = run("--collect-only", "-q")
    assert code == 0, said
    assert [line for line in said.splitlines() if "::" in line] == [f"{SCENARIO}::{item}" for item in ITEMS]
    code, said = run("--collect-only", "-q", "elsewhere/named.toml")
    assert said.count("elsewhere/named.toml::") == len(ITEMS)
    code, said = run("--collect-only", "-q", "scenarios/notes.toml")
    assert code == pytest.ExitCode.USAGE_ERROR, "a named file that is no scenario is told, not passed over"


def test_green_then_red_with_metric_case_and_what_was_dropped_and_no_traceback():
    code, said = run("scenarios")
    assert code == 0, said
    assert "5 passed" in said
    SUMMARIZERS.write_text(WORSE)
    code, said = run("scenarios", "--junit-xml=x.xml")
    assert code == 1
    assert "fail: mine: needed.recall went from 1" in said
    assert "most on survey" in said
    assert '  step 19 (run_script_by_name) dropped "' in said
    assert "Traceback" not in said
    assert "pytest_plugin.py" not in said
    failed = [case.get("name") for case in ET.parse("x.xml").iter("testcase") if case.find("failure") is not None]
    assert failed == [ITEMS[1], ITEMS[2], ITEMS[4]]


def test_without_a_baseline_relative_gates_are_skipped_until_one_is_accepted():
    BASELINE.unlink()
    code, said = run("scenarios", "-rs")
    assert code == 0
    assert "2 passed, 3 skipped" in said
    assert "no baseline yet" in said
    assert not BASELINE.exists()
    code, said = run("scenarios", "--bench-update-baseline")
    assert code == 0
    assert "bench baselines" in said
    assert "mine needed.recall: 1 over 2 cases (new)" in said
    assert "5 passed" in said
    assert BASELINE.exists()


def test_what_cannot_be_judged_is_never_green_unless_allowed():
    (TRACES / "survey.jsonl").unlink()
    code, said = run("scenarios")
    assert code == 1
    assert "inconclusive: mine: deleted trace: the baseline has case survey" in said
    code, said = run("scenarios", "--bench-allow-inconclusive")
    assert code == 0
    assert "3 skipped" in said


BUDGETS = """
title = "Windows"
traces = ["traces/*.jsonl"]
budgets = [3000, 1000000]

[strategies]
old = { compactor = "summarize_old" }
mine = { summarizer = "summarizers.py:summarize" }

[[gates]]
metric = "cost.peak_prompt_tokens"
max = 3500
strategy = "old"

[[gates]]
metric = "cost.peak_prompt_tokens"
max = 3500
strategy = "old@3000"

[[gates]]
metric = "cost.peak_prompt_tokens"
max = 1000000

[[gates]]
metric = "needed.recall"
min = 1
strategy = "keep*"

[[gates]]
metric = "needed.recall"
max_drop = 0
"""


def worst(verdicts):
    """Item by item what the command line says: a strategy's verdicts at its budgets together."""
    found = {}
    for item in verdicts:
        found.setdefault((item["gate"], item["strategy"].partition("@")[0]), []).append(item["outcome"])
    order = ("fail", "inconclusive", "skipped", "pass")
    return [min(outcomes, key=order.index) for outcomes in found.values()]


def test_gates_of_a_scenario_with_budgets_are_the_verdicts_of_the_command_line():
    SCENARIO.write_text(BUDGETS)
    BASELINE.unlink()
    code, said = run("scenarios", "-rA", "--junit-xml=x.xml")
    assert "no strategy is called" not in said
    assert code == 1
    items = list(ET.parse("x.xml").iter("testcase"))
    assert [item.get("name") for item in items] == [
        "measured something",
        "old[cost.peak_prompt_tokens max=3500]",
        "old@3000[cost.peak_prompt_tokens max=3500]",
        "old[cost.peak_prompt_tokens max=1000000]",
        "mine[cost.peak_prompt_tokens max=1000000]",
        "keep_all[needed.recall min=1]",
        "old[needed.recall max_drop=0]",
        "mine[needed.recall max_drop=0]",
    ]
    outcomes = [next((child.tag for child in item if child.tag in ("failure", "skipped")), "pass") for item in items]
    assert outcomes == ["pass", "failure", "pass", "pass", "pass", "pass", "skipped", "skipped"]
    assert "fail: old@1000000: cost.peak_prompt_tokens is" in said
    assert bench("run", SCENARIO, "-o", "x.json") == 1
    verdicts = json.loads(Path("x.json").read_text())["verdicts"]
    assert len(verdicts) == 10, "at every budget, where the items are one a strategy"
    assert {item["strategy"] for item in verdicts} == {"old@3000", "old@1000000", "mine", "keep_all"}
    code, said = run("scenarios", "--bench-update-baseline")
    assert "old@3000 needed.recall: " in said
    code, said = run("scenarios", "-rA")
    assert "PASSED scenarios/summaries.toml::old[needed.recall max_drop=0]" in said


@pytest.mark.parametrize("budgets", ["", "budgets = [3000, 1000000]\n"])
def test_the_items_say_what_the_command_line_says(budgets):
    SUMMARIZERS.write_text(WORSE)
    SCENARIO.write_text(budgets + SCENARIO.read_text())
    run("scenarios", "--junit-xml=x.xml")
    items = list(ET.parse("x.xml").iter("testcase"))[1:]
    bench("run", SCENARIO, "-o", "x.json")
    expected = worst(json.loads(Path("x.json").read_text())["verdicts"])
    tags = [next((child.tag for child in item if child.tag in ("failure", "skipped")), "pass") for item in items]
    assert tags == [{"fail": "failure", "inconclusive": "failure"}.get(outcome, outcome) for outcome in expected]
    assert "failure" in tags


SWEPT = """
traces = ["traces/*.jsonl"]
budgets = [3000, 1000000]

[strategies]
mine = { summarizer = "truncate:limit=3|1000000" }
old = { compactor = "summarize_old:keep_last=2|4" }
keep_all = {}
"""


@pytest.mark.parametrize(
    ("pattern", "items"),
    [
        ("mine", {"mine": "failure"}),
        ("mine-3", {"mine-3": "failure"}),
        ("mine-1000000", {"mine-1000000": "pass"}),
        ("mine-*", {"mine-3": "failure", "mine-1000000": "pass"}),
        ("old-2", {"old-2": "pass"}),
        ("old-2@1000000", {"old-2@1000000": "pass"}),
        ("*@3000", {"old-2@3000": "pass", "old-4@3000": "pass"}),
        ("*", {"mine": "failure", "old": "pass", "keep_all": "pass"}),
        ("drop*", {"drop_all": "failure"}),
    ],
)
def test_a_gate_on_a_strategy_of_several_settings_holds_for_all_of_them(pattern, items):
    SCENARIO.write_text(f'{SWEPT}\n[[gates]]\nmetric = "needed.recall"\nmin = 0.99\nstrategy = "{pattern}"\n')
    code, said = run("scenarios", "--junit-xml=x.xml")
    assert "no strategy is called" not in said
    assert code == bench("run", SCENARIO), said
    found = {
        case.get("name").partition("[")[0]: "pass" if case.find("failure") is None else "failure"
        for case in list(ET.parse("x.xml").iter("testcase"))[1:]
    }
    assert found == items


def test_a_gate_on_nobody_is_told_with_the_nearest_name():
    SCENARIO.write_text(SCENARIO.read_text().replace('strategy = "mine"', 'strategy = "mien"', 1))
    code, said = run("scenarios")
    assert code == 1
    assert "gates[1]: no strategy is called 'mien' — did you mean mine?" in said


def test_a_broken_scenario_is_an_error_and_bad_input_one_line_an_item():
    broken = SCENARIO.with_name("broken.toml")
    broken.write_text('traces = ["x"]\n[strategies]\na = {\n')
    code, said = run("scenarios")
    assert code != 0
    assert "error: " in said
    assert "broken.toml: not TOML" in said
    broken.unlink()
    for path in TRACES.iterdir():
        path.unlink()
    code, said = run("scenarios")
    assert code == 1
    assert "traces/*.jsonl: no file matches" in said
    assert "Traceback" not in said


MISSPELT = 'traces = ["x"]\n[strategies]\na = {}\n[[gates]]\nmetric = "needed.recall"\nmin = 1\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (MISSPELT.replace("[strategies]", "[strategy]"), "unknown key 'strategy' — did you mean strategies?"),
        (MISSPELT.replace("traces =", "trace ="), "unknown key 'trace' — did you mean traces?"),
        (MISSPELT.replace("traces =", "trace =").replace("[strategies]", "[strategy]"), "unknown key 'trace'"),
        (MISSPELT.replace('"x"]', '"x"'), "broken.toml: not TOML"),
        ('[[ "gates" ]]\nmin =\n', "broken.toml: not TOML"),
        ("keep_far = 0.5\n", "`traces` is missing or empty"),
        (f"a = {'9' * 5000}\n{MISSPELT}", "broken.toml: not TOML"),
        (f"title = '\udcff'\n{MISSPELT}", "broken.toml: not TOML"),
    ],
)
def test_a_scenario_with_a_misspelt_key_is_an_error_at_any_depth(text, told):
    broken = SCENARIO.parent / "sub" / "deeper" / "broken.toml"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert bench("run", broken) == 2
    code, said = run("scenarios")
    assert code != 0
    assert told in said


def test_scenarios_below_the_folder_are_collected_and_what_is_something_else_is_not():
    deep = SCENARIO.parent / "red" / "today.toml"
    deep.parent.mkdir()
    deep.write_text(
        SCENARIO.read_text().replace('"traces/', '"../traces/').replace('"summarizers.py', '"../summarizers.py')
    )
    others = {
        "ruff.toml": "line-length = 100\n[lint]\nselect = ['E']\n",
        "settings.toml": "title = 'x'\nmodel = 'gpt-4o'\nseed = 1\n",
        "broken.toml": "title = [\nmore_gates = 1\n",
        "pyproject.toml": MISSPELT,
        "empty.toml": "",
    }
    for name, text in others.items():
        deep.with_name(name).write_text(text)
    code, said = run("scenarios", "--collect-only", "-q")
    assert code == 0, said
    assert said.count(f"{deep}::") == len(ITEMS) == said.count(f"{SCENARIO}::")
    assert said.count("::") == 2 * len(ITEMS)
    SUMMARIZERS.write_text(WORSE)
    code, said = run("scenarios/red")
    assert code == 1
    assert "mine: needed.recall is 0" in said


def test_under_xdist_a_scenario_is_replayed_in_one_process():
    pytest.importorskip("xdist")
    SUMMARIZERS.write_text("import os, pathlib\n\n\ndef summarize(result):\n    "
                           "pathlib.Path('pid-%d' % os.getpid()).touch()\n    return result.text\n")  # fmt: skip
    code, said = run("scenarios", "-n", "2", "--dist", "loadfile", plugins=["xdist.plugin"])
    assert code == 0, said
    assert "5 passed" in said
    assert len(list(Path().glob("pid-*"))) == 1


FIXTURE = """
import pytest
from bench.errors import BenchError, SpecError, TraceError
from bench.model import Run

FOLDER, SURVEY = "scenarios/traces", "scenarios/traces/survey.jsonl"
MINE = "mine=summarizer=scenarios/summarizers.py:summarize"

def hundred(result):
    return result.text[:100]

def test_losses(bench):
    assert bench.loss(FOLDER, "keep_all") == 0.0
    assert bench.loss(FOLDER, "drop_all") == 1.0
    assert bench.loss(FOLDER, MINE) < 0.05 < bench.loss(FOLDER, hundred)
    assert bench.loss(SURVEY, hundred, metric="needed.recall") == 1.0 - bench.value(SURVEY, hundred, "needed.recall")

def test_replay_and_compare(bench):
    (trace,) = bench.load(SURVEY)
    run = bench.replay(trace, MINE)
    assert isinstance(run, Run) and run.failure is None and run.prompts == bench.replay(SURVEY, MINE).prompts
    compared = bench.compare(bench.load(FOLDER), [MINE, hundred])
    assert compared.strategies == ("mine", "hundred")
    assert bench.value(FOLDER, hundred, "needed.tokens_over_oracle") == compared.row("hundred", "needed.tokens_over_oracle").value

def test_errors(bench):
    with pytest.raises(SpecError, match="did you mean needed.recall"):
        bench.value(SURVEY, MINE, "needed.recal")
    with pytest.raises(SpecError, match="use bench.value"):
        bench.loss(SURVEY, MINE, metric="cost.prompt_tokens")
    with pytest.raises(TraceError):
        bench.load("none.jsonl")
    with pytest.raises(BenchError, match="holds 2 traces"):
        bench.replay(FOLDER, MINE)
    with pytest.raises(pytest.fail.Exception, match="was not measured"):
        bench.value(SURVEY, MINE, "findings.agreement")
"""
FAILING = """
def hundred(result):
    return result.text[:100]

def test_value(bench):
    assert bench.value("scenarios/traces", hundred, "needed.recall") == 1.0

def test_loss(bench):
    assert bench.loss("scenarios/traces", hundred, "needed.recall") <= 0.01

def test_tokens(bench):
    assert 10 > bench.value("scenarios/traces", hundred, "cost.prompt_tokens")
"""
TIMED = """
def test_time(bench):
    run = bench.benchmark("mine=summarizer=scenarios/summarizers.py:summarize", "scenarios/traces/survey.jsonl")
    assert run.strategy == "mine"
"""


def test_the_fixture_in_tests_of_ones_own():
    Path("test_own.py").write_text(FIXTURE)
    code, said = run("test_own.py")
    assert code == 0, said
    assert "3 passed" in said


def test_an_assertion_that_fails_names_the_facts_as_a_gate_does():
    Path("test_own.py").write_text(FAILING)
    code, said = run("test_own.py")
    assert code == 1, said
    assert re.search(r"assert 0\.\d+ == 1\.0", said)
    told = re.findall(r"^E .*needed\.recall of hundred is 0\.\d+, worst on \w+:", said, re.MULTILINE)
    assert len(told) == 2
    assert len(re.findall(r"E +step \d+ \(\w+\) dropped \".+; step \d+ needed \"", said)) >= 2
    assert re.search(r"cost\.prompt_tokens of hundred is \d+\n", said)


def test_benchmarks_time_strategies_and_say_what_is_missing():
    Path("test_time.py").write_text(TIMED)
    code, said = run("test_time.py")
    assert code == 1
    assert "bench.benchmark needs pytest-benchmark" in said
    pytest.importorskip("pytest_benchmark")
    code, said = run("test_time.py", plugins=["pytest_benchmark.plugin"])
    assert code == 0, said
    assert "benchmark: 1 tests" in said


def test_loading_the_plugin_costs_nothing():
    code = "import sys, pytest; before = set(sys.modules); import bench.pytest_plugin; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {name for name in done.stdout.split() if name != "difflib"} == {
        "bench",
        "bench.errors",
        "bench.pytest_plugin",
        "bench.version",
    }


def test_it_is_named_as_an_entry_point():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"bench": "bench.pytest_plugin"}
