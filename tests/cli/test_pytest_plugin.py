"""The pytest plugin, as somebody's own pytest runs it: items, outcomes, exit codes, and what must not turn a failure green."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from plugged import ROOT, run
from repository import BASELINE, SCENARIO, SUMMARIZERS, TRACES, WORSE, bench

REQUIRE = "--bench-require-baseline"

pytestmark = pytest.mark.usefixtures("repository")


def outcomes(*arguments: str) -> tuple[int, dict[str, str]]:
    """The exit code of a session, and the outcome of each item by its name: pass, failure, error, skipped."""
    code, _ = run(*arguments, "--junit-xml=x.xml")
    cases = ET.parse("x.xml").iter("testcase")
    tags = ("failure", "error", "skipped")
    return code, {
        str(case.get("name")): next((tag for tag in tags if case.find(tag) is not None), "pass") for case in cases
    }


def collected(*arguments: str) -> list[str]:
    code, printed = run("--collect-only", "-q", *arguments)
    assert code == 0, printed
    return [line for line in printed.splitlines() if "::" in line]


# ---------------------------------------------------------------- collecting


@pytest.mark.slow  # seven sessions
def test_toml_files_with_traces_and_strategies_are_collected():
    deep = SCENARIO.parent / "deep" / "er" / "today.toml"
    deep.parent.mkdir(parents=True)
    deep.write_bytes(SCENARIO.read_bytes())
    for name, text in {
        "ruff.toml": "line-length = 100\n[lint]\nselect = ['E']\n",
        "one_key.toml": "[strategies]\nround_robin = 1\n",
        "pyproject.toml": 'traces = ["x"]\n[strategies]\na = {}\n',
        "empty.toml": "",
    }.items():
        deep.with_name(name).write_text(text)
    Path("elsewhere").mkdir()
    Path("elsewhere/named.toml").write_bytes(SCENARIO.read_bytes())
    assert collected() == [f"{path}::gates" for path in ("elsewhere/named.toml", deep, SCENARIO)]
    assert collected("elsewhere/named.toml") == ["elsewhere/named.toml::gates"]


@pytest.mark.slow  # a session
def test_toml_files_of_other_tools_are_not_collected(tmp_path_factory):
    project = tmp_path_factory.mktemp("theirs")
    (project / "scenarios").mkdir(parents=True)
    (project / "pytest.ini").write_text("[pytest]\n")
    (project / "test_theirs.py").write_text("def test_theirs():\n    pass\n")
    (project / "scenarios/one.toml").write_text("[strategies]\nround_robin = 1\n")
    (project / "scenarios/two.toml").write_text("traces = true\nprobes = 4\n")
    assert outcomes(str(project), "--rootdir", str(project)) == (0, {"test_theirs": "pass"})
    code, printed = run(str(project), "--rootdir", str(project), REQUIRE)
    assert (code, "there is no scenario below" in printed) == (1, True)


@pytest.mark.slow  # a session
def test_a_broken_scenario_is_an_error_of_that_file():
    texts = 'traces = ["x"', 'traces = ["x"]\n[strategies]\na = {\n', "traces = []\nstrategies = 3\n"
    for number, text in enumerate(texts):
        SCENARIO.with_name(f"broken{number}.toml").write_text(text)
        assert bench("run", SCENARIO.with_name(f"broken{number}.toml")) == 2
    code, found = outcomes("scenarios", "--continue-on-collection-errors")
    assert code == 1
    assert [name for name, outcome in found.items() if outcome == "error"] == [
        f"scenarios.broken{n}.toml" for n in (1, 2)
    ]


def test_loading_the_plugin_imports_no_measuring_code():
    code = "import sys, bench.pytest_plugin; print(*(n for n in sys.modules if n.startswith('bench.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rooms = {".".join(name.split(".")[:2]) for name in done.stdout.split()}
    assert rooms <= {"bench.model", "bench.pytest_plugin", "bench.pytest_plugin.fixture", "bench.version"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"bench": "bench.pytest_plugin"}


# ---------------------------------------------------------------- judging


@pytest.mark.slow  # three sessions
def test_a_scenario_has_the_outcome_of_the_command_line_and_names_every_gate_that_failed():
    assert outcomes("scenarios", REQUIRE) == (0, {"gates": "pass"})
    SUMMARIZERS.write_text(WORSE)
    code, printed = run("scenarios")
    assert bench("run", SCENARIO, "-o", "x.json") == code == 1
    report = json.loads(Path("x.json").read_text())
    failed = [gate["rule"]["metric"] for gate in report["gates"] if gate["outcome"] == "fail"]
    assert failed
    lines = {line for line in printed.splitlines() if line.startswith("fail: `mine`: ")}
    assert len(lines) == len(failed)  # on CI pytest prints them twice
    assert report["first_line"] in printed


@pytest.mark.slow  # four sessions
def test_gates_against_a_baseline_wait_for_one_and_fail_where_it_is_required():
    BASELINE.unlink()
    code, printed = run("scenarios")
    assert (code, printed.count("skipped: `mine`: "), printed.count(" and 1 more could")) == (0, 1, 1)
    assert not BASELINE.exists()
    code, printed = run("scenarios", REQUIRE)
    assert (code, printed.count("\nfail: there is no baseline yet")) == (1, 1)
    code, printed = run("scenarios", "--bench-update-baseline")
    assert (code, f"accepted {BASELINE.name}" in printed) == (0, True)
    assert BASELINE.exists()


@pytest.mark.slow  # three sessions
def test_an_undecided_gate_fails_unless_the_command_line_allows_it():
    (TRACES / "survey.jsonl").unlink()
    code, printed = run("scenarios")
    assert (code, "\nundecided: `mine`: " in printed) == (1, True)
    assert outcomes("scenarios", "--bench-allow-inconclusive") == (0, {"gates": "pass"})
    assert outcomes("scenarios", "--bench-allow-inconclusive", REQUIRE)[0] == 1


@pytest.mark.slow  # a session
def test_required_scenarios_that_the_session_left_out_are_judged():
    Path("test_other.py").write_text("def test_other():\n    pass\n")
    assert run(".", "-k", "other", REQUIRE)[0] == 0
    SUMMARIZERS.write_text(WORSE)
    code, printed = run(".", "-k", "other", REQUIRE)
    assert (code, f"bench: required: {SCENARIO.absolute()}: fail: `mine`: " in printed) == (1, True)


@pytest.mark.slow  # two processes more
def test_under_xdist_a_scenario_is_replayed_in_one_process(monkeypatch):
    pytest.importorskip("xdist")
    monkeypatch.setenv("BENCH_WRITABLE", str(Path.cwd()))
    pids = Path("pids").absolute()
    SUMMARIZERS.write_text(
        f"import os\n\ndef summarize(result):\n    with open({str(pids)!r}, 'a') as file:\n"
        "        file.write(f'{os.getppid()}\\n')\n    return result.text\n"
    )
    options = ("-n", "2", "--bench-update-baseline")
    code, printed = run("scenarios", *options, plugins=["xdist"])
    assert code == 0, printed
    assert len(set(pids.read_text().split())) == 2  # the second one imports the code again


# ---------------------------------------------------------------- ways to turn a failure green

CONFTESTS = {
    "drops items": "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if i.name != 'gates']\n",
    "ignores the folder": "collect_ignore = ['scenarios']\n",
    "ignores files": "def pytest_ignore_collect(collection_path):\n    return collection_path.suffix == '.toml' or None\n",
    "expects failures": (
        "import pytest\n"
        "def pytest_collection_modifyitems(items):\n    for i in items:\n        i.add_marker(pytest.mark.xfail)\n"
    ),
    "skips": "import pytest\ndef pytest_collection_modifyitems(items):\n    [i.add_marker(pytest.mark.skip) for i in items]\n",
    "runs no session": "def pytest_cmdline_main(config):\n    return 0\n",
    "takes the judge out": (
        "def pytest_sessionstart(session):\n    p = session.config.pluginmanager\n"
        "    [p.unregister(i) for i in p.get_plugins() if getattr(i, '__name__', '') == 'bench.pytest_plugin']\n"
        "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if i.name != 'gates']\n"
    ),
    "runs nothing": "def pytest_runtest_protocol(item):\n    return True\n",
    "changes the outcome": (
        "import pytest\n@pytest.hookimpl(hookwrapper=True)\n"
        "def pytest_runtest_makereport():\n    r = yield\n    r.get_result().outcome = 'passed'\n"
    ),
    "sets options": (
        "def pytest_configure(config):\n    config.option.bench_update_baseline = True\n"
        "    config.option.bench_allow_inconclusive = True\n    config.option.bench_require_baseline = False\n"
    ),
}
SETTINGS = {
    "updates by addopts": "addopts = --bench-update-baseline",
    "allows by addopts": "addopts = --bench-allow-inconclusive",
    "ignores by addopts": "addopts = --ignore=scenarios",
    "deselects by addopts": "addopts = -k nothing",
    "collects only by addopts": "addopts = --collect-only",
    "prints markers by addopts": "addopts = --markers",
    "other test paths": "testpaths = nowhere",
    "no recursion": "norecursedirs = scenarios",
}


COLLECT_LESS = ("ignores the folder", "ignores files", "ignores by addopts", "other test paths", "no recursion")


@pytest.mark.slow  # a session each
@pytest.mark.parametrize(
    ("way", "paths"),
    [*((way, ("scenarios",)) for way in [*CONFTESTS, *SETTINGS]), *((way, ()) for way in COLLECT_LESS)],
)
def test_no_file_of_the_project_makes_a_required_gate_pass(way, paths):
    SUMMARIZERS.write_text(WORSE)
    kept = BASELINE.read_bytes()
    if way in CONFTESTS:
        Path("conftest.py").write_text(CONFTESTS[way])
    else:
        Path("pytest.ini").write_text(f"[pytest]\n{SETTINGS[way]}\n")
    Path("test_other.py").write_text("def test_other():\n    pass\n")
    code, printed = run(*paths, REQUIRE)
    assert code not in (0, pytest.ExitCode.NO_TESTS_COLLECTED), printed
    assert BASELINE.read_bytes() == kept


@pytest.mark.slow  # a session
@pytest.mark.parametrize("change", ["renamed.toml", "pyproject.toml", "own root", "other versions"])
def test_gates_fail_if_the_required_baseline_cannot_be_compared(change):
    SUMMARIZERS.write_text(WORSE)
    Path("scenarios/test_other.py").write_text("def test_other():\n    pass\n")
    if change.endswith(".toml"):
        SCENARIO.rename(SCENARIO.with_name(change))
    elif change == "own root":
        Path("scenarios/pytest.ini").write_text("[pytest]\n")
    else:
        table = json.loads(BASELINE.read_text())
        table["signature"]["facts_version"] = "0"
        BASELINE.write_text(json.dumps(table))
    code, _ = outcomes("scenarios", REQUIRE, "--bench-allow-inconclusive")
    assert code == 1
