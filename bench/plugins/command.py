"""A strategy in any language: a process that is given one line of JSON and answers with one, for as long as a case lasts."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import weakref
from pathlib import Path
from typing import IO, Any

from ..model.errors import SpecError, StrategyError, one_line
from .worker import how_ended

TARGET = "command"
"""The beginning of a spec that names a process: `command:"node strategy.js"`."""

MAX_LINE_BYTES = 64 * 1024 * 1024
"""The longest answer that is read."""


class Process:
    """One running process. It is started at the first request, without a shell, in the folder that paths start from, and ended with the case.

    Each call writes `request` as one line of JSON and reads one line: `{"answer": …}`, or `{"error": "…"}`. Beside the answer may stand `handles`,
    the values by name that it keeps outside of what it shows: those of the last call. What it prints to standard error is
    shown where it dies. Raises StrategyError for an answer that is none, an error, a process that ends, and one that takes longer than `timeout`
    seconds a call (the first `start_timeout`: it may have to be compiled); it is then ended, with the processes that it started.
    """

    line = ""
    argv: tuple[str, ...] = ()
    cwd = Path()

    def __init__(self, *, timeout: float = 10.0, start_timeout: float = 120.0) -> None:
        for name, seconds in (("timeout", timeout), ("start_timeout", start_timeout)):
            if not seconds > 0:
                raise SpecError(f"{self._name}: {name} is {seconds:g}, expected seconds above 0")
        self.limits = (start_timeout, timeout)
        self.handles: dict[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self._close: weakref.finalize[Any, Any] | None = None
        self._late = False

    def ask(self, request: Any) -> Any:
        """The answer to one request."""
        line = json.dumps(request, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        first = self._process is None
        process = self._process or self._start()
        seconds = self.limits[0 if first else 1]
        watch = threading.Timer(seconds, self._expired)
        watch.daemon = True
        watch.start()
        answer = b""
        with contextlib.suppress(OSError):  # it no longer reads
            process.stdin.write(line)  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            answer = process.stdout.readline(MAX_LINE_BYTES)  # type: ignore[union-attr]
        watch.cancel()
        if self._late:
            self.close()
            what = f"{self._name} gave no answer within {seconds:g} s"
            raise StrategyError(f"{what} — make it faster, or set timeout=SECONDS")
        if not answer.endswith(b"\n"):
            raise StrategyError(self._ended(process, answer))
        return self._read(answer)

    @property
    def _name(self) -> str:
        return f"command {one_line(self.line)!r}"

    def _start(self) -> subprocess.Popen[bytes]:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        try:
            self._process = subprocess.Popen(
                self.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                cwd=self.cwd,
                start_new_session=True,
            )
        except OSError as error:
            raise StrategyError(f"{self._name} cannot be started: {error.strerror or error}") from error
        self._close = weakref.finalize(self, _end, self._process, self._stderr)
        return self._process

    def _expired(self) -> None:
        self._late = True
        if self._process is not None:
            _kill(self._process)

    def _read(self, line: bytes) -> Any:
        try:
            reply = json.loads(line)
        except ValueError:
            reply = None
        if isinstance(reply, dict) and isinstance(reply.get("error"), str):
            raise StrategyError(f"{self._name} reports: {one_line(reply['error'])}")
        if not isinstance(reply, dict) or "answer" not in reply:
            excerpt = one_line(line[:200].decode("utf-8", "replace"))
            what = f'{self._name} answered {excerpt!r}, expected a line {{"answer": …}}'
            raise StrategyError(f"{what} — print nothing else to standard output; standard error is free")
        self.handles = reply.get("handles") or {}
        if not isinstance(self.handles, dict):
            raise StrategyError(
                f"{self._name}: `handles` is a {type(self.handles).__name__}, expected an object of values by name"
            )
        return reply["answer"]

    def _ended(self, process: subprocess.Popen[bytes], answer: bytes) -> str:
        if len(answer) >= MAX_LINE_BYTES:
            self.close()
            return f"{self._name} answered with a line of more than {MAX_LINE_BYTES} bytes"
        how = "closed its output"
        with contextlib.suppress(subprocess.TimeoutExpired):  # it may go on
            how = f"ended with {how_ended(process.wait(1.0))}"
        last = self._last_words()
        self.close()
        return (
            f"{self._name} {how} before it answered{f': {last}' if last else ''} — run it by hand on one line of JSON"
        )

    def _last_words(self) -> str:
        """The end of what it printed to standard error."""
        if self._stderr is None:
            return ""
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - 2000))
        lines = [line for line in self._stderr.read().decode("utf-8", "replace").splitlines() if line.strip()]
        return one_line(lines[-1])[:300] if lines else ""

    def close(self) -> None:
        """End the process, if it runs. A later request starts another."""
        if self._close is not None:
            self._close()
        self._process, self._stderr, self._close, self._late = None, None, None, False


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it started."""
    with contextlib.suppress(OSError):  # it ended by itself
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _end(process: subprocess.Popen[bytes], stderr: IO[bytes]) -> None:
    _kill(process)
    for pipe in (process.stdin, process.stdout, stderr):
        with contextlib.suppress(OSError):  # what was still to be written, nobody reads any more
            if pipe is not None:
                pipe.close()
    process.wait()


def process_class(line: str, base: Path, method: str) -> type[Process]:
    """The class of a command line's processes, its work under the name that a slot's method has.

    Raises SpecError for a line that cannot be split, and for a program that is not there.
    """
    try:
        argv = shlex.split(line)
    except ValueError as error:
        raise SpecError(f"command {line!r}: {error}") from None
    if not argv:
        raise SpecError(f'command {line!r}: names no program — write command:"node strategy.js"')
    beside = base / argv[0]
    program = str(beside.resolve()) if os.sep in argv[0] and beside.is_file() else shutil.which(argv[0])
    if program is None:
        raise SpecError(f"command {line!r}: there is no program {argv[0]!r} — install it, or give its path")
    about = {"line": line, "argv": (program, *argv[1:]), "cwd": base.resolve()}
    return type("Process", (Process,), {**about, method: Process.ask})
