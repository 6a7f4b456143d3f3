"""Counts of what newer readers give, against a few lines of json that know nothing of them."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest

from bench.model.errors import TraceError
from bench.traces import load


def test_at_least_nine_in_ten_published_files_are_read_and_the_others_for_a_true_reason(shared_traces: Path) -> None:
    files = [path for path in sorted((shared_traces / "pool").rglob("*.*")) if path.name != "MANIFEST.json"]
    refused = {}
    for path in files:
        try:
            assert load([str(path)]).traces
        except Exception as error:
            refused[path.name] = str(error)
    assert len(refused) <= len(files) // 10, refused
    for reason in refused.values():
        assert any(
            true in reason for true in ("is a model call", "holds no simulations", "the messages of an answer")
        ), reason


def test_two_files_of_one_name_in_a_folder_are_two_cases_or_one_recording(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}]
    (tmp_path / "x.json").write_text(json.dumps(chat))
    (tmp_path / "x.traj").write_text(json.dumps({"messages": chat}))
    loaded = load([str(tmp_path)])
    assert [trace.id for trace in loaded.traces] == ["x"]
    assert "which" in loaded.skipped[0][1]
    (tmp_path / "x.traj").write_text(json.dumps({"messages": [*chat, {"role": "user", "content": "more"}]}))
    assert [trace.id for trace in load([str(tmp_path)]).traces] == ["x", "x.traj"]


def test_a_chain_of_answers_that_name_each_other_is_read_in_time_that_grows_with_it(tmp_path: Path) -> None:
    def answer(at: int) -> dict[str, Any]:
        said = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"a{at}"}]}]
        return {"id": f"r{at}", "input": f"q{at}", "output": said, "previous_response_id": f"r{at - 1}" if at else None}

    path = tmp_path / "chain.jsonl"
    path.write_text("\n".join(json.dumps(answer(at)) for at in range(1500)))
    before = time.process_time()
    (trace,) = load([str(path)]).traces
    assert len(trace.steps) == 3000
    assert time.process_time() - before < 3  # 7 s when each call was held against all that was said


def test_a_bomb_of_a_few_bytes_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b"\n" * 21_000_000))
    with pytest.raises(TraceError, match="expands to more than 20,000,000 bytes"):
        load([str(tmp_path / "a.json.gz")])
