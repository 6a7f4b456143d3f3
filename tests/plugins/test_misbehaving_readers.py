"""Readers of somebody else's that end, hang or fill their process, or give what is no trace."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench import load
from bench.files.limits import LEAST
from bench.model.errors import TraceError

ROOT = Path(__file__).parents[2]

READER = """
import os
from bench.model import Source, ToolResult, Trace, UserTurn
from bench.traces import Confidence, PartOf

kept = []

def junk():
    for number in range(3, 4096):
        try: os.write(number, b"junk")
        except OSError: pass

def trace(*steps, **fields):
    first = steps or (UserTurn(index=0, content="hi"),)
    return Trace(**{{"id": "", "source": Source(format="r"), "steps": first, **fields}})

class R:
    def sniff(self, document):
        return Confidence.CERTAIN if document.path.suffix == ".x" else Confidence.NO

    def read(self, document):
        if b"bad" in document.data:
            {}
        yield trace()
"""
DATA = "yield trace(ToolResult(index=0, call_id='a', function='f', data={}))"
FAULTS = [
    "os._exit(0)",
    "os.abort()",
    "__import__('ctypes').string_at(0)",
    "(os.fork() and os._exit(0)) or __import__('time').sleep(600)",
    "junk()",
    "os.closerange(3, 4096)",
    "raise SystemExit(0)",
    "raise KeyboardInterrupt",
    "raise GeneratorExit",
    "input()",
    "while True: pass",
    "os.kill(os.getpid(), 19)",
    "x = 'x' * (8 << 30)",
    "(g := lambda: g())()",
    "{}['no']",
    "raise PartOf('is part of x')",
    "yield 'x'",
    "yield trace(steps=[1])",
    "yield trace(UserTurn(index=1, content=''), UserTurn(index=1, content=''))",
    "yield trace(UserTurn(index=0, content=5))",
    "yield trace(labels=None)",
    DATA.format("float('nan')"),
    DATA.format("(x := [], x.append(x))[0]"),
    DATA.format("object()"),
    DATA.format("10 ** 5000"),
]
CANNOT_BE_LOADED = [
    "import os\nos._exit(0)\n",
    "raise SystemExit\n",
    "while True: pass\n",
    "x = 'x' * (8 << 30)\n",
    "input()\n",
    "def (\n",
    "import nothing_of_that_name\n",
    "x = 1\n",
    "def R(document): return []\n",
    "class R:\n    def read(self, document): return []\n",
    "import os\nclass R:\n    def __init__(self): os._exit(0)\n",
]
GIVES_NO_TRACE = [
    "def read(self, document): return None",
    "async def read(self, document): return []",
    "def read(self, document): return []",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three files of a reader's own format, of which it minds the second."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_LIMITS", "call=1,memory=2GB")
    (tmp_path / "runs").mkdir()
    for name in "abc":
        (tmp_path / "runs" / f"{name}.x").write_text(f"{'bad' if name == 'b' else 'good'} {name}")
    return tmp_path


def error_of_load(path):
    with pytest.raises(TraceError) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    assert "r.py" in str(caught.value)
    return str(caught.value)


@pytest.mark.slow
def test_a_fault_of_a_reader_loses_only_its_file(folder):
    for number in range(len(FAULTS)):
        (folder / "runs" / f"b{number:02}.x").write_text(f"bad{number} b")
    branches = [
        f"if document.data.startswith(b'bad{number} '):\n                {body}" for number, body in enumerate(FAULTS)
    ]
    (folder / "r.py").write_text(READER.format("\n            ".join(branches)))
    loaded = load("r.py:R:runs")
    assert [trace.id for trace in loaded.traces] == ["a.x", "b.x", "c.x"]
    names = [f"runs/b{number:02}.x" for number in range(len(FAULTS))]
    assert [name for name, _ in loaded.skipped] == names
    assert all(reason and "\n" not in reason for _, reason in loaded.skipped)
    assert error_of_load("r.py:R:runs/b00.x").startswith("runs/b00.x: ")


@pytest.mark.slow
@pytest.mark.parametrize("code", CANNOT_BE_LOADED)
def test_a_reader_that_cannot_be_loaded_is_one_error(folder, code):
    (folder / "r.py").write_text(code)
    error_of_load("r.py:R:runs")


@pytest.mark.parametrize("method", GIVES_NO_TRACE)
def test_a_reader_must_give_traces(folder, method):
    sniff = "def sniff(self, document): return 2"
    (folder / "r.py").write_text(f"class R:\n    {sniff}\n    {method}\n")
    assert error_of_load("r.py:R:runs/a.x").startswith("runs/a.x: ")


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["'yes'", "None", "7", "os._exit(0)", "1 / 0"])
def test_a_reader_that_fails_while_sniffing_loses_only_its_file(folder, answer):
    code = READER.format("pass").replace("Confidence.CERTAIN if", f"{answer} if")
    (folder / "r.py").write_text(code)
    assert "runs/a.x" in error_of_load("r.py:R:runs")
    assert len(load("r.py:R:runs/a.x")) == 1, "a named file is not sniffed at"


@pytest.mark.slow
@pytest.mark.parametrize("held", [0, 1 << 30])
def test_memory_of_other_files_or_of_the_parent_does_not_count_for_a_reader(folder, held, monkeypatch):
    monkeypatch.setenv("BENCH_LIMITS", f"memory={LEAST['memory']}")
    for name in "defgh":
        (folder / "runs" / f"{name}.x").write_text(f"bad {name}")
    ballast = bytearray(held)
    for body in ("kept.append(bytearray(100 << 20))", "kept and os._exit(0); kept.append(1)"):
        (folder / "r.py").write_text(READER.format(body))
        loaded = load("r.py:R:runs")
        assert (len(loaded.traces), loaded.skipped) == (8, ())
    assert len(ballast) == held


def test_a_reader_imports_a_module_beside_it_while_it_reads(folder):
    (folder / "beside.py").write_text("WORD = 'hi'\n")
    body = "import beside; yield trace(UserTurn(index=0, content=beside.WORD)); return"
    (folder / "r.py").write_text(READER.format(body))
    assert len(load("r.py:R:runs").traces) == 3
    assert "beside" not in sys.modules


def test_nothing_of_a_reader_remains_after_its_file(folder, monkeypatch):
    """Its processes end, wherever they went, and its settings stay in its process."""
    monkeypatch.setenv("BENCH_WRITABLE", str(folder))
    (folder / "r.py").write_text(
        "import json, os, pathlib, time\n"
        "os.environ['LEFT'] = '1'\njson.dumps = None\nos.umask(0o777)\n"
        + READER.format(
            "if os.fork() == 0:\n"
            "                os.setsid()\n"
            "                if os.fork() == 0:\n"
            "                    pathlib.Path('pid').write_text(str(os.getpid()))\n"
            "                    time.sleep(600)\n"
            "                os._exit(0)\n"
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


@pytest.mark.slow
def test_the_command_line_names_the_file_and_exits_with_2(folder):
    """Output of a reader is made harmless for a terminal and for GitHub."""
    body = "print('::set-output name=a::b'); os.write(1, b'::debug::x\\x1b[1m\\n'); os._exit(0)"
    (folder / "r.py").write_text(READER.format(body))
    done = subprocess.run(
        [sys.executable, "-m", "bench", "show", "r.py:R:runs/b.x", "--limit", "call=3"],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "runs/b.x" in done.stderr.splitlines()[-1]
    assert "\n::" not in f"\n{done.stderr}"
    assert "\x1b" not in done.stderr
