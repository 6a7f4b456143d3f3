"""`bench import` and `bench show --step`: what was read is what is written, said in numbers that add up."""

from __future__ import annotations

import gzip
import json

import pytest
from handmade import opened, result, shell

from bench.cli import main
from bench.model import ModelTurn, Outcome, Source, ToolCall, Trace, Usage, UserTurn
from bench.model.errors import TraceError
from bench.recording.found import Found, found_in, texts_of
from bench.tokens.counting import TokenCounter
from bench.traces import load
from bench.traces.formats.native import encode_trace, write_traces

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
    (tmp_path / "runs" / "b" / "shell.jsonl").write_bytes(encode_trace(opened(shell(3, start=2), id="shell")))
    (tmp_path / "runs" / "broken.jsonl").write_bytes(encode_trace(opened(shell(1, start=2), id="x"))[:-20])
    (tmp_path / "runs" / "NOTES").write_text("nothing of a run")
    return tmp_path


def bench(*arguments: str) -> int:
    """The exit code of one call."""
    try:
        main(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_a_folder_becomes_one_file_that_holds_the_same_traces(capsys, ending):
    assert bench("import", "runs", "-o", f"out/all{ending}") == 0
    out = capsys.readouterr().out
    before, after = load(["runs"]).traces, load([f"out/all{ending}"]).traces
    assert len(after) == 2
    assert after == before
    assert "chat (openai): 5 steps (2 model calls, 1 tool result)" in out
    assert "tools run ×1" in out
    assert "1 result with structure" in out
    assert "left out runs/NOTES: " in out
    assert "left out runs/broken.jsonl: line " in out
    assert "2 traces: 14 steps (6 model calls, 4 tool results)" in out


def test_a_folder_becomes_a_folder_with_a_file_for_each_trace(capsys):
    assert bench("import", "runs", "-o", "out") == 0
    assert (
        load(["out/chat.jsonl.gz", "out/shell.jsonl.gz"]).traces
        == load(["runs/chat.json", "runs/b/shell.jsonl"]).traces
    )


@pytest.mark.slow
def test_what_is_in_the_folder_stays_unless_it_is_the_same(folder, capsys):
    for options in ((), ("--shape-only",)):
        for _ in range(2):
            assert bench("import", "runs", "-o", "native", *options, "--replace") == 0
            kept = folder / "native" / ("shape-1.jsonl.gz" if options else "chat.jsonl.gz")
        assert bench("import", "runs", "-o", "native", *options) == 0, "importing again"
    kept = folder / "native" / "chat.jsonl.gz"
    labelled = gzip.decompress(kept.read_bytes()).replace(b'"source":', b'"labels":{"mine":1},"source":', 1)
    for mine in (gzip.compress(labelled), gzip.compress(encode_trace(opened(shell(2, start=2), id="other")))):
        kept.write_bytes(mine)
        capsys.readouterr()
        assert bench("import", "runs", "-o", "native") == 2
        assert (
            "native/chat.jsonl.gz: is there already, and not as this import would write it"
            " — give another folder, or --replace"
        ) in capsys.readouterr().err
        assert kept.read_bytes() == mine
    assert bench("import", "runs", "-o", "native", "--replace") == 0
    assert load([str(kept)]).traces[0].labels == {}
    for mine in (b"my notes", b"", gzip.compress(b'{"bench_trace": 7'), b"[1, 2]"):
        kept.write_bytes(mine)
        assert bench("import", "runs", "-o", "native", "--replace") == 2
        assert "chat.jsonl.gz: is there already, and is no trace" in capsys.readouterr().err
        assert kept.read_bytes() == mine


def test_a_trace_whose_name_leads_elsewhere_stays_in_the_folder(folder):
    (folder / "odd.jsonl").write_bytes(encode_trace(opened([], id="../../odd/../x")))
    assert bench("import", "odd.jsonl", "-o", "out") == 0
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("*.gz")] == ["out/odd/x.jsonl.gz"]


def test_strict_makes_damage_an_error_and_writes_nothing(folder, capsys):
    assert bench("import", "runs", "-o", "all.jsonl", "--strict") == 2
    assert "broken.jsonl:" in capsys.readouterr().err
    assert not (folder / "all.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("runs/chat.json", "-o", "runs/chat.json"), "no native file ends like this"),
        (("runs/b/shell.jsonl", "-o", "runs/b/shell.jsonl"), "which writing it would destroy"),
        (("none.json", "-o", "x.jsonl"), "none.json"),
        (("runs",), "-o"),
    ],
)
def test_what_cannot_be_done_is_one_line(capsys, arguments, said):
    assert bench("import", *arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_what_is_found_adds_up():
    call = ToolCall(id="c", name="f", arguments={"a": 1})
    turn = ModelTurn(index=2, content="é", tool_calls=(call,), usage=Usage(prompt_tokens=9))
    trace = opened([turn, result("cut", index=3, function="f", truncated_at_source=True, data=[1])])
    whole = Trace(
        id="w", source=Source(format="native"), steps=trace.steps, outcome=Outcome(success=False), left_out={"block": 2}
    )
    found = found_in(whole)
    texts = [text for step in whole.steps for text in texts_of(step)]
    assert found.tokens == sum(map(TokenCounter("o200k_base").text, texts))
    assert (found.structured, found.cut, found.with_usage) == (1, 1, 1)
    total = sum([found, found], Found())
    assert total.steps == 2 * len(whole.steps)
    assert total.sentence().endswith("outcome failure ×2; left out: 4 block")


def test_several_traces_in_one_file_come_back_in_order(folder):
    speaks = Trace(
        id="b", source=Source(format="native"), steps=(UserTurn(index=0, content='{"bench_trace":1,"id":"z"}'),)
    )
    traces = (opened([], id="a"), speaks, Trace(id="c", source=Source(format="native"), steps=()))
    write_traces(traces, "all.jsonl")
    assert load(["all.jsonl"]).traces == traces
    write_traces(traces[:1] * 2, "twice.jsonl")
    with pytest.raises(TraceError, match="used by two of its traces"):
        load(["twice.jsonl"])


def test_one_step_is_shown_whole(folder, capsys):
    long = "\n".join(f"row {number}" for number in range(500))
    write_traces([opened([result(long, index=2, error="no\x1b[31m")], id="a"), opened([], id="b")], "two.jsonl")
    assert bench("show", "two.jsonl", "--case", "a", "--step", "2") == 0
    out = capsys.readouterr().out
    assert all(f"  {line}\n" in out for line in long.split("\n"))
    assert "\x1b" not in out
    assert bench("show", "two.jsonl", "--step", "2") == 2
    assert "add --case a" in capsys.readouterr().err
    assert bench("show", "two.jsonl", "--case", "a", "--step", "99") == 2
    assert "its steps are 0 to 3" in capsys.readouterr().err
    assert bench("show", "two.jsonl", "--case", "aa") == 2
    assert "did you mean a?" in capsys.readouterr().err
