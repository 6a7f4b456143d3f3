"""Odd scenarios, baselines, names, streams and places: an error that names the file, or the right result, and nothing destroyed."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from handmade import conversation_of
from repository import BASELINE, SCENARIO, TRACES, bench as command

import bench
from bench.files.writing import write_together
from bench.model import ModelTurn, Source, ToolResult, Trace, Usage, UserTurn
from bench.model.errors import BenchError, ResultsError, ScenarioError, SpecError, TraceError
from bench.run.cache import Cache
from bench.traces.formats.native import encode_trace

ROOT = Path(__file__).parents[2]
ENDINGS = (".md", ".json", ".csv", ".html")
DIGITS = "9" * 5000
MINE = '[strategies.mine]\nsummarizer = "truncate"\n'
RELATIVE = '[[gates]]\nmetric = "cost.prompt_tokens"\nmax_increase = "10%"\n'


@pytest.fixture(autouse=True)
def there(tmp_path, monkeypatch):
    """The present folder, with the recording `a.jsonl`."""
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_bytes(encode_trace(conversation_of([ModelTurn(index=2, content="run_7")], id="a")))


def scenario(text: str = MINE, traces: str = "a.jsonl") -> Path:
    """The scenario `mine.toml` with these tables."""
    Path("mine.toml").write_text(f'traces = ["{traces}"]\n{text}')
    return Path("mine.toml")


def renders(compared: bench.model.compared.Compared) -> None:
    for ending in ENDINGS:
        assert bench.render([compared], f"report{ending}").stat().st_size


# ---------------------------------------------------------------- scenarios and baselines

ODD_SLOTS = ["5", "true", "1.5", "{ a = 1 }", "2026-01-01", "[5]", "[[]]", "[]", '["a", "b"]', '"no_such"', '""', '"truncate:limt=3"',
             '"truncate:limit=x"', '"gone.py:f"', '"truncate:limit=3:limit=4"']  # fmt: skip
ODD_TRACES = ["gone.json", "gone/*.json", "nothing:a.jsonl", "a.jsonl/b", "\\u0000", "[a", "~/x", "x" * 300]
ODD_TOML = {
    "nested arrays": "a = " + "[" * 600 + "]" * 600,
    "nested tables": "[" + ".".join("a" * 2000) + "]",
    "dotted": ".".join("a" * 600) + " = 1",
    "a number of many digits": f"seed = {DIGITS}",
    "a number that no float has": f"seed = {10**400}",
}


@pytest.mark.parametrize(
    ("text", "traces"),
    [
        *((f"[strategies.mine]\nsummarizer = {value}\n", "a.jsonl") for value in ODD_SLOTS),
        *((MINE, traces) for traces in ODD_TRACES),
    ],
)
def test_a_wrong_slot_or_trace_path_is_an_error_with_the_name_of_its_scenario(text, traces):
    with pytest.raises(BenchError, match=r"^mine\.toml: ") as caught:
        bench.run_scenario(scenario(text, traces))
    assert isinstance(caught.value, SpecError) == (text != MINE)


@pytest.mark.parametrize("text", ODD_TOML.values(), ids=ODD_TOML)
def test_unusual_toml_is_an_error_of_its_scenario(text):
    Path("odd.toml").write_text(f"{text}\n" if text.startswith("[") else f'{text}\ntraces = ["a.jsonl"]\n{MINE}')
    with pytest.raises(ScenarioError, match=r"odd\.toml: "):
        bench.run_scenario(Path("odd.toml"))


def test_a_scenario_that_is_not_a_utf_8_file_is_an_error(tmp_path):
    Path("latin.toml").write_bytes('title = "Wände"'.encode("latin-1"))
    for path in (tmp_path, Path("latin.toml"), Path("gone.toml")):
        with pytest.raises(ScenarioError, match=path.name):
            bench.run_scenario(path)


@pytest.mark.parametrize(
    "name", ["a=b+c", "<a href='http://x.invalid/'>", "a=compactor=clairvoyant:recall=1", "+", "="]
)
def test_a_strategy_name_may_look_like_a_spec(name):
    compared = bench.run_scenario(scenario(f'[strategies.{json.dumps(name)}]\ncompactor = "mask_observations"\n'))
    assert compared.strategies == (name,)
    renders(compared)


@pytest.mark.parametrize(
    "data", ['{"title": "ä"}'.encode("latin-1"), b"\xff", b"", b"[" * 5000, b"[]", b"null", b'{"schema": 1e308}']
)
def test_a_baseline_that_cannot_be_read_is_an_error_until_a_new_one_is_accepted(data):
    path = scenario(MINE + RELATIVE)
    Path("mine.baseline.json").write_bytes(data)
    with pytest.raises(ResultsError, match=r"mine\.baseline\.json"):
        bench.run_scenario(path)
    assert command("run", path, "--update-baseline") == 0
    cache = Cache(Path("kept.sqlite"))  # code that is judged could have written it
    gates = bench.run_scenario(path, require_baseline=True, cache=cache).gates
    assert ([gate.outcome for gate in gates], cache.path.exists()) == (["pass"], False)
    Path("mine.baseline.json").unlink()
    Path("mine.baseline.json").symlink_to("gone")
    with pytest.raises(ResultsError, match=r"mine\.baseline\.json"):
        bench.run_scenario(path)


def test_every_baseline_is_read_before_code_of_any_scenario_runs(monkeypatch):
    monkeypatch.setenv("BENCH_WRITABLE", str(Path.cwd()))
    Path("mine.py").write_text("open('two.baseline.json', 'w').write('{')\ndef f(result): return result.text\n")
    for name in ("one.toml", "two.toml"):
        scenario('[strategies.mine]\nsummarizer = "mine.py:f"\n' + RELATIVE).rename(name)
    assert command("run", "one.toml", "two.toml") == 0
    assert Path("two.baseline.json").exists()


@pytest.mark.parametrize("huge", [1e308, -1e308, 5e-324, 10**30])
def test_huge_values_are_judged_and_shown(huge):
    path = scenario(MINE + RELATIVE)
    assert command("run", path, "--update-baseline") == 0
    written = json.loads((file := Path("mine.baseline.json")).read_text())
    for score in (score for run in written["runs"] for score in run["scores"]):
        score["numbers"] = {name: [huge, *rest] for name, (_, *rest) in score["numbers"].items()}
    file.write_text(json.dumps(written))
    compared = bench.run_scenario(path)
    assert {gate.outcome for gate in compared.gates} <= {"fail", "pass"}
    renders(compared)
    steps = (
        UserTurn(index=0, content="1e308 and -1e308, 5e-324, 1e999", t=1e308),
        ModelTurn(index=1, content=f"look at {huge}", usage=Usage(prompt_tokens=2**62, completion_tokens=2**62)),
        ToolResult(index=2, call_id="c", function="f", seen=f'{{"a": {huge}, "b": [{huge}]}}', data={"a": huge}, t=1e308),
        ModelTurn(index=3, content=f"{huge} it is", usage=Usage(prompt_tokens=1)),
    )  # fmt: skip
    trace = Trace(id="huge", source=Source(format="x"), steps=steps)
    renders(bench.compare([trace], ["truncate=summarizer=truncate"], model="gpt-4o"))


# ---------------------------------------------------------------- recordings and their folders


def test_a_reader_that_raises_loses_only_its_file(monkeypatch):
    from bench.plugins import registry
    from bench.traces import Confidence

    class Broken:
        def sniff(self, document):
            return Confidence.CERTAIN if document.path.suffix == ".broken" else Confidence.NO

        def read(self, document):
            raise OverflowError("int too large")

    Path("b.broken").write_text("x")
    monkeypatch.setitem(registry._entries, "reader", dict(registry.entries("reader")))
    registry.register("reader", "broken")(Broken)
    found = bench.load(["."])
    assert ([trace.id for trace in found.traces], [name for name, _ in found.skipped]) == (["a"], ["./b.broken"])
    with pytest.raises(TraceError, match=r"^b\.broken: .*OverflowError"):
        bench.load(["b.broken"])


@pytest.mark.parametrize("text", [".", "*.json", "**", "**/*.json"])
def test_a_pattern_or_folder_with_too_many_files_is_refused(monkeypatch, text):
    monkeypatch.setenv("BENCH_LIMITS", "files=3")
    for number in range(5):
        Path(f"{number}.json").write_text("")
    with pytest.raises(TraceError, match="3 files"):
        bench.load([text])


def test_a_part_of_a_folder_that_cannot_be_listed_is_left_out_and_named(monkeypatch):
    Path("runs/shut").mkdir(parents=True)
    shutil.copy("a.jsonl", "runs/a.jsonl")
    scan = os.scandir

    def shut(path):
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", shut)
    found = bench.load(["runs"])
    assert ([trace.id for trace in found.traces], [name for name, _ in found.skipped]) == (["a"], ["runs/shut"])


# ---------------------------------------------------------------- streams and terminals


def shell(line: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash, in which `bench` is this project's."""
    line = line.replace("bench", f"{sys.executable} -P -m bench")
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(Path.cwd()), "BENCH_CACHE": "off"}
    return subprocess.run(
        ["bash", "-c", line], env={**environment, **variables}, capture_output=True, text=True, check=False, timeout=60
    )


RUN = "bench run a.jsonl --strategy keep_all"


@pytest.mark.slow  # a process each
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f"{RUN} -o r.json <&- >&- 2>&-", 0),
        (f"COLUMNS={'9' * 5000} {RUN}", 0),
        (f"COLUMNS=² {RUN}", 0),
        (f"{RUN} > /dev/full", 2),
        ("bench run --help > /dev/full", 2),
        ("bench run gone.jsonl --strategy keep_all 2>&-", 2),
        ("bench run gone.jsonl --strategy keep_all 2> /dev/full", 2),
        ("ulimit -v 600000; bench show a.jsonl", 0),
        ("bench list strategies | true; exit ${PIPESTATUS[0]}", 141),
        ("bench run --help | true; exit ${PIPESTATUS[0]}", 141),
    ],
)
def test_closed_and_full_streams_do_not_change_the_exit_code(line, code):
    done = shell(line)
    assert done.returncode == code, done.stderr
    assert not {"Traceback", "defect", "ignored"} & set(done.stderr.split())
    assert "-o" not in line or json.loads(Path("r.json").read_text())["runs"]


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e300", "0", "-1"])
def test_a_time_limit_that_is_not_a_duration_is_an_error(seconds):
    assert command("run", "a.jsonl", "--strategy", "keep_all", "--limit", f"call={seconds}") == 2


# ---------------------------------------------------------------- places to write to


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _link(path: Path) -> None:
    Path("other.txt").write_text("mine")
    path.symlink_to("other.txt")


PLACES: dict[str, Callable[[Path], None]] = {
    "a link": _link,
    "a link to nowhere": lambda path: path.symlink_to("gone/other.txt"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a pipe": os.mkfifo,
    "a socket": _socket,
}


@pytest.mark.parametrize("name", PLACES)
def test_a_report_never_replaces_a_folder_or_a_device(name):
    PLACES[name](Path("x.html"))
    before = Path("x.html").lstat()
    with pytest.raises(BenchError, match=r"^x\.html: "):
        write_together({Path("a.json"): b"a", Path("x.html"): b"x"})
    assert (Path("x.html").lstat().st_mode, Path("x.html").lstat().st_ino) == (before.st_mode, before.st_ino)
    assert not Path("a.json").exists()
    assert not Path("other.txt").exists() or Path("other.txt").read_text() == "mine"


@pytest.mark.slow  # the starter
@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("run", SCENARIO, "-o", "a.json", "-o", "x.html"), "x.html"),
        (("import", TRACES, "-o", "x.jsonl.gz"), "x.jsonl.gz"),
        (("run", SCENARIO, "--update-baseline"), str(BASELINE)),
    ],
)
def test_every_command_refuses_to_write_to_a_link_before_it_reads_anything(
    repository, capsys, monkeypatch, arguments, place
):
    Path(place).parent.mkdir(exist_ok=True)
    Path(place).unlink(missing_ok=True)
    Path("kept").write_text("mine")
    Path(place).symlink_to(os.path.relpath("kept", Path(place).parent))
    monkeypatch.setattr("bench.run_scenario", lambda *given, **named: pytest.fail("replayed"), raising=False)
    assert command(*arguments) == 2
    error = capsys.readouterr().err
    assert (place in error, error.count("\n")) == (True, 1)
    assert (Path(place).is_symlink(), Path("kept").read_text()) == (True, "mine")


@pytest.mark.slow  # the starter
def test_bench_init_writes_all_files_or_none():
    Path("scenarios/summarizers.py").mkdir(parents=True)
    assert command("init", "a.jsonl") == 2
    assert [path.name for path in Path().rglob("*") if path.is_file()] == ["a.jsonl"]


@pytest.mark.slow  # the starter
@pytest.mark.parametrize("place", ["nowhere/x", "."])
def test_the_summary_of_a_job_that_cannot_be_written_is_an_error(repository, monkeypatch, place):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", place)
    assert command("run", SCENARIO, "-o", "x.md") == 2
