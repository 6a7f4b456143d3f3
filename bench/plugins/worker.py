"""The one process boundary: somebody else's code runs in a child, and only plain data comes back.

The child is a fresh interpreter that imports the code once; each session runs in a fork of it, or,
where there is no fork, in a fresh child. It gets requests one by one, so nothing of a later one
exists there. Its answers are bytes, which are never unpickled. Limits: processor time for each
request, time by the clock, memory. With a session ends all that it started.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..model.errors import SpecError, one_line, sayable

LEAST_MIB = 256
WAITS = 5.0
"""Seconds by the clock that a request may take for each of processor time: a busy machine fails nobody."""

HEAD, CODE = struct.Struct("=cQ"), struct.Struct("=i")
_LONGEST = 1 << 31
_START_S = 120.0
_MARK = "BENCH_CHILD"
_TIMER = getattr(signal, "SIGPROF", 0)


@dataclass(frozen=True)
class Limits:
    """Processor seconds for one request (a step of a strategy, a file of a reader), and MiB of memory."""

    call_s: float = 60.0
    memory_mib: int = 4096

    def __post_init__(self) -> None:
        if not self.call_s > 0 or self.memory_mib < LEAST_MIB:
            least = f"more than 0 s and at least {LEAST_MIB} MiB"
            raise SpecError(f"limits are {least}, got {self.call_s:g} s and {self.memory_mib} MiB")

    @property
    def wall_s(self) -> float:
        """Seconds by the clock for one request."""
        return WAITS * self.call_s

    @property
    def late(self) -> str:
        """The message for a request that takes longer."""
        what = f"a call took more than {self.call_s:g} s of processor time, or {self.wall_s:g} s in all"
        return f"{what} — make it faster, or raise --limit call=N"

    @property
    def full(self) -> str:
        """The message for code that needs more memory."""
        return f"it needs more than {self.memory_mib} MiB of memory — keep less, or raise --limit memory=N"


class NoAnswer(Exception):
    """The reason why a request has no answer. `late`: it took too long; `ended`: its process ended."""

    def __init__(self, why: str, *, late: bool = False, ended: bool = False) -> None:
        super().__init__(why)
        self.late, self.ended = late, ended


Answer = Callable[[bytes], bytes]
Open = Callable[..., Answer]
"""`open(link, ready, *given)` in the child: a function that answers the requests of one session."""


# ---------------------------------------------------------------- in the process that measures


class Child:
    """A warm child in which `prepare()` runs once; what that gives is handed to each session.

    It starts with the first session, and anew after it died. `prepare` and all that is given can be
    pickled. In another process it is another child, of that process. `first` are modules of the
    bench (`a.b`) that are imported, and functions (`a.b:f`) that are called, before any limit holds.
    """

    def __init__(self, prepare: Callable[[], Any], limits: Limits, first: tuple[str, ...] = ()) -> None:
        self.limits, self.prepare, self.first = limits, prepare, first
        self._lock = threading.RLock()
        self._running: _Running | None = None

    def __reduce__(self) -> Any:
        return Child, (self.prepare, self.limits, self.first)

    @contextlib.contextmanager
    def session(self, opens: Open, *given: Any, count: Callable[[str], int] | None = None) -> Iterator[Session]:
        """A session of `opens(link, ready, *given)`. `count` counts tokens for the child."""
        with self._lock:
            if self._running is None or self._running.owner != os.getpid():
                self._running = _Running(self)
            session = Session(self._running, self.limits, count)
            try:
                session.send(pickle.dumps((opens, given), pickle.HIGHEST_PROTOCOL))
                yield session
            finally:
                ended = session.close()
                session.pipe.close()
                if not ended:
                    self.stop()

    def stop(self) -> None:
        """End the child and all that it started."""
        if self._running is not None:
            self._running.stop()
        self._running = None


class _Running:
    """A child that runs: its process, and the socket that leads to it."""

    def __init__(self, child: Child) -> None:
        self.control, theirs = socket.socketpair()
        self.owner, self.forks, mark = os.getpid(), can_fork(), os.urandom(16).hex()
        main = f"main({theirs.fileno()}, {self.forks})"
        code = f"import sys; sys.path[:] = {sys.path!r}; from bench.plugins.child import main; {main}"
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
            env={**os.environ, _MARK: mark},
        )
        theirs.close()
        printing = threading.Thread(target=_print, args=(self.process.stdout,), daemon=True)
        printing.start()
        given = self.process, self.control, mark, printing, self.owner
        self.stop = weakref.finalize(child, _end, *given)
        about = pickle.dumps((child.prepare, child.limits), pickle.HIGHEST_PROTOCOL)
        with contextlib.suppress(OSError):
            for request in (pickle.dumps(child.first), about):
                self.control.sendall(HEAD.pack(b"P", len(request)) + request)
        self.control.settimeout(_START_S)
        self.exit_code()
        self.control.settimeout(None)

    def open(self) -> socket.socket:
        """The pipe to the process of a new session; where there is no fork that is the child itself."""
        if not self.forks:
            return self.control.dup()
        ours, theirs = socket.socketpair()
        with theirs, contextlib.suppress(OSError):  # it died: nobody has the other end
            socket.send_fds(self.control, [b"\0"], [theirs.fileno()])
        return ours

    def exit_code(self) -> int:
        """The exit code of the session's process, as the child tells it; of the child where it died."""
        code = b""
        with contextlib.suppress(OSError):
            code = self.control.recv(CODE.size)
        if len(code) == CODE.size:
            return int(CODE.unpack(code)[0])
        return self.process.wait(3.0)


class Session:
    """One process of somebody else's code, from its first request to its last."""

    def __init__(self, child: _Running, limits: Limits, count: Callable[[str], int] | None) -> None:
        self.pipe = child.open()
        self._child, self._limits, self._count = child, limits, count
        self._code: int | None = None
        self._until, self._late = 0.0, False

    def ask(self, request: bytes, extra_s: float = 0.0) -> bytes:
        """The answer to a request, which may take `extra_s` more by the clock. Raises NoAnswer."""
        self.send(request, extra_s)
        while True:
            kind, length = HEAD.unpack(self._read(HEAD.size))
            if length > _LONGEST:
                raise NoAnswer(_SPOILT)
            body = self._read(length)
            if kind == b"C" and self._count is not None:
                tokens = self._count(body.decode("utf-8", "surrogatepass"))
                self.send(tokens.to_bytes(8, "big"), extra_s)
            elif kind == b"A":
                return body
            elif kind == b"M":
                raise NoAnswer(self._limits.full)
            else:
                raise NoAnswer(one_line(body.decode("utf-8", "replace")) if kind == b"X" else _SPOILT)

    def send(self, body: bytes, extra_s: float = 0.0) -> None:
        """Send some bytes. What cannot be sent is noticed by who waits for the answer."""
        self._until = time.monotonic() + self._limits.wall_s + extra_s
        self.pipe.settimeout(self._limits.wall_s)
        with contextlib.suppress(OSError):
            self.pipe.sendall(HEAD.pack(b"R", len(body)) + body)

    def close(self) -> bool:
        """End the session; False where its process does not end by itself."""
        with contextlib.suppress(OSError):
            self.pipe.shutdown(socket.SHUT_WR)
        return self._child.forks and not self._late and self._has_ended()

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            left = max(0.0, self._until - time.monotonic())
            pipes = [self.pipe, *([self._child.control] if self._code is None else [])]
            ready = select.select(pipes, [], [], left if self._code is None else 0.0)[0]
            piece = b""
            if self.pipe in ready:
                with contextlib.suppress(OSError):
                    piece = self.pipe.recv(min(size - len(data), 1 << 20))
            elif ready:
                self._code = self._child.exit_code()
                continue
            elif self._code is None:
                self._late = True
                raise NoAnswer(self._limits.late, late=True)
            if not piece:
                raise self._without_answer()
            data += piece
        return bytes(data)

    def _has_ended(self) -> bool:
        if self._code is None and select.select([self._child.control], [], [], 3.0)[0]:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._code = self._child.exit_code()
        return self._code is not None

    def _without_answer(self) -> NoAnswer:
        if not self._has_ended() or self._code is None:
            return NoAnswer(_SPOILT)
        if self._code == -_TIMER:
            return NoAnswer(self._limits.late, late=True)
        return NoAnswer(f"it ended its process ({how_ended(self._code)})", ended=True)


_SPOILT = "it left its process unable to answer"


def how_ended(code: int) -> str:
    """The end of a process in words, by its exit code.

    >>> how_ended(-9), how_ended(7)
    ('signal 9', 'exit code 7')
    """
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def can_fork() -> bool:
    """True if this system can fork a process."""
    return hasattr(os, "fork")


def _print(stream: IO[bytes]) -> None:
    """Print what a child prints, made harmless for a terminal, to standard error."""
    with stream:
        for line in stream:
            with contextlib.suppress(Exception):
                sys.stderr.write(sayable(line.decode("utf-8", "replace")))


def _end(process: subprocess.Popen[bytes], control: socket.socket, mark: str, printing: Any, owner: int) -> None:
    control.close()
    if os.getpid() != owner:
        return
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    _kill_marked(mark)
    process.kill()
    process.wait()
    printing.join(1.0)


def _kill_marked(mark: str) -> None:
    """End every process with a mark in its environment, whatever group it is in: Linux alone tells."""
    wanted = f"{_MARK}={mark}".encode()
    for _ in range(3):  # one may start another meanwhile
        any_killed = False
        for place in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if wanted in place.read_bytes().split(b"\0"):
                    os.kill(int(place.parent.name), signal.SIGKILL)
                    any_killed = True
        if not any_killed:
            return
