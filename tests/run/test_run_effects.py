"""Files of a run are written at its end, all or none, and never over files that it reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from repository import SCENARIO, SUMMARIZERS, TRACES, WORSE, bench, init


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    init()
    recorded = [json.loads(line) for line in (TRACES / "survey.jsonl").read_text().splitlines()]
    messages = [{"role": "user", "content": f"How many rows has /data/run_{len(recorded)}.csv?"},
                {"role": "assistant", "content": "It has 4711 rows in /data/run_7.csv."}]  # fmt: skip
    Path("chat.json").write_text(json.dumps({"messages": messages}))
    Path("runs").mkdir()
    Path("runs/chat.json").write_bytes(Path("chat.json").read_bytes())
    capsys.readouterr()
    return tmp_path


def state():
    """Every file below the present folder, with its bytes."""
    return {path: path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


# ---------------------------------------------------------------- an output is never an input


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chat.json", "-o", "chat.json"), "chat.json: is no report"),
        (("messages:chat.json", "-o", "./runs/../chat.json"), "is no report"),
        (("runs", "-o", "runs/chat.json"), "is no report"),
        (("runs/*.json", "-o", "runs/chat.json"), "is no report"),
        (("runs", "-o", "new.html", "-o", "link.json"), "link.json: is a link"),
        (("linked", "-o", "runs/chat.json"), "is no report"),
        (("runs", "-o", "runs/cut_short.json"), "is no report"),
    ],
)
def test_a_trace_of_the_run_is_never_overwritten(arguments, said, capsys, monkeypatch):
    Path("link.json").symlink_to("runs/chat.json")
    Path("linked").symlink_to("runs", target_is_directory=True)
    Path("runs/cut_short.json").write_text('{"messages": [{"role": "user", "content": "How')
    monkeypatch.setattr("bench.run.measuring.Replayer", lambda *given: pytest.fail("replayed"))
    before = state()
    assert bench("run", "--strategy", "keep_all", *arguments) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert state() == before


@pytest.mark.slow
def test_a_scenario_and_its_baseline_are_never_overwritten(capsys):
    other = SCENARIO.with_name("summaries.baseline.json")
    kept = state()
    assert bench("run", SCENARIO, "-o", other) == 2
    assert "is no report, and writing one there would destroy it — give another file" in capsys.readouterr().err
    scenario = Path("scenarios/as.json")
    scenario.write_bytes(SCENARIO.read_bytes())
    assert bench("run", scenario, "-o", scenario) == 2
    assert "is no report" in capsys.readouterr().err
    scenario.unlink()
    assert state() == kept


@pytest.mark.slow
def test_a_report_beside_the_traces_may_be_written_again():
    for _ in range(2):
        assert bench("run", "runs", "--strategy", "keep_all", "-o", "runs/report.json", "-o", "runs/x.html") == 0
    assert "signature" in json.loads(Path("runs/report.json").read_text())


# ---------------------------------------------------------------- all or none


@pytest.mark.slow
def test_a_report_that_cannot_be_written_leaves_the_others_and_the_baseline_as_they_were(capsys):
    assert bench("run", SCENARIO, "-o", "x.json") == 0
    SUMMARIZERS.write_text(WORSE)
    Path("file").write_text("no folder")
    before = state()
    arguments = ("--update-baseline", "-o", "x.html", "-o", "x.json", "-o", "file/y.json")
    assert bench("run", SCENARIO, *arguments) == 2
    assert "file/y.json: cannot be written" in capsys.readouterr().err
    assert state() == before
