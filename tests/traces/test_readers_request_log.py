"""Logs of model calls: calls whose prompts grow are one run, answers are kept with their usage, whatever wraps them and however they were sent."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from reread import FORMATS

from bench.model import Trace
from bench.traces import load
from bench.traces.streams import assembled, events_of, events_of_frames

LITELLM = FORMATS / "request_log" / "litellm.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in LITELLM.read_text().splitlines()]


def turns(traces: list[Trace]) -> list[list[str]]:
    return [[str(turn.content) for turn in trace.model_turns] for trace in traces]


def test_a_folder_of_one_call_a_file_is_read_together(tmp_path: Path) -> None:
    for at, row in enumerate(ROWS):
        (tmp_path / f"{at}.json").write_text(json.dumps(row))
    loaded = load([str(tmp_path)], strict=True)
    assert turns(list(loaded.traces)) == [["", "9.2 m in all.", "30.2 ft."], ["Walls"]]
    reasons = {name.rpartition("/")[2]: reason for name, reason in loaded.skipped}
    assert list(reasons) == ["1.json", "2.json", "3.json", "4.json", "5.json"]
    assert reasons["1.json"] == "is one call of a log, read together with 0.json — name it to read it alone"
    assert reasons["3.json"].startswith("not recognised")
    assert turns(list(load([str(tmp_path / "5.json")]).traces)) == [["", "9.2 m in all.", "30.2 ft."]]


def test_streams_of_all_three(tmp_path: Path) -> None:
    def sse(*events: Any) -> str:
        return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"

    def chunk(**delta: Any) -> dict[str, Any]:
        return {"object": "chat.completion.chunk", "model": "m", "choices": [{"index": 0, "delta": delta}]}

    called = {"index": 0, "id": "c", "function": {"name": "walls", "arguments": '{"a"'}}
    more = {"index": 0, "function": {"arguments": ": 1}"}}
    end = {"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    usage = {"model": "m", "choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2}}
    chat = assembled(
        events_of(
            sse(
                chunk(content="Hel"),
                chunk(content="lo"),
                chunk(tool_calls=[called]),
                chunk(tool_calls=[more]),
                end,
                usage,
            )
        )
    )
    assert chat is not None
    (choice,) = chat["choices"]
    assert (choice["message"]["content"], choice["finish_reason"], chat["usage"]["prompt_tokens"]) == (
        "Hello",
        "stop",
        4,
    )
    assert choice["message"]["tool_calls"] == [{"id": "c", "function": {"name": "walls", "arguments": '{"a": 1}'}}]
    response = {"id": "r", "output": [], "status": "completed"}
    assert (
        assembled(events_of(sse({"type": "response.created"}, {"type": "response.completed", "response": response})))
        == response
    )
    for odd in ([], [{"choices": [5]}], [{"type": "message_start"}], [{"type": "content_block_delta"}], ["x", None]):
        assert assembled(odd) is None


def test_streams_of_other_interfaces_say_that_they_broke_off() -> None:
    gemini = [
        {"candidates": [{"content": {"parts": [{"text": "3"}]}}]},
        {"candidates": [{"content": {"parts": [{"text": "6"}]}}]},
    ]
    whole = assembled(gemini)
    assert whole is not None
    assert whole["candidates"] == [
        {"content": {"role": "model", "parts": [{"text": "36"}]}, "finishReason": "stream_cut"}
    ]
    begun = {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 3}}}
    block = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}},
    }
    part = {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"le'}}
    cut = assembled([begun, block, part])
    assert cut is not None
    assert (cut["stop_reason"], cut["content"][0]["input"]) == ("stream_cut", '{"le')
    created = {"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}}
    done = {"type": "response.output_item.done", "item": {"type": "message", "role": "assistant", "content": []}}
    assert assembled([created, done]) == {"id": "r", "status": "stream_cut", "output": [done["item"]]}


def test_frames_of_aws_are_read_as_events() -> None:
    def frame(kind: str, payload: dict[str, Any]) -> bytes:
        named, body = b"\x0b:event-type\x07" + len(kind).to_bytes(2) + kind.encode(), json.dumps(payload).encode()
        return struct.pack(">III", 16 + len(named) + len(body), len(named), 0) + named + body + bytes(4)

    told = frame("messageStart", {"role": "assistant"}) + frame(
        "contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "36"}}
    )
    told += frame("messageStop", {"stopReason": "end_turn"}) + frame(
        "metadata", {"usage": {"inputTokens": 9, "outputTokens": 1}}
    )
    whole = assembled(events_of_frames(told))
    assert whole is not None
    assert whole["output"]["message"]["content"] == [{"text": "36"}]
    assert (whole["stopReason"], whole["usage"]) == ("end_turn", {"inputTokens": 9, "outputTokens": 1})
    assert events_of_frames(b"data: {}") == events_of_frames(b"\x1f\x8b") == []
