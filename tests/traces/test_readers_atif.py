"""ATIF: sub-agents become threads, as deep as they may be embedded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from reread import FORMATS, read

from bench.model.errors import TraceError

VALUE: dict[str, Any] = json.loads((FORMATS / "atif.json").read_text())


def test_sub_agents_without_end_are_refused(tmp_path: Path) -> None:
    value: dict[str, Any] = {**VALUE, "subagent_trajectories": []}
    for _ in range(30):
        value = {**VALUE, "trajectory_id": "x", "subagent_trajectories": [value]}
    with pytest.raises(TraceError, match="sub-agents of more than 20 levels"):
        read("atif", tmp_path, value)
