"""`bench init` in somebody else's repository: what it writes runs green, is real, and never overwrites unasked."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from repository import BASELINE, BETTER, RECORDED, SCENARIO, SUMMARIZERS, TRACES, WORSE, bench, commit, git, init

from bench.cli.starter_files import requirement

ROOT = Path(__file__).parents[2]
WORKFLOW = Path(".github/workflows/bench.yml")
WRITTEN = {BASELINE, SCENARIO, SUMMARIZERS, WORKFLOW}
GATED = [
    *("prompt.invalid", "prompt.system_missing", "prompt.task_missing", "prompt.rules_missing"),
    *("faithful.changed", "loss.silent_truncation", "faithful.invented", "faithful.hidden_errors"),
    *("needed.missed_turn_rate", "cost.prompt_tokens"),
]


@pytest.fixture(autouse=True)
def there(tmp_path, monkeypatch, measured_cases):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_CACHE", str(measured_cases))


def files():
    return {path.relative_to(Path.cwd()) for path in Path.cwd().rglob("*") if path.is_file()}


def run_and_outcomes(*arguments):
    """The exit code of a run, and the outcome of each of its gates by metric and strategy."""
    code = bench("run", *arguments, "-o", "x.json")
    found = json.loads(Path("x.json").read_text())["gates"]
    return code, {(gate["rule"]["metric"], gate["strategy"]): gate["outcome"] for gate in found}


@pytest.mark.slow  # replays eight times
def test_the_written_scenario_passes_and_fails_once_a_summarizer_is_made_worse():
    shutil.copytree(RECORDED, "runs")
    recorded = files()
    assert bench("init", "native:runs") == 0
    assert files() - recorded == WRITTEN
    assert tomllib.loads(SCENARIO.read_text())["traces"] == ["native:../runs"]
    assert run_and_outcomes(SCENARIO, "--require-baseline") == (0, {(metric, "mine"): "pass" for metric in GATED})
    harms = {
        WORSE: "needed.missed_turn_rate",
        "def summarize(result):\n    return result.text + ' more' * 900\n": "cost.prompt_tokens",
        "def summarize(result):\n    return result.text + ' 48151623 rows in /tmp/none.csv'\n": "faithful.invented",
        "import re\n\ndef summarize(result):\n    return re.sub('[1-8]', '9', result.text)\n": "faithful.changed",
    }
    for code, metric in harms.items():
        SUMMARIZERS.write_text(code)
        exit_code, found = run_and_outcomes(SCENARIO)
        assert (exit_code, found[metric, "mine"]) == (1, "fail"), metric
    SUMMARIZERS.write_text(BETTER)
    assert run_and_outcomes(SCENARIO)[0] == 0


@pytest.mark.slow  # replays
def test_an_existing_file_is_overwritten_only_with_force():
    shutil.copytree(RECORDED, "runs")
    recorded = files()
    for path in WRITTEN:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
        assert bench("init", "runs") == 2
        assert files() - recorded == {path}
        assert path.read_text() == "mine"
        path.unlink()


@pytest.mark.slow  # replays
def test_the_written_files_name_each_other_correctly(capsys, monkeypatch):
    shutil.copytree(RECORDED, "runs")
    assert bench("init") == 2
    assert bench("init", "runs") == 0
    scenario = tomllib.loads(SCENARIO.read_text())
    assert scenario["asks"] == "mine"
    assert scenario["strategies"]["mine"] == {"summarizer": f"{SUMMARIZERS.name}:summarize"}
    workflow = WORKFLOW.read_text()
    assert f'pip install "{requirement()}"' in workflow
    assert "python -I -m bench run" in workflow
    git("init", "--quiet")
    shutil.copytree("runs", "svc/runs")
    monkeypatch.chdir("svc")
    assert bench("init", "runs") == 0  # GitHub reads the workflows in the top folder of the repository
    inside = Path(f"../{WORKFLOW.parent}/bench-svc.yml").read_text()
    assert inside == workflow.replace("scenarios/", "svc/scenarios/")
    capsys.readouterr()
    assert bench("run", "--help") == 0
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    action = (ROOT / "action.yml").read_text().partition("run: |")[2].partition("\n    - ")[0]
    assert {*re.findall(r"\(?(--[a-z]+(?:-[a-z]+)*)", action + workflow)} & known >= {"--require-baseline", "--against"}
    assert set(re.findall(r"options\+?=\((--[a-z-]+)", action)) <= known


@pytest.mark.parametrize("repository", [True, False])
def test_recordings_outside_the_repository_are_refused_before_any_work(tmp_path_factory, monkeypatch, repository):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "survey.jsonl"
    elsewhere.write_bytes((ROOT / "traces/building_model/survey.jsonl").read_bytes())
    _ = repository and git("init", "--quiet")
    monkeypatch.setattr("bench.run_scenario", lambda *given, **named: pytest.fail("replayed"), raising=False)
    assert bench("init", elsewhere) == 2
    assert not Path("scenarios").exists()


def test_a_damaged_recording_is_named_and_decides_nothing(capsys):
    shutil.copytree(ROOT / "traces/building_model", "runs")
    Path("runs/half.json").write_text('[{"role": "user", "content": "go')
    assert bench("init", "runs") == 2
    assert "error: runs/half.json: " in capsys.readouterr().err
    Path("scenarios").mkdir()
    probe = '[[probes]]\nquestion = "asked of a run that cannot be read"\nexpected = 3\nrun = "half"\n'
    SCENARIO.write_text(f'traces = ["../runs"]\nstrategies.mine = {{ summarizer = "csv_table" }}\n{probe}')
    for option, code in (["--allow-inconclusive"], 0), ([], 3):
        assert bench("run", SCENARIO, *option) == code
        last = capsys.readouterr().out.splitlines()[-1]
        assert "1 recording is damaged (runs/half.json: line 1: ends" in last
        assert ("or run with --allow-inconclusive" in last) == (code == 3)


# ---------------------------------------------------------------- the action


def as_the_action(**inputs):
    """The exit code and output of the action's script in this folder, with these inputs and the others by default."""
    if shutil.which("bash") is None:
        pytest.skip("the action's script is bash")
    text = (ROOT / "action.yml").read_text()
    body = text.partition("      run: |\n")[2].partition("\n    - ")[0]
    lines = (line.removeprefix("        ") for line in body.splitlines())
    script = "\n".join(lines).replace(
        "python -I -m", f"{sys.executable} -m"
    )  # isolated, it could not see this checkout
    about = text.partition("inputs:\n")[2].partition("\nruns:")[0]
    defaults = dict(re.findall(r'^  ([\w-]+):\n(?:    .*\n)*?    default: "?(.*?)"?$', about, re.MULTILINE))
    named = dict(re.findall(r"^        (\w+): \$\{\{ inputs\.([\w-]+) \}\}$", text, re.MULTILINE))
    given = {name: inputs.get(name, defaults[of]) for name, of in named.items()}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "summary.md"}
    command = ["bash", "-eo", "pipefail", "-c", script]
    done = subprocess.run(command, env={**environment, **given}, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow  # replays three times
def test_the_action_writes_its_reports_and_annotates_what_failed(tmp_path):
    init()
    code, printed = as_the_action(REPORT="out")
    assert (code, printed.count("::error ")) == (0, 0), printed
    assert {path.name for path in tmp_path.glob("out.*")} == {"out.html", "out.json", "out.md"}
    assert Path("summary.md").stat().st_size > 100
    SCENARIO.rename(SCENARIO.with_name("renamed.toml"))
    code, printed = as_the_action()
    assert (code, printed.count("::error file=scenarios/renamed.toml")) == (1, 1), printed
    code, printed = as_the_action(REQUIRE="false")
    assert (code, printed.count("::error "), printed.count("::warning ")) == (0, 0, 1), printed


@pytest.mark.slow  # replays six times
def test_traces_gates_and_scenarios_deleted_since_a_revision_fail_the_run(capsys):
    init()
    BASELINE.unlink()
    git("init", "--quiet")
    commit("as it was")
    since = ("run", *SCENARIO.parent.glob("*.toml"), "--against", "HEAD", "--require-baseline")
    assert as_the_action(AGAINST="HEAD")[0] == 0
    SUMMARIZERS.write_text(WORSE)
    (TRACES / "survey.jsonl").unlink()
    code, printed = as_the_action(AGAINST="HEAD")
    assert (code, printed.count("survey")) >= (1, 1), printed
    git("checkout", "--quiet", ".")
    SUMMARIZERS.write_text(WORSE)
    SCENARIO.write_text(SCENARIO.read_text().partition("[[gates]]")[0])
    assert bench(*since) == 1, "the gates of the revision are judged"
    git("checkout", "--quiet", ".")
    SCENARIO.with_name("second.toml").write_bytes(SCENARIO.read_bytes())
    commit("two scenarios")
    SCENARIO.unlink()
    capsys.readouterr()
    assert bench("run", SCENARIO.with_name("second.toml"), *since[2:]) == 1
    assert "summaries.toml" in capsys.readouterr().out
