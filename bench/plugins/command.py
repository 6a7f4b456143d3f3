"""Strategies in any language: programs that read and write lines of JSON.

A program runs below the child of its strategy, under the same limits, and ends with the run.
"""

from __future__ import annotations

import contextlib
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

_MOST_BYTES = 64 * 1024 * 1024  # of an answer
_LAST_BYTES, _LAST_CHARS = 2000, 300  # of standard error: read, and quoted


class Program:
    """One program, which the first request starts, without a shell, in the folder of the scenario.

    Each call writes `request` as one line of JSON and reads one line: `{"answer": …}`, or
    `{"error": "…"}`. Beside the answer there may be `handles`, values by name that it keeps outside
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
        """End the program. (In a child process its warden would, too.)"""
        self._errors.close()
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(OSError), self._process:
                pass

    def ask(self, request: Any) -> Any:
        """The answer to one request."""
        data = json.loads(compact_json(request))  # NaN and infinities, which JSON lacks, are null
        process = self._process = self._process or self._start()
        assert process.stdin
        assert process.stdout
        output = process.stdout.fileno()
        if select.select([output], [], [], 0)[0]:
            self._require_silence(os.read(output, _LAST_BYTES))
        with contextlib.suppress(OSError):  # the program closed its input
            process.stdin.write(json.dumps(data, separators=(",", ":")).encode() + b"\n")
            process.stdin.flush()
        answer = bytearray()
        while not answer.endswith(b"\n") and len(answer) < _MOST_BYTES:
            piece = os.read(output, 1 << 16)
            if not piece:
                raise self._error(self._why_ended(process))
            answer += piece
        line, _, more = bytes(answer).partition(b"\n")
        self._require_silence(more)
        return self._answer_in(line)

    def _error(self, what: str) -> StrategyError:
        return StrategyError(f"command {one_line(self.line)!r} {what}")

    def _require_silence(self, printed: bytes) -> None:
        """Raise StrategyError for output that no request asked for: all later answers would be
        taken for those to the next request."""
        if printed:
            what = f"printed {_start_of(printed)}, which no request asked for"
            raise self._error(f"{what} — print one line for each request")

    def _start(self) -> subprocess.Popen[bytes]:
        """The started program. Raises StrategyError if it cannot be started."""
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                self.argv, stdin=pipe, stdout=pipe, stderr=self._errors, cwd=self.cwd
            )
        except OSError as error:
            raise self._error(f"cannot be started: {error.strerror or error}") from error

    def _answer_in(self, line: bytes) -> Any:
        """The answer in a line of the program's output. Raises StrategyError if it has none."""
        reply: Any = None
        with contextlib.suppress(ValueError, RecursionError):
            reply = json.loads(line)
        if isinstance(reply, dict) and isinstance(reply.get("error"), str):
            raise self._error(f"reports: {one_line(reply['error'])}")
        if not isinstance(reply, dict) or "answer" not in reply:
            what = f'answered {_start_of(line)}, expected a line {{"answer": …}}'
            hint = "print nothing else to standard output; standard error is free"
            raise self._error(f"{what} — {hint}")
        self.handles = reply.get("handles") or {}
        if not isinstance(self.handles, dict):
            raise self._error("gave `handles` that are no object of values by name")
        return reply["answer"]

    def _why_ended(self, process: subprocess.Popen[bytes]) -> str:
        """The error about a program without an answer, with its last line of standard error."""
        end = "closed its output"
        with contextlib.suppress(subprocess.TimeoutExpired):  # it still runs
            end = f"ended with {how_ended(process.wait(1.0))}"
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - _LAST_BYTES))
        lines = self._errors.read().decode("utf-8", "replace").split("\n")
        last = next((f": {one_line(line)}" for line in reversed(lines) if line.strip()), "")
        return f"{end} before it answered{last[:_LAST_CHARS]} — run it by hand on one line of JSON"


def _start_of(output: bytes) -> str:
    return repr(one_line(output[:200].decode("utf-8", "replace")))


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
    is_path = os.sep in argv[0] and beside.is_file()
    program = str(beside.resolve()) if is_path else shutil.which(argv[0])
    if program is None:
        what = f"there is no program {argv[0]!r}"
        raise SpecError(f"command {line!r}: {what} — install it, or give its path")
    attributes = {"line": line, "argv": (program, *argv[1:]), "cwd": base.resolve()}
    return type("Program", (Program,), attributes)
