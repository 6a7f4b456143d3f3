"""The building-model agent's session: raw results normalised, nothing invented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.model.errors import TraceError
from bench.plugins.registry import entries
from bench.traces import load
from bench.traces.documents import Document

ARGUMENTS = '{"script_name": "A.cs", "is_final_approval": true}'


def session(raw: Any) -> dict[str, Any]:
    function = {"name": "run_script_by_name", "arguments": ARGUMENTS}
    return {
        "source": {"repo": "x"},
        "manifest": [{"id": "A.cs"}],
        "messages": [
            {"role": "user", "content": "run it"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "c", "raw_execution_result": raw},
            {"role": "assistant", "content": "Done."},
        ],
    }


def document(folder: Path, value: Any) -> Document:
    path = folder / "session.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return Document(path, "session.json")


def test_the_recorded_session(shared_traces: Path) -> None:
    (trace,) = load(["rap"], shared_traces).traces
    wall, parameters = trace.results
    assert "✅ Wall created." in wall.data["output"]
    (item,) = parameters.data["structuredOutput"]
    assert len(json.loads(item["data"])) == 36
    assert "\r" not in json.dumps(parameters.data).replace("\\\\r", "")
    assert "\\r" not in item["data"]
    assert len(trace.meta["manifest"]) == 5


def test_the_earlier_name_of_the_format_is_read(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(session({})))
    traces = [trace for name in ("rap", "building_agent") for trace in load([f"{name}:{path}"]).traces]
    assert [trace.source.format for trace in traces] == ["building_agent"] * 2
    assert traces[0] == traces[1]
    assert "rap" not in entries("reader"), "it has one name, and an earlier one"
    with pytest.raises(TraceError, match="a path is missing — write building_agent:FILE"):
        load(["rap:"])
