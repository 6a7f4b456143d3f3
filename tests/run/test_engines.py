"""Processes that measure cases: each works until no case is left, and one that dies costs at most its case."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from handmade import opened, shell

import bench


@pytest.mark.parametrize("deaths", [0, 1, 2])
def test_a_process_is_replaced_only_when_it_died(tmp_path: Path, deaths: int) -> None:
    def cut(result: object) -> str:
        (tmp_path / f"{os.getpid()}").touch()
        if len([*tmp_path.glob("died*")]) < deaths:
            (tmp_path / f"died{os.getpid()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return "short"

    traces = [opened(shell(2, start=2), id=f"run_{number}") for number in range(6 if deaths < 2 else 1)]
    found = bench.compare(traces, {"mine": cut}, jobs=2)
    pids = {path.name for path in tmp_path.glob("[0-9]*")} - {str(os.getpid())}
    failed = {row.case for row in found.rows if row.metric == "cost.prompt_tokens" and row.reason}
    assert len(pids) <= 2 + deaths
    assert failed == ({"run_0"} if deaths == 2 else set())
