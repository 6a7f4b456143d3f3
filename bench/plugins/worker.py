"""The one process boundary: user code runs in a child process, and only plain data comes back.

The child is a fresh interpreter that imports the code once; each session runs in a fork of it. A
session is asked for one thing after another, so it cannot see later ones. Its answers are bytes,
which are never unpickled. Limited are the time of each answer and the memory.
All processes that a session started are ended before the next one begins, and when the child stops.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from typing import IO, Any

from ..model.errors import BenchError, SpecError, one_line, sayable
from .frames import CODE, SPOILT, Frames, Limits as Limits, Work

_LINE, _SHOWN = 1 << 16, 1_000_000
_MORE = f"\n(only the first {_SHOWN:,} characters of what such code prints are shown)\n"
_START_S, _ENDS_S, _CLEANS_S = 120.0, 3.0, 30.0
_OF_CI = ("ACTIONS_", "BUILDKITE_", "CI_", "CIRCLE_", "GH_", "GITHUB_", "INPUT_", "RUNNER_")
_LATE = "a call took more than {0.call_s:g} s — make it faster, or raise --limit call=N"
_LONG = (
    "its answers, and what it counts, have more than {0.answer_bytes:,} bytes"
    " — answer less, or raise --limit memory=N"
)


_MOST_LATE = 3
_GIVEN_UP = f"was late in {_MOST_LATE} runs in a row, so it was not asked again"


class NoAnswer(BenchError):
    """The child gave no answer, or no answer in time: the code raised, exited, hung or grew."""


class Child:
    """A warm child process in which `prepare()` runs once; each session gets the value that it
    returns.

    It starts before the first session, and again after it died. `prepare` and its arguments can be
    pickled. A forked process, and a copy, has a child of its own.
    `modules` are the bench's modules to import before any limit applies. With `other_hashes` its
    sets are in another order than PYTHONHASHSEED sets.
    """

    def __init__(
        self,
        prepare: Callable[[], Any],
        modules: tuple[str, ...] = (),
        limits: Limits | None = None,
        other_hashes: bool = False,
    ) -> None:
        self._given = prepare, modules, limits or Limits(), other_hashes
        self._lock = threading.RLock()
        self._process: _Process | None = None
        self._end: Callable[[], object] = lambda: None
        self._late: Counter[bytes] = Counter()  # sessions in a row, by their work

    def __reduce__(self) -> Any:
        return Child, self._given

    @contextlib.contextmanager
    def session(self, work: Work) -> Iterator[Session | GivenUp]:
        """A context with a session, whose requests `work` answers; one that gives up where the same
        work was late in the last few sessions."""
        sent = pickle.dumps(work, pickle.HIGHEST_PROTOCOL)
        if self._late[sent] >= _MOST_LATE:
            yield GivenUp()
            return
        with self._lock:
            process = self._started()
            session = process.session()
            try:
                with session.pipe:
                    session.send(sent)
                    yield session
            finally:
                if session.is_late:
                    self._late[sent] += 1
                    self.stop()
                elif session.has_answered:
                    self._late.pop(sent, None)
                    process.prepare_session()

    def _started(self) -> _Process:
        """The child of this process, which starts now if there is none."""
        if self._process is None or not self._process.is_ready():
            self.stop()
            self._process = _Process(*self._given)
            self._end = weakref.finalize(self, self._process.end)
        return self._process

    def stop(self) -> None:
        """End the child and all that it started."""
        self._end()
        self._process = None


def _is_closed(control: socket.socket) -> bool:
    """True if nobody has the other end of a socket."""
    events = select.poll()
    events.register(control, 0)
    return bool(events.poll(0))


class _Process:
    """A child process that runs, and its sessions."""

    def __init__(
        self,
        prepare: Callable[[], Any],
        modules: tuple[str, ...],
        limits: Limits,
        other_hashes: bool,
    ) -> None:
        """Start the child, and send it the code to import."""
        if not hasattr(os, "fork"):
            what = "code that is not part of the bench needs a system that can fork"
            raise SpecError(f"{what} — run it on Linux, macOS or WSL")
        self.limits, self.owner = limits, os.getpid()
        self._last: Session | None = None
        self._prepared: Session | None = None
        self.control, theirs = socket.socketpair()
        given = modules, limits, pickle.dumps(prepare, pickle.HIGHEST_PROTOCOL)
        request = pickle.dumps(given, pickle.HIGHEST_PROTOCOL)
        same_path = f"import sys; sys.path[:] = {sys.path!r}"
        call = f"main({theirs.fileno()}, {len(request)})"
        code = f"{same_path}; from bench.plugins.child import main; {call}"
        self._process = subprocess.Popen(
            [sys.executable, "-B", "-u", "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[theirs.fileno()],
            env=_environment(other_hashes),
            start_new_session=True,
        )
        theirs.close()
        self._printing = threading.Thread(target=_print, args=(self._process.stdout,), daemon=True)
        self._printing.start()
        with contextlib.suppress(OSError):  # one that died is noticed by the session
            self.control.sendall(request)

    def is_ready(self) -> bool:
        """True if this very process uses it, its last session has ended, and the child goes on."""
        if self.owner != os.getpid():
            return False
        has_ended = self._last is None or self._last.exit_code is not None
        return has_ended and not _is_closed(self.control)

    def session(self) -> Session:
        """A new session."""
        if self._last is None:
            self._await_start()
        self._last, self._prepared = self._prepared or Session(self), None
        return self._last

    def prepare_session(self) -> None:
        """Let the next session's process start now, while this one does something else."""
        self._prepared = Session(self)

    def _await_start(self) -> None:
        """Wait until the child is about to import the code."""
        self.control.settimeout(_START_S)
        with contextlib.suppress(OSError):
            self.control.recv(CODE.size)

    def exit_code(self, seconds: float) -> int | None:
        """The exit code of a session's process as the child reports it, else the exit code of the
        child.

        None where neither arrives in time.
        """
        self.control.settimeout(seconds)
        try:
            data = self.control.recv(CODE.size)
        except TimeoutError:
            return None
        except OSError:  # it died before it read all that was sent
            data = b""
        if data:
            return int(CODE.unpack(data)[0])
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def end(self) -> None:
        """End the child and all processes that it started; in a fork of the owner only close the
        sockets."""
        if os.getpid() == self.owner:
            with contextlib.suppress(OSError):
                # Also where a fork of this process has the socket too.
                self.control.shutdown(socket.SHUT_RDWR)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_CLEANS_S)
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._printing.join(1.0)
        self.control.close()
        if self._prepared is not None:
            self._prepared.pipe.close()


def _environment(other_hashes: bool) -> dict[str, str]:
    """The environment of a child: this one without what a CI system sets.

    These are tokens, and the names of files from which it takes commands. The child makes its own
    folder in TMPDIR.
    """
    left_out = (*_OF_CI, "PYTHONHASHSEED") if other_hashes else _OF_CI
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return {**kept, "TMPDIR": tempfile.gettempdir()}


class Session:
    """One session's process of user code, from its first request to its last."""

    def __init__(self, process: _Process) -> None:
        self.pipe, theirs = socket.socketpair()
        self.pipe.settimeout(process.limits.call_s)
        self._frames = Frames(self.pipe)
        self._process, self._limits = process, process.limits
        self._room = process.limits.answer_bytes
        self.is_late = self.has_answered = False
        with theirs, contextlib.suppress(OSError):  # the child died: nobody has the other end
            socket.send_fds(process.control, [b"\0"], [theirs.fileno()])

    def ask(self, request: bytes = b"", count: Callable[[bytes], int] | None = None) -> bytes:
        """The answer to a request, within the limits.

        `count` counts tokens for the child. Raises NoAnswer, and what `count` raises.
        """
        until = time.monotonic() + self._limits.call_s
        self.send(request)
        while True:
            kind, body = self._received(until)
            if kind == b"C" and count is not None:
                self.send(count(body).to_bytes(8, "big"))
            elif kind == b"A":
                self.has_answered = True
                return body
            else:
                raise NoAnswer(
                    one_line(body.decode("utf-8", "replace")) if kind == b"X" else SPOILT
                )

    def send(self, body: bytes) -> None:
        """Send some bytes. A failure to send shows when the answer is awaited."""
        with contextlib.suppress(OSError):
            self._frames.send(b"R", body)

    @functools.cached_property
    def exit_code(self) -> int | None:
        """The exit code of its process, awaited; None where that does not end by itself."""
        return None if self.is_late else self._process.exit_code(_ENDS_S)

    def _received(self, until: float) -> tuple[bytes, bytes]:
        """The next message of the process. Raises NoAnswer for a late, a too long or a missing
        one."""
        try:
            kind, body = self._frames.receive(self._room, until)
            self._room -= len(body)
            return kind, body
        except OverflowError:
            raise NoAnswer(_LONG.format(self._limits)) from None
        except TimeoutError:
            self.is_late = True
            raise NoAnswer(_LATE.format(self._limits)) from None
        except (OSError, EOFError):
            raise self._without_answer() from None

    def _without_answer(self) -> NoAnswer:
        """The reason why the process gave no answer."""
        if self.exit_code is None:
            return NoAnswer(SPOILT)
        end = how_ended(self.exit_code)
        return NoAnswer(f"it ended its process ({end}) — return or raise, and do not exit")


class GivenUp:
    """A session that asks nothing, with code that was late too often."""

    def ask(self, request: bytes = b"", count: Callable[[bytes], int] | None = None) -> bytes:
        """Raises NoAnswer."""
        raise NoAnswer(_GIVEN_UP)


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
