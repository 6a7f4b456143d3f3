"""`bench import` and `bench show --step`: what was read is what is written, said in numbers that add up."""

from __future__ import annotations

import json

import pytest
from handmade import conversation_of, result, shell

from bench.cli import main
from bench.model import ModelTurn, Source, ToolCall, Trace, Usage, UserTurn
from bench.model.errors import TraceError
from bench.traces import load
from bench.traces.formats.native import encode_trace, write_traces
from bench.traces.summary import ReadSummary

CHAT = [
    {"role": "system", "content": "You run scripts."},
    {"role": "user", "content": "List the walls."},
    {"role": "assistant", "content": None,
     "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"name":"walls"}'}}]},
    {"role": "tool", "tool_call_id": "c1", "content": '{"count": 36}'},
    {"role": "assistant", "content": "36 walls."},
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with two runs in two formats, a damaged one and a foreign file, in which the process works."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "b").mkdir(parents=True)
    (tmp_path / "runs" / "chat.json").write_text(json.dumps({"messages": CHAT}))
    (tmp_path / "runs" / "b" / "shell.jsonl").write_bytes(encode_trace(conversation_of(shell(3, start=2), id="shell")))
    (tmp_path / "runs" / "broken.jsonl").write_bytes(encode_trace(conversation_of(shell(1, start=2), id="x"))[:-20])
    (tmp_path / "runs" / "NOTES").write_text("nothing of a run")
    return tmp_path


def bench(*arguments: str) -> int:
    """The exit code of one call."""
    try:
        main(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_a_folder_becomes_one_file_that_holds_the_same_traces(capsys, ending):
    assert bench("import", "runs", "-o", f"out/all{ending}") == 0
    out = capsys.readouterr().out
    before, after = load(["runs"]).traces, load([f"out/all{ending}"]).traces
    assert len(after) == 2
    assert after == before
    assert all(name in out for name in ("runs/NOTES", "runs/broken.jsonl"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("runs/chat.json", "-o", "runs/chat.json"),
        ("runs/b/shell.jsonl", "-o", "runs/b/shell.jsonl"),
        ("none.json", "-o", "x.jsonl"),
        ("runs", "-o", "out"),
        ("runs",),
    ],
)
def test_an_impossible_import_prints_one_line(capsys, arguments):
    assert bench("import", *arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_summary_adds_up():
    call = ToolCall(id="c", name="f", arguments={"a": 1})
    turn = ModelTurn(index=2, content="é", tool_calls=(call, ToolCall(id="d", name="f")), usage=Usage(prompt_tokens=9))
    cut = result("cut", index=3, call_id="c", function="f", truncated_at_source=True, data=[1])
    steps = (UserTurn(index=0, content="go"), turn, cut, ModelTurn(index=4))
    trace = Trace(id="w", source=Source(format="native"), steps=steps, left_out={"block": 2})
    summary = ReadSummary([trace, trace], [("x", "no recording")])
    assert (summary.traces, summary.steps, summary.model_calls, summary.results) == (2, 8, 4, 2)
    assert (summary.cut, summary.skipped) == (2, {"block": 4, "file": 1})
    assert sorted(summary.unknown.values()) == [0, 2, 2]


def test_several_traces_in_one_file_come_back_in_order(folder):
    speaks = Trace(
        id="b", source=Source(format="native"), steps=(UserTurn(index=0, content='{"bench_trace":1,"id":"z"}'),)
    )
    traces = (conversation_of([], id="a"), speaks, Trace(id="c", source=Source(format="native"), steps=()))
    write_traces(traces, "all.jsonl")
    assert load(["all.jsonl"]).traces == traces
    write_traces(traces[:1] * 2, "twice.jsonl")
    with pytest.raises(TraceError, match="give each its own id"):
        load(["twice.jsonl"])


def test_a_single_step_is_shown_completely(folder, capsys):
    long = "\n".join(f"row {number}" for number in range(500))
    write_traces(
        [conversation_of([result(long, index=2, error="no\x1b[31m")], id="a"), conversation_of([], id="b")], "two.jsonl"
    )
    assert bench("show", "two.jsonl", "--run", "a", "--step", "2") == 0
    out = capsys.readouterr().out
    assert all(f"  {line}\n" in out for line in long.split("\n"))
    assert "\x1b" not in out
    assert bench("show", "two.jsonl", "--step", "2") == 2
    assert "add --run a" in capsys.readouterr().err
    assert bench("show", "two.jsonl", "--run", "a", "--step", "99") == 2
    assert "its steps are 0 to 3" in capsys.readouterr().err
    assert bench("show", "two.jsonl", "--run", "aa") == 2
    assert "did you mean a?" in capsys.readouterr().err
