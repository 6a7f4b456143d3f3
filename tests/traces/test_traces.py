"""From paths to cases: how files find their readers, what is skipped, what is refused, and what the cases are called."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from generated import traces
from hypothesis import given, strategies as st

from bench.model import Source, Trace, UserTurn
from bench.model.errors import TraceError
from bench.plugins.registry import entries
from bench.traces import Confidence, load
from bench.traces.documents import Document
from bench.traces.formats.native import write_trace

CHAT = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
RUN = {"trajectory_format": "mini-swe-agent-1.1", "info": {}, "messages": CHAT}


_WRITTEN = itertools.count()


def put(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    apart = "\n" * next(_WRITTEN)  # two files with the same bytes are one recording
    path.write_text(value if isinstance(value, str) else json.dumps(value) + apart, encoding="utf-8")
    return path


def native(path: Path, case: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    steps = (UserTurn(index=0, content="hi"),)
    write_trace(Trace(id=case, source=Source(format="native"), steps=steps), path)
    return path


def refused(*paths: str, base: Path) -> str:
    with pytest.raises(TraceError) as caught:
        load(paths, base)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_named_file_is_recognised_by_its_content_and_named_by_its_stem(tmp_path: Path) -> None:
    put(tmp_path / "runs" / "one.traj.json", CHAT)
    loaded = load(["runs/one.traj.json"], tmp_path)
    (trace,) = loaded.traces
    assert (trace.id, trace.source.format, trace.source.path) == ("one", "openai", "one.traj.json")
    assert loaded.sha256s == {"one": trace.source.sha256}
    assert loaded.skipped == ()


def test_no_paths_give_no_traces() -> None:
    assert load([]).traces == ()


def test_a_folder_is_read_in_order_and_lists_what_it_skipped(tmp_path: Path) -> None:
    put(tmp_path / "runs" / "b" / "trajectory.json", RUN)
    put(tmp_path / "runs" / "a" / "trajectory.json", RUN)
    put(tmp_path / "runs" / "a" / "result.json", {"score": 1})
    put(tmp_path / "runs" / "README.md", "[![badge](x)](y)\nnotes")
    put(tmp_path / "runs" / ".git" / "config.json", CHAT)
    native(tmp_path / "runs" / "n.jsonl.gz", "own id")
    loaded = load(["runs"], tmp_path)
    assert [trace.id for trace in loaded.traces] == ["a/trajectory", "b/trajectory", "own id"]
    assert [name for name, _ in loaded.skipped] == ["runs/README.md", "runs/a/result.json"]
    assert [reason for _, reason in loaded.skipped] == [
        "not recognised: no JSON, and no text of a format",
        "not recognised: no format fits",
    ]


def test_a_format_chooses_in_a_folder(tmp_path: Path) -> None:
    put(tmp_path / "chat.json", CHAT)
    native(tmp_path / "n.jsonl", "n")
    loaded = load([f"native:{tmp_path}"])
    assert [trace.id for trace in loaded.traces] == ["n"]
    assert loaded.skipped == ((f"{tmp_path.as_posix()}/chat.json", "not native"),)


def test_a_pattern_takes_its_matches_below_its_fixed_part(tmp_path: Path) -> None:
    for run in ("r2", "r1"):
        put(tmp_path / "runs" / run / "trajectory.json", CHAT)
    put(tmp_path / "runs" / "r1" / "other.txt", "x")
    assert [trace.id for trace in load(["runs/*/trajectory.json"], tmp_path).traces] == [
        "r1/trajectory",
        "r2/trajectory",
    ]
    assert [trace.id for trace in load(["runs/**"], tmp_path).traces] == ["r1/trajectory", "r2/trajectory"]
    assert [trace.id for trace in load(["openai:runs/r[2]"], tmp_path).traces] == ["r2/trajectory"]


def test_a_path_with_a_colon_is_a_path_when_it_exists(tmp_path: Path) -> None:
    put(tmp_path / "run:1.json", CHAT)
    assert [trace.id for trace in load(["run:1.json"], tmp_path).traces] == ["run:1"]


def test_several_traces_in_one_file_are_numbered_unless_they_have_ids(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", "\n".join(json.dumps({"messages": CHAT}) for _ in range(2)))
    put(tmp_path / "b.json", [{"id": "x", "messages": CHAT}, {"messages": CHAT}])
    assert [trace.id for trace in load(["a.jsonl", "b.json"], tmp_path).traces] == ["a#0", "a#1", "x", "b#1"]


@pytest.mark.slow
@given(data=st.data())
def test_written_traces_load_as_they_were(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("load")
    written = [data.draw(traces(id=f"case {at}", max_turns=2, extras=True)) for at in range(2)]
    for at, trace in enumerate(written):
        write_trace(trace, folder / f"{at}.jsonl")
    assert list(load([str(folder)]).traces) == written


@pytest.mark.parametrize(
    ("paths", "ids"),
    [
        (["a/trajectory.json", "b/trajectory.json"], ["a/trajectory", "b/trajectory"]),
        (["deep/a/trajectory.json", "a/trajectory.json", "c.json"], ["deep/a/trajectory", "a/trajectory", "c"]),
        (["a", "deep/a"], ["a/trajectory", "deep/a/trajectory"]),
        (["own/1.jsonl", "own/2.jsonl"], ["r", "2.jsonl:r"]),
    ],
)
def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path, paths: list[str], ids: list[str]) -> None:
    """What a shell makes of `*/trajectory.json`."""
    for name in ("a/trajectory.json", "b/trajectory.json", "deep/a/trajectory.json", "c.json"):
        put(tmp_path / name, [*CHAT, *CHAT[:1] * len(name)])
    native(tmp_path / "own" / "1.jsonl", "r")
    write_trace(
        Trace(id="r", source=Source(format="x"), steps=(UserTurn(index=0, content="more"),)),
        tmp_path / "own" / "2.jsonl",
    )
    loaded = load(paths, tmp_path)
    assert ([trace.id for trace in loaded.traces], loaded.skipped) == (ids, ())


def test_one_of_several_files_without_a_run_is_left_out_and_listed(tmp_path: Path) -> None:
    put(tmp_path / "a.json", CHAT)
    put(tmp_path / "log.json", {"version": 2, "status": "error", "eval": {"task": "t", "model": "m"}, "samples": []})
    loaded = load(["log.json", "a.json"], tmp_path)
    assert [trace.id for trace in loaded.traces] == ["a"]
    assert [name for name, reason in loaded.skipped if reason.startswith("holds no samples")] == ["log.json"]
    assert loaded.damaged == ()
    assert refused("log.json", base=tmp_path).startswith("log.json: holds no samples")
    put(tmp_path / "log2.json", {"version": 2, "status": "error", "eval": {"task": "t", "model": "m"}})
    assert refused("log.json", "log2.json", base=tmp_path).startswith("log.json: holds no samples")


def test_case_ids_taken_twice_name_both_files(tmp_path: Path) -> None:
    put(tmp_path / "a" / "trajectory.json", CHAT)
    message = refused("a/trajectory.json", "a/trajectory.json", base=tmp_path)
    assert message.startswith("case id 'trajectory' is taken twice: by a/trajectory.json and by a/trajectory.json — ")
    put(tmp_path / "c.json", [{"id": "x", "messages": CHAT}, {"id": "x", "messages": CHAT}])
    assert refused("c.json", base=tmp_path).startswith("c.json: case id 'x' is used by two of its traces")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("gone.json", "gone.json: no such file — "),
        ("opnai:chat.json", "opnai:chat.json: unknown trace format 'opnai' — did you mean openai?"),
        ("openai:", "'openai:': a path is missing — write openai:FILE"),
        ("", "an empty path was given — "),
        ("*.none", "*.none: no file matches — "),
        ("empty", "empty: no file matches — check the folder"),
        (
            "notes",
            "notes: none of 2 files is a trace (notes/a.txt: not recognised: no JSON, and no text of a format",
        ),
        ("native:notes", "native:notes: none of 2 files is a trace (notes/a.txt: not native)"),
        ("notes/a.txt", "notes/a.txt: not recognised: no JSON, and no text of a format — "),
        ("notes/b.json", "notes/b.json: not recognised: no format fits — `bench list traces`"),
        ("zero.json", "zero.json: is empty — "),
        ("half.json", "half.json:2: ends in the middle of a JSON value — "),
        ("cut.json.gz", "cut.json.gz: gzip data is damaged or cut short ("),
        ("openai:half.json", "half.json:2: ends in the middle of a JSON value — "),
        ("openai:notes/b.json", "notes/b.json $: expected a list of messages or "),
        ("native:chat.json", "chat.json:1: expected a header "),
        (
            "mini_swe_agent:broken",
            "none of 2 files is a trace (broken/half.json: line 1: ends in the middle of",
        ),
        ("reader.py:Missing:chat.json", "reader.py has no function 'Missing'"),
    ],
)
def test_bad_input_is_one_clear_line(tmp_path: Path, path: str, message: str) -> None:
    put(tmp_path / "chat.json", CHAT)
    put(tmp_path / "notes" / "a.txt", "plain words")
    put(tmp_path / "notes" / "b.json", {"score": 1})
    put(tmp_path / "zero.json", " \n")
    put(tmp_path / "half.json", '{"messages": [\n{"role": "user", "con')
    put(tmp_path / "broken" / "half.json", '{"messages": [{"role"')
    put(tmp_path / "broken" / "z.json", CHAT)
    (tmp_path / "reader.py").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(json.dumps(CHAT).encode())[:-9])
    assert message in refused(path, base=tmp_path)


def test_an_unreadable_place_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "chat.json", CHAT)

    def deny(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("bench.traces.documents.read_regular", deny)
    assert refused("chat.json", base=tmp_path).startswith("chat.json: cannot be read: Permission denied — ")


def test_a_file_that_two_readers_are_equally_sure_of_names_both(tmp_path: Path) -> None:
    messages = [*CHAT, {"role": "tool", "tool_call_id": "c", "raw_execution_result": {}, "extra": {"raw_output": ""}}]
    put(tmp_path / "both.json", messages)
    message = refused("both.json", base=tmp_path)
    assert message == "both.json: could be building_agent or mini_swe_agent — name the format: building_agent:both.json"
    assert refused(str(tmp_path), base=tmp_path).endswith("both.json")


def test_the_earlier_name_of_a_format_is_read(tmp_path: Path) -> None:
    put(tmp_path / "one.json", {"manifest": [], "messages": CHAT})
    traces = [trace for name in ("rap", "building_agent") for trace in load([f"{name}:one.json"], tmp_path).traces]
    assert [trace.source.format for trace in traces] == ["building_agent"] * 2
    assert "rap" not in entries("reader"), "it has one name, and an earlier one"
    assert refused("rap:", base=tmp_path) == "'rap:': a path is missing — write building_agent:FILE"


def test_the_one_recording_that_is_hidden_is_found_in_a_folder(tmp_path: Path) -> None:
    put(tmp_path / ".aider.chat.history.md", "# aider chat started at 2026-05-09 09:10:00\n\n#### one  \n\nanswer\n")
    assert [trace.source.path for trace in load(["."], tmp_path).traces] == [".aider.chat.history.md"]


def test_a_private_reader_is_used_by_path(tmp_path: Path) -> None:
    (tmp_path / "lines.py").write_text(
        "from bench.model import Source, Trace, UserTurn\n"
        "class Lines:\n"
        "    def sniff(self, document):\n"
        "        raise RuntimeError('a named file is not sniffed at')\n"
        "    def read(self, document):\n"
        "        steps = tuple(UserTurn(index=n, content=line.decode()) for n, line in document.lines())\n"
        "        yield Trace(id='', source=Source(format='lines'), steps=steps)\n"
    )
    put(tmp_path / "said.txt", "one\ntwo\n")
    (trace,) = load(["lines.py:Lines:said.txt"], tmp_path).traces
    assert (trace.id, len(trace.steps)) == ("said.txt", 2)


@pytest.mark.parametrize(
    "value", ["plain words", "[]", "{}", "3", '"x"', "null", '[1, "a"]', '{"messages": 5}', '{"a": 1}\n{"a": 2}']
)
def test_no_reader_takes_what_is_no_trace(tmp_path: Path, value: str) -> None:
    document = Document(put(tmp_path / "x", value))
    assert {name: entry.target().sniff(document) for name, entry in entries("reader").items()} == dict.fromkeys(
        entries("reader"), Confidence.NO
    )


@pytest.mark.slow
def test_real_folders_are_read_without_a_format(shared_traces: Path) -> None:
    loaded = load(["scbench", "mini-swe-agent", "rap"], shared_traces)
    formats = [trace.source.format for trace in loaded.traces]
    assert {name: formats.count(name) for name in set(formats)} == {
        "mini_swe_agent": 29,
        "building_agent": 1,
        "claude_code": 4,
    }
    assert not any(trace.source.path.startswith("/") for trace in loaded.traces)
    again = [(name, reason) for name, reason in loaded.skipped if name.endswith("trajectory.json")]
    assert len(again) == 4
    assert all("claude-code" in name and "which scbench/" in reason for name, reason in again)


def test_trials_share_their_task_and_copies_their_steps(tmp_path: Path) -> None:
    for name, asked, answer in (
        ("a", "List.", "36"),
        ("b", " List. ", "35"),
        ("c", "Count.", "36"),
        ("copy", "List.", "36"),
    ):
        messages = [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]
        (tmp_path / f"{name}.json").write_text(json.dumps({"messages": messages, "id": name}))
    a, b, c, copy = (load([str(tmp_path / f"{name}.json")]).traces[0] for name in ("a", "b", "c", "copy"))
    assert a.task == b.task == copy.task != c.task
    assert a.steps_sha256 == copy.steps_sha256
    assert len({trace.steps_sha256 for trace in (a, b, c)}) == 3
    assert msgspec.structs.replace(c, labels={"task": 7}).task == "7"


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
def test_the_task_is_what_was_asked_and_not_what_a_harness_says_first(said: list[str]) -> None:
    def task(*texts: str) -> str:
        steps = tuple(UserTurn(index=index, content=text) for index, text in enumerate(texts))
        return Trace(id="a", source=Source(format="native"), steps=steps).task

    count, paint = ([text.replace("{}", asked) for text in said] for asked in ("Count.", "Paint."))
    assert task(*count) == task("Count.") != task(*paint)
    only = said[0].replace("{}", "")
    assert task(only) == task(only + " ") != "", "a run of which nothing else is known keeps what it has"


def test_two_files_of_one_name_in_a_folder_are_two_cases_or_one_recording(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}]
    (tmp_path / "x.json").write_text(json.dumps(chat))
    (tmp_path / "x.traj").write_text(json.dumps({"messages": chat}))
    loaded = load([str(tmp_path)])
    assert [trace.id for trace in loaded.traces] == ["x"]
    assert "which" in loaded.skipped[0][1]
    (tmp_path / "x.traj").write_text(json.dumps({"messages": [*chat, {"role": "user", "content": "more"}]}))
    assert [trace.id for trace in load([str(tmp_path)]).traces] == ["x", "x.traj"]
