"""The process boundary: user code runs in a child process, and only plain data comes back.

The child (`child.py`) is a fresh interpreter that imports the code once; each session runs in a
fork of it. A session gets one request after another, so it cannot see later ones. Its answers are
bytes, which are never unpickled. The time of each answer and the memory are limited. All processes
that a session started are ended before the next one begins, and when the child stops.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator
from typing import IO, Any

from ..model.errors import BenchError, SpecError, one_line, sayable
from .frames import CODE, SPOILT, Frames, Limits as Limits

_MODULE = "bench.plugins.child"  # whose `main` a child runs
_LINE_BYTES, _SHOWN = 1 << 16, 1_000_000
_MORE = f"\n(only the first {_SHOWN:,} characters of what such code prints are shown)\n"
_START_S, _END_S, _CLEAN_S = 120.0, 3.0, 30.0  # the longest that each of these may take
_OF_CI = "ACTIONS_", "BUILDKITE_", "CI_", "CIRCLE_", "GH_", "GITHUB_", "INPUT_", "RUNNER_"
_LATE = "a call took more than {0.call_s:g} s — make it faster, or raise --limit call=N"
_LONG = (
    "its answers, and what it counts, have more than {0.answer_bytes:,} bytes"
    " — answer less, or raise --limit memory=N"
)
_GIVEN_UP = "was late in another run, so it was not asked again"


class NoAnswer(BenchError):
    """The child gave no answer in time: the code raised, exited, hung or used too much memory."""


class Child:
    """A child process that runs `prepare()` once and answers the requests of many sessions.

    `prepare()` returns the function that answers a request, `answer(link, *about, *request)` →
    bytes; it can be pickled. The child starts before the first session, and again after it died. A
    pickled copy has its own child, whose sets are in another order; but in a fork of this process
    it uses the importer of the original.
    """

    def __init__(
        self, prepare: Callable[[], Any], limits: Limits | None = None, name: bytes = b""
    ) -> None:
        self._arguments = prepare, limits or Limits(), name or os.urandom(8)
        self._late: set[tuple[Hashable, ...]] = set()  # the `about` of late sessions
        self._owner = 0  # the id of the process that started it; 0 before
        self._last: Session | None = None
        self._next: Session | None = None  # whose process starts early
        self._process: subprocess.Popen[bytes] | None = None
        self._importer: socket.socket  # the control sockets
        self._server: socket.socket
        self._end: Callable[[], object] = lambda: None

    def __reduce__(self) -> Any:
        return Child, self._arguments

    @contextlib.contextmanager
    def session(self, *about: Hashable, waits: bool = False) -> Iterator[Session]:
        """A context with a session `about` something. Its requests raise NoAnswer at once if an
        earlier session about the same was late.

        With `waits` the context waits at its end for the end of the session's process. Without,
        that process ends, and the next session's starts, while this process does something else.
        """
        session = self._new()
        session.about, session.is_given_up = about, about in self._late
        try:
            yield session
        finally:
            session.end()
            if session.is_late:
                self._late.add(about)
            if session.is_late or (waits and not session.has_ended()):
                self.stop()
            elif not waits:
                self._next = self._session()

    def _new(self) -> Session:
        """A new session, after the last one has ended."""
        if self._owner != os.getpid() or (self._last and not self._last.has_ended()):
            self.stop()
            self.start()
        if self._process and self._last is None:
            with contextlib.suppress(OSError):  # if it died, the session will notice
                self._importer.recv(1)  # it is about to import the code
        self._last = self._next or self._session()
        self._next = None
        return self._last

    def start(self) -> None:
        """Start the child, without waiting for it."""
        if not hasattr(os, "fork"):
            what = "code that is not part of the bench needs a system that can fork"
            raise SpecError(f"{what} — run it on Linux, macOS or WSL")
        *arguments, name = self._arguments
        self._owner, self._process = os.getpid(), None
        original = _STARTED.get(name)
        is_of_parent = original is not None and original._owner not in (0, self._owner)
        if original and is_of_parent and self._started_server(original._importer):
            self._end = weakref.finalize(self, self._server.close)
            return
        self._importer, theirs = socket.socketpair()
        request = pickle.dumps(arguments, pickle.HIGHEST_PROTOCOL)
        same_path = f"import gc, sys; gc.disable(); sys.path[:] = {sys.path!r}"
        call = f"main({theirs.fileno()}, {len(request)})"
        self._process = subprocess.Popen(
            [sys.executable, "-B", "-u", "-c", f"{same_path}; from {_MODULE} import main; {call}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[theirs.fileno()],
            env=_environment(),
            start_new_session=True,
        )
        theirs.close()
        printing = threading.Thread(target=_print, args=(self._process.stdout,), daemon=True)
        printing.start()
        self._importer.settimeout(_START_S)
        with contextlib.suppress(OSError):  # if it died, the session will notice
            self._importer.sendall(request)
        self._started_server(self._importer)
        resources = self._owner, self._process, printing, self._importer, self._server
        self._end = weakref.finalize(self, _end, *resources)
        _STARTED[name] = self

    def _started_server(self, importer: socket.socket) -> bool:
        """Ask an importer for a server; False if the importer has ended."""
        self._server, theirs = socket.socketpair()
        with theirs, contextlib.suppress(OSError):
            socket.send_fds(importer, [b"\0"], [theirs.fileno()])
            return True
        return False

    def _session(self) -> Session:
        """A session, whose process starts now."""
        ours, theirs = socket.socketpair()
        with theirs, contextlib.suppress(OSError):  # if the child died, the session will notice
            socket.send_fds(self._server, [b"\0"], [theirs.fileno()])
        _, limits, _ = self._arguments
        return Session(ours, limits, self._process)

    def stop(self) -> None:
        """End the child and all that it started."""
        self._end()
        self._owner, self._last, self._next = 0, None, None


_STARTED: weakref.WeakValueDictionary[bytes, Child] = weakref.WeakValueDictionary()
"""The children by name that this process, or one from which it was forked, has started."""


def _end(
    owner: int,
    process: subprocess.Popen[bytes],
    printing: threading.Thread,
    importer: socket.socket,
    server: socket.socket,
) -> None:
    """End a child and all processes that it started; in a fork of the owner only close the
    sockets."""
    if os.getpid() == owner:
        with contextlib.suppress(OSError):
            # Not only close, since a fork of this process can have the socket too.
            importer.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_CLEAN_S)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        printing.join(1.0)
    importer.close()
    server.close()


def _environment() -> dict[str, str]:
    """The environment of a child: this one without the seed of hashes, and without the variables of
    CI systems (tokens, and the names of files from which they take commands).

    The child makes its own folder in TMPDIR.
    """
    left_out = *_OF_CI, "PYTHONHASHSEED"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    prints = {"PYTHONIOENCODING": "utf-8:backslashreplace"}  # so that any text can be printed
    return {**kept, **prints, "TMPDIR": os.path.realpath(tempfile.gettempdir())}


class Session(Frames):
    """The connection to the process of one session, in which user code answers requests."""

    def __init__(
        self, pipe: socket.socket, limits: Limits, child: subprocess.Popen[bytes] | None
    ) -> None:
        super().__init__(pipe)
        pipe.settimeout(limits.call_s)
        self._limits, self._child = limits, child
        self._room = limits.answer_bytes
        self._kind = b""  # of the last message
        self.about: tuple[Hashable, ...] = ()
        self.is_late = self.is_given_up = False
        weakref.finalize(self, pipe.close)

    def ask(self, *request: Any, count: Callable[[bytes], int] | None = None) -> bytes:
        """The answer to a request, within the limits.

        `count` counts tokens for the child. Raises NoAnswer, and what `count` raises.
        """
        if self.is_given_up:
            raise NoAnswer(_GIVEN_UP)
        until = time.monotonic() + self._limits.call_s
        self.send(b"R", pickle.dumps((*self.about, *request), pickle.HIGHEST_PROTOCOL))
        while True:
            body = self._received(until)
            if self._kind == b"C" and count is not None:
                self.send(b"R", count(body).to_bytes(8, "big"))
            elif self._kind == b"A":
                return body
            elif self._kind == b"X":
                raise NoAnswer(one_line(body.decode("utf-8", "replace")))
            elif self._kind == b"E" and len(body) == CODE.size:
                raise _ended(*CODE.unpack(body))
            else:
                raise NoAnswer(SPOILT)

    def _received(self, until: float) -> bytes:
        """The body of the next message. Raises NoAnswer if it is late, too long or missing."""
        try:
            self._kind, body = self.receive(self._room, until)
        except OverflowError:
            raise NoAnswer(_LONG.format(self._limits)) from None
        except TimeoutError:
            self.is_late = True
            raise NoAnswer(_LATE.format(self._limits)) from None
        except (OSError, EOFError):  # the server, which would report the end, ended too
            with contextlib.suppress(subprocess.TimeoutExpired):
                if self._child:
                    raise _ended(self._child.wait(_END_S)) from None
            raise NoAnswer(SPOILT) from None
        self._room -= len(body)
        return body

    def end(self) -> None:
        """Tell the session's process that there are no more requests."""
        with contextlib.suppress(OSError):
            self.pipe.shutdown(socket.SHUT_WR)

    def has_ended(self) -> bool:
        """True if its process, and all that it started, ended within the next few seconds."""
        until = time.monotonic() + _END_S
        try:
            while True:
                self._kind, _ = self.receive(self._limits.answer_bytes, until)
        except EOFError:  # the server closed the socket, after reporting the end if it could
            return self._kind == b"E"
        except (OSError, OverflowError):
            return False


def _ended(code: int) -> NoAnswer:
    """The error for a process that ended, with its exit code."""
    return NoAnswer(f"it ended its process ({how_ended(code)}) — return or raise, and do not exit")


def how_ended(code: int) -> str:
    """The end of a process in words, by its exit code: "signal 9", "exit code 7"."""
    return f"signal {-code}" if code < 0 else f"exit code {code}"


PRINTED: dict[bytes, int] = {}
"""The lines that children of this process have printed, each with the number of characters shown up
to its end. Each line is shown once, until a million characters are shown."""


def _print(stream: IO[bytes]) -> None:
    """Copy the lines that children print for the first time to standard error, made harmless for a
    terminal."""
    with stream:
        for line in iter(lambda: stream.readline(_LINE_BYTES), b""):
            before = next(reversed(PRINTED.values()), 0)
            if before <= _SHOWN and line not in PRINTED:
                text = f"your code: {line.decode('utf-8', 'replace')}"
                PRINTED[line] = printed = before + len(text)
                with contextlib.suppress(Exception):
                    sys.stderr.write(sayable(text if printed <= _SHOWN else _MORE))
