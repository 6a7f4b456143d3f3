"""Inputs that ended a run, or were taken for something else: each is an error of its own kind that names what it is about, or is right."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.comparison.baselines import read_baseline
from handmade import opened
from repository import bench as command
from warm import run_warm

from bench.evidence.dependencies import suffixes
from bench.evidence.probes import search
from bench.files.limits import read_regular
from bench.files.writing import write_atomically
from bench.model import ModelTurn
from bench.model.errors import ResultsError, ScenarioError, TraceError
from bench.plugins import registry
from bench.plugins.registry import entries, register
from bench.run.scenario import read_scenario
from bench.text.decode import NothingParsed
from bench.text.lossless import read_tables
from bench.tokens.caching import cache_rule
from bench.traces import Confidence, load
from bench.traces.commands import is_observation
from bench.traces.documents import Document
from bench.traces.formats.native import encode_trace

ROOT = Path(__file__).parents[2]
DIGITS = "9" * 5000
CHAT = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "run_7"}]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_bytes(encode_trace(opened([ModelTurn(index=2, content="run_7")], id="a")))
    return tmp_path


def shell(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Run a command line here, or in a shell where it needs one. `bench` in it is this project's."""
    if not set(line) & set("<>|;$'"):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = command(*line.split()[1:])
        return subprocess.CompletedProcess(line, code, out.getvalue(), err.getvalue())
    line = line.replace("bench", f"{sys.executable} -P -m bench")
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


# ---------------------------------------------------------------- where it prints


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("bench run --traces a.jsonl >&-", 0),
        ("bench run --traces a.jsonl 2>&-", 0),
        ("bench run --traces a.jsonl <&- >&- 2>&-", 0),
        ("bench run --traces gone.jsonl 2>&-", 2),
        ("bench run --traces a.jsonl > /dev/full", 2),
        ("bench run --help > /dev/full", 2),
        ("bench run --traces gone.jsonl 2> /dev/full", 2),
        ("bench list strategies | true; exit ${PIPESTATUS[0]}", 141),
        ("bench run --help | true; exit ${PIPESTATUS[0]}", 141),
    ],
)
def test_closed_and_full_streams_end_in_the_exit_code_that_was_due(folder: Path, line: str, code: int) -> None:
    done = shell(folder, line)
    assert done.returncode == code, done.stderr
    assert not {"Traceback", "defect", "ignored", "wanted to exit"} & set(done.stderr.split())


@pytest.mark.parametrize("columns", ["9" * 5000, "²", "-1", "0", "", "1e9"])
def test_the_width_of_a_terminal_may_be_any_text(folder: Path, columns: str) -> None:
    done = run_warm("bench", "run", "--traces", "a.jsonl", cwd=folder, environment={**os.environ, "COLUMNS": columns})
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("_BENCH_COMPLETE=evil bench", ""),
        (
            "_BENCH_COMPLETE=bash_complete COMP_WORDS='bench ru' COMP_CWORD=x bench",
            "error: _BENCH_COMPLETE: invalid literal",
        ),
    ],
)
def test_a_shell_that_asks_for_what_is_no_completion_is_told_no_verdict(folder: Path, line: str, said: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{line.rpartition(' ')[0]} {sys.executable} -P -m bench"],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(said)


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e300", "0", "-1"])
@pytest.mark.parametrize("command", ["run"])
def test_a_time_limit_is_a_time(folder: Path, command: str, seconds: str) -> None:
    done = shell(folder, f"bench {command} --traces a.jsonl --limit call={seconds}")
    assert done.returncode == 2
    assert done.stderr.startswith("error: limit")


@pytest.mark.slow
def test_what_is_written_never_takes_the_place_of_a_closed_stream(folder: Path) -> None:
    done = shell(folder, "bench run --traces a.jsonl -o r.json <&- >&- 2>&-")
    assert done.returncode == 0
    assert json.loads((folder / "r.json").read_text())["cases"] == ["a"]


# ---------------------------------------------------------------- names and paths


def test_a_name_that_is_too_long_is_no_such_file(folder: Path) -> None:
    with pytest.raises(TraceError, match="cannot be read: File name too long"):
        load(["x" * 300])
    (folder / "s.toml").write_text(f'traces = ["{"x" * 300}"]\n[strategies.mine]\nsummarizer = "truncate"\n')
    done = shell(folder, "bench run s.toml")
    assert (done.returncode, done.stderr[:14]) == (2, "error: s.toml:")


@pytest.mark.parametrize("traces", ["[a", "~/x", "empty"])
def test_the_command_line_names_the_scenario_whose_traces_are_not_there(folder: Path, traces: str) -> None:
    (folder / "empty").mkdir()
    (folder / "s.toml").write_text(f'traces = ["{traces}"]\n[strategies.mine]\nsummarizer = "truncate"\n')
    assert shell(folder, "bench run s.toml").stderr.startswith("error: s.toml: ")


@pytest.mark.parametrize("name", ["x" * 246 + ".json", "é" * 120 + ".json"])
def test_a_file_may_have_the_longest_name_there_is(tmp_path: Path, name: str) -> None:
    write_atomically(tmp_path / name, b"1")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("session", ["../up", "..", "/tmp", "x" * 300, "a\0b", "a b", ""])
def test_a_session_whose_id_is_no_name_has_no_files_beside_it(tmp_path: Path, session: str) -> None:
    def line(**fields: Any) -> str:
        return json.dumps({"sessionId": session, "uuid": "u", "type": "user", **fields}) + "\n"

    (tmp_path / "main").mkdir()
    own = line(message={"role": "user", "content": "go"}) + line(
        type="assistant", message={"role": "assistant", "content": [{"type": "text", "text": "run_7"}]}
    )
    (tmp_path / "main" / "s.jsonl").write_text(own)
    for place in (tmp_path / "main" / "agent-b.jsonl", tmp_path / "subagents" / "agent-b.jsonl"):
        place.parent.mkdir(exist_ok=True)
        place.write_text(line(isSidechain=True, message={"role": "user", "content": "stolen"}))
    (trace,) = load([f"claude_code:{tmp_path / 'main' / 's.jsonl'}"]).traces
    assert "stolen" not in encode_trace(trace).decode()


def test_a_pattern_gives_no_more_files_than_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_LIMITS", "files=3")
    for number in range(4):
        (folder / f"{number}.json").write_text("")
    for text in (".", "*.json", "**/*.json"):
        with pytest.raises(TraceError, match="more than 3 files"):
            load([text])


def test_a_part_of_a_folder_that_cannot_be_listed_is_left_out_and_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "runs" / "shut").mkdir(parents=True)
    (folder / "a.jsonl").rename(folder / "runs" / "a.jsonl")
    scan = os.scandir

    def shut(path: Any) -> Any:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", shut)
    found = load(["runs"])
    assert [trace.id for trace in found.traces] == ["a"]
    assert [name for name, _ in found.skipped] == ["runs/shut"]


def test_a_baseline_that_is_a_link_to_nowhere_is_no_missing_one(tmp_path: Path) -> None:
    assert read_baseline(tmp_path / "none.json") is None
    (tmp_path / "b.json").symlink_to("gone")
    with pytest.raises(ResultsError, match=r"b\.json: No such file"):
        read_baseline(tmp_path / "b.json")


def test_a_small_file_is_not_given_all_that_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"ab" * 700_000)
    assert read_regular(tmp_path / "a") == b"ab" * 700_000
    monkeypatch.setenv("BENCH_LIMITS", "size=1MB")
    with pytest.raises(OSError, match="more than 1,000,000 bytes"):
        read_regular(tmp_path / "a")
    assert shell(tmp_path, "ulimit -v 600000; bench show a").stderr.startswith("error: a: not recognised: ")


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    "line",
    [f"seed = {DIGITS}", f"seed = {10**30}", f"keep = {10**400}"],
)
def test_a_whole_number_that_toml_does_not_have_is_an_error_of_the_scenario(tmp_path: Path, line: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f'{line}\ntraces = ["a"]\n[strategies.mine]\nsummarizer = "truncate"\n')
    with pytest.raises(ScenarioError, match=rf"^{path}: "):
        read_scenario(path)


@pytest.mark.parametrize("number", ["9" * 400, "1" + "0" * 299, "-" + "9" * 400, DIGITS])
def test_a_number_in_json_that_no_float_holds_is_refused_where_it_stands(tmp_path: Path, number: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"a": "{number}"}}\n{{"a": {number}}}\n')
    document = Document(path)
    with pytest.raises(TraceError, match=r"a\.jsonl:2: "):
        document.values()
    path.write_text('{"a": ' + "9" * 299 + "}")
    assert Document(path).json == {"a": int("9" * 299)}


@pytest.mark.parametrize("told", ["---58", DIGITS, "²", "٣", "1_0", ""])
def test_a_span_whose_number_is_none_keeps_it_as_it_stands(tmp_path: Path, told: str) -> None:
    sample = ROOT / "tests" / "data" / "formats" / "otel_genai" / "openinference.json"
    text, file = sample.read_text(), tmp_path / "a.json"
    attribute = {"key": "seed", "value": {"intValue": told}}
    file.write_text(text.replace('"attributes": [', f'"attributes": [{json.dumps(attribute)}, '))
    assert file.read_text() != text
    assert load([f"otel_genai:{file}"]).traces


def test_numbers_in_text_of_more_digits_than_there_are() -> None:
    with pytest.raises(NothingParsed):
        read_tables(f'[{{"@table":1}}]\n@table {DIGITS}: 1 rows\na\n1')
    with pytest.raises(NothingParsed):
        read_tables(f'[{{"@table":1}}]\n@table 1: {DIGITS} rows\na\n1')
    assert not is_observation(f"<returncode>{DIGITS}</returncode>")
    assert cache_rule("openai", f"gpt-5.{DIGITS}")


# ---------------------------------------------------------------- probes


@pytest.mark.parametrize(
    ("path", "value"),
    [("contains(@, `1`)", "abc"), ("a[::0]", {"a": [1]}), ("a[?b > 'x']", {"a": [{"b": 1}]}), ("&a", {}),
     ("floor(a)", {"a": float("nan")}), ("[&a]", [1])],
)  # fmt: skip
def test_what_a_path_asks_and_a_value_cannot_answer_is_nothing(path: str, value: Any) -> None:
    assert search(path, value) is None


@pytest.mark.parametrize("path", ["[" * 5000, f"a[{DIGITS}]", "nosuch(a)", "abs()", "not_null()", "'"])
def test_what_is_no_path_is_an_error_of_the_scenario(path: str) -> None:
    with pytest.raises(ScenarioError, match="is not JMESPath"):
        search(path, {"a": 1})


# ---------------------------------------------------------------- readers


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("sniff", r"KeyError: 'x' \(.*test_hostile_inputs\.py:\d+\)"),
        ("read", r"OverflowError: int too large \(.*test_hostile_inputs\.py:\d+\)"),
        ("read of a reader that ships", r"defect in bench at test_hostile_inputs\.py"),
    ],
)
def test_a_reader_that_raises_costs_its_file_and_not_the_run(
    folder: Path, where: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def sniff(self, document: Document) -> Confidence:
            if where == "sniff" and document.path.suffix == ".broken":
                raise KeyError("x")
            return Confidence.CERTAIN if document.path.suffix == ".broken" else Confidence.NO

        def read(self, document: Document) -> Any:
            raise OverflowError("int too large")

    (folder / "b.broken").write_text("x")
    monkeypatch.setitem(registry._entries, "reader", dict(entries("reader")))
    if "ships" in where:
        Broken.__module__ = "bench.traces.broken"
    register("reader", "broken")(Broken)
    found = load(["."])
    with pytest.raises(TraceError, match=rf"^b\.broken: reader broken cannot read it: {said}"):
        load(["b.broken"])
    assert [trace.id for trace in found.traces] == ["a"]
    assert [name for name, _ in found.skipped] == ["./b.broken"]


# ---------------------------------------------------------------- histories

# ---------------------------------------------------------------- names of strategies, and paths of many parts


@pytest.mark.parametrize("name", ["a=b+c", "<a href='http://x.invalid/'>", "a=compactor=floor:recall=1", "+", "="])
def test_a_strategy_may_be_called_what_a_spec_looks_like(folder: Path, name: str) -> None:
    (folder / "s.toml").write_text(
        f'traces = ["a.jsonl"]\n[strategies.{json.dumps(name)}]\ncompactor = "mask_observations:keep_last=1"\n'
    )
    done = shell(folder, "bench run s.toml -o r.html")
    assert done.returncode == 0, done.stderr


def test_a_path_of_many_parts_has_as_many_ends_as_are_looked_at() -> None:
    parts = [f"part_{number}" for number in range(60)]
    assert suffixes("/" + "/".join(parts)) == ["/".join(parts[start:]) for start in range(36, 60)]


@pytest.mark.parametrize("body", ["caf\u00e9", "a\ud800b", "=", "a"])
def test_a_picture_that_is_no_base64_is_counted_as_it_stands(tmp_path: Path, body: str) -> None:
    asked = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{body}"}}]}
    (tmp_path / "run.json").write_text(json.dumps({"messages": [asked, *CHAT]}))
    picture = load([f"openai:{tmp_path / 'run.json'}"]).traces[0].steps[0].content[0]
    assert picture.size_bytes == len(body.encode("utf-8", "replace"))


def test_what_stands_for_bytes_in_yaml_and_is_none_is_an_error_of_the_file(tmp_path: Path) -> None:
    text = (ROOT / "tests/data/formats/http_cassette/agents.yaml").read_text()
    (tmp_path / "run.yaml").write_text(text.replace('string: \'{"version": "1"}\'', "string: !!binary caf\u00e9"))
    with pytest.raises(TraceError, match=r"run\.yaml.*is no base64"):
        load([f"http_cassette:{tmp_path / 'run.yaml'}"])
