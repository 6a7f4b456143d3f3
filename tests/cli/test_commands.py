"""The six commands: what they write, their exit codes, and their help."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_folder import SCENARIO, SUMMARIZERS, files
from handmade import trace
from repository import bench

from bench import __version__, compare, load, run_scenario
from bench.model.errors import nearest
from bench.traces.formats.native import encode_trace

ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "tests" / "data" / "formats"

pytestmark = pytest.mark.usefixtures("folder")


def report(*arguments: object) -> tuple[int, dict]:
    """The exit code of a run, and its JSON report."""
    code = bench("run", *arguments, "-o", "x.json")
    return code, json.loads(Path("x.json").read_text())


def outcomes(found: dict) -> dict[str, str]:
    return {gate["rule"]["metric"]: gate["outcome"] for gate in found["gates"]}


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments], capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(ROOT), "HOME": str(Path.home()), "PATH": "/usr/bin:/bin", "BENCH_CACHE": "off"},
    )  # fmt: skip


# ---------------------------------------------------------------- help, list, show


def test_help_and_version_are_printed(capsys):
    for arguments in ((), ("-h",)):
        assert bench(*arguments) == 0
        listed = re.findall(r"^  (\w+)", capsys.readouterr().out.partition("Commands:")[2], re.MULTILINE)
        assert sorted(listed) == ["audit", "import", "init", "list", "run", "show"]
    assert bench("--version") == 0
    assert __version__ in capsys.readouterr().out
    assert bench("run", "--help") == 0
    own = set(re.findall(r"^ .*?(--[a-z-]+)", capsys.readouterr().out, re.MULTILINE)) - {"--help", "--debug", "--limit"}
    assert len(own) <= 14


def test_every_kind_is_listed_with_its_count(capsys):
    from bench.run.comparing import metric_infos

    assert bench("list") == 0
    counts = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    for kind, counted in counts.items():
        assert bench("list", kind) == 0
        names = re.findall(r"^  (\S+)", capsys.readouterr().out, re.MULTILINE)
        assert len(names) == sum(map(int, re.findall(r"\d+", counted)))
        if kind == "metrics":
            assert {*names} == {*metric_infos()}
    assert bench("list", "strategies", "mask") == 0
    printed = capsys.readouterr().out
    assert "mask_observations  [keep_last=" in printed
    assert all("mask" in entry for entry in re.split(r"^  (?=\S)", printed.lower(), flags=re.MULTILINE)[1:])
    assert nearest("strategie", counts) != ""


def test_the_steps_of_recordings_are_shown(capsys):
    assert bench("show", "runs") == 0
    printed = capsys.readouterr().out
    (facts, shell) = load("runs").traces
    assert len(re.findall(r"^ +\d+  ", printed, re.MULTILINE)) == len(facts.steps) + len(shell.steps)
    assert bench("show", "runs", "--run", "facts", "--step", "2") == 0
    assert facts.steps[2].text in capsys.readouterr().out


def test_the_command_starts_without_loading_heavy_libraries():
    def shortest(code: str) -> float:
        """Seconds of processor time, which other processes hardly change."""
        took = []
        for _ in range(3):
            before = os.times()
            subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
            after = os.times()
            took.append(after.children_user + after.children_system - before.children_user - before.children_system)
        return min(took)

    bare = shortest("import click")
    assert shortest("from bench.cli import main; main(['--help'])") < 2.5 * bare + 0.05
    loaded = "import sys; from bench.cli import main\ntry: main(['list'])\nexcept SystemExit: pass\nprint(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", loaded], check=True, capture_output=True, text=True).stdout.split()
    assert not {"numpy", "pandas", "tiktoken", "pytest"} & {*modules}


# ---------------------------------------------------------------- audit, import


def test_an_audit_is_written_in_every_format(tmp_path):
    written = {ending: tmp_path / f"audit.{ending}" for ending in ("html", "json", "md")}
    options = [option for path in written.values() for option in ("-o", path)]
    assert bench("audit", FORMATS / "claude_code", FORMATS / "codex", *options) == 0
    ids = {item["id"] for item in json.loads(written["json"].read_text())["sessions"]}
    assert ids == {item.id for item in load([f"{FORMATS}/claude_code", f"{FORMATS}/codex"]).traces}
    assert "</html>" in written["html"].read_text()
    assert all(name[:8] in written["md"].read_text() for name in ids)
    session = FORMATS / "codex" / "rollout.jsonl"
    before = session.read_bytes()
    assert (bench("audit", session, "-o", tmp_path / "x.pdf"), bench("audit", session, "-o", session)) == (2, 2)
    assert session.read_bytes() == before


def test_imported_recordings_are_read_back_unchanged():
    assert bench("import", "runs", "-o", "out.jsonl") == 0
    assert {item.id for item in load("out.jsonl").traces} == {"facts", "shell"}
    assert [item.steps for item in load("out.jsonl").traces] == [item.steps for item in load("runs").traces]


# ---------------------------------------------------------------- run: inputs and outputs


def test_every_format_has_the_numbers_of_the_json(capsys):
    names = [f"out/x{ending}" for ending in (".html", ".json", ".md", ".csv")]
    assert bench("run", "one.toml", *[part for name in names for part in ("-o", name)]) == 0
    printed = capsys.readouterr().out
    found = json.loads(Path("out/x.json").read_text())
    sentence = found["advice"]["sentence"]
    assert found["title"] == "By hand"
    flat = [" ".join(text.split()) for text in (printed, Path("out/x.md").read_text())]
    assert all(sentence in text.replace("**", "") for text in flat)
    assert sentence.replace("`", "") in re.sub(r"<[^>]+>", "", Path("out/x.html").read_text())
    assert printed.splitlines()[-1].endswith("(exit 0)")
    rows = csv.DictReader(io.StringIO(Path("out/x.csv").read_text()))
    assert {row["strategy"] for row in rows} >= {"mine", "recorded", "keep_all"}
    assert str(Path.cwd()) not in Path("out/x.json").read_text()


@pytest.mark.slow  # replays twice, in processes
def test_running_twice_gives_the_same_bytes():
    endings = (".json", ".html", ".md", ".csv")
    for name, jobs in (("a", "1"), ("b", "2")):
        outputs = [part for end in endings for part in ("-o", f"{name}/x{end}")]
        assert bench("run", "one.toml", "--jobs", jobs, *outputs) == 0
    written = {name: content for name, content in files().items() if name[:2] in ("a/", "b/")}
    assert len(written) == 2 * len(endings)
    for end in endings:
        assert written[f"a/x{end}"] == written[f"b/x{end}"], end


def test_strategies_may_be_given_on_the_command_line():
    mine = "mine=summarizer=summarizers.py:cut:limit=20+store=by_function"
    code, found = report("native:runs/facts.jsonl", "runs/shell.jsonl", "--strategy", "keep_all", "--strategy", mine)
    totals = found["totals"]
    assert code == 0
    assert (totals["keep_all"]["needed.recall"][0], totals["clairvoyant"]["needed.recall"][0]) == (1.0, 1.0)
    assert totals["mine"]["needed.recall"][0] < 1.0
    assert totals["mine"]["cost.prompt_tokens"][0] < totals["keep_all"]["cost.prompt_tokens"][0]
    code, found = report("runs", "--strategy", "m=summarizer=truncate:limit=20|900")
    assert (code, found["strategies"]) == (0, ["m-20", "m-900"])


@pytest.mark.slow  # the portfolio
def test_without_a_strategy_the_portfolio_is_tried():
    from bench.strategies.portfolio import PORTFOLIO

    code, found = report("runs")
    assert (code, [*PORTFOLIO]) == (0, found["strategies"])


@pytest.mark.parametrize(
    ("path", "runs"),
    [
        ("runs", ["facts", "shell"]),
        ("runs/*.jsonl", ["facts", "shell"]),
        ("native:runs/facts.jsonl", ["facts"]),
    ],
)
def test_traces_are_paths_and_patterns(path, runs):
    Path("runs/ruff.toml").write_text('extend = "../pyproject.toml"')  # not a scenario
    code, found = report(path, "--strategy", "mask=compactor=mask_observations")
    assert (code, [run["id"] for run in found["runs"]]) == (0, runs)


# ---------------------------------------------------------------- run: gates and exit codes


@pytest.mark.slow  # three runs
def test_several_scenarios_give_one_exit_code_and_print_one_line_each(folder, capsys):
    worse = SCENARIO.replace("min = 0.5", "min = 1.0").replace("limit=900", "limit=5")
    (folder / "two.toml").write_text(worse)
    assert bench("run", "one.toml", "two.toml", "-o", "x.json") == 1
    printed = capsys.readouterr().out
    found = json.loads(Path("x.json").read_text())
    assert [item["title"] for item in found] == ["By hand (one.toml)", "By hand (two.toml)"]
    lines = " ".join(printed.split())
    assert f"By hand (one.toml): {found[0]['advice']['sentence']}" in lines
    assert re.search(r"✕ By hand \(two\.toml\): Do not merge: 1 of 1 gate failed\. `\w+`", lines)
    assert bench("run", ".", "--against", "x.json") == 1
    assert bench("run", "two.toml", "--against", "x.json") == 1


@pytest.mark.slow  # seven runs
def test_a_baseline_is_accepted_then_compared_with(folder, measured_cases, monkeypatch):
    monkeypatch.setenv("BENCH_CACHE", str(measured_cases))
    relative = {"cost.prompt_tokens", "loss.fact_recall.end"}
    code, found = report("one.toml")
    assert (code, {name for name, outcome in outcomes(found).items() if outcome == "skipped"}) == (0, relative)
    assert report("one.toml", "--require-baseline")[0] == 1
    assert "one.baseline.json" not in files()
    assert bench("run", "one.toml", "--update-baseline") == 0
    kept = files()["one.baseline.json"]
    code, found = report("one.toml", "--require-baseline")
    assert (code, {*outcomes(found).values()}) == (0, {"pass"})
    (folder / "one.toml").write_text(SCENARIO.replace("limit=900", "limit=61"))
    code, found = report("one.toml")
    failed = [(gate["rule"]["metric"], gate["run"]) for gate in found["gates"] if gate["outcome"] == "fail"]
    assert (code, failed) == (1, [("loss.fact_recall.end", "facts")])
    (folder / "one.toml").write_text(SCENARIO)
    (folder / "summarizers.py").write_text(SUMMARIZERS.replace("[:limit]", "[:20]"))
    done = process("run", "one.toml")
    assert done.returncode == 1, done.stderr
    assert files()["one.baseline.json"] == kept
    (folder / "summarizers.py").write_text(SUMMARIZERS)
    code, found = report("one.toml", "--against", "x.json")
    assert (code, found["against"], {move["better"] for move in found["moves"]}) == (1, "x.json", {True, False})
    (folder / "one.toml").write_text(SCENARIO.replace("limit=900", "limit=61"))
    code, found = report("one.toml", "--update-baseline")
    assert code == 0
    assert not any(item["verdict"] == "invalid" for item in found["advice"]["ranked"])


@pytest.mark.slow  # two runs
def test_a_strategy_that_raises_fails_its_gates_and_cannot_become_the_baseline(folder):
    (folder / "summarizers.py").write_text("def cut(result, *, limit: int = 1):\n    raise ValueError('no')\n")
    code, found = report("one.toml")
    assert (code, outcomes(found)["needed.recall"]) == (1, "fail")
    bench("run", "one.toml", "--update-baseline")
    assert report("one.toml")[0] == 1
    assert bench("run", "runs", "--strategy", "s=store=summarizers.py:cut") == 3


def test_a_run_without_a_judged_gate_never_passes(folder):
    (folder / "one.toml").write_text(SCENARIO.replace("needed.recall", "findings.agreement"))
    assert bench("run", "one.toml") == 3
    assert bench("run", "one.toml", "--allow-inconclusive") == 0
    for path in (folder / "runs").iterdir():
        path.unlink()
    (folder / "runs" / "empty.jsonl").write_bytes(encode_trace(trace(id="empty")))
    (folder / "one.toml").write_text('traces = ["runs"]\n[strategies]\nmine = { store = "full" }\n')
    assert bench("run", "one.toml", "--allow-inconclusive") == 3


def test_python_and_the_command_give_the_same_json():
    _, found = report("one.toml")
    compared = run_scenario("one.toml")
    assert compared.advice.sentence == found["advice"]["sentence"]
    frame = compared.to_frame("totals")
    assert len(frame) == sum(len(metrics) for metrics in found["totals"].values())
    assert compare("runs", lambda result: result.text[:20]).strategies == ("lambda",)


# ---------------------------------------------------------------- everything that goes wrong


def test_internal_errors_and_interrupts_print_one_line(capsys, monkeypatch):
    def interrupted(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr("bench.traces.load", lambda *given, **named: {}["broken\nhere"])
    assert bench("show", "runs") == 2
    monkeypatch.setattr("bench.traces.load", interrupted)
    assert bench("show", "runs") == 130
    defect, _ = re.findall(r"^error: .*", capsys.readouterr().err, re.MULTILINE)
    assert "test_commands.py:" in defect


def test_python_dash_m_bench_is_the_command():
    done = process("run", "none.toml")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("error: none.toml")
