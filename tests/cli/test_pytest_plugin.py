"""The pytest plugin, as somebody's own pytest runs it: scenarios as items, readable failures, xdist."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from bench.reports.decision_sentence import advice_text
from plugged import run
from repository import BASELINE, SCENARIO, SUMMARIZERS, TRACES, WORSE, bench

from bench import run_scenario

ROOT = Path(__file__).parents[2]
ITEMS = [
    "measured something",
    "mine[needed.recall max_drop=0.01]",
    "mine[loss.fact_recall.shown max_drop=0.05]",
    "mine[cost.prompt_tokens max_increase=10%]",
    "mine[needed.recall min=0.5 worst_case]",
]


@pytest.fixture(autouse=True)
def ours(repository):
    return repository


@pytest.mark.slow
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


@pytest.mark.slow
def test_green_then_red_with_metric_case_and_what_was_dropped_and_no_traceback():
    code, said = run("scenarios")
    assert code == 0, said
    assert "5 passed" in said
    assert f"{SCENARIO.name}: {advice_text(run_scenario(SCENARIO))}" in said
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_cannot_be_judged_is_never_green_unless_allowed():
    (TRACES / "survey.jsonl").unlink()
    code, said = run("scenarios")
    assert code == 1
    assert "inconclusive: mine: deleted trace: the baseline has case survey" in said
    code, said = run("scenarios", "--bench-allow-inconclusive")
    assert code == 0
    assert "3 skipped" in said


def worst(verdicts):
    """Item by item what the command line says: a strategy's verdicts at its budgets together."""
    found = {}
    for item in verdicts:
        found.setdefault((item["gate"], item["strategy"].partition("@")[0]), []).append(item["outcome"])
    order = ("fail", "inconclusive", "skipped", "pass")
    return [min(outcomes, key=order.index) for outcomes in found.values()]


@pytest.mark.slow
def test_the_items_say_what_the_command_line_says():
    SUMMARIZERS.write_text(WORSE)
    run("scenarios", "--junit-xml=x.xml")
    items = list(ET.parse("x.xml").iter("testcase"))[1:]
    bench("run", SCENARIO, "-o", "x.json")
    expected = worst(json.loads(Path("x.json").read_text())["verdicts"])
    tags = [next((child.tag for child in item if child.tag in ("failure", "skipped")), "pass") for item in items]
    assert tags == [{"fail": "failure", "inconclusive": "failure"}.get(outcome, outcome) for outcome in expected]
    assert "failure" in tags


SWEPT = """
traces = ["traces/*.jsonl"]

[strategies]
mine = { summarizer = "truncate:limit=3|1000000" }
old = { compactor = "summarize_old:keep_last=2|4" }
keep_all = {}
"""


HOLDS = {
    "mine": {"mine": False},
    "mine-3": {"mine-3": False},
    "mine-1000000": {"mine-1000000": True},
    "mine-*": {"mine-3": False, "mine-1000000": True},
    "old-2": {"old-2": True},
    "old-2@1000000": {"old-2@1000000": True},
    "*@3000": {"old-2@3000": True, "old-4@3000": True},
    "*": {"mine": False, "old": True, "keep_all": True},
    "drop*": {"drop_all": False},
}
"""Patterns of a gate, each with the items that it makes and their outcome."""


@pytest.mark.slow  # every pattern is a gate of one scenario, told apart by its limit
def test_a_gate_on_a_strategy_of_several_settings_holds_for_all_of_them():
    limits = {f"min=0.9{number}": pattern for number, pattern in enumerate(HOLDS, 1)}
    gates = (
        f'[[gates]]\nmetric = "needed.recall"\n{limit}\nstrategy = "{pattern}"\n' for limit, pattern in limits.items()
    )
    SCENARIO.write_text("\n".join([SWEPT, *gates]))
    code, said = run("scenarios", "--junit-xml=x.xml")
    assert "no strategy is called" not in said
    assert code == bench("run", SCENARIO) == 1, said
    found = {pattern: {} for pattern in HOLDS}
    for case in list(ET.parse("x.xml").iter("testcase"))[1:]:
        strategy, _, limit = case.get("name").removesuffix("]").partition("[needed.recall ")
        found[limits[limit]][strategy] = case.find("failure") is None
    assert found == HOLDS


@pytest.mark.slow
def test_a_gate_on_nobody_is_told_with_the_nearest_name():
    SCENARIO.write_text(SCENARIO.read_text().replace('strategy = "mine"', 'strategy = "mien"', 1))
    code, said = run("scenarios")
    assert code == 1
    assert "gates[1]: no strategy is called 'mien' — did you mean mine?" in said


@pytest.mark.slow
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


BROKEN = [
    (MISSPELT.replace("[strategies]", "[strategy]"), "unknown key 'strategy' — did you mean strategies?"),
    (MISSPELT.replace("traces =", "trace ="), "unknown key 'trace' — did you mean traces or cache?"),
    (MISSPELT.replace("traces =", "trace =").replace("[strategies]", "[strategy]"), "unknown key 'trace'"),
    (MISSPELT.replace('"x"]', '"x"'), "not TOML"),
    ('[[ "gates" ]]\nmin =\n', "not TOML"),
    ("min_far_recall = 0.5\n", "`traces` is missing or empty"),
    (f"a = {'9' * 5000}\n{MISSPELT}", "not TOML"),
    (f"title = '\udcff'\n{MISSPELT}", "not TOML"),
]


@pytest.mark.slow
def test_a_scenario_with_a_misspelt_key_is_an_error_at_any_depth():
    folder = SCENARIO.parent / "sub" / "deeper"
    folder.mkdir(parents=True)
    for number, (text, _) in enumerate(BROKEN):
        (folder / f"broken{number}.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
        assert bench("run", folder / f"broken{number}.toml") == 2
    code, said = run("scenarios")
    assert code != 0
    for number, (_, told) in enumerate(BROKEN):
        assert re.search(rf"broken{number}\.toml: .*{re.escape(told)}", said), told


@pytest.mark.slow
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


@pytest.mark.slow
def test_under_xdist_a_scenario_is_replayed_in_one_process():
    pytest.importorskip("xdist")
    code, said = run("scenarios", "-v", "-n", "2", "--dist", "loadfile", plugins=["xdist.plugin"])
    assert code == 0, said
    assert "5 passed" in said
    assert len(set(re.findall(r"\[(gw\d)\].*PASSED", said))) == 1, said


def test_loading_the_plugin_costs_nothing():
    code = "import sys, pytest; before = set(sys.modules); import bench.pytest_plugin; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    rooms = {".".join(name.split(".")[:2]) for name in done.stdout.split() if name.startswith("bench.")}
    assert rooms == {"bench.model", "bench.pytest_plugin", "bench.version"}, "values and errors, and no room that works"


def test_it_is_named_as_an_entry_point():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"bench": "bench.pytest_plugin"}


def test_other_toml_below_folders_called_scenarios_is_left_alone(tmp_path_factory):
    """A project below a folder of that name, and TOML of other tools that shares single keys with ours."""
    project = tmp_path_factory.mktemp("above") / "scenarios" / "their_project"
    (project / "scenarios").mkdir(parents=True)
    (project / "pytest.ini").write_text("[pytest]\n")
    (project / "test_theirs.py").write_text("def test_theirs():\n    pass\n")
    (project / "load.toml").write_text("traces = 3\n[strategies]\nround_robin = 1\n")
    (project / "scenarios/one.toml").write_text("[strategies]\nround_robin = 1\n")
    (project / "scenarios/two.toml").write_text("traces = true\nprobes = 4\n")
    (project / "scenarios/three.toml").write_text("[gates]\nopen = [\n")
    code, said = run("-q", str(project), "--rootdir", str(project))
    assert (code, "1 passed" in said) == (0, True), said
