"""Readers of somebody's own that end, hang, or fill their process, or give what is no trace: one error that names reader, file and reason."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench import compare, load, replay
from bench.model.errors import TraceError
from bench.plugins.apart import Limits
from bench.plugins.keeper import LEAST_MIB

ROOT = Path(__file__).parents[2]
LIMITS = Limits(3.0, 2000)

READER = """
from bench.model import ModelTurn, Source, ToolResult, Trace, UserTurn
from bench.traces import Confidence, PartOf

kept = []

def junk():
    import os
    for number in range(3, 4096):
        try: os.write(number, b"junk")
        except OSError: pass

def trace(*steps, **said):
    return Trace(**{{"id": "", "source": Source(format="r"), "steps": steps or (UserTurn(index=0, content="hi"),), **said}})

class R:
    def sniff(self, document):
        return Confidence.CERTAIN if document.path.suffix == ".x" else Confidence.NO

    def read(self, document):
        if b"bad" in document.data:
            {}
        yield trace()
"""
DATA = "yield trace(ToolResult(index=0, call_id='a', function='f', data={}))"
FILES = {
    # what it does over one file: what is said of it
    "import os; os._exit(0)": "it ended its process (exit code 0) — a reader returns traces or raises",
    "import os; os._exit(1)": "it ended its process (exit code 1)",
    "import os; os.abort()": "it ended its process (signal 6)",
    "import ctypes; ctypes.string_at(0)": "it ended its process (signal 11)",
    "import os\n            if os.fork(): os._exit(0)\n            __import__('time').sleep(600)": "it ended its process (exit code 0)",
    "junk()": "it left its process unable to answer",
    "import os; os.closerange(3, 4096)": "it ended its process",
    "raise SystemExit(0)": "SystemExit: 0 (r.py:",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "raise GeneratorExit": "GeneratorExit",
    "input()": "EOFError",
    "while True: pass": "a call took more than 3 s",
    "import os; os.kill(os.getpid(), 19)": "a call took more than 3 s",
    "x = 'x' * (8 << 30)": "it needs more than 2000 MiB of memory — keep less, or raise --limit memory=N",
    "def g(): return g()\n            g()": "(r.py:",  # RecursionError, or what Python 3.11 makes of it
    "{}['no']": "KeyError: 'no' (r.py:",
    "raise PartOf('is part of x')": "is part of x",
    "yield 'x'": "`read` gave a str, expected a Trace",
    "yield trace(steps=[1])": "the steps of a trace are a tuple of steps",
    "yield trace(UserTurn(index=1, content=''), UserTurn(index=1, content=''))": "step 1 follows step 1",
    "yield trace(UserTurn(index=0, content=5))": "gave what is no trace",
    "yield trace(labels=None)": "gave what is no trace",
    DATA.format("float('nan')"): "JSON would change",
    DATA.format("(x := [], x.append(x))[0]"): "gave what is no trace",
    DATA.format("object()"): "gave what is no trace",
    DATA.format("10 ** 5000"): "gave what is no trace",
}
LOADS = {
    "import os\nos._exit(0)\n": "cannot be loaded: it ended its process (exit code 0) — code that is imported must not exit",
    "raise SystemExit\n": "SystemExit",
    "raise KeyboardInterrupt\n": "KeyboardInterrupt",
    "while True: pass\n": "cannot be loaded: a call took more than 3 s",
    "x = 'x' * (8 << 30)\n": "cannot be loaded: it needs more than 2000 MiB",
    "input()\n": "EOFError",
    "def (\n": "r.py:1: cannot be imported: SyntaxError",
    "import nothing_of_that_name\n": "cannot be imported: ModuleNotFoundError",
    "x = 1\n": "r.py has no function 'R'",
    "def R(document): return []\n": "is no reader — name a class with `sniff(document)` and `read(document)`",
    "class R:\n    def read(self, document): return []\n": "is no reader",
    "import os\nclass R:\n    def __init__(self): os._exit(0)\n": "exit code 0",
}
GIVES = {
    "def read(self, document): return None": "`read` gave a NoneType, expected traces",
    "async def read(self, document): return []": "`read` gave a coroutine, expected traces",
    "def read(self, document): return []": "holds no trace that r.py:R can read",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three files of a reader's own format, of which it minds the second."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for name in "abc":
        (tmp_path / "runs" / f"{name}.x").write_text(f"{'bad' if name == 'b' else 'good'} {name}")
    return tmp_path


def refused(path):
    with pytest.raises(TraceError) as caught:
        load(path, limits=LIMITS)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.slow
def test_what_a_reader_does_to_its_process_costs_its_file_slow_because_some_hang(folder):
    for number in range(len(FILES)):
        (folder / "runs" / f"b{number:02}.x").write_text(f"bad{number} b")
    inner = [body.replace("\n", "\n    ") for body in FILES]
    each = [f"if document.data.startswith(b'bad{n} '):\n                {body}" for n, body in enumerate(inner)]
    (folder / "r.py").write_text(READER.format("\n            ".join(each)))
    loaded = load("r.py:R:runs", limits=LIMITS)
    assert [trace.id for trace in loaded.traces] == ["a.x", "b.x", "c.x"]
    assert [name for name, _ in loaded.skipped] == [f"runs/b{number:02}.x" for number in range(len(FILES))]
    for (_, reason), says in zip(loaded.skipped, FILES.values(), strict=True):
        assert says in reason
    said = refused("r.py:R:runs/b00.x")
    assert said.startswith("runs/b00.x: ")
    assert "r.py:R" in said


@pytest.mark.slow
@pytest.mark.parametrize("code", LOADS)
def test_a_reader_that_cannot_be_loaded_is_one_error_at_once(folder, code):
    (folder / "r.py").write_text(code)
    said = refused("r.py:R:runs")
    assert LOADS[code] in said
    assert "r.py" in said


@pytest.mark.parametrize("method", GIVES)
def test_what_a_reader_gives_is_traces(folder, method):
    (folder / "r.py").write_text(f"class R:\n    def sniff(self, document): return 2\n    {method}\n")
    assert GIVES[method] in refused("r.py:R:runs/a.x")


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["'yes'", "None", "7", "os._exit(0)", "1 / 0"])
def test_how_sure_it_is_may_fail_too(folder, answer):
    (folder / "r.py").write_text(
        READER.format("pass").replace("Confidence.CERTAIN if", f"{answer} if") + "\nimport os\n"
    )
    said = refused("r.py:R:runs")
    assert "none of 3 files is a trace (runs/a.x: reader r.py:R cannot read it: " in said


@pytest.mark.slow
def test_a_file_does_not_pay_for_one_before_it(folder):
    """Each is read in a fork of its own: nothing fills up over the files."""
    for name in "defgh":
        (folder / "runs" / f"{name}.x").write_text(f"bad {name}")
    for body in ("kept.append(bytearray(300 << 20))", "kept.append(1) if not kept else __import__('os')._exit(0)",
                 "kept.append(1)\n            if len(kept) > 2: raise OSError('Too many open files')"):  # fmt: skip
        (folder / "r.py").write_text(READER.format(body))
        loaded = load("r.py:R:runs", limits=Limits(60.0, 1000))
        assert (len(loaded.traces), loaded.skipped) == (8, ())


@pytest.mark.slow
def test_what_the_bench_itself_holds_is_nobody_elses(folder):
    """A fork has all that its parent holds: in a large one, a notebook or a run of tests, code of one's own has as much room as in a small one."""
    (folder / "r.py").write_text(READER.format("pass"))
    (folder / "s.py").write_text("def short(result):\n    return result.text[:20]\n")
    held = bytearray(1 << 30)
    room = Limits(60.0, LEAST_MIB)
    traces = load("r.py:R:runs/a.x", limits=room).traces
    assert not replay(traces[0], "s=summarizer=s.py:short", limits=room).failure
    rows = compare(traces, "s=summarizer=s.py:short", limits=room).rows
    assert {row.reason for row in rows if row.strategy == "s"} == {"nothing to measure"}, "and no failure"
    assert len(held) == 1 << 30


def test_a_reader_finds_what_lies_beside_it_while_it_reads(folder):
    (folder / "beside.py").write_text("WORD = 'hi'\n")
    (folder / "r.py").write_text(
        READER.format("import beside; yield trace(UserTurn(index=0, content=beside.WORD)); return")
    )
    assert len(load("r.py:R:runs", limits=LIMITS).traces) == 3
    assert "beside" not in sys.modules


def test_nothing_of_a_reader_is_left(folder):
    """Neither what it started, wherever that went, nor what it replaced or set."""
    (folder / "r.py").write_text(
        "import json, os, pathlib, subprocess, time\n"
        "os.environ['LEFT'] = '1'\njson.dumps = None\nos.umask(0o777)\n"
        + READER.format(
            "if os.fork() == 0:\n                os.setsid()\n                if os.fork() == 0:\n"
            "                    pathlib.Path('pid').write_text(str(os.getpid())); time.sleep(600)\n                os._exit(0)\n"
            "            while not os.path.exists('pid'): time.sleep(0.01)"
        )
    )
    before = os.umask(0o022)
    os.umask(before)
    assert len(load("r.py:R:runs").traces) == 3
    left = Path("/proc") / Path("pid").read_text()
    until = time.monotonic() + 10
    while left.exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not left.exists()
    assert "LEFT" not in os.environ
    assert os.umask(before) == before
    assert os.getcwd() == str(folder)


def command(folder, *arguments):
    environment = {"PYTHONPATH": str(ROOT), "HOME": str(Path.home()), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-m", "bench", *arguments, "--limit", "call=3", "--limit", "memory=839MB"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert "Traceback" not in done.stdout + done.stderr
    return done


@pytest.mark.slow
def test_the_command_line_says_so_and_exits_with_2(folder):
    """Also where it is killed, with what it prints by any way made safe."""
    (folder / "r.py").write_text(
        READER.format("import os; print('::set-output name=a::b'); os.write(1, b'::debug::x\\x1b[1m\\n'); os._exit(0)")
    )
    says = "reader r.py:R cannot read it: it ended its process (exit code 0) — a reader returns traces or raises"
    for arguments in (("show", "r.py:R:runs/b.x"), ("run", "--traces", "r.py:R:runs/b.x")):
        done = command(folder, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.splitlines()[-1] == f"error: runs/b.x: {says}"
        assert "\n::" not in f"\n{done.stderr}"
        assert "\\::set-output name=a::b" in done.stderr
        assert "\\::debug::x⟨U+001B⟩[1m" in done.stderr
    done = command(folder, "import", "r.py:R:runs", "-o", "o.jsonl")
    assert done.returncode == 0
    assert f"left out runs/b.x: {says}" in done.stdout
    done = command(folder, "show", "r.py:R:runs")
    assert done.returncode == 0
    assert f"left out runs/b.x: {says}" in done.stderr
