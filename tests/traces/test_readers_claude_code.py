"""Claude Code's sessions: answers split over lines, sub-agents, compaction and going back, whole outputs; counted again by plain JSON."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from reread import FORMATS, checked, document, kinds, read, sure_of

from bench.model import ContextReset, ModelTurn, Trace, UserTurn
from bench.traces import load

SESSION = "0a1b2c3d-0000-4000-8000-00000000cafe"
FOLDER = FORMATS / "claude_code"
FILE = FOLDER / f"{SESSION}.jsonl"
LINES: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text().splitlines()]


def session(folder: Path) -> Trace:
    (trace,) = load([str(FILE)]).traces
    return checked(trace, folder)


def test_a_preserved_segment_is_kept(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in FILE.read_text().splitlines()]
    boundary = next(line for line in lines if line.get("subtype") == "compact_boundary")
    boundary["compactMetadata"]["preservedSegment"] = {"headUuid": "a7", "anchorUuid": "x", "tailUuid": "r4"}
    (trace,) = read("claude_code", tmp_path, "\n".join(map(json.dumps, lines)))
    compacted = [step for step in trace.steps if isinstance(step, ContextReset)][-1]
    kept = [step for step in trace.steps if step.index in compacted.kept]
    assert [type(step).__name__ for step in kept] == ["ModelTurn", "ToolResult"]


def test_sub_agents_inside_the_file_and_in_a_stream(tmp_path: Path) -> None:
    inline = [dict(line) for line in LINES[:11]]
    for line in (FOLDER / "agent-ab12cd3.jsonl").read_text().splitlines():
        inline.append({key: value for key, value in json.loads(line).items() if key != "agentId"})
    (trace,) = read("claude_code", tmp_path, "\n".join(map(json.dumps, inline)))
    assert [step.thread for step in trace.steps if step.thread != "main"] == ["q1"] * 4
    usage = {"input_tokens": 5, "output_tokens": 1}
    task = {"type": "tool_use", "id": "t", "name": "Task", "input": {"subagent_type": "Plan"}}
    stream = [
        {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Task"], "model": "m"},
        {"type": "assistant", "message": {"id": "1", "role": "assistant", "content": [task], "stop_reason": None, "usage": usage},
         "session_id": "s", "parent_tool_use_id": None},
        {"type": "assistant", "message": {"id": "2", "role": "assistant", "content": [{"type": "text", "text": "x"}]},
         "session_id": "s", "parent_tool_use_id": "t"},
        {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "y"}]},
         "session_id": "s", "parent_tool_use_id": None, "tool_use_result": {"stdout": "y and more", "stderr": ""}},
        {"type": "result", "subtype": "error_max_turns", "is_error": True, "total_cost_usd": 0.5, "session_id": "s"},
    ]  # fmt: skip
    for shape in (stream, "\n".join(map(json.dumps, stream))):
        assert sure_of(document(tmp_path, shape)) == ["claude_code"]
        (trace,) = read("claude_code", tmp_path, shape)
        assert [(type(step).__name__, step.thread, step.agent) for step in trace.steps] == [
            ("ModelTurn", "main", "agent"),
            ("ModelTurn", "t", "Plan"),
            ("ToolResult", "main", "agent"),
        ]
        assert trace.results[0].full == "y and more"
        assert trace.outcome is not None
        assert (trace.outcome.success, trace.meta["total_cost_usd"]) == (False, 0.5)
        assert trace.left_out == {"count of output tokens from before the answer ended": 1}


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


def test_the_same_session_from_two_files_counts_once(tmp_path: Path) -> None:
    shutil.copy(FILE, tmp_path / "a.jsonl")
    shutil.copy(FILE, tmp_path / "b.jsonl")
    loaded = load(["."], tmp_path)
    assert [trace.id for trace in loaded.traces] == ["a"]
    assert loaded.skipped == (("./b.jsonl", f"holds session '{SESSION}', which ./a.jsonl has given already"),)
    assert [trace.id for trace in load(["a.jsonl", "b.jsonl"], tmp_path).traces] == ["a"]


def plain_counts(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """What a session's lines hold, counted with nothing of the reader: answers by id, calls, results, tokens."""
    usage: dict[str, dict[str, int]] = {}
    calls, results, said = 0, 0, 0
    for line in lines:
        message = line.get("message") or {}
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        calls += sum(block["type"] == "tool_use" for block in blocks)
        results += sum(block["type"] == "tool_result" for block in blocks)
        said += line.get("type") == "user" and isinstance(content, str)
        if line.get("type") == "assistant":
            usage[message["id"]] = message["usage"]
    total = {key: sum(item[key] for item in usage.values()) for key in ("input_tokens", "output_tokens")}
    cached = {
        key: sum(item[key] for item in usage.values())
        for key in ("cache_read_input_tokens", "cache_creation_input_tokens")
    }
    return {"turns": len(usage), "calls": calls, "results": results, "said": said, **total, **cached}


def test_the_recorded_sessions_agree_with_plain_json_and_with_the_harness_own_totals(shared_traces: Path) -> None:
    root = shared_traces / "scbench"
    files = sorted(root.rglob("harness_outputs.jsonl"))
    assert len(files) == 4
    for file in files:
        (trace,) = load([str(file)]).traces
        counted = plain_counts([json.loads(line) for line in file.read_text().splitlines()])
        usages = [turn.usage for turn in trace.model_turns if turn.usage]
        assert (len(usages), len(trace.results)) == (counted["turns"], counted["results"])
        assert sum(len(turn.tool_calls) for turn in trace.model_turns) == counted["calls"]
        assert kinds(trace)["UserTurn"] == counted["said"] == 1
        assert sum(usage.completion_tokens for usage in usages) == counted["output_tokens"]
        written = counted["cache_creation_input_tokens"]
        prompt = counted["input_tokens"] + counted["cache_read_input_tokens"] + written
        assert sum(usage.prompt_tokens for usage in usages) == prompt
        assert sum(usage.cache_write_tokens or 0 for usage in usages) == written
        # the harness' totals hold one more call, the last, that its session does not
        told = json.loads((file.parent / "result.json").read_text())["result"]["metadata"]["usage"]
        (last,) = told["iterations"]
        sides = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        assert prompt + sum(last[key] for key in sides) == sum(told[key] for key in sides)
        assert counted["output_tokens"] + last["output_tokens"] == told["output_tokens"]
        texts = {result.seen for result in trace.results}
        for line in map(json.loads, file.read_text().splitlines()):
            if isinstance(line.get("toolUseResult"), dict):
                assert line["message"]["content"][0]["content"] in texts
