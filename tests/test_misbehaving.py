"""Strategies that end, hang, or fill their process, or answer with what breaks who looks at it: their own row fails, every other one is untouched."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from handmade import opened, result

import bench
from bench.model import ModelTurn
from bench.plugins.trial import Limits, tried
from bench.traces.native import encode_trace

ROOT = Path(__file__).parents[1]

SCENARIO = """
title = "Misbehaving"
traces = ["runs"]

[strategies]
bad = { SLOT = "bad.py:f" }
mine = { summarizer = "mine.py:cut" }
summed = { compactor = "summarize_old:max_tokens=60,writer=extractive" }
mask = { compactor = "mask_observations:keep_last=1" }

[[gates]]
metric = "cost.prompt_tokens"
strategy = "GATED"
max = 100000000
"""
DEEP = "x = []\n    for _ in range(600):\n        x = [x]\n    return x"
ODD = "class Odd{base}:\n    def {method}(self, *given):\n        raise ValueError('odd')\n\n"
CALLS = {
    # what f does: (what the reason says, code before f, code in f)
    "os._exit(0)": ("it ended its process (exit code 0)", "import os\n", "os._exit(0)"),
    "os._exit(1)": ("it ended its process (exit code 1)", "import os\n", "os._exit(1)"),
    "abort": ("it ended its process (signal 6)", "import os\n", "os.abort()"),
    "segmentation fault": ("it ended its process (signal 11)", "import ctypes\n", "ctypes.string_at(0)"),
    "SystemExit": ("exited with 0", "import sys\n", "sys.exit(0)"),
    "KeyboardInterrupt": ("KeyboardInterrupt", "", "raise KeyboardInterrupt"),
    "GeneratorExit": ("GeneratorExit", "", "raise GeneratorExit"),
    "BaseException": ("Odd", "class Odd(BaseException): pass\n", "raise Odd"),
    "StopIteration": ("StopIteration", "", "raise StopIteration"),
    "endless loop": ("a call took more than", "", "while True: pass"),
    "endless loop that catches": (
        "a call took more than", "",
        "while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    ),
    "sleep": ("a call took more than", "import time\n", "time.sleep(600)"),
    "8 GB": ("memory", "", "return 'x' * (8 << 30)"),
    "8 GB in pieces": ("memory", "kept = []\n", "while True: kept.append(bytearray(1 << 24))"),
    "recursion": ("RecursionError", "", "return f(given)"),
    "600 levels": ("nested more than", "", DEEP),
    "a huge integer": ("4300 digits", "", "return [10 ** 5000]"),
    "an object": ("unsupported", "", "return object()"),
    "a set of objects": ("", "", "return {object()}"),
    "__str__ raises": ("unsupported", ODD.format(base="", method="__str__"), "return Odd()"),
    "__repr__ raises": ("unsupported", ODD.format(base="", method="__repr__"), "return Odd()"),
    "__class__ raises": ("odd", "class Odd:\n    @property\n    def __class__(self): raise ValueError('odd')\n\n", "return Odd()"),
    "an error whose __str__ raises": ("Odd", ODD.format(base="(Exception)", method="__str__"), "raise Odd"),
    "os.close": ("", "import os\n", "for n in range(3, 64):\n        try: os.close(n)\n        except OSError: pass"),
}  # fmt: skip
LOADS = {
    "os._exit(0)": ("exit code 0", "import os\nos._exit(0)\n"),
    "SystemExit": ("SystemExit", "import sys\nsys.exit(0)\n"),
    "KeyboardInterrupt": ("KeyboardInterrupt", "raise KeyboardInterrupt\n"),
    "GeneratorExit": ("GeneratorExit", "raise GeneratorExit\n"),
    "endless loop": ("a call took more than", "while True: pass\n"),
    "8 GB": ("memory", "x = 'x' * (8 << 30)\n"),
    "signal": ("signal 9", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"),
    "a constructor": ("exit code 3", "import os\nclass f:\n    def __init__(self): os._exit(3)\n    def summarize(self, result): return ''\n"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for name in ("first", "second"):
        text = f"{name}: found 4711 rows in /data/x.csv, 4712 in /data/y.csv "
        steps = [result(text * 4, index=2), ModelTurn(index=3, content="4711"), result(text, index=4, call_id="d"),
                 ModelTurn(index=5, content="4712 in /data/y.csv")]  # fmt: skip
        (tmp_path / "runs" / f"{name}.jsonl").write_bytes(encode_trace(opened(steps, id=name)))
    (tmp_path / "mine.py").write_text("def cut(result):\n    return result.text[:20]\n")
    return tmp_path


def run(folder, slot, gated, code, *options):
    (folder / "one.toml").write_text(SCENARIO.replace("SLOT", slot).replace("GATED", gated))
    (folder / "bad.py").write_text(code)
    (folder / "x.json").unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "bench", "run", "one.toml", "-o", "x.json", "--call-timeout", "1.5", "--memory", "1500", *options],
        cwd=folder, env={"PYTHONPATH": str(ROOT), "HOME": str(Path.home()), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done, json.loads((folder / "x.json").read_text()) if (folder / "x.json").exists() else None


def rows(document, *, bad):
    return [json.dumps(row) for row in document["rows"] if (row["strategy"] == "bad") is bad]


def check(folder, slot, code, says, jobs):
    """The strategy fails, a gate on it fails, one on another strategy passes, and no other row is different from a run beside a good one."""
    done, whole = run(folder, slot, "mine", "def f(given):\n    return None\n", "--jobs", jobs)
    done, found = run(folder, slot, "bad", code, "--jobs", jobs)
    assert done.returncode == 1, done.stdout + done.stderr
    assert rows(found, bad=False) == rows(whole, bad=False)
    reasons = {json.loads(row)["reason"] for row in rows(found, bad=True)}
    assert len(reasons) == 1
    assert reasons.pop().startswith("strategy failed at step ")
    assert says in " ".join(row["reason"] for row in found["rows"] if row["strategy"] == "bad")
    done, found = run(folder, slot, "mine", code, "--jobs", jobs)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_misbehaves_costs_its_own_row(folder, name):
    says, before, body = CALLS[name]
    if name == "os.close":
        pytest.importorskip("resource")
    check(folder, "summarizer", f"{before}def f(given):\n    {body}\n", says, "1")


@pytest.mark.parametrize("slot", ["compactor", "store", "evaluator", "routers"])
@pytest.mark.parametrize("name", ["os._exit(0)", "KeyboardInterrupt", "600 levels"])
def test_every_slot_is_watched(folder, slot, name):
    says, before, body = CALLS[name]
    check(folder, slot, f"{before}def f(given):\n    {body}\n", says if name != "600 levels" else "", "2")


@pytest.mark.parametrize("name", LOADS)
def test_a_file_that_misbehaves_when_it_is_loaded_costs_its_own_row(folder, name):
    says, code = LOADS[name]
    check(folder, "summarizer", code, says, "2")
