"""A process of its own for somebody's own code: forked, asked over a pipe, watched from outside, and ended with all that it started."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.util
import os
import pickle
import signal
import struct
import sys
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TextIO, cast

from ..errors import SpecError, sayable

MIB = 1024 * 1024

PATIENCE_S = 2.0
"""How long a process that is told to stop has to end what it started."""

GLANCE_S = 0.5
"""How often clocks, and processes whose pipes others hold open, are looked at."""


@dataclass(frozen=True)
class Limits:
    """What somebody's own code may take: seconds for a call (of a strategy, for its calls at one step; of a reader, for one file), and MiB of
    memory for its process.
    """

    call_s: float = 60.0
    memory_mib: int = 4096

    def __post_init__(self) -> None:
        if not self.call_s > 0 or self.memory_mib < 1:
            raise SpecError(f"limits must be above 0, got {self.call_s:g} s and {self.memory_mib} MiB")

    @property
    def late(self) -> str:
        """What is said of a call that takes longer."""
        return f"a call took more than {self.call_s:g} s — make it faster, or raise --call-timeout"

    @property
    def full(self) -> str:
        """What is said of code that needs more memory."""
        return f"it needs more than {self.memory_mib} MiB of memory — keep less, or raise --memory"


class Stopped(BaseException):
    """A process is to stop: nobody's failure."""


class Lost(Exception):
    """A process that gave no answer, and why; `late`: it took too long."""

    def __init__(self, why: str, late: bool = False) -> None:
        super().__init__(why)
        self.late = late


_LENGTH = struct.Struct("=Q")

_RUNNING: weakref.WeakSet[Apart] = weakref.WeakSet()


class Apart:
    """A process that answers requests with what `work` gives for each, until it is stopped; several of them know nothing of each other.

    It leads a group of its own, with all that it starts. What it prints goes to standard error, made sayable; nowhere if `quiet`. Ctrl-C is for
    the parent, which ends its processes itself. It lives no longer than its parent.
    """

    def __init__(self, work: Callable[[Any], Any], *, quiet: bool = False) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self._mark, self._heard, self._over = os.urandom(8), bytearray(), False
        # a fork has the pipes to the others too, and no pipe would ever end
        not_its_own = [self.pipe, *(other.pipe for other in _RUNNING if not other.pipe.closed)]
        self.process: BaseProcess = context.Process(target=_serve, args=(theirs, not_its_own, self._mark, work, quiet))
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the process ignores it
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        _RUNNING.add(self)
        self.stop = multiprocessing.util.Finalize(self, _stop, (self.process, self.pipe), exitpriority=1)
        """End it and what it started; it may have ended already."""

    def send(self, request: Any) -> None:
        """Ask for something; a process that died while it waited says so when it is heard."""
        with contextlib.suppress(OSError):
            self.pipe.send(request)

    def answered(self) -> bool:
        """Whether there is a whole answer, or will be none: it ended, or wrote something else into its pipe. Never waits."""
        while not self._over and self.pipe.poll():
            try:
                piece = os.read(self.pipe.fileno(), 1 << 20)
            except OSError:
                piece = b""
            self._heard += piece
            self._over = not piece or not self._mark.startswith(self._heard[:8])
        return self._over or self._answer() is not None or self.process.exitcode is not None

    def _answer(self) -> memoryview | None:
        """What is heard of an answer, where it is whole: a mark, how long it is, and as much."""
        start = len(self._mark) + _LENGTH.size
        if len(self._heard) < start:
            return None
        (length,) = _LENGTH.unpack_from(self._heard, len(self._mark))
        return memoryview(self._heard)[start:] if len(self._heard) >= start + length else None

    def hear(self) -> Any:
        """The answer that is there. Raises Lost where there will be none."""
        answer = None if self._over else self._answer()
        if answer is not None:
            self._heard = bytearray()
            return pickle.loads(answer)
        self.process.join(PATIENCE_S)
        if self.process.exitcode is None:  # it goes on, but no longer as it was made
            raise Lost("it left its process unable to answer")
        raise Lost(f"it ended its process ({how_ended(self.process.exitcode)})")

    def ask(self, request: Any, limits: Limits) -> Any:
        """The answer to a request. Raises Lost, also where it takes too long."""
        self.send(request)
        until = time.monotonic() + limits.call_s
        while not ready([self], min(GLANCE_S, max(0.0, until - time.monotonic()))):
            if time.monotonic() >= until:
                raise Lost(limits.late, late=True)
        return self.hear()


def ready(several: list[Apart], timeout: float) -> list[Apart]:
    """Those of some processes that answered or ended, once something came of any or the time is over. One that ended while a process that it
    started holds its pipes open is seen at the next call.
    """
    wait([item for one in several for item in (one.pipe, one.process.sentinel)], timeout)
    return [one for one in several if one.answered()]


def can_fork() -> bool:
    """Whether this system has processes of this kind."""
    return "fork" in multiprocessing.get_all_start_methods()


def how_ended(code: int) -> str:
    """How a process ended, by its exit code.

    >>> how_ended(-9), how_ended(7)
    ('signal 9', 'exit code 7')
    """
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def limit_memory(mib: int | None) -> None:
    """Let this process, and what it starts, hold so many MiB of its own; None takes the limit off. Nothing where the system has no such limit."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = hard if mib is None else mib * MIB if hard == resource.RLIM_INFINITY else min(hard, mib * MIB)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def _stop(process: BaseProcess, pipe: Connection) -> None:
    """End a process and what it started: asked first, since only it can end what has left its group."""
    pipe.close()
    if not wait([process.sentinel], timeout=0.05):
        process.terminate()
        wait([process.sentinel], timeout=PATIENCE_S)
    if process.pid is not None:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # not yet waited for, so that nobody else has its number
        except (ProcessLookupError, PermissionError):  # nothing is left of its group, or it never had one
            process.kill()
    process.join()


# ---------------------------------------------------------------- in the process


class _Told:
    """A stream for what somebody's own code prints, which may be text of a trace."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, made sayable."""
        self._stream.write(sayable(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _on_terminate(number: int, frame: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Stopped


def _serve(
    pipe: Connection, not_its_own: list[Connection], mark: bytes, work: Callable[[Any], Any], quiet: bool
) -> None:
    """Answer until the pipe closes."""
    # from here on what this process prints speaks to no terminal and to no CI system, and is no part of a report
    sys.stdout, sys.stderr = cast(TextIO, _Told(sys.stdout)), cast(TextIO, _Told(sys.stderr))
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, _on_terminate)
    for other in not_its_own:
        other.close()
    if quiet:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.dup2(2, 1)
    try:
        with contextlib.suppress(EOFError, OSError):
            while True:
                answer = work(pipe.recv())
                limit_memory(None)
                _write(pipe.fileno(), mark, pickle.dumps(answer))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except Stopped:  # once at most, wherever it finds this process
        return


def _write(pipe: int, mark: bytes, answer: bytes) -> None:
    rest = memoryview(mark + _LENGTH.pack(len(answer)) + answer)
    while rest:
        rest = rest[os.write(pipe, rest) :]
