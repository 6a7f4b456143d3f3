"""Inside GitHub Actions: annotations that say what failed and cannot be forged by a trace, and the job's summary."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import msgspec
import pytest
from compared import comparison
from repository import SCENARIO, SUMMARIZERS, TRACES, WORSE, bench, init

from bench.cli.github import MOST, workflow_commands
from bench.model import Loss, NeededAt, Verdict
from bench.reports import rendered

FILE = Path("a folder/with,comma:and colon.toml")


WORST = Loss(step=2, function="run\n::error::no", facts=("50%",), count=1, needed_at=(NeededAt(turn=3, fact="50%"),))
NEXT = Loss(step=4, function="run", facts=("7",), count=1)


def failing(count, outcome="fail", sentence="100% lost\r\n::error::no"):
    verdicts = tuple(
        Verdict(gate=f"gate {number}: a, b", metric="m", strategy="s", outcome=outcome, sentence=sentence,
                losses=(WORST, NEXT) if outcome == "fail" else (), losses_total=2) for number in range(count)
    )  # fmt: skip
    return msgspec.structs.replace(comparison(), verdicts=verdicts)


def test_what_a_command_says_is_escaped_as_github_asks():
    (line,) = workflow_commands([failing(1)], [FILE])
    assert line == (
        "::error file=a folder/with%2Ccomma%3Aand colon.toml,title=bench%3A gate 0%3A a%2C b"
        '::100%25 lost%0A::error::no: step 2 (run ::error::no) dropped "50%25"; step 3 needed "50%25"'
        '%0Astep 4 (run) dropped "7"'
    )
    assert "\n" not in line


def test_inconclusive_verdicts_warn_unless_allowed_skipped_ones_always_and_those_that_pass_say_nothing():
    (line,) = workflow_commands([failing(1, "inconclusive")], [None])
    assert line.startswith("::warning title=")
    allowed = msgspec.structs.replace(failing(1, "inconclusive"), allow_inconclusive=True)
    assert workflow_commands([allowed], [None]) == []
    assert workflow_commands([failing(1, "pass")], [None]) == []
    skipped = msgspec.structs.replace(failing(1, "skipped"), allow_inconclusive=True)
    (line,) = workflow_commands([skipped], [None])
    assert line.startswith("::warning title=")


def test_nothing_measured_is_an_error():
    nothing = tuple(msgspec.structs.replace(row, value=None) for row in comparison().summary)
    unmeasured = msgspec.structs.replace(comparison(), summary=nothing, verdicts=())
    (line,) = workflow_commands([unmeasured], [None])
    assert line.endswith("::nothing was measured")


@pytest.mark.parametrize("count", [MOST, MOST + 1, 3 * MOST])
def test_no_more_than_github_shows(count):
    lines = workflow_commands([failing(count)], [None])
    assert len(lines) == MOST
    if count > MOST:
        assert lines[-1] == f"::error title=bench::and {count - MOST + 1} more, see the log"


@pytest.mark.slow
def test_a_job_says_it_all_and_obeys_no_trace(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    init()
    SCENARIO.write_text(SCENARIO.read_text().replace("What the model", "::add-mask::a\\n::error::forged"))
    SUMMARIZERS.write_text(WORSE)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "summary.md").write_text("# what an earlier command wrote\n")
    capsys.readouterr()
    assert bench("run", SCENARIO) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("::stop-commands::")
    token = lines[0].removeprefix("::stop-commands::")
    end = lines.index(f"::{token}::")
    assert len(token) >= 32
    assert not any(line.lstrip().startswith("::") and "forged" in line for line in lines[end:])
    errors = [line for line in lines[end:] if line.startswith("::error ")]
    assert any(
        "file=scenarios/summaries.toml" in line and "needed.recall" in line and "dropped" in line for line in errors
    )
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("# what an earlier command wrote\n")
    assert "needed.recall went from 1" in summary
    assert summary.rstrip().endswith("a gate failed (exit 1)")


@pytest.mark.slow
def test_outside_actions_nothing_is_annotated(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    init()
    (TRACES / "survey.jsonl").unlink()
    assert bench("run", SCENARIO) == 3
    assert "::" not in capsys.readouterr().out


def short(number):
    """A scenario with four gates that failed, told in few words."""
    verdicts = tuple(msgspec.structs.replace(item, losses=(), losses_total=0) for item in failing(4).verdicts)
    return msgspec.structs.replace(failing(4), title=f"scenario {number}", verdicts=verdicts)


@pytest.mark.slow
def test_a_pull_request_comment_holds_the_verdicts_of_many_scenarios_before_anything_else():
    text = rendered([short(number) for number in range(60)], "markdown")
    assert len(text) <= 65_536
    assert text.count("## Do the gates hold?") == 60
    assert text.count("gate 3: a, b") == 60
    assert "more panel" in text


@pytest.mark.slow
def test_a_pull_request_comment_of_too_many_scenarios_says_so():
    text = rendered([failing(4, sentence="lost " * 100) for _ in range(60)], "markdown")
    assert len(text) <= 65_536
    told = text.count("## Do the gates hold?")
    assert 10 < told < 60
    assert text.endswith(f"{60 - told} more scenarios: see the HTML report.\n")


@pytest.mark.slow
def test_the_action_does_not_run_a_folder_of_the_repository_that_is_called_bench(tmp_path):
    """Its own steps, run in a repository with a `bench` folder and a `pip.py` of its own."""
    action = (Path(__file__).parents[2] / "action.yml").read_text()
    script = textwrap.dedent(action.partition("      run: |\n")[2].partition("    - if: always()")[0])
    (tmp_path / "bench").mkdir()
    for name in ("bench/__init__.py", "bench/__main__.py", "click.py"):
        (tmp_path / name).write_text("import pathlib\npathlib.Path('taken').touch()\n")
    folder = Path(sys.executable).parent
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(tmp_path), "SCENARIOS": "none.toml", "AGAINST": "", "REQUIRE": "true",
                   "HISTORY": "", "ALLOW": "false", "REPORT": "r"}  # fmt: skip
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "none.toml" in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "taken").exists()
    started = [line for line in action.splitlines() if "python -" in line]
    assert len(started) == 2
    assert all("python -I -m" in line for line in started)
