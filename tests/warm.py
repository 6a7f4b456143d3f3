"""Commands in processes of their own that start in 10 ms: forked from a server that has imported the bench once."""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
IMPORTED_ONCE = [
    "warm",
    "preloaded",
    "pytest",
    "bench.cli",
    "bench.run.verbs",
    "bench.comparison.advice",
    "bench.replayer.replaying",
]
_NUMBERS = itertools.count()


@functools.cache
def _printed() -> str:
    """The folder of what the commands of this process print."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.cache
def _server() -> ForkServerContext:
    """The server, running, with what commands need imported: it finds these files by its environment alone."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED_ONCE)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        forkserver.ensure_running()
    return context


def _answer(
    module: str, arguments: Sequence[str], cwd: str, environment: Mapping[str, str], outputs: Sequence[str]
) -> None:
    """In the new process: become `python -m module arguments` (or `python -c code`) in a session of its own, with this folder,
    environment and output files."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate(outputs, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.setsid()
    sys.argv = [module, *arguments]
    if module == "pytest":
        sys.exit(int(pytest.main(list(arguments))))
    if module == "-c":
        exec(arguments[0], {"__name__": "__main__"})
    else:
        from bench.cli import main

        main(list(arguments))


class Warm:
    """A command that was started, and leads a process group of its own."""

    def __init__(
        self,
        module: str,
        arguments: Sequence[object],
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ):
        self._files = [f"{_printed()}/{next(_NUMBERS)}" for _ in range(2)]
        todo = (
            module,
            [str(one) for one in arguments],
            str(cwd or Path.cwd()),
            dict(environment or os.environ),
            self._files,
        )
        self.process = _server().Process(target=_answer, args=todo, daemon=False)
        self.process.start()

    def wait(self, seconds: float | None = None) -> int | None:
        """The exit code, negative where a signal ended it; None if it still runs after `seconds`."""
        self.process.join(seconds)
        return self.process.exitcode

    def kill(self) -> None:
        """Kill it with all that it started, and wait for its end."""
        with contextlib.suppress(ProcessLookupError):  # killed before it led a group
            os.killpg(self.process.pid or 0, signal.SIGKILL)
        self.process.kill()
        self.process.join()

    @property
    def printed(self) -> tuple[str, str]:
        """Standard output and standard error, so far."""
        texts = [Path(name).read_text() if Path(name).exists() else "" for name in self._files]
        return texts[0], texts[1]


def run_warm(
    module: str, *arguments: object, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A command with its exit code and output, as `subprocess.run` gives them."""
    started = Warm(module, arguments, cwd, environment)
    code = started.wait()
    assert code is not None
    return subprocess.CompletedProcess([module, *map(str, arguments)], code, *started.printed)


def processes_in(folder: Path) -> list[str]:
    """The numbers of the processes that work in a folder, but this one, where the system tells."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            found += [place.parent.name] if place.resolve() == folder and place.parent.name != str(os.getpid()) else []
    return found
