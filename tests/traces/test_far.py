"""Traces that lie elsewhere: whatever fsspec reaches is named like a file, a folder or a pattern."""

from __future__ import annotations

from pathlib import Path

import pytest
from handmade import opened, shell

from bench import load
from bench.model.errors import TraceError
from bench.run.scenario import Scenario
from bench.run.verbs import run_scenario
from bench.traces import TraceSource
from bench.traces.formats.native import encode_trace

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def store():
    """Three traces in memory, one of them a folder deeper, and a file that is none."""
    system = fsspec.filesystem("memory")
    for name in ("a", "b", "deep/c"):
        trace = opened(shell(2 + len(name), start=2), id=name.replace("/", "-"))
        system.pipe(f"/runs/{name}.jsonl", encode_trace(trace))
    system.pipe("/runs/notes.txt", b"nothing")
    yield system
    system.rm("/runs", recursive=True)


@pytest.mark.parametrize(
    ("path", "ids"),
    [
        ("memory://runs", ["a", "b", "deep-c"]),
        ("memory://runs/*.jsonl", ["a", "b"]),
        ("memory://runs/deep/c.jsonl", ["deep-c"]),
        ("native:memory://runs/a.jsonl", ["a"]),
    ],
)
def test_an_address_is_read_like_a_path(store, path: str, ids: list[str]) -> None:
    found = load(path)
    assert [trace.id for trace in found.traces] == ids
    assert [name.rpartition("/")[2] for name, _ in found.skipped] == (["notes.txt"] if path == "memory://runs" else [])


def test_a_worker_reads_again_what_it_is_told_of(store) -> None:
    source = TraceSource(["memory://runs"])
    assert {trace.id: trace for trace in source} == {name: item.read() for name, item in source.stored.items()}


@pytest.mark.parametrize(
    ("path", "said"),
    [("memory://none/x.jsonl", "no such file"), ("nosuch://x/y", "cannot be listed"), ("memory://runs/*.zip", "no file matches")],
)  # fmt: skip
def test_what_is_not_there_is_said(store, path: str, said: str) -> None:
    with pytest.raises(TraceError, match=said):
        load(path)


def test_a_file_of_a_stranger_reaches_no_other_machine_by_itself(store, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    plan = Scenario(
        title="far", traces=("memory://runs/a.jsonl",), strategies={"keep_all": {}}, base=tmp_path,
        path=tmp_path / "s.toml",
    )  # fmt: skip
    with pytest.raises(TraceError, match="lies outside the repository"):
        run_scenario(plan)
