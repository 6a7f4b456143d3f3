"""The command line: what it prints and writes, its exit codes, and one clear line for everything that goes wrong."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_folder import SCENARIO, SUMMARIZERS, files
from compared import untimed_xml
from handmade import trace
from repository import bench

from bench.traces.formats.native import encode_trace

pytestmark = pytest.mark.usefixtures("folder")


# ---------------------------------------------------------------- everything that goes wrong


def test_an_unknown_ending_is_refused_before_anything_is_replayed(capsys, monkeypatch):
    monkeypatch.setattr("bench.replayer.loop.Replayer.run", lambda *given: pytest.fail("replayed"))
    assert bench("run", "runs", "--strategy", "keep_all", "-o", "x.json", "-o", "report.pdf") == 2
    assert "report.pdf" in capsys.readouterr().err


def test_a_defect_is_one_line_too(capsys, monkeypatch):
    monkeypatch.setattr("bench.traces.load", lambda *given, **limits: {}["broken\nhere"])
    assert bench("show", "runs") == 2
    err = capsys.readouterr().err
    assert err.startswith("error: defect in bench at test_cli.py:")
    assert err.count("\n") == 1


def test_an_interrupt_is_no_traceback(capsys, monkeypatch):
    def interrupted(*given, **limits):
        raise KeyboardInterrupt

    monkeypatch.setattr("bench.traces.load", interrupted)
    assert bench("show", "runs") == 130
    assert capsys.readouterr().err.strip() == "error: interrupted"


# ---------------------------------------------------------------- run


def test_every_format_is_written_and_named(capsys):
    names = [f"out/scores{ending}" for ending in (".html", ".json", ".md", ".xml", ".csv", ".txt")]
    written = [argument for name in names for argument in ("-o", name)]
    assert bench("run", "one.toml", *written) == 0
    out = capsys.readouterr().out
    assert all(f"wrote {name}" in out for name in names)
    assert all(Path(name).stat().st_size > 100 for name in names)
    assert out.splitlines()[-1].endswith("(exit 0)")


@pytest.mark.slow
def test_running_twice_gives_the_same_bytes():
    for name in ("a", "b"):
        endings = (".json", ".html", ".md", ".xml", ".csv")
        assert bench("run", "one.toml", *[part for end in endings for part in ("-o", f"{name}/x{end}")]) == 0
    written = {name: content for name, content in files().items() if name.startswith("a/")}
    assert len(written) == 5
    for name, content in written.items():
        assert untimed_xml(Path("b", Path(name).name).read_bytes()) == untimed_xml(content), name


def test_strategies_from_the_command_line(capsys):
    code = bench(
        "run", "--traces", "native:runs/facts.jsonl", "--traces", "runs/shell.jsonl", "--strategy", "keep_all",
        "--strategy", "mine=summarizer=summarizers.py:cut:limit=20+store=by_function", "-o", "x.json",
    )  # fmt: skip
    assert code == 0
    scores = json.loads(Path("x.json").read_text())
    values = {(row["strategy"], row["metric"]): row["value"] for row in scores["summary"] if row["value"] is not None}
    assert values["keep_all", "needed.recall"] == 1.0
    assert values["mine", "needed.recall"] < 1.0
    assert values["mine", "cost.prompt_tokens"] < values["keep_all", "cost.prompt_tokens"]
    assert values["floor", "needed.recall"] == values["clairvoyant", "needed.recall"] == 1.0
    out = capsys.readouterr().out
    assert str(Path.cwd()) not in Path("x.json").read_text(), "no absolute path in what is written"


@pytest.mark.slow
def test_traces_are_paths_patterns_and_standard_input(folder, capsys, monkeypatch):
    spec = ("--strategy", "mask=compactor=mask_observations", "--format", "json")
    data = (folder / "runs" / "facts.jsonl").read_bytes()
    cases = []
    for paths in (["runs"], ["runs/*.jsonl"], ["native:runs/facts.jsonl"], ["-"]):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert bench("run", *paths, *spec) == 0
        out, err = capsys.readouterr()
        cases.append(json.loads(out)["cases"])
        assert "exit 0" in err, "standard output is the report alone"
    assert cases == [["facts", "shell"], ["facts", "shell"], ["facts"], ["facts"]]


def test_a_format_decides_whatever_the_ending(folder, capsys):
    assert bench("run", "runs", "-o", "x.out", "--format", "csv") == 0
    assert (folder / "x.out").read_text().startswith("scenario,strategy,metric")
    assert bench("run", "runs", "-o", "-") == 0
    assert "What should I run?" in capsys.readouterr().out


@pytest.mark.slow
def test_several_scenarios_end_in_one_exit_code(folder, capsys):
    (folder / "two.toml").write_text(
        SCENARIO.replace("min = 0.5", "min = 0.5\nmax = 0.6").replace("By hand", "Another")
    )
    assert bench("run", "one.toml", "two.toml", "-o", "x.md") == 1
    out = capsys.readouterr().out
    assert "By hand" in out
    assert "Another" in out
    assert out.splitlines()[-1].endswith("a gate failed (exit 1)")


# ---------------------------------------------------------------- baselines


@pytest.mark.slow
def test_a_baseline_is_accepted_kept_and_judged_against(folder, capsys):
    assert bench("run", "one.toml") == 0
    assert "2 skipped" in capsys.readouterr().out
    assert "one.baseline.json" not in files(), "accepting is an explicit act"

    assert bench("run", "one.toml", "--update-baseline") == 0
    out = capsys.readouterr().out
    assert "accepted one.baseline.json" in out
    assert "cost.prompt_tokens" in out
    kept = files()["one.baseline.json"]

    assert bench("run", "one.toml") == 0
    assert "3 pass" in capsys.readouterr().out
    assert files()["one.baseline.json"] == kept

    (folder / "one.toml").write_text(SCENARIO.replace("limit=900", "limit=61"))
    assert bench("run", "one.toml", "-o", "x.json") == 1
    out = capsys.readouterr().out
    assert "loss.fact_recall.end" in out
    failed = [item for item in json.loads(Path("x.json").read_text())["verdicts"] if item["outcome"] == "fail"]
    assert [item["metric"] for item in failed] == ["loss.fact_recall.end"]
    assert "; most on facts" in failed[0]["sentence"], "the worst case is named"
    assert files()["one.baseline.json"] == kept

    (folder / "one.toml").write_text(SCENARIO.replace("limit=900", "limit=5000"))
    assert bench("run", "one.toml") == 0


@pytest.mark.slow
def test_a_worse_function_of_the_same_name_fails(folder, capsys):
    assert bench("run", "one.toml", "--update-baseline") == 0
    (folder / "summarizers.py").write_text(SUMMARIZERS.replace("[:limit]", "[:20]"))
    code = subprocess.run(
        [sys.executable, "-m", "bench", "run", "one.toml"], cwd=folder, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(Path.home()), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert code.returncode == 1, code.stderr
    assert "loss.fact_recall.end" in code.stdout


@pytest.mark.slow
def test_a_strategy_that_raises_fails_its_gates_and_is_no_baseline(folder, capsys):
    (folder / "summarizers.py").write_text("def cut(result, *, limit: int = 1):\n    raise ValueError('no')\n")
    assert bench("run", "one.toml") == 1
    assert "ValueError: no" in capsys.readouterr().out
    assert bench("run", "one.toml", "--update-baseline") == 2
    err = capsys.readouterr().err
    assert "baseline not accepted" in err
    assert "one.baseline.json" not in files()


def test_nothing_measured_is_never_green(folder, capsys):
    for path in (folder / "runs").iterdir():
        path.unlink()
    (folder / "runs" / "empty.jsonl").write_bytes(encode_trace(trace(id="empty")))
    (folder / "one.toml").write_text('traces = ["runs"]\n[strategies]\nmine = { store = "full" }\n')
    assert bench("run", "one.toml") == 3
    assert bench("run", "one.toml", "--allow-inconclusive") == 3
    assert "nothing was measured (exit 3)" in capsys.readouterr().out


# ---------------------------------------------------------------- the whole path


def test_the_module_is_the_command(folder):
    found = subprocess.run(
        [sys.executable, "-m", "bench", "run", "none.toml"], cwd=folder, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith("error: none.toml: No such file")
    assert found.stderr.count("\n") == 1
