"""Forms that recordings of other people have: each in a sample of our own making."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bench.model import Trace
from bench.model.errors import TraceError
from bench.traces import load


def read(tmp_path: Path, value: Any, name: str = "run.json") -> Trace:
    path = tmp_path / name
    path.write_text(json.dumps(value) if not isinstance(value, str) else value)
    (trace,) = load([path.as_posix()]).traces
    return trace


def kinds(trace: Trace) -> list[str]:
    return [type(step).__name__ for step in trace.steps]


def test_a_generation_may_have_a_single_message_as_input(tmp_path: Path) -> None:
    trace = read(tmp_path, {"trace": {"id": "t"}, "observations": [
        {"id": "g", "traceId": "t", "type": "GENERATION", "name": "turn", "startTime": "2026-01-01T00:00:00Z",
         "input": {"role": "user", "content": "How many walls?", "gen_ai.system": "openai"},
         "output": {"role": "assistant", "content": "36 walls"}}]})  # fmt: skip
    assert kinds(trace) == ["UserTurn", "ModelTurn"]
    assert trace.left_out == {}


def test_old_lines_of_claude_code_are_not_read_as_langchain(tmp_path: Path) -> None:
    def line(number: int, **own: Any) -> str:
        return json.dumps({"sessionId": "s", "uuid": f"u{number}", "parentUuid": f"u{number - 1}", **own})

    hooks = [line(at, type="system", content="hook ran", level="info") for at in range(3, 9)]
    asked = line(1, type="user", message={"role": "user", "content": "How many walls?"})
    answer = {"role": "assistant", "id": "m", "content": "36 walls", "stop_reason": "end_turn"}
    trace = read(tmp_path, "\n".join([asked, line(2, type="assistant", message=answer), *hooks]), "s.jsonl")
    assert (trace.source.format, len(trace.steps), trace.left_out) == ("claude_code", 2, {})


def test_contents_below_a_message_are_read_and_a_message_without_contents_refused(tmp_path: Path) -> None:
    def line(role: str, *blocks: dict[str, Any]) -> str:
        return json.dumps({"role": role, "message": {"content": list(blocks)}})

    call = {"type": "tool_use", "id": "c1", "name": "walls", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "36"}
    lines = [line("user", {"type": "text", "text": "How many walls?"}), line("assistant", call), line("user", result)]
    trace = read(tmp_path, "\n".join(lines), "cursor.jsonl")
    assert kinds(trace) == ["UserTurn", "ModelTurn", "ToolResult"]
    (tmp_path / "empty.json").write_text(json.dumps({"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {}}))
    with pytest.raises(TraceError, match="not recognised"):
        load([(tmp_path / "empty.json").as_posix()])


def test_streams_with_one_object_per_line_are_read(tmp_path: Path) -> None:
    chunks = [
        {"model": "qwen3", "message": {"role": "assistant", "content": text}, "done": False}
        for text in ("36 ", "walls")
    ]
    end = {"model": "qwen3", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop",
           "prompt_eval_count": 9, "eval_count": 2}  # fmt: skip
    body = "\n".join(map(json.dumps, [*chunks, end]))
    asked = {"model": "qwen3", "messages": [{"role": "user", "content": "How many walls?"}]}
    (turn,) = read(tmp_path, [{"request": asked, "response": body}]).model_turns
    assert turn.content == "36 walls"
    assert turn.usage is not None
    assert (turn.usage.prompt_tokens, turn.usage.completion_tokens) == (9, 2)


def test_the_usage_of_an_interrupted_answer_of_pi_is_counted(tmp_path: Path) -> None:
    def answer(number: int, reason: str, *content: dict[str, Any]) -> dict[str, Any]:
        usage = {"input": 5, "output": 1, "cost": {"total": 0.25}}
        message = {"role": "assistant", "content": list(content), "stopReason": reason, "usage": usage}
        return {"type": "message", "id": f"m{number}", "message": message}

    asked = {"type": "message", "id": "m0", "message": {"role": "user", "content": "How many walls?"}}
    text = {"type": "text", "text": "36 walls"}
    lines = [{"type": "session", "id": "s"}, asked, answer(1, "aborted"), answer(2, "stop", text)]
    trace = read(tmp_path, "\n".join(map(json.dumps, lines)), "s.jsonl")
    assert (len(trace.model_turns), trace.meta["cost_usd"]) == (1, 0.5)


@pytest.mark.parametrize("at_sample", [True, False])
def test_messages_in_a_pool_of_inspect_are_in_its_prompts(at_sample: bool, tmp_path: Path) -> None:
    pool = [{"role": role, "content": role} for role in ("user", "assistant", "user")]
    answer = {"choices": [{"message": pool[1]}]}
    calls = [{"event": "model", "input_refs": [[0, end]], "output": answer} for end in (1, 3)]
    place = {"message_pool": pool} if at_sample else {"events_data": {"messages": pool}}
    sample = {"id": 1, "events": calls, **place}
    trace = read(tmp_path, {"status": "success", "eval": {"task": "t", "model": "m"}, "samples": [sample]})
    assert kinds(trace) == ["UserTurn", "ModelTurn"] * 2


def test_a_database_with_an_unmerged_log_is_read(tmp_path: Path) -> None:
    copy = tmp_path / "saver.sqlite"
    copy.write_bytes((Path(__file__).parents[1] / "data/formats/langgraph/saver.sqlite").read_bytes())
    whole = load([copy.as_posix()]).traces
    with closing(sqlite3.connect(copy)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        last = database.execute("SELECT max(checkpoint_id) FROM checkpoints").fetchone()
        database.execute("UPDATE checkpoints SET thread_id = 'later' WHERE checkpoint_id = ?", last)
        database.commit()
    assert len(whole) < len(load([copy.as_posix()]).traces)
