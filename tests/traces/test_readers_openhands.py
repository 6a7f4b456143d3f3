"""OpenHands: events, and the model's answers that actions came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reread import checked

from bench.model import UserTurn
from bench.traces import load


def test_recorded_runs(shared_traces: Path, tmp_path: Path) -> None:
    """Counted again without the reader."""
    paths = sorted((shared_traces / "openhands").rglob("*.json"))
    assert len(paths) == 3
    for path in paths:
        events = json.loads(path.read_text())
        (trace,) = load([path.as_posix()]).traces
        checked(trace, tmp_path)
        answers: dict[str, dict[str, Any]] = {}
        for event in events:
            if "action" in event and "tool_call_metadata" in event:
                answers.setdefault(
                    event["tool_call_metadata"]["model_response"]["id"], event["tool_call_metadata"]["model_response"]
                )
        spoken = [
            event["args"]["content"]
            for event in events
            if event.get("action") == "message" and event["source"] == "agent"
        ]
        asked = [
            event["args"]["content"]
            for event in events
            if event.get("action") == "message" and event["source"] == "user"
        ]
        assert len(trace.model_turns) == len(answers) + len(spoken)
        usages = [answer["usage"]["prompt_tokens"] for answer in answers.values()]
        assert [turn.usage.prompt_tokens for turn in trace.model_turns if turn.usage] == usages
        assert [step.content for step in trace.steps if isinstance(step, UserTurn)] == asked
        results = [event for event in events if "observation" in event]
        assert len(trace.results) == len(results)
        for result, event in zip(trace.results, results, strict=True):
            shown = event["extras"].get("formatted_output_and_error") or event["content"]
            assert result.seen is not None
            assert shown in result.seen
            assert result.call_id == event["tool_call_metadata"]["tool_call_id"]
            assert result.success
        assert trace.left_out == {}
