"""`bench init` in somebody else's repository: what it writes runs green, is real, and never overwrites unasked."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from repository import BASELINE, SCENARIO, SUMMARIZERS, TRACES, bench, commit, git

import bench as verbs
from bench.cli.starter_files import _FILES, requirement

ROOT = Path(__file__).parents[2]
WRITTEN = {*map(Path, _FILES), BASELINE}


@pytest.fixture(autouse=True)
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def bash():
    """A test that runs a script of the action is skipped where there is no bash."""
    if shutil.which("bash") is None:
        pytest.skip("the action's script is bash")


def files():
    return {path.relative_to(Path.cwd()) for path in Path.cwd().rglob("*") if path.is_file()}


@pytest.mark.slow
def test_what_is_written_runs_green_with_every_gate_judged(capsys):
    assert bench("init") == 0
    assert files() == WRITTEN
    said = capsys.readouterr().out
    assert all(f"wrote {path}\n" in said for path in WRITTEN)
    assert bench("run", SCENARIO, "-o", "x.json") == 0
    found = json.loads(Path("x.json").read_text())["verdicts"]
    assert len(found) == 4
    assert {item["outcome"] for item in found} == {"pass"}


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(WRITTEN))
def test_a_file_that_is_there_is_not_overwritten_unasked(path, capsys):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    assert bench("init") == 2
    err = capsys.readouterr().err
    assert err.startswith(f"error: {path}: is there already")
    assert err.count("\n") == 1
    assert files() == {path}
    assert path.read_text() == "mine"
    assert bench("init", "--force") == 0
    assert path.read_text() != "mine"


def test_a_file_in_place_of_the_folder(capsys):
    Path("taken").write_text("")
    assert bench("init", "taken") == 2
    assert capsys.readouterr().err.startswith("error: taken: ")


def test_the_traces_are_cuts_of_recorded_ones():
    assert bench("init") == 0
    for path in TRACES.iterdir():
        lines = path.read_text(encoding="utf-8").splitlines()
        recorded = (ROOT / "traces" / "building_model" / path.name).read_text(encoding="utf-8").splitlines()
        assert lines[1:] == recorded[1 : len(lines)]
        assert "cut" in json.loads(lines[0])["meta"]


def test_the_scenario_and_the_workflow_hold_together():
    assert bench("init") == 0
    scenario = tomllib.loads(SCENARIO.read_text())
    assert scenario["strategies"]["mine"] == {"summarizer": f"{SUMMARIZERS.name}:summarize"}
    workflow = Path(".github/workflows/bench.yml").read_text()
    assert f'pip install "{requirement()}"' in workflow
    assert "@REQUIREMENT@" not in workflow
    assert "bench run scenarios/*.toml" in workflow


def test_the_action_gives_the_command_line_options_that_exist(capsys):
    action = (ROOT / "action.yml").read_text()
    assert bench("run", "--help") == 0
    known = capsys.readouterr().out
    for option in ("--against", "--require-baseline", "--allow-inconclusive"):
        assert f"({option}" in action
        assert option in known


def as_the_action(**inputs):
    """The exit code and output of the action's script in this folder, as it runs with these inputs and the others as they are by default."""
    text = (ROOT / "action.yml").read_text()
    body = text.partition("      run: |\n")[2].partition("\n    - ")[0]
    script = "\n".join(line.removeprefix("        ") for line in body.splitlines()).replace(
        "python -I -m",
        f"{sys.executable} -m",  # isolated, this folder could not be seen
    )
    about = text.partition("inputs:\n")[2].partition("\nruns:")[0]
    defaults = dict(re.findall(r'^  ([\w-]+):\n(?:    .*\n)*?    default: "?(.*?)"?$', about, re.MULTILINE))
    named = dict(re.findall(r"^        (\w+): \$\{\{ inputs\.([\w-]+) \}\}$", text, re.MULTILINE))
    given = {name: inputs.get(name, defaults[of]) for name, of in named.items()}
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(Path.home()), "GITHUB_ACTIONS": "true"}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        env={**environment, **given}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("bash")
def test_the_script_of_the_action_runs(tmp_path):
    assert bench("init") == 0
    assert code == 0, said
    assert {path.name for path in tmp_path.glob("out.*")} == {"out.html", "out.xml", "out.json", "out.md"}


@pytest.mark.slow
@pytest.mark.usefixtures("bash")
def test_with_the_action_a_baseline_that_is_gone_is_red_unless_none_is_asked_for():
    assert bench("init") == 0
    SCENARIO.rename(SCENARIO.with_name("renamed.toml"))
    code, said = as_the_action()
    assert code == 1, said
    assert "no baseline yet for needed.recall — accept this run with --update-baseline (one is required)" in said
    assert "summaries.baseline.json is a baseline whose scenario is gone" in said
    assert said.count("::error ") == 4
    code, said = as_the_action(REQUIRE="false")
    assert code == 0, said
    assert "1 pass, 4 skipped" in said
    assert said.count("::warning ") == 4
    assert "::error" not in said


@pytest.mark.slow
@pytest.mark.usefixtures("bash")
def test_with_the_action_no_baseline_is_needed_against_a_revision_nor_without_relative_gates():
    assert bench("init") == 0
    BASELINE.unlink()
    git("init", "--quiet")
    commit("as it was")
    code, said = as_the_action(AGAINST="HEAD")
    assert code == 0, said
    assert "4 pass" in said
    table = SCENARIO.read_text()
    SCENARIO.write_text(table.partition("[[gates]]")[0] + '[[gates]]\nmetric = "needed.recall"\nmin = 0.5\n')
    code, said = as_the_action()
    assert code == 0, said
    assert "2 pass" in said


@pytest.mark.slow
def test_the_starters_function_is_the_one_that_runs():
    assert bench("init") == 0
    compared = verbs.run_scenario(SCENARIO)
    keep_all, mine = (compared.row(name, "cost.prompt_tokens") for name in ("keep_all", "mine"))
    assert mine.value < keep_all.value


@pytest.mark.slow  # about twenty policies are tried
def test_a_scenario_of_ones_own_recordings_holds_what_is_advised(capsys):
    Path("runs").mkdir()
    rows = json.dumps([{"id": number, "mark": f"W{number}", "level": "L1"} for number in range(40)], indent=4)
    for name in ("a", "b"):
        call = {"id": "c", "type": "function", "function": {"name": "walls", "arguments": "{}"}}
        messages = [
            {"role": "user", "content": f"Which walls has {name}?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": rows},
            *({"role": role, "content": f"wall W{number} is {role}'s"} for number in range(6) for role in ("assistant", "user")),
            {"role": "assistant", "content": "W12 and W13 are on L1."},
        ]  # fmt: skip
        Path("runs", f"{name}.json").write_text(json.dumps({"messages": messages}))
    assert bench("init", "--traces", "runs") == 0
    assert {path for path in files() if path.parts[0] != "runs"} == {
        Path("scenarios/advised.toml"), Path("scenarios/advised.baseline.json"), Path(".github/workflows/bench.yml"),
        Path("scenarios/summarizers.py"),
    }  # fmt: skip
    scenario = tomllib.loads(Path("scenarios/advised.toml").read_text())
    assert scenario["traces"] == ["../runs"]
    assert [*scenario["strategies"]][1:] == ["mine"]
    assert bench("run", "scenarios/advised.toml", "--require-baseline") == 0
    assert bench("init", "--traces", "runs") == 0, "the same files may be written again"


def test_recordings_outside_the_repository_are_refused_before_any_work(tmp_path_factory, capsys):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "survey.jsonl"
    elsewhere.write_bytes((ROOT / "traces/building_model/survey.jsonl").read_bytes())
    subprocess.run(["git", "init", "-q"], check=True)
    assert bench("init", "--traces", elsewhere) == 2
    assert "lies outside the repository" in capsys.readouterr().err
    assert not Path("scenarios").exists()
