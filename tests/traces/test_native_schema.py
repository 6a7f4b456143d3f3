"""The published JSON Schema of native traces, asked by another library than the one that reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from generated import traces
from hypothesis import given
from jsonschema import Draft202012Validator

from bench.model import Trace
from bench.traces.lines import encode_trace

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "trace.schema.json").read_text(encoding="utf-8"))
VALID = Draft202012Validator(SCHEMA).is_valid
SHIPPED = sorted((ROOT / "traces").rglob("*.jsonl"))

HEADER = {"bench_trace": 1, "id": "a", "source": {"format": "native"}}
CALL = {"id": "c1", "name": "ls", "arguments": {"path": "."}}
RESULT = {"kind": "result", "index": 2, "call_id": "c1", "function": "ls", "seen": "a b"}


def test_the_schema_is_a_valid_json_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_every_shipped_recording_is_valid() -> None:
    native = [path for path in SHIPPED if '"bench_trace"' in path.read_text(encoding="utf-8")[:200]]
    assert len(native) >= 40
    for path in native:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert VALID(json.loads(line)), f"{path.name}:{number}"


@given(traces())
def test_whatever_is_written_is_valid(trace: Trace) -> None:
    assert all(VALID(json.loads(line)) for line in encode_trace(trace).splitlines())


@pytest.mark.parametrize(
    "line",
    [
        HEADER | {"bench_trace": 2},
        HEADER | {"id": ""},
        HEADER | {"source": {}},
        HEADER | {"left_out": {"a block": "twice"}},
        HEADER | {"steps": []},
        RESULT | {"kind": "observation"},
        RESULT | {"index": "2"},
        RESULT | {"success": "yes"},
        RESULT | {"tool": "ls"},
        {key: RESULT[key] for key in RESULT if key != "call_id"},
        {"kind": "user", "index": 0},
        {"kind": "user", "index": 0, "content": [{"type": "text"}]},
        {"kind": "model", "index": 1, "tool_calls": [CALL, {"name": "ls"}]},
        {"kind": "edit", "index": 3, "shown": ["a line"]},
        [HEADER],
    ],
    ids=lambda line: json.dumps(line)[-40:],
)
def test_a_broken_line_is_not_valid(line: Any) -> None:
    assert VALID(HEADER)
    assert VALID(RESULT)
    assert not VALID(line)
