"""The child side of the process boundary: it imports somebody else's code, and forks a process for each session."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import pkgutil
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from ..model.errors import debugged, one_line, raised_at
from .worker import CODE, HEAD, Answer, Limits


class Link:
    """The way from a session's process to the one that measures."""

    def __init__(self, pipe: socket.socket) -> None:
        self._pipe = pipe

    def count(self, text: str) -> int:
        """The tokens of a text."""
        self.send(b"C", text.encode("utf-8", "surrogatepass"))
        return int.from_bytes(self.receive(), "big")

    def send(self, kind: bytes, body: bytes) -> None:
        """Send a message of a kind: Count, Answer, Memory is full, raised eXception."""
        self._pipe.sendall(HEAD.pack(kind, len(body)) + body)

    def receive(self) -> bytes:
        """The next request. Ends this process where there is none."""
        return _received(self._pipe)


def _received(pipe: socket.socket) -> bytes:
    def read(size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = pipe.recv(min(size - len(data), 1 << 20))
            if not piece:
                _leave(0)
            data += piece
        return bytes(data)

    return read(HEAD.unpack(read(HEAD.size))[1])


# As they are before any of that code is imported, which may put others in their places.
_fork: Any
_killpg: Any
_setpgid: Any
_pidfd_open: Any
_fork, _killpg, _setpgid, _pidfd_open = (
    getattr(os, name, None) for name in ("fork", "killpg", "setpgid", "pidfd_open")
)
_getpid, _exit, _close, _kill, _waitpid = os.getpid, os._exit, os.close, os.kill, os.waitpid
_select, _socket = select.select, socket.socket
_recv_fds, _set_timer, _set_signal = socket.recv_fds, signal.setitimer, signal.signal


def main(control_number: int, forks: bool) -> NoReturn:
    """Be a child: import the code, then fork a process for each session until the control closes."""
    control = _socket(fileno=control_number)
    os.set_inheritable(control_number, False)
    sys.stdout = sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
    prctl(_SUBREAPER, 1)
    for name in pickle.loads(_received(control)):
        first = pkgutil.resolve_name(name)
        if ":" in name:
            first()
    control.send(CODE.pack(0))
    prepare, limits = pickle.loads(_received(control))
    _limit_memory(limits)
    _limit_call(limits.call_s)
    ready = prepare()
    for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL, signal.ITIMER_VIRTUAL):
        _set_timer(timer, 0.0)
    _limit_memory(limits)
    _set_signal(signal.SIGCHLD, signal.SIG_DFL)
    gc.collect()
    gc.freeze()  # so that a fork copies few pages
    spared = frozenset(_children())
    while forks:
        message, files, _, _ = _recv_fds(control, 1, 1)
        if not message or not files:
            _end_below(frozenset())
            _leave(0)
        number = _fork()
        if number == 0:
            _setpgid(0, 0)
            prctl(_DEATH_SIGNAL, signal.SIGKILL)
            control.close()
            _answer(_socket(fileno=files[0]), ready, limits)
        _close(files[0])
        code = _awaited(number, control)
        with contextlib.suppress(OSError):
            _killpg(number, signal.SIGKILL)
        _end_below(spared)
        control.send(CODE.pack(code))
    _answer(control, ready, limits)


def _awaited(number: int, control: socket.socket) -> int:
    """The exit code of a session's process. Ends with everything where the bench is gone."""
    handle = None if _pidfd_open is None else _pidfd_open(number)
    while True:
        ready = _select(
            [control] if handle is None else [control, handle],
            [],
            [],
            0.05 if handle is None else None,
        )[0]
        if control in ready:  # closed: nothing is sent during a session
            _killpg(number, signal.SIGKILL)
            _end_below(frozenset())
            _leave(0)
        ended, status = _waitpid(number, os.WNOHANG)
        if ended:
            if handle is not None:
                _close(handle)
            return os.waitstatus_to_exitcode(status)


def _answer(pipe: socket.socket, ready: Any, limits: Limits) -> NoReturn:
    """Answer the requests of one session, and end."""
    code, link, own = 1, Link(pipe), _getpid()
    try:
        opens, given = pickle.loads(link.receive())
        answer: Answer | None = None
        while True:
            request = link.receive()
            _limit_call(limits.call_s)
            try:
                answer = answer or opens(link, ready, *given)
                kind, body = b"A", answer(request)
            except MemoryError:
                kind, body = b"M", b""
            except BaseException as error:
                debugged(error)
                place = raised_at(error)
                line = f"{f'{place}: ' if place else ''}{type(error).__name__}: {one_line(error)}"
                kind, body = b"X", line.encode("utf-8", "replace")
            _limit_call(0.0)
            if _getpid() != own:  # a fork that the code made, and that goes on as this process does
                _leave(0)
            link.send(kind, body)
    finally:
        _leave(code)


def _leave(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()
    _exit(code)


def _limit_call(seconds: float) -> None:
    """Let this process end by a signal after so much processor time from now; 0: no limit."""
    _set_timer(signal.ITIMER_PROF, seconds)


def _limit_memory(limits: Limits) -> None:
    """Let this process hold so much beside what it holds, where the system has such a limit."""
    more = limits.memory_mib << 20
    with contextlib.suppress(ImportError, OSError, ValueError, StopIteration):
        import resource

        lines = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace").splitlines()
        used = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        wanted = used + more if hard == resource.RLIM_INFINITY else min(hard, used + more)
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def _children() -> list[int]:
    children: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path("/proc/self/task").iterdir():
            children += map(int, (task / "children").read_bytes().split())
    return children


def _end_below(spared: frozenset[int]) -> None:
    """End every child but the spared ones, and what was theirs, where the system tells which these are."""
    until = time.monotonic() + 2.0
    while (below := set(_children()) - spared) and time.monotonic() < until:
        for number in below:
            with contextlib.suppress(OSError):
                _kill(number, signal.SIGKILL)
                _waitpid(number, os.WNOHANG)


_DEATH_SIGNAL, _SUBREAPER = 1, 36


def prctl(option: int, value: int) -> None:
    """A setting of this process that Linux alone has."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
