"""Traces as they come: one file at a time, parts, private readers, what none takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from generated import traces
from hypothesis import given, strategies as st

from bench.model import Source, Trace, UserTurn
from bench.model.errors import TraceError
from bench.plugins import registry
from bench.plugins.registry import entries, register
from bench.traces import Confidence, PartOf, TraceSource, load
from bench.traces.documents import Document
from bench.traces.formats.native import write_traces

CHAT = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


def put(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def chat(*more: str) -> list[dict[str, str]]:
    return [*CHAT, *({"role": "user", "content": text} for text in more)]


def test_each_file_is_read_when_its_turn_comes(tmp_path: Path) -> None:
    for name in "abc":
        put(tmp_path / "runs" / f"{name}.json", chat(name))
    source = TraceSource(["runs"], tmp_path)
    found = iter(source)
    assert next(found).id == "a"
    put(tmp_path / "runs" / "b.json", '{"messages": [{"role"')  # not read yet: what stands there now counts
    put(tmp_path / "runs" / "c.json", [*CHAT, *CHAT])
    assert source.skipped == []
    assert [(trace.id, len(trace.steps)) for trace in found] == [("c", 4)]
    assert [name for name, _ in source.skipped] == ["runs/b.json"]
    assert [trace.id for trace in source] == ["a", "c"], "each iteration starts anew"
    assert len(source.skipped) == 1


def test_only_one_file_at_a_time_is_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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

    monkeypatch.setattr("bench.traces.loading.Document", Watched)
    for number in range(20):
        put(tmp_path / f"{number:02}.json", chat(str(number)))
    assert sum(1 for _ in TraceSource([str(tmp_path)])) == 20
    assert most <= 2  # the last one is let go of when the next is at hand


class Pieces:
    """A format of two files: `main` reads `part` with it.

    Source: made up
    """

    def sniff(self, document: Document) -> Confidence:
        return Confidence.CERTAIN if {"pieces", "number"} <= document.first.keys() else Confidence.NO

    def read(self, document: Document) -> list[Trace]:
        if document.json["pieces"] == "part":
            what = "is part of main.json, which is read with it — name that file"
            raise PartOf(f"{document.name}: {what}", document.path.with_name("main.json"))
        return [Trace(id="", source=Source(format="pieces"), steps=(UserTurn(index=0, content="x"),))]


def test_a_partial_file_is_listed_unless_it_is_read_with_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry._entries, "reader", {**entries("reader")})
    register("reader", "pieces")(Pieces)
    put(tmp_path / "main.json", {"pieces": "main", "number": 1})
    put(tmp_path / "part.json", {"pieces": "part", "number": 2})
    put(tmp_path / "other.txt", {"pieces": "main", "number": 3})
    part = "is part of main.json, which is read with it — name that file"
    assert load(["."], tmp_path).skipped == ()
    assert load(["part.json", "other.txt"], tmp_path).skipped == (("part.json", part),)
    with pytest.raises(TraceError, match=part):
        load(["part.json"], tmp_path)


@pytest.mark.slow
@given(data=st.data())
def test_written_traces_load_unchanged(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("load")
    written = [data.draw(traces(id=f"case {at}", max_turns=2, extras=True)) for at in range(2)]
    for at, trace in enumerate(written):
        write_traces([trace], folder / f"{at}.jsonl")
    assert list(load([str(folder)]).traces) == written


def test_an_unreadable_path_gives_a_one_line_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("bench.traces.documents.read_regular", deny)
    with pytest.raises(TraceError, match=r"^chat\.json: cannot be read: Permission denied — "):
        load([put(tmp_path / "chat.json", CHAT).name], tmp_path)


@pytest.mark.parametrize(
    "value", ["plain words", "[]", "{}", "3", '"x"', "null", '[1, "a"]', '{"messages": 5}', '{"a": 1}\n{"a": 2}']
)
def test_no_reader_accepts_a_file_without_a_trace(tmp_path: Path, value: str) -> None:
    document = Document(put(tmp_path / "x", value))
    assert {entry.target().sniff(document) for entry in entries("reader").values()} == {Confidence.NO}


def test_trials_share_their_task(tmp_path: Path) -> None:
    asked = {"a": ("List.", "36"), "b": (" List. ", "35"), "c": ("Count.", "36")}
    found = {}
    for name, (question, answer) in asked.items():
        messages = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
        (found[name],) = load([str(put(tmp_path / f"{name}.json", {"messages": messages, "id": name}))]).traces
    assert found["a"].task == found["b"].task != found["c"].task
    assert msgspec.structs.replace(found["c"], labels={"task": 7}).task == "7"


@pytest.mark.parametrize(
    "said",
    [
        ["<environment_context>\n  <cwd>/w</cwd>\n</environment_context>", "{}"],
        ["# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>", "# Open tabs:\n- a.py\n\n## My request for Codex:\n{}"],
        ["<system-reminder>Today is Monday.</system-reminder>\n{}", "Go on."],
        ["<local-command-caveat>Caveat: …</local-command-caveat>", "<command-name>/ide</command-name>\n<command-args></command-args>",
         "<local-command-stdout>Connected.</local-command-stdout>", "{}"],
        ["[Request interrupted by user for tool use]", "{}"],
        ["This is the Gemini CLI. We are setting up the context for our chat.\nToday's date is Monday.", "{}"],
        ["<user_info>\nOS: linux\n</user_info>", "<git_status>a</git_status>\n<user_query>\n{}\n</user_query>"],
    ],
)  # fmt: skip
def test_the_task_is_the_users_request_and_not_the_text_of_the_harness(said: list[str]) -> None:
    def task(*texts: str) -> str:
        steps = tuple(UserTurn(index=index, content=text) for index, text in enumerate(texts))
        return Trace(id="a", source=Source(format="native"), steps=steps).task

    count, paint = ([text.replace("{}", asked) for text in said] for asked in ("Count.", "Paint."))
    assert task(*count) == task("Count.") != task(*paint)
    only = said[0].replace("{}", "")
    assert task(only) == task(only + " ") != "", "a run of which nothing else is known keeps what it has"


def test_a_run_counts_once_that_was_imported_into_its_own_folder(tmp_path: Path) -> None:
    write_traces(load([str(put(tmp_path / "run.json", CHAT))]).traces, tmp_path / "run.jsonl")
    loaded = load([str(tmp_path)])
    assert len(loaded.traces) == 1
    assert ["holds run 'run', which" in reason for _, reason in loaded.skipped] == [True]
