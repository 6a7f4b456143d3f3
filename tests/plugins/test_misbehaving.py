"""A catalogue of broken strategies: each costs its own row, with the reason, and nothing else. All of them run in one comparison."""

from __future__ import annotations

import gc
import hashlib
import os
import py_compile
import sys
import time
from pathlib import Path

import pytest
from handmade import opened, result
from hostile import CALLS, CODES, FINE, SAYS

import bench
from bench.model import ModelTurn
from bench.plugins import apart
from bench.plugins.apart import Apart, Limits, NoAnswer
from bench.traces.formats.native import encode_trace

ROOT = Path(__file__).parents[2]
LIMITS = Limits(1.5, 800)
GOOD = {
    "mine": "summarizer=mine.py:cut",
    "summed": "compactor=summarize_old:max_tokens=60,writer=extractive",
    "mask": "compactor=mask_observations:keep_last=1",
}
GATES = (
    {"metric": "cost.prompt_tokens", "strategy": "mine", "max": 100000000},
    {"metric": "cost.prompt_tokens", "strategy": "mask", "max": 1},
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    text = "found 4711 rows in /data/x.csv, 4712 in /data/y.csv "
    steps = [result(text * 4, index=2), ModelTurn(index=3, content="4711"), result(text, index=4, call_id="d"),
             ModelTurn(index=5, content="4712 in /data/y.csv")]  # fmt: skip
    (tmp_path / "runs" / "one.jsonl").write_bytes(encode_trace(opened(steps, id="one")))
    (tmp_path / "mine.py").write_text("def cut(result):\n    return result.text[:20]\n")
    return tmp_path


def compared(strategies, jobs=1):
    return bench.compare("runs", {**strategies, **GOOD}, gates=GATES, jobs=jobs, limits=LIMITS)


def of(found, names):
    return [row for row in found.rows if row.strategy in names]


def processes_in(folder):
    """The processes that work in a folder, where the system tells."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cwd"):
        try:
            theirs = place.resolve() == folder and place.parent.name != str(os.getpid())
            found += [place] if theirs else []
        except OSError:
            continue
    return found


@pytest.mark.slow
def test_each_broken_strategy_costs_its_own_row_and_nothing_else_slow_because_some_hang(folder, capfd):
    bad = {}
    for number, (name, code) in enumerate(CODES.items()):
        (folder / f"bad_{number}.py").write_text(code)
        bad[name] = f"summarizer=bad_{number}.py:f"
    whole = compared({})
    capfd.readouterr()
    found = compared(bad)
    good = {row.strategy for row in whole.rows}
    assert of(found, good) == list(whole.rows)
    assert found.verdicts == whole.verdicts
    for name, says in SAYS.items():
        reasons = {row.reason for row in of(found, {name})}
        assert reasons, name
        assert all(says in (reason or "") for reason in reasons), (name, says, reasons)
        assert all(row.value is None for row in of(found, {name})), name
    said = capfd.readouterr()
    assert "\n::" not in f"\n{said.out}\n{said.err}"
    assert "\x1b" not in said.out + said.err
    assert not processes_in(folder)
    assert sys.getrecursionlimit() >= 1000


@pytest.mark.slow
def test_the_other_slots_are_apart_too_slow_because_of_many_processes(folder):
    bad = {}
    for slot in ("compactor", "store", "evaluator", "routers"):
        for number, what in enumerate(("os._exit(0)", "KeyboardInterrupt")):
            _, before, body = CALLS[what]
            (folder / f"bad_{slot}_{number}.py").write_text(f"{before}def f(given):\n    {body}\n")
            bad[f"{slot} {what}"] = f"{slot}=bad_{slot}_{number}.py:f"
    (folder / "ends.py").write_text("import os\ndef w(messages): os._exit(0)\n")
    bad["writer os._exit(0)"] = 'compactor=summarize_old:max_tokens=40,keep_last=1,writer="ends.py:w"'
    found = compared(bad, jobs=2)
    for name in bad:
        says = CALLS[name.partition(" ")[2]][0]
        assert all(says in (row.reason or "") for row in of(found, {name})), name
    assert of(found, GOOD) == of(compared({}), GOOD)


CACHED = {"same time and size": "TIMESTAMP", "never checked": "UNCHECKED_HASH"}


@pytest.mark.slow  # a process each
@pytest.mark.parametrize("how", CACHED)
@pytest.mark.parametrize("finder", ["beside", "path", "file"])
def test_a_helper_is_compiled_from_the_bytes_that_are_hashed(folder, how, finder):
    """A cached file of another version is not looked at, whoever finds the module."""
    place = folder / ("lib" if finder != "beside" else "")
    place.mkdir(exist_ok=True)
    rules = place / "rules.py"
    rules.write_text("N = 5\n")
    py_compile.compile(str(rules), invalidation_mode=py_compile.PycInvalidationMode[CACHED[how]])
    about = rules.stat()
    rules.write_text("N = 9\n")
    os.utime(rules, ns=(about.st_atime_ns, about.st_mtime_ns))
    found = {
        "beside": "import rules",
        "path": f"import sys\nsys.path.insert(0, {str(place)!r})\nimport rules",
        "file": f"import importlib.util as u\ns = u.spec_from_file_location('r', {str(rules)!r})\nrules = u.module_from_spec(s)\n"
        "s.loader.exec_module(rules)",
    }[finder]
    (folder / "mine.py").write_text(f"{found}\ndef cut(result): return result.text[:rules.N]\n")
    run = bench.replay(bench.load("runs").traces[0], "mine=summarizer=mine.py:cut")
    assert len(run.messages[run.results[0].shown].text) == 9


@pytest.mark.slow
def test_a_compiled_module_without_its_source_is_hashed_too(folder):
    (folder / "rules.py").write_text("N = 5\n")
    py_compile.compile(str(folder / "rules.py"), cfile=str(folder / "rules.pyc"))
    (folder / "rules.py").unlink()
    (folder / "mine.py").write_text("import rules\ndef cut(result): return result.text[:rules.N]\n")
    found = bench.compare("runs", ["mine=summarizer=mine.py:cut"])
    assert found.signature.code["rules.pyc"] == hashlib.sha256((folder / "rules.pyc").read_bytes()).hexdigest()


@pytest.mark.slow
def test_a_case_does_not_see_what_another_left_behind(folder):
    (folder / "runs" / "two.jsonl").write_bytes(
        (folder / "runs" / "one.jsonl").read_bytes().replace(b'"one"', b'"two"')
    )
    code = "calls = []\ndef cut(result):\n    calls.append(1)\n    return str(len(calls))\n"
    (folder / "mine.py").write_text(code)
    found = bench.compare("runs", ["mine=summarizer=mine.py:cut"])
    values = {
        case: [(row.metric, row.value) for row in found.rows if row.case == case and row.strategy == "mine"]
        for case in ("one", "two")
    }
    assert values["one"] == values["two"]


@pytest.mark.slow
def test_a_run_that_is_none_of_the_trace_is_refused(folder, monkeypatch):
    """The child's answer is data: what it says of tokens is counted again here, and a rubbish answer is a failed row."""
    forged = "import bench.run.case as c\nfrom msgspec.structs import replace\nreal = c.packed\ndef fake(run, replayer, **named):\n"
    forged += "    sent = real(run, replayer, **named)\n    run = sent.run\n    {}\nc.packed = fake\ndef f(given): return given.text\n"
    of_run = "return replace(sent, run=replace(run, {}))"
    lies = {
        "tokens": (of_run.format("prompts=tuple(replace(p, tokens=1) for p in run.prompts)"), ""),
        "no prompts": (of_run.format("prompts=()"), "no run of this trace"),
        "other keys": ("return replace(sent, keys=('x',))", "which this trace does not have"),
        "other text": (of_run.format("messages={'x': replace(next(iter(real_messages.values())), text='')}"), "under the name of another"),
        "splices": (of_run.format("prompts=tuple(replace(p, splices=(replace(p.splices[0], at=99),)) for p in run.prompts)"),
                    "which this trace does not have"),
        "a number": ("return 7", "its answer is no run"),
    }  # fmt: skip
    forged = forged.replace("    sent = real", "    real_messages = run.messages\n    sent = real")
    for number, (does, _) in enumerate(lies.values()):
        (folder / f"lies_{number}.py").write_text(forged.format(does))
    (folder / "fine.py").write_text(FINE.replace("'x'", "given.text"))
    found = bench.compare(
        "runs",
        {
            "fine": "summarizer=fine.py:f",
            **{name: f"summarizer=lies_{number}.py:f" for number, name in enumerate(lies)},
        },
    )
    for name, (_, says) in lies.items():
        failure = found.cases[0].runs[name].failure
        assert says in failure.error if says else failure is None, (name, failure)
    values = {name: [row.value for row in found.rows if row.strategy == name] for name in ("fine", "tokens")}
    assert values["fine"] == values["tokens"]


@pytest.mark.slow
def test_where_there_is_no_fork_each_request_has_a_fresh_process_slow_because_it_imports_the_bench(folder, monkeypatch):
    trace = bench.load("runs").traces[0]
    here = bench.replay(trace, "mine=summarizer=mine.py:cut")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(apart, "can_fork", lambda: False)
    fresh = bench.replay(trace, "mine=summarizer=mine.py:cut")
    assert fresh.prompts == here.prompts


def test_functions_that_are_passed_run_here_and_only_ctrl_c_ends_the_comparison():
    seen = []

    def fine(result):
        seen.append(result.text)

    def leaves(result):
        raise GeneratorExit

    def stops(result):
        raise KeyboardInterrupt

    found = bench.compare(opened([result("text", index=2)]), {"fine": fine, "leaves": leaves})
    assert seen
    assert found.cases[0].runs["leaves"].failure.error.endswith("GeneratorExit")
    with pytest.raises(KeyboardInterrupt):
        bench.compare(opened([result("text", index=2)]), {"stops": stops})


@pytest.mark.parametrize(
    "error", [GeneratorExit(), SystemExit(1), SystemExit(0), BaseException("odd"), RecursionError()]
)
def test_exit_codes_0_and_1_come_from_verdicts_alone(folder, monkeypatch, capsys, error):
    """Whatever is raised, wherever: one line and exit 2."""
    from bench.cli import main

    def breaks(*given, **settings):
        raise error

    (folder / "plain.toml").write_text(
        'title = "t"\ntraces = ["runs"]\n\n[strategies]\nmask = { compactor = "mask_observations" }\n'
    )
    monkeypatch.setattr("bench.run.case.case_row", breaks)
    with pytest.raises(SystemExit) as ended:
        main(["run", "plain.toml", "--jobs", "1"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def _works(link, ready, what):
    if what == "dies":
        os._exit(4)
    if what == "raises":
        raise ValueError("no")
    if what == "counts":
        return str(link.count("a b c")).encode()
    return what.encode()


@pytest.mark.slow
def test_a_child_answers_each_request_in_a_fork():
    child = Apart(dict, Limits(30.0))
    said = []
    for what in ("fine", "dies", "raises", "counts", "fine"):
        try:
            said.append(child.ask(_works, what, count=len).decode())
        except NoAnswer as why:
            said.append(str(why))
    child.stop()
    assert said[0] == said[4] == "fine"
    assert said[1] == "it ended its process (exit code 4)"
    assert said[2].endswith("ValueError: no")
    assert said[3] == "5"


class _Joins:
    """Its end waits for a thread of the process that made it, as that of a Dask client does."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self, made_in: int = os.getpid()) -> None:
        if os.getpid() != made_in:
            time.sleep(600)


def test_what_this_process_threw_away_is_not_finalized_in_its_child():
    child = Apart(gc.collect, Limits(3.0))
    gc.disable()  # so that it still lies there
    try:
        _Joins()
        assert child.ask(_works, "fine") == b"fine"
    finally:
        gc.enable()
        child.stop()


def test_a_call_that_waits_for_a_thread_of_the_import_says_so_slow_because_it_hangs(folder):
    code = "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\npool.submit(abs, 1).result()\n"
    (folder / "bad.py").write_text(f"{code}def f(given): return str(pool.submit(abs, -1).result())\n")
    run = bench.replay(bench.load("runs").traces[0], "bad=summarizer=bad.py:f", limits=Limits(2.0))
    said = "threads that its file starts at import do not run in its process"
    assert said in run.failure.error
