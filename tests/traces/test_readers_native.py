"""The native format: an exact round trip, byte for byte, and a clear line for every way a file can be wrong."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest
from generated import traces
from hypothesis import given, strategies as st

from bench.model import Source, SystemTurn, ToolResult, Trace, UserTurn
from bench.model.errors import BenchError, TraceError
from bench.traces.documents import Document
from bench.traces.formats.inspect import Inspect
from bench.traces.formats.native import Native, encode_trace, write_traces

HEADER = b'{"bench_trace":1,"id":"a","source":{"format":"native"}}\n'


def read(path: Path) -> Trace:
    (trace,) = Native().read(Document(path))
    return trace


def read_bytes(folder: Path, data: bytes) -> Trace:
    path = folder / "a.jsonl"
    path.write_bytes(data)
    return read(path)


@given(trace=traces(extras=True), ending=st.sampled_from((".jsonl", ".jsonl.gz")))
def test_a_trace_and_its_file_convert_without_loss(
    tmp_path_factory: pytest.TempPathFactory, trace: Trace, ending: str
) -> None:
    path = tmp_path_factory.mktemp("native") / f"a{ending}"
    write_traces([trace], path)
    written = path.read_bytes()
    assert read(path) == trace
    write_traces([read(path)], path)
    assert path.read_bytes() == written
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_a_missing_zstd_library_gives_a_one_line_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Document(Path(__file__).parents[1] / "data" / "formats" / "inspect.eval")
    assert list(Inspect().read(log))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(TraceError, match=r"inspect\.eval: zstd needs the extra bench\[zstd\]"):
        list(Inspect().read(log))


def test_unknown_members_are_counted(tmp_path: Path) -> None:
    step = b'{"kind":"user","index":0,"content":"go","mood":"good","place":""}\n'
    trace = read_bytes(tmp_path, HEADER.replace(b"}\n", b',"outcome":{"success":true}}\n') + step)
    assert trace.left_out == {"'mood' of a native trace": 1, "'outcome' of a native trace": 1}
    assert trace.steps == (UserTurn(index=0, content="go"),)


def test_rare_values_are_written_and_read_unchanged(tmp_path: Path) -> None:
    data = {"big": 2**70, "half": "\ud800", "separator": "\u2028", "nul": "\x00", "zero": -0.0, "small": 5e-324}
    steps = (SystemTurn(index=3, content=""), ToolResult(index=7, call_id="c", function="f", data=data))
    trace = Trace(id="rare", source=Source(format="native"), steps=steps, labels={"a": [None]}, meta={"b": True})
    write_traces([trace], tmp_path / "a.jsonl")
    assert read(tmp_path / "a.jsonl") == trace


def test_whole_seconds_are_written_as_a_float() -> None:
    trace = Trace(id="a", source=Source(format="native"), steps=(UserTurn(index=0, t=5, content="x"),))
    assert b'"t":5.0' in encode_trace(trace)


def test_gzip_files_contain_no_time_and_no_name(tmp_path: Path) -> None:
    trace = Trace(id="a", source=Source(format="native"), steps=())
    write_traces([trace], tmp_path / "one.jsonl.gz")
    write_traces([trace], tmp_path / "two.jsonl.gz")
    packed = (tmp_path / "one.jsonl.gz").read_bytes()
    assert packed == (tmp_path / "two.jsonl.gz").read_bytes()
    assert packed[4:8] == bytes(4)
    assert gzip.decompress(packed) == HEADER


@pytest.mark.parametrize("value", [float("nan"), float("inf"), (1, 2), {1: "a"}, object()])
def test_values_that_json_would_change_are_refused_before_writing(tmp_path: Path, value: object) -> None:
    steps = (ToolResult(index=4, call_id="c", function="f", data=[value]),)
    with pytest.raises(TraceError, match=r"trace 'a', step 4: "):
        write_traces([Trace(id="a", source=Source(format="native"), steps=steps)], tmp_path / "a.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_created_or_refused_in_one_line(tmp_path: Path) -> None:
    trace = Trace(id="a", source=Source(format="native"), steps=())
    write_traces([trace], tmp_path / "new" / "a.jsonl")
    assert (tmp_path / "new" / "a.jsonl").read_bytes() == encode_trace(trace)
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(BenchError, match=r"cannot be written: (?:Not a directory|File exists)"):
        write_traces([trace], tmp_path / "file" / "a.jsonl")


def test_the_recorded_source_is_kept(tmp_path: Path) -> None:
    source = b'{"format":"mini_swe_agent","path":"r1/trajectory.json","sha256":"ab"}'
    trace = read_bytes(tmp_path, b'{"bench_trace":1,"id":"a","source":' + source + b"}\n")
    assert trace.source == Source(format="mini_swe_agent", path="r1/trajectory.json", sha256="ab")
