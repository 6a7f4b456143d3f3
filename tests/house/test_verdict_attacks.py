"""Ways to turn a verdict, from inside of a strategy: each loses what its gate asks for, and none of them passes or touches another row.

A strategy says what its own prompts are: one that shows everything while it is judged shows everything. That is no attack.
"""

# ruff: noqa: E501

from __future__ import annotations

import json
import os
import textwrap
from pathlib import Path

import pytest
from orders import ORDERS
from repository import bench

from bench.plugins import apart

EVERY_FUNCTION = "import gc, types\nfor one in [one for one in gc.get_objects() if isinstance(one, types.FunctionType)]:\n    if one.__module__ and one.__module__.startswith('bench.'):\n"

AT_IMPORT = {
    "exits": "import os\nos._exit(0)",
    "prints_and_exits": "import os\nprint('gates: 1 pass: nothing failed (exit 0)', flush=True)\nos._exit(0)",
    "at_exit": "import atexit, os\natexit.register(os._exit, 0)",
    "replaces_check": "import bench.comparison.judging as j\nj.check = lambda comparison: ()",
    "replaces_code_of_check": "import bench.comparison.judging as j\ndef no(comparison): return ()\nj.check.__code__ = no.__code__",
    "replaces_code_of_conclude": "import bench.comparison.judging as j\ndef no(c): return j.Conclusion(0, 'nothing failed')\nj.conclude.__code__ = no.__code__",
    "replaces_gates": "from bench.plugins.registry import entries\nfor e in entries('gate').values(): object.__setattr__(e, 'target', lambda *a, **k: None)",
    "replaces_metrics": "from bench.metrics import metrics\nfor m in metrics().values(): object.__setattr__(m, 'samples', lambda e: ())",
    "renames_every_function": EVERY_FUNCTION + "        one.__defaults__ = None",
    "empties_every_function": EVERY_FUNCTION + "        try: one.__code__ = (lambda *a, **k: None).__code__\n        except ValueError: pass",
    "describes_itself_as_nobody": "import msgspec\nmsgspec.json.encode = lambda *a, **k: b'{}'",
    "describes_itself_as_another": "import msgspec\nkept = msgspec.json.encode\nmsgspec.json.encode = lambda value, **k: kept(msgspec.structs.replace(value, name='reference') if hasattr(value, 'plugins') else value)",
    "clears_modules": "import sys\nfor name in [n for n in sys.modules if n.startswith('bench.')]: del sys.modules[name]",
    "poisons_modules": "import sys\nsys.modules['msgspec'] = sys.modules['json'] = None",
    "poisons_meta_path": "import sys\nsys.meta_path.insert(0, None)",
    "empties_path": "import sys\nsys.path.clear()\nsys.path_hooks.clear()",
    "poisons_open": "import builtins\nbuiltins.open = None",
    "poisons_len": "import builtins\nbuiltins.len = lambda value: 0",
    "poisons_isinstance": "import builtins\nbuiltins.isinstance = lambda one, kind: True",
    "poisons_json": "import json\njson.loads = json.dumps = lambda *a, **k: {}",
    "poisons_pickle": "import pickle\npickle.loads = pickle.dumps = lambda *a, **k: b''",
    "poisons_hashlib": "import hashlib\nhashlib.sha256 = lambda *a: None",
    "poisons_regex": "import re\nre.compile = lambda *a, **k: None",
    "poisons_time": "import time\ntime.monotonic = lambda: 0.0\ntime.time = lambda: 0.0",
    "poisons_os": "import os\nos.fork = os._exit = os.getpid = lambda *a: 0",
    "closes_files": "import os\nos.closerange(3, 512)",
    "closes_everything": "import os\nos.closerange(0, 512)",
    "shuts_sockets": "import os, socket\nfor fd in range(3, 256):\n    try: socket.socket(fileno=os.dup(fd)).shutdown(2)\n    except OSError: pass",
    "writes_to_sockets": "import os, stat\nfor fd in range(3, 256):\n    try:\n        if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, b'A' + (2).to_bytes(8, 'little') + b'{}')\n    except OSError: pass",
    "points_files_elsewhere": "import os\nnull = os.open('/dev/null', os.O_RDWR)\nfor fd in range(3, 256):\n    if fd != null: os.dup2(null, fd)",
    "traces_calls": "import sys\nsys.settrace(lambda f, e, a: sys.exit(0))",
    "profiles_calls": "import sys\nsys.setprofile(lambda f, e, a: None)\nimport threading\nthreading.setprofile(lambda f, e, a: 1 / 0)",
    "audits": "import sys\ndef no(event, given):\n    if event == 'open': raise RuntimeError('no')\nsys.addaudithook(no)",
    "recursion_limit": "import sys\nsys.setrecursionlimit(200)",
    "no_more_files": "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))",
    "little_time": "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))",
    "small_files": "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))",
    "ignores_signals": "import signal\nfor n in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE): signal.signal(n, signal.SIG_IGN)",
    "alarm": "import signal\nsignal.signal(signal.SIGALRM, lambda n, f: __import__('os')._exit(0))\nsignal.setitimer(signal.ITIMER_REAL, 0.001)",
    "leaves_a_process": "import subprocess\nsubprocess.Popen(['sleep', '987654'], start_new_session=True)",
    "leaves_a_daemon": "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: os.execvp('sleep', ['sleep', '987654'])\n    os._exit(0)",
    "goes_on_twice": "import os\nos.fork()",
    "thread_exits": "import threading, os, time\nthreading.Thread(target=lambda: (time.sleep(0.05), os._exit(0)), daemon=True).start()",
    "rewrites_scenario": "import pathlib\np = pathlib.Path(__file__).with_name('scenario.toml')\np.write_text(p.read_text().replace('min = 0.9', 'min = 0.001'))",
    "rewrites_own_file": "import pathlib\npathlib.Path(__file__).write_text('def summarize(result):\\n    return result.text\\n')",
    "rewrites_baseline": "import pathlib\npathlib.Path(__file__).with_name('scenario.baseline.json').write_text('{}')",
    "limits_in_environment": "import os\nos.environ['BENCH_LIMITS'] = 'size=1'\nos.environ['PYTHONPATH'] = '/nowhere'",
    "frozen_struct": "import bench.model as m\nfor name in dir(m):\n    c = getattr(m, name)\n    if isinstance(c, type):\n        try: c.__eq__ = lambda a, b: True\n        except TypeError: pass",
    "native_memory": "import ctypes\nimport bench.comparison.judging as j\nctypes.pythonapi.PyObject_SetAttrString(ctypes.py_object(j), b'check', ctypes.py_object(lambda c: ()))",
    "small_numbers": "import ctypes\nctypes.cast(id(0) + 24, ctypes.POINTER(ctypes.c_int32))[0] = 1",
    "crashes": "import ctypes\nctypes.string_at(0)",
}  # fmt: skip

IN_CALL = {
    "exits_then": "import os\nos._exit(0)",
    "memory_error": "raise MemoryError",
    "text_that_lies": "class T(str):\n    def encode(self, *a): return result.text.encode()\n    def __contains__(self, o): return True\n    def __str__(self): return result.text\n    def __len__(self): return 0\nreturn T(result.text[:60])",
    "text_equal_to_all": "class T(str):\n    __eq__ = lambda a, b: True\n    __hash__ = str.__hash__\nreturn T(result.text[:60])",
    "bytes_for_text": "return result.text[:60].encode()",
    "number": "return 7",
    "a_class": "return type(result)",
    "half_a_character": "return result.text[:60] + chr(0xD800)",
    "nulls": "return result.text[:60] + chr(0) * 10",
    "a_promise": "async def later(): return result.text[:60]\nreturn later()",
    "a_generator": "return (c for c in result.text[:60])",
    "cuts_the_original": "object.__setattr__(result, 'seen', result.text[:60])",
    "cuts_its_message": "import gc\nfor one in gc.get_objects():\n    if isinstance(one, dict) and 'content' in one: one['content'] = 'x'",
    "cuts_every_text": "import gc\nfor one in gc.get_objects():\n    if hasattr(one, 'seen'):\n        try: object.__setattr__(one, 'seen', 'W100')\n        except Exception: pass",
    "looks_up_the_stack": "import sys\nf = sys._getframe()\nwhile f:\n    for v in list(f.f_locals.values()):\n        if hasattr(v, 'rules'):\n            try: object.__setattr__(v, 'rules', ())\n            except Exception: pass\n    f = f.f_back",
    "packs_another_name": "import bench.replayer.sending as s\nkept = s.packed\ns.packed = lambda run, *a, **k: kept(__import__('msgspec').structs.replace(run, strategy='other'), *a, **k)",
    "packs_rubbish": "import bench.run.case as c\nc.written = lambda value: b'{\"run\": 1}'",
    "packs_nothing": "import bench.run.case as c\nc.written = lambda value: b''",
    "packs_much": "import bench.run.case as c\nc.written = lambda value: b'[' * 1000000",
    "another_each_time": "import os\nreturn os.urandom(4).hex()",
    "unstable_by_count": "global N\nN = globals().get('N', 0) + 1\nreturn result.text[:60] if N % 2 else result.text",
    "thread_then": "import threading, os\nthreading.Thread(target=os._exit, args=(0,)).start()",
    "forks_then": "import os\nos.fork()",
    "answers_itself": "import os, stat, json\nfor fd in range(3, 64):\n    try:\n        if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, b'A' + (2).to_bytes(8, 'little') + b'{}')\n    except OSError: pass",
    "long_message": "import os, stat\nfor fd in range(3, 64):\n    try:\n        if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, b'A' + (1 << 40).to_bytes(8, 'little'))\n    except OSError: pass",
    "asks_for_counts": "import os, stat\nfor fd in range(3, 64):\n    try:\n        if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, b'C' + (4).to_bytes(8, 'little') + b'\\xff' * 4)\n    except OSError: pass",
    "asks_for_time": "import os, stat, struct\nfor fd in range(3, 64):\n    try:\n        if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, b'S' + (8).to_bytes(8, 'little') + struct.pack('=d', float('inf')))\n    except OSError: pass",
    "waits": "import time\ntime.sleep(600)",
    "prints_orders": "print('::set-output name=x::1')\nprint('\\x1b[2J\\x1b]0;title\\x07')",
    "writes_the_report": "import os\nopen('x.json', 'w').write('{}')",
}  # fmt: skip

CUT = "    return result.text[:60]\n"


def source(at_import: str = "", in_call: str = "pass") -> str:
    return f"{at_import}\ndef summarize(result):\n{textwrap.indent(in_call, '    ')}\n{CUT}"


def run(folder: Path, sources: dict[str, str]) -> tuple[int, dict]:
    """The exit code and the scores of a scenario with these strategies, an honest one of a file and a built-in one."""
    lines = ['traces = ["orders.jsonl"]', "[strategies]", 'other = { summarizer = "truncate:limit=300" }']
    for name, text in {"honest": source(), **sources}.items():
        (folder / f"{name}.py").write_text(text)
        lines.append(f'{name} = {{ summarizer = "{name}.py:summarize" }}')
    lines += ["[[gates]]", 'metric = "loss.fact_recall.shown"', "min = 0.9"]
    (folder / "scenario.toml").write_text("\n".join(lines) + "\n")
    (folder / "orders.jsonl").write_text(ORDERS)
    code = bench(
        "run", folder / "scenario.toml", "--jobs", 1, "--limit", "call=2", "--limit", "memory=537MB", "-o", folder / "x.json"
    )
    return code, json.loads((folder / "x.json").read_text())


def rows_of(scores: dict, hostile: set[str]) -> list:
    return [row for row in (*scores["rows"], *scores["summary"]) if row["strategy"] not in hostile]


def groups() -> list:
    each = [(name, source(at_import=text)) for name, text in AT_IMPORT.items()]
    each += [(name, source(in_call=text)) for name, text in IN_CALL.items()]
    return [
        pytest.param(dict(each[start : start + 15]), id=f"{each[start][0]}...") for start in range(0, len(each), 15)
    ]


def left_behind() -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [place.parent.name] * (b"987654" in place.read_bytes())
        except OSError:
            continue
    return found


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    code, scores = run(tmp_path_factory.mktemp("honest"), {})
    assert code == 1
    return rows_of(scores, set())


@pytest.mark.slow  # some wait until they are ended
@pytest.mark.parametrize("sources", groups())
def test_no_strategy_turns_its_verdict_or_touches_another_row_slow_because_some_hang(sources, honest, tmp_path, monkeypatch, capfd):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    environment = dict(os.environ)
    code, scores = run(tmp_path, sources)
    assert code == 1
    outcomes = {item["strategy"]: item["outcome"] for item in scores["verdicts"]}
    passed = {name for name in sources if outcomes[name] == "pass"}
    assert passed == set(), "a gate that should be red is green"
    assert outcomes["honest"] == outcomes["other"] == "fail"
    assert rows_of(scores, set(sources)) == honest, "rows of others are what they are without it"
    assert dict(os.environ) == environment
    assert left_behind() == []
    said = capfd.readouterr()
    assert "Traceback" not in said.out + said.err
    assert "\x1b]0;" not in said.out + said.err


def test_no_code_of_a_strategy_runs_in_the_process_that_measures_and_reports(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    noting = "import os\nopen(os.path.join(os.path.dirname(__file__), 'pids'), 'a').write(f'{os.getpid()}\\n')"
    (tmp_path / "orders.jsonl").write_text(ORDERS)
    (tmp_path / "mine.py").write_text(source(at_import=noting, in_call=noting))
    outputs = [text for ending in ("html", "md", "json", "xml", "txt", "csv") for text in ("-o", f"x.{ending}")]
    assert (
        bench(
            "run", "--traces", "orders.jsonl", "--strategy", "mine=summarizer=mine.py:summarize", "--jobs", 1, *outputs
        )
        == 0
    )
    pids = (tmp_path / "pids").read_text().split()
    assert pids
    assert str(os.getpid()) not in pids


@pytest.mark.slow  # each request imports the bench
def test_where_there_is_no_fork_they_do_not_either_slow_because_each_request_imports_the_bench(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setattr(apart, "can_fork", lambda: False)
    _, plain = run(tmp_path, {})
    at_import = ("exits", "prints_and_exits", "replaces_check", "closes_files", "poisons_json", "ignores_signals")
    in_call = ("exits_then", "packs_rubbish", "memory_error", "waits")
    sources = {name: source(at_import=AT_IMPORT[name]) for name in at_import}
    sources |= {name: source(in_call=IN_CALL[name]) for name in in_call}
    code, scores = run(tmp_path, sources)
    assert code == 1
    assert "pass" not in {item["outcome"] for item in scores["verdicts"]}
    assert rows_of(scores, set(sources)) == rows_of(plain, set())
