"""Reading harmful files: bombs, long lines, deep values, pipes, loops, endless folders."""

from __future__ import annotations

import gzip
import io
import json
import os
import socket
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import bench
from bench.cli import cli
from bench.files.limits import VARIABLE, limits_of
from bench.model import MAX_DEPTH, Source, SystemTurn, Trace
from bench.model.errors import BenchError, TraceError
from bench.text.decode import NothingParsed, decode_strings, parse_json
from bench.traces.redaction import Redactor

RUN = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c", "content": "a 471"},
    {"role": "assistant", "content": "471"},
]  # fmt: skip


def put(path: Path, value: object = RUN) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch):
    return lambda said: monkeypatch.setenv(VARIABLE, said)


def test_a_compressed_bomb_is_refused_before_it_expands(tmp_path, limits):
    limits("size=1MB")
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b"[" + b" " * 50_000_000 + b"]"))
    with pytest.raises(TraceError, match=r"expands to more than 1,000,000 bytes — .*--limit size=N"):
        bench.load([str(tmp_path / "a.json.gz")])


def test_a_zip_that_expands_to_too_much_is_refused(tmp_path, limits):
    limits("size=100k")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps({"version": 2, "eval": {}}))
        file.writestr("samples/a_epoch_1.json", b" " * 10_000_000)
    (tmp_path / "a.eval").write_bytes(packed.getvalue())
    with pytest.raises(TraceError, match="the entries expand to more than 100,000 bytes"):
        bench.load([f"inspect:{tmp_path / 'a.eval'}"])


def test_a_file_or_line_above_its_limit_is_refused(tmp_path, limits):
    run = put(tmp_path / "a.json")
    limits("size=100")
    with pytest.raises(TraceError, match=r"has more than 100 bytes; .*--limit size=N"):
        bench.load([str(run)])
    limits("line=100")
    with pytest.raises(TraceError, match=r"a JSON value of more than 100 bytes — .*--limit line=N"):
        bench.load([f"messages:{run}"])


@pytest.mark.slow
@pytest.mark.parametrize("depth", [MAX_DEPTH + 50, 500, 975, 5000])
@pytest.mark.parametrize("place", ["arguments", "content"])
def test_a_deep_trace_is_an_error_of_its_file_or_stays_text(tmp_path, depth, place):
    deep = "[" * depth + "]" * depth
    run = json.loads(json.dumps(RUN))
    if place == "content":
        run[2]["content"] = deep
    else:
        run[1]["tool_calls"][0]["function"]["arguments"] = '{"a": ' + deep + "}"
    (trace,) = bench.load([str(put(tmp_path / "a.json", run))]).traces
    Redactor().trace(trace)
    assert bench.compare([trace], ["mask_observations=compactor=mask_observations"]).runs
    put(tmp_path / "b.json").write_text('{"x": ' + deep + "}")
    with pytest.raises(TraceError, match=f"nested more than {MAX_DEPTH} levels deep|not recognised"):
        bench.load([str(tmp_path / "b.json")])
    data = '{"bench_trace": 1, "id": "a", "source": {"format": "x"}}\n{"kind": "system", "index": 0, "content": "a", "t": %s}\n'
    (tmp_path / "c.jsonl").write_text(data % deep)
    with pytest.raises(TraceError, match=rf"c.jsonl:2: is nested more than {MAX_DEPTH} levels deep"):
        bench.load([str(tmp_path / "c.jsonl")])


def test_json_in_json_is_decoded_to_a_limited_depth():
    text = "1"
    for _ in range(8):
        text = json.dumps("[" * 150 + text + "]" * 150)
    assert decode_strings(json.loads(text))
    with pytest.raises(NothingParsed):
        parse_json("[" * 300 + "]" * 300)
    step = SystemTurn(index=0, content=json.loads(text))
    assert Redactor().trace(Trace(id="a", source=Source(format="x"), steps=(step,))).steps == (step,)


def test_only_regular_files_of_a_folder_are_read(tmp_path):
    put(tmp_path / "runs" / "good.json")
    os.mkfifo(tmp_path / "runs" / "pipe.json")
    (tmp_path / "runs" / "null.json").symlink_to("/dev/zero")
    (tmp_path / "runs" / "loop.json").symlink_to(tmp_path / "runs" / "loop.json")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "runs" / "socket.json"))
        found = bench.load([str(tmp_path / "runs")])
    assert [trace.id for trace in found.traces] == ["good"]
    assert {Path(file).name for file, _ in found.skipped} == {"pipe.json", "null.json", "loop.json", "socket.json"}
    with pytest.raises(TraceError, match="is no regular file"):
        bench.load([str(tmp_path / "runs" / "pipe.json")])


@pytest.mark.parametrize("pattern", ["runs/**/*.json", "runs/**", "**/good.json", "runs/*/*.json"])
def test_links_in_a_circle_end(tmp_path, pattern):
    put(tmp_path / "runs" / "a" / "good.json")
    put(tmp_path / "runs" / "a" / ".hidden" / "good.json")
    for name in ("x", "y", "z"):
        (tmp_path / "runs" / "a" / name).symlink_to(tmp_path / "runs", target_is_directory=True)
    found = bench.load([pattern], tmp_path)
    assert [trace.source.path.removeprefix("runs/") for trace in found.traces] == ["a/good.json"]


def test_a_folder_of_too_many_files_is_refused(tmp_path, limits):
    for number in range(6):
        put(tmp_path / "runs" / f"{number}.json")
    limits("files=5")
    with pytest.raises(TraceError, match=r"holds more than 5 files — .*--limit files=N"):
        bench.load([str(tmp_path / "runs")])


def test_limits_are_raised_by_an_option(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "")
    run = put(tmp_path / "a.json")
    refused = CliRunner().invoke(cli, ["show", str(run), "--limit", "size=100"])
    assert isinstance(refused.exception, TraceError)
    assert CliRunner().invoke(cli, ["show", str(run), "--limit", "size=1kb", "--limit", "line=1k"]).exit_code == 0


@pytest.mark.parametrize("said", ["sise=3", "size", "size=-1", "size=1.5", "size=9999999999999999999"])
def test_an_invalid_limit_is_an_error(said):
    with pytest.raises(BenchError, match="limit '"):
        limits_of(said)
