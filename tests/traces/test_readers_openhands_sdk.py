"""Completions that OpenHands logs: one file a call, one trace a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reread import FORMATS, checked, kinds

from bench.model import ToolsChanged, Usage
from bench.traces import load

FOLDER = FORMATS / "openhands_sdk"
LAST: dict[str, Any] = json.loads((FOLDER / "m-1010.0.json").read_text())


def test_the_calls_of_a_folder_are_one_run_and_a_call_by_itself_another(tmp_path: Path) -> None:
    loaded = load([FOLDER.as_posix()])
    run, title = (checked(trace, tmp_path) for trace in loaded.traces)
    assert (run.id, title.id) == ("m-1010.0", "m-1020.0")
    assert kinds(run) == {"SystemTurn": 1, "UserTurn": 1, "ToolsChanged": 1, "ModelTurn": 2, "ToolResult": 1}
    first, second = run.model_turns
    assert (first.usage, second.usage) == (
        Usage(prompt_tokens=100, completion_tokens=5, cached_prompt_tokens=50),
        Usage(prompt_tokens=120, completion_tokens=5, cached_prompt_tokens=60),
    )
    assert (first.t, first.finish_reason, first.model, run.steps[0].t) == (
        1000.5,
        "tool_calls",
        "litellm_proxy/claude-x",
        998.0,
    )
    assert (run.results[0].seen, run.results[0].arguments) == ("a.py", {"command": "ls"})
    assert run.meta == {
        "costs_usd": {"3": 0.01, "5": 0.02},
        "latencies_s": {"3": 2.5, "5": 1},
        "context_window": 200000,
    }
    assert run.left_out == {"'mood' of a message": 1, "'colour' of the file": 1}
    assert [reason for _, reason in loaded.skipped] == ["a call of the run that m-1010.0.json ends"]
    assert not any(isinstance(step, ToolsChanged) for step in title.steps)


def test_a_damaged_neighbour_is_no_part_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "m-1010.0.json").write_text(json.dumps(LAST), encoding="utf-8")
    (tmp_path / "m-1011.0.json").write_text(json.dumps(LAST)[:200], encoding="utf-8")
    loaded = load([tmp_path.as_posix()])
    assert [trace.id for trace in loaded.traces] == ["m-1010.0"]
