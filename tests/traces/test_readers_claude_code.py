"""Claude Code's sessions: answers split over lines, sub-agents, compaction and going back, whole outputs; counted again by plain JSON."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from reread import FORMATS, kinds

from bench.model import ContextEdit, ModelTurn, UserTurn
from bench.traces import load

SESSION = "0a1b2c3d-0000-4000-8000-00000000cafe"
FOLDER = FORMATS / "claude_code"
FILE = FOLDER / f"{SESSION}.jsonl"
LINES: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text().splitlines()]


def test_a_sub_agents_file_is_read_with_its_session(tmp_path: Path) -> None:
    flat, nested = tmp_path / "flat", tmp_path / "nested"
    shutil.copytree(FOLDER, flat)
    (nested / SESSION / "subagents").mkdir(parents=True)
    shutil.copy(FILE, nested)
    shutil.copy(FOLDER / "agent-ab12cd3.jsonl", nested / SESSION / "subagents")
    for folder in (flat, nested):
        loaded = load([str(folder)], strict=True)
        assert [kinds(trace)["ModelTurn"] for trace in loaded.traces] == [8]
        ((name, reason),) = loaded.skipped
        assert name.endswith("agent-ab12cd3.jsonl")
        assert reason == f"is a sub-agent of {SESSION}.jsonl, which is read with it — name that file"
    (alone,) = load([str(flat / "agent-ab12cd3.jsonl")]).traces
    assert [type(step) for step in alone.steps][:2] == [UserTurn, ModelTurn]
    (flat / f"{SESSION}.jsonl").unlink()
    assert len(load([str(flat)]).traces) == 1


def test_a_clearing_shows_a_notice_in_place_of_the_results_that_its_mark_names(tmp_path: Path) -> None:
    mark = {"type": "system", "subtype": "microcompact_boundary", "uuid": "m1", "timestamp": "2026-05-09T10:00:00.000Z"}
    mark["microcompactMetadata"] = {"compactedToolIds": ["t2", "elsewhere"]}
    (tmp_path / FILE.name).write_text(FILE.read_text() + json.dumps(mark) + "\n")
    (trace,) = load([str(tmp_path / FILE.name)]).traces
    (edit,) = (step for step in trace.steps if isinstance(step, ContextEdit))
    assert [trace.steps[at].call_id for at in edit.shown] == ["t2"]
    assert edit.index == len(trace.steps) - 1


def test_the_same_session_from_two_files_counts_once(tmp_path: Path) -> None:
    shutil.copy(FILE, tmp_path / "a.jsonl")
    shutil.copy(FILE, tmp_path / "b.jsonl")
    loaded = load(["."], tmp_path)
    assert [trace.id for trace in loaded.traces] == ["a"]
    assert loaded.skipped == (("./b.jsonl", f"holds session '{SESSION}', which ./a.jsonl has given already"),)
    assert [trace.id for trace in load(["a.jsonl", "b.jsonl"], tmp_path).traces] == ["a"]
