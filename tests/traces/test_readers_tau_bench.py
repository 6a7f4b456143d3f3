"""tau-bench and AgentRx: runs of a service agent with expected actions, a reward and, where given, the root cause of a failure."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from reread import FORMATS, checked, kinds, read

from bench.traces import load

SMALL: list[dict[str, Any]] = json.loads((FORMATS / "tau_bench.json").read_text())
TRUTH = {
    "trajectory_id": 3,
    "failures": [
        {"failure_id": 4, "step_number": 5, "step_reason": "booked unasked"},
        {"failure_id": 9, "step_number": 7},
    ],
    "root_cause": {"failure_id": 4, "reason_for_root_cause": "no confirmation"},
    "failure_summary": "unasked",
}


def test_the_root_cause_beside_the_file_is_the_step_that_failed(tmp_path: Path) -> None:
    for place in ("tau_ground_truth.json", "../ground_truth/truth.json"):
        folder = tmp_path / place.replace("/", "_") / "data"
        folder.mkdir(parents=True)
        truth = folder / place
        truth.parent.resolve().mkdir(exist_ok=True)
        truth.write_text(json.dumps([{"trajectory_id": 99, "failures": []}, TRUTH]), encoding="utf-8")
        (folder / "not_ground_truth.json").write_text('{"a": 1', encoding="utf-8")
        (trace,) = read("tau_bench", folder, SMALL)
        assert trace.outcome is not None
        assert (trace.outcome.failed_step, trace.outcome.success) == (4, True)
        assert trace.outcome.said_by == "tau-bench's reward and AgentRx's annotators"
        assert trace.labels["failures"] == TRUTH["failures"]
        assert trace.steps[4] == trace.model_turns[1]


@pytest.mark.parametrize(
    "path",
    [
        "tau-bench/gpt-4o-airline.tasks00-29.json",
        "agentrx/data/tau_retail/tau_dataset_failed.json",
        "agentrx/data/tau_retail/tau_dataset_full.json",
    ],
)
def test_recorded_runs(shared_traces: Path, tmp_path: Path, path: str) -> None:
    """Counted again without the reader."""
    recorded = [run for run in json.loads((shared_traces / path).read_text()) if run["traj"]]
    traces = load([path], shared_traces).traces
    assert len(traces) == len(recorded)
    for trace, run in zip(traces, recorded, strict=True):
        checked(trace, tmp_path)
        roles = Counter(message["role"] for message in run["traj"])
        found = kinds(trace)
        assert (found["SystemTurn"], found["UserTurn"], found["ModelTurn"], found["ToolResult"]) == (
            roles["system"], roles["user"], roles["assistant"], roles["tool"]
        )  # fmt: skip
        calls = [call for message in run["traj"] for call in message.get("tool_calls") or []]
        assert [call.id for turn in trace.model_turns for call in turn.tool_calls] == [call["id"] for call in calls]
        assert [call.arguments for turn in trace.model_turns for call in turn.tool_calls] == [
            json.loads(call["function"]["arguments"]) for call in calls
        ]
        shown = [message["content"] for message in run["traj"] if message["role"] == "tool"]
        assert [result.seen for result in trace.results] == shown
        assert sum(not result.success for result in trace.results) == sum(text.startswith("Error") for text in shown)
        assert sum(result.data is not None for result in trace.results) == sum(text[:1] in ("{", "[") for text in shown)
        assert trace.outcome is not None
        assert (trace.outcome.score, trace.outcome.success) == (run["reward"], run["reward"] == 1)
        assert trace.labels.get("expected_actions", []) == run["info"]["task"]["actions"]
        assert trace.left_out == {}


def test_recorded_root_causes(shared_traces: Path) -> None:
    """AgentRx labels 14 runs; each step that failed is said by the agent it blames."""
    truth = json.loads((shared_traces / "agentrx/data/ground_truth/tau_ground_truth.json").read_text())
    traces = load(["agentrx/data/tau_retail/tau_dataset_failed.json"], shared_traces).traces
    found = {trace.meta["task_id"]: trace for trace in traces}
    assert len(truth) == 14
    for label in truth:
        trace = found[label["trajectory_id"]]
        cause = next(item for item in label["failures"] if item["failure_id"] == label["root_cause"]["failure_id"])
        assert trace.outcome is not None
        assert trace.outcome.failed_step == cause["step_number"] - 1
