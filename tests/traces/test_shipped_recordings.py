"""The traces that ship: what they must hold, and that their recorders still make them."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from measured import COUNT

from bench.evidence.index import index_trace
from bench.model import RouteDecision, ToolResult, Trace, text_of
from bench.traces import load

ROOT = Path(__file__).parents[2]
TRACES = ROOT / "traces"
THRESHOLD_TOKENS = 0.8 * 32_000


def record(script: str, folder: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(TRACES / script), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def read(kind: str) -> dict[str, Trace]:
    return {trace.id: trace for trace in load([str(TRACES / kind)]).traces}


# ---------------------------------------------------------------- terminal


@pytest.fixture(scope="module")
def messages() -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads((TRACES / "terminal" / "session.json").read_text(encoding="utf-8"))
    return found


def commands_of(messages: list[dict[str, str]]) -> list[tuple[str, str, str]]:
    """Thought, command and answer of each turn, by the pattern of document 002."""
    found = []
    for said, answered in itertools.pairwise(messages):
        command = re.search(r"execute:\s*(.+?)(?:\n|$)", said["content"])
        if said["role"] == "assistant" and command:
            found.append((said["content"][: command.start()].strip(), command.group(1), answered["content"]))
    return found


def triggers(messages: list[dict[str, str]]) -> int:
    """How often a history reaches the threshold when each time all but the last 8 messages become a summary of 1,000 tokens."""
    count = COUNT.text
    held, reached = [0], 0
    for message in messages[1:]:
        held.append(count(message["content"]) + 3)
        if sum(held) >= THRESHOLD_TOKENS:
            reached, held = reached + 1, [1000, *held[-8:]]
    return reached


def test_terminal_is_as_long_as_document_002_needs(messages: list[dict[str, str]]) -> None:
    assert [message["role"] for message in messages[:3]] == ["system", "user", "assistant"]
    assert len(commands_of(messages)) >= 105
    count = COUNT.text
    assert sum(count(message["content"]) for message in messages) > 60_000
    assert triggers(messages) >= 2
    assert (TRACES / "terminal" / "session.json").stat().st_size < 1_000_000


def test_terminal_leans_on_what_it_found_long_before() -> None:
    trace = load([str(TRACES / "terminal" / "session.json")]).traces[0]
    needs = index_trace(trace).needs
    distances = [need.distance for of_turn in needs.values() for need in of_turn]
    assert len(distances) >= 200
    assert sum(distance > 50 for distance in distances) >= 20
    last = text_of(trace.model_turns[-1].content)
    assert not trace.model_turns[-1].tool_calls
    for fact in ("AUD-4127", "src/json/decoder.py", "src-audit-2031", "65536 at src/http/client.py", "58142"):
        assert fact in last


@pytest.mark.slow
def test_running_all_commands_of_the_terminal_again_gives_such_a_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.version_info[:2] != (3, 11):
        pytest.skip("the terminal session investigates the library of CPython 3.11")
    monkeypatch.syspath_prepend(TRACES)
    from recorders import terminal_investigation, terminal_session, terminal_workspace

    terminal_workspace.build(tmp_path / "workspace")
    transcript = terminal_session.Transcript(terminal_session.Terminal(tmp_path / "workspace"))
    terminal_investigation.investigate(transcript)
    again = transcript.messages
    committed = json.loads((TRACES / "terminal" / "session.json").read_text(encoding="utf-8"))
    assert len(commands_of(again)) >= 105
    assert triggers(again) >= 2
    assert str(tmp_path) not in json.dumps(again)
    assert again[1] == committed[1]


# ---------------------------------------------------------------- analysis


@pytest.fixture(scope="module")
def analysis() -> dict[str, Trace]:
    return read("analysis")


def decisions(trace: Trace) -> list[RouteDecision]:
    return [step for step in trace.steps if isinstance(step, RouteDecision)]


def test_routes_are_recorded_after_each_result_and_labelled(analysis: dict[str, Trace]) -> None:
    for name in ("aborted", "completed", "completed_cut"):
        trace, plan = analysis[name], analysis[name].meta["execution_plan"]["steps"]
        recorded = decisions(trace)
        assert [d.router for d in recorded] == ["executor", "step_evaluator"] * len(trace.results)
        assert [d.state["current_step_index"] for d in recorded] == [n // 2 + 1 for n in range(len(recorded))]
        assert all(len(d.state["execution_plan"]["steps"]) == len(plan) for d in recorded)
        assert trace.labels["routes"] == {str(d.index): d.taken for d in recorded}
        assert [r.function for r in trace.results] == [s["function_name"] for s in plan][: len(trace.results)]
    assert [d.taken for d in decisions(analysis["completed"])][-1] == "complete"
    assert [d.taken for d in decisions(analysis["aborted"])][-1] == "abort"
    assert [d.taken for d in decisions(analysis["empty_plan"])] == ["complete"]


def test_one_ordinary_and_one_critical_error(analysis: dict[str, Trace]) -> None:
    def errors(name: str) -> list[str | None]:
        return [result.error for result in analysis[name].results if not result.success]

    (ordinary,), (critical,) = errors("completed"), errors("aborted")
    assert (ordinary or "").startswith("ValueError: 0 cells of type 'Plasma cell'")
    assert critical == "ModuleNotFoundError: No module named 'simulated_umap_backend'"
    assert len(analysis["aborted"].results) < len(analysis["aborted"].meta["execution_plan"]["steps"])


def close(ours: Any, theirs: Any) -> bool:
    """Equal in structure, numbers equal to one part in ten thousand."""
    if isinstance(ours, dict):
        return isinstance(theirs, dict) and list(ours) == list(theirs) and all(close(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(close(a, b) for a, b in zip(ours, theirs, strict=True))
    return ours == pytest.approx(theirs, rel=1e-4) if isinstance(ours, float) else bool(ours == theirs)


@pytest.mark.slow
def test_running_all_computations_of_the_analysis_again_gives_the_same_values(
    analysis: dict[str, Trace], monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("numpy", "scipy"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: it is needed only to record")
    monkeypatch.syspath_prepend(TRACES)
    from recorders.analysis_sessions import aborted, completed, empty_plan
    from recorders.analysis_studies import studies

    made = (completed(whole=True), completed(whole=False), aborted(), empty_plan(), next(studies()))
    again = {trace.id: trace for trace in made}
    committed = analysis | {"study_01": read("studies")["study_01"]}
    assert again.keys() == committed.keys()
    for name, trace in committed.items():
        assert [type(step) for step in again[name].steps] == [type(step) for step in trace.steps]
        assert again[name].labels == trace.labels
        assert close([r.data for r in again[name].results], [r.data for r in trace.results])


# ---------------------------------------------------------------- building model


@pytest.fixture(scope="module")
def building() -> dict[str, Trace]:
    return read("building_model")


def executions(traces: dict[str, Trace]) -> list[ToolResult]:
    return [r for trace in traces.values() for r in trace.results if r.function == "run_script_by_name"]


def test_recording_the_building_model_again_gives_the_same_bytes(tmp_path: Path) -> None:
    record("record_building_model.py", tmp_path)
    for folder in ("building_model", "inventories", "rounds"):
        shipped = {path.name: path.read_bytes() for path in (TRACES / folder).iterdir()}
        assert {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()} == shipped


def test_the_deployed_rule_hid_answers_and_the_survey_needs_late_rows(building: dict[str, Trace]) -> None:
    cut = [result for result in executions(building) if result.full is not None]
    assert {json.loads(result.seen or "")["type"] for result in cut} == {"table", "console"}
    row = next(r for r in cut if r.arguments["script_name"] == "Create_Partition_Row.cs")
    assert "Wall created" in row.text
    assert "Wall created" not in row.recorded_text
    survey = executions({"survey": building["survey"]})
    rooms = next(r for r in survey if r.arguments["script_name"] == "Room_Areas.cs")
    late = {str(row["Id"]) for row in json.loads(rooms.data["structured_output"][0]["data"])[5:]}
    index = index_trace(building["survey"])
    used = {index.facts[need.fact] for of_turn in index.needs.values() for need in of_turn}
    assert len(late & used) >= 2
