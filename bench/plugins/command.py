"""Strategies in any language: programs that read and write lines of JSON.

A program runs below the child of its strategy, under the same limits, and ends with the run.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import select
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from ..model import compact_json
from ..model.errors import SpecError, StrategyError, one_line
from .worker import how_ended

MAX_LINE_BYTES = 64 * 1024 * 1024
"""The longest answer that is read."""

_LAST_BYTES, _LAST_CHARS = 2000, 300
_ENDS_MS = 5000


class Program:
    """One program, started without a shell by the first request, in the folder of the scenario.

    Each call writes `request` as one line of JSON and reads one line: `{"answer": …}`, or
    `{"error": "…"}`. With the answer may come `handles`, values by name that the call keeps outside
    of the prompt. If the program dies, its standard error is quoted. Raises StrategyError for a
    wrong answer, an error, a program that ends, and a line that no request asked for.
    """

    line = ""
    argv: tuple[str, ...] = ()
    cwd = Path()

    def __init__(self) -> None:
        self.handles: dict[str, Any] = {}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the program
        self._process: subprocess.Popen[bytes] | None = None

    def __del__(self) -> None:
        """End the program; in a child the child's end would do that."""
        self._errors.close()
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(OSError), self._process:
                pass

    def ask(self, request: Any) -> Any:
        """The answer to one request."""
        data = json.loads(compact_json(request))  # NaN and infinities, which JSON lacks, are null
        line = json.dumps(data, separators=(",", ":")).encode() + b"\n"
        if self._process is not None:
            self._require_silence(self._process)
        process = self._process = self._process or self._start()
        assert process.stdin
        assert process.stdout
        answer = b""
        with contextlib.suppress(OSError):  # it no longer reads
            process.stdin.write(line)
            process.stdin.flush()
            answer = process.stdout.readline(MAX_LINE_BYTES)
        if not answer.endswith(b"\n"):
            raise StrategyError(self._no_answer(process, answer))
        return self._answer_in(answer)

    def finish(self) -> None:
        """End the requests. Raises StrategyError if the program then says more.

        So an answer too many is found however late it comes: each later answer is one too old.
        """
        if self._process is not None:
            assert self._process.stdin
            with contextlib.suppress(OSError):  # it no longer reads
                self._process.stdin.close()
            self._require_silence(self._process, _ENDS_MS)

    def _require_silence(self, process: subprocess.Popen[bytes], wait_ms: int = 0) -> None:
        """Raise StrategyError for output that no request asked for.

        Until the output ends it is awaited for `wait_ms` milliseconds.
        """
        output = process.stdout
        assert isinstance(output, io.BufferedReader)
        events = select.poll()
        events.register(output, select.POLLIN)
        os.set_blocking(output.fileno(), False)
        left = output.peek()
        if not left and events.poll(wait_ms):
            left = output.peek()
        os.set_blocking(output.fileno(), True)
        if left:
            start = one_line(left[:200].decode("utf-8", "replace"))
            what = f"{self._name} printed {start!r}, which no request asked for"
            raise StrategyError(f"{what} — print one line for each request")

    @property
    def _name(self) -> str:
        return f"command {one_line(self.line)!r}"

    def _start(self) -> subprocess.Popen[bytes]:
        """The started program. Raises StrategyError where it cannot be started."""
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                self.argv, stdin=pipe, stdout=pipe, stderr=self._errors, cwd=self.cwd
            )
        except OSError as error:
            raise StrategyError(
                f"{self._name} cannot be started: {error.strerror or error}"
            ) from error

    def _answer_in(self, line: bytes) -> Any:
        """The answer in a line of the program's output. Raises StrategyError for a line without
        one."""
        reply: Any = None
        with contextlib.suppress(ValueError, RecursionError):
            reply = json.loads(line)
        if isinstance(reply, dict) and isinstance(reply.get("error"), str):
            raise StrategyError(f"{self._name} reports: {one_line(reply['error'])}")
        if not isinstance(reply, dict) or "answer" not in reply:
            start = one_line(line[:200].decode("utf-8", "replace"))
            what = f'{self._name} answered {start!r}, expected a line {{"answer": …}}'
            raise StrategyError(
                f"{what} — print nothing else to standard output; standard error is free"
            )
        self.handles = reply.get("handles") or {}
        if not isinstance(self.handles, dict):
            kind = type(self.handles).__name__
            raise StrategyError(
                f"{self._name}: `handles` is a {kind}, expected an object of values by name"
            )
        return reply["answer"]

    def _no_answer(self, process: subprocess.Popen[bytes], answer: bytes) -> str:
        """The message for a program that answered no line, with its last line of standard error."""
        if len(answer) >= MAX_LINE_BYTES:
            return f"{self._name} answered with a line of more than {MAX_LINE_BYTES} bytes"
        end = "closed its output"
        with contextlib.suppress(subprocess.TimeoutExpired):  # it may go on
            end = f"ended with {how_ended(process.wait(1.0))}"
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - _LAST_BYTES))
        lines = [
            line
            for line in self._errors.read().decode("utf-8", "replace").splitlines()
            if line.strip()
        ]
        last = f": {one_line(lines[-1])[:_LAST_CHARS]}" if lines else ""
        return f"{self._name} {end} before it answered{last} — run it by hand on one line of JSON"


def program_class(line: str, base: Path) -> type[Program]:
    """The class of the programs that a command line starts.

    Raises SpecError for a line that cannot be split, and for a program that does not exist.
    """
    try:
        argv = shlex.split(line)
    except ValueError as error:
        raise SpecError(f"command {line!r}: {error}") from None
    if not argv:
        raise SpecError(f'command {line!r}: names no program — write command:"node strategy.js"')
    beside = base / argv[0]
    program = (
        str(beside.resolve()) if os.sep in argv[0] and beside.is_file() else shutil.which(argv[0])
    )
    if program is None:
        raise SpecError(
            f"command {line!r}: there is no program {argv[0]!r} — install it, or give its path"
        )
    about = {"line": line, "argv": (program, *argv[1:]), "cwd": base.resolve()}
    return type("Program", (Program,), about)
