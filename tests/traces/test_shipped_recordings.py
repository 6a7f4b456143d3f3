"""The recorders of the traces that ship still make them."""

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

from bench.model import Trace
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


def commands_of(messages: list[dict[str, str]]) -> list[tuple[str, str, str]]:
    """Thought, command and answer of each turn, by the pattern of document 002."""
    found = []
    for said, answered in itertools.pairwise(messages):
        command = re.search(r"execute:\s*(.+?)(?:\n|$)", said["content"])
        if said["role"] == "assistant" and command:
            found.append((said["content"][: command.start()].strip(), command.group(1), answered["content"]))
    return found


def triggers(messages: list[dict[str, str]]) -> int:
    """The times that a history reaches the threshold if a summary of 1,000 tokens then replaces all but 8 messages."""
    count = COUNT.text
    held, reached = [0], 0
    for message in messages[1:]:
        held.append(count(message["content"]) + 3)
        if sum(held) >= THRESHOLD_TOKENS:
            reached, held = reached + 1, [1000, *held[-8:]]
    return reached


@pytest.mark.slow
def test_running_the_commands_of_the_terminal_session_again_gives_a_similar_session(
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


def test_recording_the_building_model_again_gives_the_same_bytes(tmp_path: Path) -> None:
    record("record_building_model.py", tmp_path)
    for folder in ("building_model", "inventories", "rounds"):
        shipped = {path.name: path.read_bytes() for path in (TRACES / folder).iterdir()}
        assert {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()} == shipped
