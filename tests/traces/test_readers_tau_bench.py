"""tau-bench and AgentRx: runs of a service agent with expected actions, a reward and, where given, the root cause of a failure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reread import FORMATS, read

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
