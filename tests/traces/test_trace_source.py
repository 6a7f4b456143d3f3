"""Traces as they come: one file at a time, what is left out said, damage in a folder loud but not fatal, the nearest format named."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from bench.model import Source, Trace, UserTurn
from bench.model.errors import TraceError
from bench.plugins.registry import entries, register
from bench.traces import Confidence, Near, PartOf, TraceSource, by_marks, load
from bench.traces.documents import Document

CHAT = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
CUT = '{"messages": [{"role"'


_WRITTEN = itertools.count()


def put(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    apart = "\n" * next(_WRITTEN)  # two files with the same bytes are one recording
    path.write_text(value if isinstance(value, str) else json.dumps(value) + apart, encoding="utf-8")
    return path


def test_each_file_is_read_when_its_turn_comes(tmp_path: Path) -> None:
    for name in "abc":
        put(tmp_path / "runs" / f"{name}.json", CHAT)
    source = TraceSource(["runs"], tmp_path)
    traces = iter(source)
    assert next(traces).id == "a"
    put(tmp_path / "runs" / "b.json", CUT)  # not read yet: what stands there now counts
    put(tmp_path / "runs" / "c.json", [*CHAT, *CHAT])
    assert source.skipped == []
    assert [(trace.id, len(trace.steps)) for trace in traces] == [("c", 4)]
    assert [name for name, _ in source.skipped] == ["runs/b.json"]
    assert list(source.sha256s) == ["a", "c"]


def test_no_more_than_one_file_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alive: set[str] = set()
    most = 0

    class Watched(Document):
        def __init__(self, *given: Any) -> None:
            nonlocal most
            super().__init__(*given)
            alive.add(self.name)
            most = max(most, len(alive))

        def __del__(self) -> None:
            alive.discard(self.name)

    monkeypatch.setattr("bench.traces.Document", Watched)
    for number in range(20):
        put(tmp_path / f"{number:02}.json", CHAT)
    assert sum(1 for _ in TraceSource([str(tmp_path)])) == 20
    assert most <= 2  # the last one is let go of when the next is at hand


def test_each_iteration_starts_anew(tmp_path: Path) -> None:
    put(tmp_path / "a.json", CHAT)
    put(tmp_path / "x.txt", "words")
    source = TraceSource(["."], tmp_path)
    assert [trace.id for trace in source] == [trace.id for trace in source] == ["a"]
    assert len(source.skipped) == 1
    assert load(["."], tmp_path).skipped == tuple(source.skipped)


def test_a_missing_path_is_said_before_anything_is_read(tmp_path: Path) -> None:
    put(tmp_path / "a.json", CHAT)
    for wrong in ("gone.json", "opnai:a.json", "*.none", ""):
        with pytest.raises(TraceError):
            next(iter(TraceSource(["a.json", wrong], tmp_path)))


def test_damage_in_a_folder_is_listed_with_its_place_and_fatal_only_where_asked(tmp_path: Path) -> None:
    put(tmp_path / "runs" / "a.json", CHAT)
    put(tmp_path / "runs" / "cut.json", CUT)
    put(tmp_path / "runs" / "late.jsonl", json.dumps(CHAT[0]) + "\n" + json.dumps({"role": "tool", "content": "x"}))
    put(tmp_path / "runs" / "notes.md", "nothing")
    loaded = load(["runs"], tmp_path)
    assert [trace.id for trace in loaded.traces] == ["a"]
    reasons = dict(loaded.skipped)
    assert reasons["runs/cut.json"].startswith("line 1: ends in the middle of a JSON value")
    assert reasons["runs/late.jsonl"].startswith("line 2 $.tool_call_id: expected string, got null")
    assert reasons["runs/notes.md"].startswith("not recognised")
    assert loaded.damaged == ("runs/cut.json", "runs/late.jsonl")
    with pytest.raises(TraceError, match=r"^runs/cut\.json:1: ends in the middle"):
        load(["runs"], tmp_path, strict=True)
    (tmp_path / "runs" / "cut.json").unlink()
    with pytest.raises(TraceError, match=r"^runs/late\.jsonl:2 \$\.tool_call_id: expected string"):
        load(["runs"], tmp_path, strict=True)
    (tmp_path / "runs" / "late.jsonl").unlink()
    assert load(["runs"], tmp_path, strict=True).skipped[0][0] == "runs/notes.md"  # no damage: just another file


def test_case_ids_taken_twice_are_met_on_the_way(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", "\n".join(json.dumps({"id": "x", "messages": CHAT}) for _ in range(2)))
    put(tmp_path / "b.json", CHAT)
    with pytest.raises(TraceError, match="'x' is used by two of its traces"):
        load(["a.jsonl"], tmp_path)
    with pytest.raises(TraceError, match=r"'b' is taken twice: by b\.json and by b\.json"):
        load(["b.json", "b.json"], tmp_path)


class Pieces:
    """A format of two files: `main` reads `part` with it.

    Source: made up
    """

    def sniff(self, document: Document) -> Confidence | Near:
        head = document.head if isinstance(document.head, dict) else {}
        return by_marks({"a key 'pieces'": "pieces" in head, "a key 'number'": "number" in head})

    def read(self, document: Document) -> list[Trace]:
        if document.node()["pieces"].value == "part":
            raise PartOf(f"{document.name}: is part of main.json, which is read with it — name that file")
        return [Trace(id="", source=Source(format="pieces"), steps=(UserTurn(index=0, content="x"),))]


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.plugins import registry

    monkeypatch.setitem(registry._entries, "reader", {**entries("reader")})
    register("reader", "pieces")(Pieces)


@pytest.mark.usefixtures("pieces")
def test_a_part_of_another_file_is_left_out_of_a_folder_and_said(tmp_path: Path) -> None:
    put(tmp_path / "main.json", {"pieces": "main", "number": 1})
    put(tmp_path / "part.json", {"pieces": "part", "number": 2})
    loaded = load(["."], tmp_path, strict=True)
    assert [trace.id for trace in loaded.traces] == ["main"]
    assert loaded.skipped == (("./part.json", "is part of main.json, which is read with it — name that file"),)
    with pytest.raises(TraceError, match=r"is part of main\.json"):
        load(["part.json"], tmp_path)


@pytest.mark.usefixtures("pieces")
def test_a_file_that_none_takes_gets_the_nearest_format(tmp_path: Path) -> None:
    put(tmp_path / "near.json", {"pieces": "main"})
    put(tmp_path / "a.json", CHAT)
    words = (
        "not recognised; the nearest format is pieces: the file has a key 'pieces', what is missing is a key 'number'"
    )
    with pytest.raises(TraceError) as caught:
        load(["near.json"], tmp_path)
    assert str(caught.value).startswith(f"near.json: {words} — if it is that, name the format: pieces:near.json")
    assert load(["."], tmp_path).skipped == (("./near.json", words),)
    with pytest.raises(TraceError, match="the nearest format is pieces"):
        load(["pieces:near*.json"], tmp_path)


def test_the_same_recording_under_two_names_counts_once(tmp_path: Path) -> None:
    text = json.dumps(CHAT)
    for name in "abc":
        put(tmp_path / f"{name}.json", text + "\n" * (name == "c"))
    source = TraceSource([str(tmp_path)])
    assert [trace.id for trace in source] == ["a", "c"]
    assert [(Path(file).name, reason.split()[0:4]) for file, reason in source.skipped] == [
        ("b.json", ["has", "the", "same", "bytes"])
    ]
    several = load([str(tmp_path / "a.json"), str(tmp_path / "b.json")])  # as a shell writes them out
    assert [trace.id for trace in several.traces] == ["a"]
    assert "b.json" in several.skipped[0][0]


def test_a_key_written_twice_is_counted(tmp_path: Path) -> None:
    text = json.dumps(CHAT).replace('"content":', '"content": "gone", "content" :')
    (trace,) = TraceSource([str(put(tmp_path / "a.json", text))])
    assert trace.left_out["key that an object has twice: the last one counts"] == text.count('"gone"') > 0


def test_a_lone_surrogate_of_an_id_is_replaced_and_counted(tmp_path: Path) -> None:
    put(
        tmp_path / "a.jsonl",
        '{"bench_trace": 1, "id": "a\\ud800b", "source": {"format": "x"}}\n{"kind": "user", "index": 0, "content": "a\\ud800"}\n',
    )
    (trace,) = TraceSource([str(tmp_path / "a.jsonl")])
    assert (trace.id, trace.left_out) == ("a\ufffdb", {"lone surrogate of its id": 1})
    assert trace.steps[0].content == "a\ud800"
