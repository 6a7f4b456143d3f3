"""The one process boundary: user code runs in a child process, and only plain data comes back.

The child is a fresh interpreter that imports the code once; each session runs in a fork of it. A
session is asked for one thing after another, so it cannot see later ones. Its answers are bytes,
which are never unpickled. Limited are the time of each answer and the memory.
All processes that a session started are ended before the next one begins, and when the child stops.
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
_LINE, _SHOWN = 1 << 16, 1_000_000
_MORE = f"\n(only the first {_SHOWN:,} characters of what such code prints are shown)\n"
_START_S, _ENDS_S, _CLEANS_S = 120.0, 3.0, 30.0
_OF_CI = "ACTIONS_", "BUILDKITE_", "CI_", "CIRCLE_", "GH_", "GITHUB_", "INPUT_", "RUNNER_"
_LATE = "a call took more than {0.call_s:g} s — make it faster, or raise --limit call=N"
_LONG = (
    "its answers, and what it counts, have more than {0.answer_bytes:,} bytes"
    " — answer less, or raise --limit memory=N"
)
_GIVEN_UP = "was late in another run, so it was not asked again"


class NoAnswer(BenchError):
    """The child gave no answer, or no answer in time: the code raised, exited, hung or grew."""


class Child:
    """A warm child process in which `prepare()` runs once; it returns the function that answers the
    requests of each session, `answer(link, *about, *request)` → bytes.

    It starts before the first session, and again after it died. `prepare` and its arguments can be
    pickled. A copy has a child of its own, whose sets are in another order; a copy in a forked
    process shares what was imported with the original.
    """

    def __init__(
        self, prepare: Callable[[], Any], limits: Limits | None = None, name: bytes = b""
    ) -> None:
        self._given = prepare, limits or Limits(), name or os.urandom(8)
        self._late: set[tuple[Hashable, ...]] = set()  # what late sessions were about
        self._owner = 0  # the process that started it; 0 before
        self._last: Session | None = None
        self._next: Session | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._importer: socket.socket  # the control sockets
        self._server: socket.socket
        self._end: Callable[[], object] = lambda: None

    def __reduce__(self) -> Any:
        return Child, self._given

    @contextlib.contextmanager
    def session(self, *about: Hashable, waits: bool = False) -> Iterator[Session]:
        """A context with a session; one that asks nothing where a session about the same was
        late.

        With `waits` its process has ended when the context ends; else it ends, and the one of the
        next session begins, while this process does something else.
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
            with contextlib.suppress(OSError):  # one that died is noticed by the session
                self._importer.recv(1)  # as it is about to import the code
        self._last = self._next or self._session()
        self._next = None
        return self._last

    def start(self) -> None:
        """Start the child, without waiting for it."""
        if not hasattr(os, "fork"):
            what = "code that is not part of the bench needs a system that can fork"
            raise SpecError(f"{what} — run it on Linux, macOS or WSL")
        *given, name = self._given
        self._owner, self._process = os.getpid(), None
        original = _STARTED.get(name)
        is_elsewhere = original is not None and original._owner not in (0, self._owner)
        if original and is_elsewhere and self._has_server(original._importer):
            self._end = weakref.finalize(self, self._server.close)
            return
        self._importer, theirs = socket.socketpair()
        request = pickle.dumps(given, pickle.HIGHEST_PROTOCOL)
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
        with contextlib.suppress(OSError):  # one that died is noticed by the session
            self._importer.sendall(request)
        self._has_server(self._importer)
        about = self._owner, self._process, printing, self._importer, self._server
        self._end = weakref.finalize(self, _end, *about)
        _STARTED[name] = self

    def _has_server(self, importer: socket.socket) -> bool:
        """True if an importer that has not ended was asked for a server."""
        self._server, theirs = socket.socketpair()
        with theirs, contextlib.suppress(OSError):
            socket.send_fds(importer, [b"\0"], [theirs.fileno()])
            return True
        return False

    def _session(self) -> Session:
        """A session, whose process starts now."""
        here, there = socket.socketpair()
        with there, contextlib.suppress(OSError):  # the child died: nobody has the other end
            socket.send_fds(self._server, [b"\0"], [there.fileno()])
        _, limits, _ = self._given
        return Session(here, limits, self._process)

    def stop(self) -> None:
        """End the child and all that it started."""
        self._end()
        self._owner, self._last, self._next = 0, None, None


_STARTED: weakref.WeakValueDictionary[bytes, Child] = weakref.WeakValueDictionary()
"""The children by name that this process has started, or one that it was forked from."""


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
            # Also where a fork of this process has the socket too.
            importer.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_CLEANS_S)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        printing.join(1.0)
    importer.close()
    server.close()


def _environment() -> dict[str, str]:
    """The environment of a child: this one without the seed of hashes, and without what a CI system
    sets: tokens, and the names of files from which it takes commands.

    The child makes its own folder in TMPDIR.
    """
    left_out = *_OF_CI, "PYTHONHASHSEED"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    prints = {"PYTHONIOENCODING": "utf-8:backslashreplace"}  # whatever text it is
    return {**kept, **prints, "TMPDIR": os.path.realpath(tempfile.gettempdir())}


class Session(Frames):
    """One session's process of user code, from its first request to its last."""

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
        """The body of the next message. Raises NoAnswer for a late, a too long or a missing one."""
        try:
            self._kind, body = self.receive(self._room, until)
        except OverflowError:
            raise NoAnswer(_LONG.format(self._limits)) from None
        except TimeoutError:
            self.is_late = True
            raise NoAnswer(_LATE.format(self._limits)) from None
        except (OSError, EOFError):  # the process above it ended too
            with contextlib.suppress(subprocess.TimeoutExpired):
                if self._child:
                    raise _ended(self._child.wait(_ENDS_S)) from None
            raise NoAnswer(SPOILT) from None
        self._room -= len(body)
        return body

    def end(self) -> None:
        """End the requests."""
        with contextlib.suppress(OSError):
            self.pipe.shutdown(socket.SHUT_WR)

    def has_ended(self) -> bool:
        """True if its process has ended, and with it all that it started; awaited for a few
        seconds."""
        until = time.monotonic() + _ENDS_S
        try:
            while True:
                self._kind, _ = self.receive(self._limits.answer_bytes, until)
        except EOFError:  # nobody has the other end
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
"""The lines that children of this process have printed, each with the characters shown up to its
end. Each is shown once, as far as the first million."""


def _print(stream: IO[bytes]) -> None:
    """Copy what children print for the first time, made harmless for a terminal, to standard
    error."""
    with stream:
        for line in iter(lambda: stream.readline(_LINE), b""):
            before = next(reversed(PRINTED.values()), 0)
            if before <= _SHOWN and line not in PRINTED:
                text = f"your code: {line.decode('utf-8', 'replace')}"
                PRINTED[line] = printed = before + len(text)
                with contextlib.suppress(Exception):
                    sys.stderr.write(sayable(text if printed <= _SHOWN else _MORE))
