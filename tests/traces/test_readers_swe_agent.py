"""SWE-agent: a run that was recorded under a masking of old results replays as that masking."""

from __future__ import annotations

import json
from pathlib import Path

from reread import CASES

import bench


def test_the_strategy_recorded_shows_what_was_sent(tmp_path: Path) -> None:
    cases = map(json.loads, CASES.read_text(encoding="utf-8").splitlines())
    told = "the tokens sent tell which results the model no longer saw"
    masked = next(case["value"] for case in cases if case.get("of") == told)
    (tmp_path / "r.traj").write_text(json.dumps(masked))
    compared = bench.compare([str(tmp_path / "r.traj")], {"masked": "compactor=swe_agent.last_n:n=5"})
    tokens = {row.strategy: row.value for row in compared.rows if row.metric == "cost.prompt_tokens"}
    assert abs(tokens["recorded"] / tokens["masked"] - 1) < 0.01
    assert tokens["keep_all"] > 1.1 * tokens["masked"]
