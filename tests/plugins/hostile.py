"""Codes of strategies that do what they should not: what each does, and what the reason of its row says."""

from __future__ import annotations

from textwrap import indent

DEEP = "x = []\n    for _ in range(600):\n        x = [x]\n    return x"
ODD = "class Odd{base}:\n    def {method}(self, *given):\n        raise ValueError('odd')\n\n"
CALLS = {
    # what f does: (a part of the reason that is stated, the first lines of f, its last ones)
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
    "8 GB without a limit": (
        "maximum limit", "import resource as r\n",
        "r.setrlimit(r.RLIMIT_DATA, (r.RLIM_INFINITY, r.getrlimit(r.RLIMIT_DATA)[1])); return 'x' * (8 << 30)",
    ),
    "8 GB in pieces": ("a", "kept = []\n", "while True: kept.append(bytearray(1 << 24))"),
    "recursion": ("RecursionError", "", "return f(given)"),
    "600 levels": ("nested more than", "", DEEP),
    "a huge integer": ("4300 digits", "", "return [10 ** 5000]"),
    "an object": ("is wanted", "", "return object()"),
    "a set of objects": ("", "", "return {object()}"),
    "__str__ raises": ("is wanted", ODD.format(base="", method="__str__"), "return Odd()"),
    "__repr__ raises": ("is wanted", ODD.format(base="", method="__repr__"), "return Odd()"),
    "__class__ raises": ("odd", "class Odd:\n    @property\n    def __class__(self): raise ValueError('odd')\n\n", "return Odd()"),
    "an error whose __str__ raises": (
        "Odd: (a Odd that cannot be shown)", "class Odd(Exception):\n    def __str__(self): raise Odd\n\n", "raise Odd",
    ),
    "an error of a replaced function": (
        "exit code 1", "import builtins\n", "builtins.len = lambda item: 1 / 0; return 'x'",
    ),
    "a replaced function": ("", "import builtins\n", "builtins.isinstance = lambda *a: True; return 'x'"),
    "a replaced error": ("exit code 1", "import builtins\n", "builtins.BaseException = builtins.Exception = ValueError; raise KeyError('x')"),
    "all functions replaced": (
        "", "import builtins\n", "for name in ('str', 'type', 'len', 'next'): setattr(builtins, name, None)\n    raise KeyError('x')",
    ),
    "a replaced traceback": ("it left its process unable to answer", "import traceback\n", "traceback.extract_tb = None; raise KeyError('x')"),
    "a base error whose __str__ raises": (
        "Odd: (a Odd that cannot be shown)", "class Odd(BaseException):\n    def __str__(self): raise Odd\n\n", "raise Odd",
    ),
    "os.close": ("", "import os\n", "for n in range(3, 1024):\n        try: os.close(n)\n        except OSError: pass"),
}  # fmt: skip
LOADS = {
    "os._exit(0)": ("exit code 0", "import os\nos._exit(0)\n"),
    "SystemExit": ("SystemExit", "import sys\nsys.exit(0)\n"),
    "KeyboardInterrupt": ("KeyboardInterrupt", "raise KeyboardInterrupt\n"),
    "GeneratorExit": ("GeneratorExit", "raise GeneratorExit\n"),
    "endless loop": ("a call took more than", "while True: pass\n"),
    "8 GB": ("memory", "x = 'x' * (8 << 30)\n"),
    "hooks of imports": ("exit code 1", "import sys\nclass Hook:\n    def find_spec(self, *a): raise RuntimeError('hook')\n"
    "sys.meta_path.insert(0, Hook())\nsys.modules.clear()\nsys.addaudithook(lambda *a: 1 / 0)\ndef f(given): return 'x'\n"),
    "signal": ("signal 9", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"),
    "a constructor": ("exit code 3", "import os\nclass f:\n    def __init__(self): os._exit(3)\n    def summarize(self, result): return ''\n"),
}  # fmt: skip
LEFT_BEHIND = {
    "a process with an environment of its own, in a session of its own": "import subprocess\n"
    "subprocess.Popen(['/bin/sleep', '600'], env={}, start_new_session=True)\ndef f(given):\n"
    "    subprocess.Popen(['/bin/sleep', '600'], env={}, start_new_session=True)\n    return 'x'\n",
    "such a process of one that ended its parent": "import os, signal, subprocess\ndef f(given):\n"
    "    subprocess.Popen(['/bin/sleep', '600'], env={}, start_new_session=True)\n    os.kill(os.getppid(), signal.SIGKILL)\n",
    "a process that goes on as we do": "import os\ndef f(given):\n    os.fork()\n    return 'x'\n",
    "such a process at import": "import os\nos.fork()\ndef f(given): return 'x'\n",
    "a thread that never ends": "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\ndef f(given): return 'x'\n",
    "another folder": "import os\nos.chdir('/')\ndef f(given):\n    os.chdir('/')\n    return 'x'\n",
    "an alarm": "import signal\nsignal.alarm(1)\ndef f(given): return 'x'\n",
    "another json in a call": "import json\ndef f(given):\n    json.dumps = lambda *a, **k: 'patched'\n    return 'x'\n",
    "another encoder": "import json\njson.JSONEncoder.default = lambda self, item: 'patched'\ndef f(given): return 'x'\n",
    "what raises at the end": "import atexit\natexit.register(lambda: 1 / 0)\nclass D:\n    def __del__(self): 1 / 0\n"
    "kept = D()\ndef f(given): return 'x'\n",
    "a process that leaves": "import os, subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\ndef f(given):\n"
    "    if os.fork() == 0:\n        os.setsid()\n        subprocess.run(['sleep', '600'])\n    return 'x'\n",
    "an alarm that raises, again and again": "import signal\ndef h(*a): raise ValueError('alarm')\ndef f(given):\n"
    "    signal.signal(signal.SIGALRM, h)\n    signal.setitimer(signal.ITIMER_REAL, 0.5, 0.01)\n    return 'x'\n",
    "how its process is set": "import os, signal, sys\ndef f(given):\n    sys.setrecursionlimit(200)\n    os.umask(0o777)\n"
    "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    return 'x'\n",
    "how ours is set": "import os, resource, signal, sys\nsys.setrecursionlimit(200)\nos.umask(0o777)\nsys.path.clear()\nsys.stdout.close()\n"
    "os.close(1)\nsys.stderr = sys.excepthook = None\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nsignal.setitimer(signal.ITIMER_PROF, 0.2)\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))\n"
    "os.environ['BENCH_LIMITS'] = 'size=1'\nfor n in [n for n in sys.modules if n.startswith('bench')]: del sys.modules[n]\n"
    "def f(given): return 'x'\n",
    "a timer that ends Python": "import faulthandler\nfaulthandler.dump_traceback_later(0.2, exit=True)\ndef f(given): return 'x'\n",
    "a process of multiprocessing": "import multiprocessing\ndef f(given):\n    with multiprocessing.Pool(1) as pool:\n"
    "        return str(pool.map(abs, [-1]))\n",
    "what it prints past Python": "import os\nos.write(1, b'::debug::a\\n')\ndef f(given):\n    os.write(2, b'::debug::a\\n')\n"
    "    os.system('echo ::debug::a')\n    return 'x'\n",
    "a flood": "def f(given):\n    for _ in range(99): print('x' * 99_999)\n    return 'x'\n",
    "what it prints": "def f(given):\n    print('::set-output name=a::b\\n\\x1b[31m')\n    return 'x'\n",
}  # fmt: skip
FAILS = {
    "bad_memory": "kept = []\ndef f(given):\n    if not kept: kept.append(bytearray(400 << 20))\n    return 'x'\n",
    "bad_files": "kept = []\ndef f(given):\n    try:\n        while True: kept.append(open('/dev/null'))\n"
    "    except OSError: kept.pop().close()\n    return 'x'\n",
    "bad_modules": "import sys\ndef f(given):\n    sys.modules['toon_format'] = None\n    return 'x'\n",
}
ALTERS = {
    "bad_decimal": "import decimal\ndef f(given):\n    decimal.getcontext().prec = 1\n    return 'x'\n",
    "bad_separator": "import json\ndef f(given):\n    json.JSONEncoder.item_separator = ' ; '\n    return 'x'\n",
    "bad_encoder": "import json\ndef f(given):\n    json._default_encoder = json.JSONEncoder(indent=2)\n    return 'x'\n",
    "bad_method": "import json\ndef f(given):\n    json._default_encoder.encode = lambda item: 'patched'\n    return 'x'\n",
    "bad_hook": "import sys\ndef f(given):\n    sys.excepthook = None\n    return 'x'\n",
    "bad_toon": "import sys\ndef f(given):\n    toon = sys.modules.get('toon_format')\n    if toon: toon.encode = str\n    return 'x'\n",
    "bad_import": "import socket, subprocess, tempfile, threading\ndef refuse(*given, **named): raise RuntimeError('no')\n"
    "socket.socket = subprocess.Popen = threading.Thread = threading.Timer = refuse\n"
    "tempfile.mkstemp = tempfile.NamedTemporaryFile = tempfile.TemporaryFile = refuse\ndef f(given): return 'x'\n",
    "bad_data": "import resource\nresource.setrlimit(resource.RLIMIT_DATA, (100 << 20, resource.getrlimit(resource.RLIMIT_DATA)[1]))\n"
    "def f(given): return 'x'\n",
    "bad_addresses": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (300 << 20, resource.getrlimit(resource.RLIMIT_AS)[1]))\n"
    "def f(given): return 'x'\n",
}  # fmt: skip

CALLED = {name: f"def f(given):\n{indent(before, '    ')}    {body}\n" for name, (_, before, body) in CALLS.items()}
CODES = {
    **{f"load: {name}": code for name, (_, code) in LOADS.items()},
    **{f"left: {name}": code for name, code in LEFT_BEHIND.items()},
    **{f"alters: {name}": code for name, code in {**FAILS, **ALTERS}.items()},
}
REASONS = {name: reason for name, (reason, *_) in CALLS.items()} | {
    f"load: {name}": reason for name, (reason, _) in LOADS.items()
}


REQUESTS = bytearray()


def answers():
    return all_requests


def all_requests(link, request=b""):
    """All requests of the session so far; fails where it is told to."""
    if request == b"fail":
        raise ValueError
    REQUESTS.extend(request)
    return bytes(REQUESTS)
