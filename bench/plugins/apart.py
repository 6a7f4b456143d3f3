"""A child process for somebody else's code: it imports that code once, and each request is answered in a fork of it. Data goes in, data comes out.

What the code does to Python, to its environment or to itself ends with the request. The child's answer is bytes, which are never unpickled.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import pickle
import select
import signal
import socket
import struct
import sys
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
from multiprocessing import get_all_start_methods, get_context
from typing import Any, NoReturn

from ..model.errors import debugged, one_line, raised_at
from .keeper import (
    children,
    end_below,
    held_mib,
    how_ended,
    keep,
    leave,
    limit_memory,
    regular_files,
    reopen,
)
from .worker import Limits as Limits

_PATIENCE_S = 3.0
_BEAT_S = 0.1
_HEAD, _LENGTH, _SECONDS, _CODE = (struct.Struct(form) for form in ("=cQ", "=Q", "=d", "=i"))
_LONGEST = 1 << 31
_TIMER = getattr(signal, "SIGPROF", 0)


class NoAnswer(Exception):
    """The reason why a request has no answer. `late`: it took too long; `ended`: its process ended; `spoilt`: the child cannot be used again."""

    def __init__(self, why: str, *, late: bool = False, ended: bool = False, spoilt: bool = False) -> None:
        super().__init__(why)
        self.late, self.ended, self.spoilt = late, ended, spoilt or late


_SPOILT = "it left its process unable to answer"


Prepare = Callable[[], Any]
"""A function that imports somebody else's code. It can be pickled, and raises nothing. Its answer is handed to each request."""


class Link:
    """The way from a request's process to the process that measures: to say that it goes on, and to have tokens counted there."""

    def __init__(self, pipe: socket.socket, call_s: float) -> None:
        self._call_s = call_s
        _limit_call(call_s)
        self._pipe, self._lock, self._process, self._last = pipe, threading.Lock(), os.getpid(), 0.0

    def step(self, extra_s: float = 0.0) -> None:
        """Say that the next call begins; it may take `extra_s` more than others. A process that the code forked, and that goes on like us, ends."""
        if _getpid() != self._process:
            leave(0)
        _limit_call(self._call_s)
        now = _monotonic()
        if now - self._last > _BEAT_S:
            self._last = now
            with self._lock:
                self.send(b"S", _SECONDS.pack(extra_s))

    def count(self, text: str) -> int:
        """The tokens of a text."""
        with self._lock:
            self.send(b"C", text.encode("utf-8", "surrogatepass"))
            return int(_LENGTH.unpack(self._read(_LENGTH.size))[0])

    def request(self) -> Any:
        """The request."""
        return pickle.loads(self._read(*_LENGTH.unpack(self._read(_LENGTH.size))))

    def send(self, kind: bytes, body: bytes) -> None:
        """Send a message of a kind: Step, Count, Answer, Memory is full, raised eXception."""
        self._pipe.sendall(_HEAD.pack(kind, len(body)) + body)

    def _read(self, size: int) -> bytes:
        found = bytearray()
        while len(found) < size:
            piece = self._pipe.recv(min(size - len(found), 1 << 20))
            if not piece:
                leave(1)
            found += piece
        return bytes(found)


class Apart:
    """A warm child process: `prepare` runs in it once, and each request in a fork of it. It starts with the first request, and anew after it died.

    What it prints goes to standard error, made printable. Ctrl-C is for the parent. It lives no longer than its parent, nor what it starts longer
    than it does. In a fork of its parent it is another child, of that fork.
    """

    def __init__(self, prepare: Prepare, limits: Limits) -> None:
        self.limits = limits
        self._prepare = prepare
        self._control: socket.socket | None = None
        self._owner = 0
        self._end: Callable[[bool], int | None] = _no_end

    def __reduce__(self) -> Any:
        """In another process it is another child, of that process."""
        return Apart, (self._prepare, self.limits)

    def ask(self, work: Callable[..., bytes], *given: Any, count: Callable[[str], int] | None = None) -> bytes:
        """The answer: `work(link, ready, *given)` as it is called in the child, `ready` being what `prepare` gave there. `count` counts tokens here.

        Raises NoAnswer.
        """
        request = pickle.dumps((work, given), pickle.HIGHEST_PROTOCOL)
        ours, theirs = socket.socketpair()
        told, tells = socket.socketpair()
        exchange = _Exchange(ours, told if can_fork() else None, request, self.limits, count)
        try:
            with theirs, tells:
                if can_fork():
                    with contextlib.suppress(OSError):  # it died: nobody has the other ends
                        socket.send_fds(self._started(), [b"\0"], [theirs.fileno(), tells.fileno()])
                else:
                    fresh = get_context("spawn").Process(target=_fresh, args=(theirs, self._prepare, self.limits))
                    fresh.start()
                    self._end = partial(_end_process, fresh)
            return exchange.answer()
        except NoAnswer as why:
            code = exchange.code
            if why.spoilt or code is None:
                code = self.stop(by_itself=why.ended)
            if why.ended and code is not None and -code == _TIMER:
                raise NoAnswer(self.limits.late, late=True) from None
            if why.ended and code is not None:
                raise NoAnswer(f"it ended its process ({how_ended(code)})", ended=True) from None
            raise
        finally:
            ours.close()
            told.close()

    def stop(self, *, by_itself: bool = False) -> int | None:
        """End the child and all that it started; its exit code, where it is about to end by itself."""
        end, self._end, self._control = self._end, _no_end, None
        return end(by_itself)

    def _started(self) -> socket.socket:
        if self._control is not None and self._owner == os.getpid():
            return self._control
        self._control, theirs = socket.socketpair()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})  # until it has handlers
        self._owner = here = os.getpid()
        try:
            number = os.fork()
            if number == 0:
                gc.freeze()  # what the parent has thrown away is not finalized here, where its threads are missing
                try:
                    keep(here, theirs.fileno(), lambda: _warm(theirs, self._prepare, self.limits))
                finally:
                    os._exit(1)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        self._end = partial(_end_kept, number, here, self._control)
        weakref.finalize(self, self._end, False)
        return self._control


class _Exchange:
    """One request and its answer, by a pipe; by another one it is told how the process ended."""

    def __init__(
        self,
        pipe: socket.socket,
        told: socket.socket | None,
        request: bytes,
        limits: Limits,
        count: Callable[[str], int] | None,
    ) -> None:
        self._pipe, self._told, self._limits, self._count = pipe, told, limits, count
        self._out, self._heard = memoryview(_LENGTH.pack(len(request)) + request), bytearray()
        self._until = time.monotonic() + limits.wall_s
        self.code: int | None = None
        pipe.setblocking(False)

    def answer(self) -> bytes:
        """Wait for the answer."""
        open_, ending, ended = True, False, False
        while True:
            left = self._until - time.monotonic()
            if left <= 0:
                raise NoAnswer(_SPOILT, spoilt=True) if ending else NoAnswer(self._limits.late, late=True)
            waits = [pipe for pipe in (self._told, self._pipe if open_ else None) if pipe is not None]
            readable, writable, _ = select.select(waits, [self._pipe] if self._out and open_ else [], [], left)
            if writable:
                with contextlib.suppress(OSError):
                    self._out = self._out[self._pipe.send(self._out) :]
            if self._told is not None and self._told in readable:
                said, ended = self._told.recv(_CODE.size), True
                self.code = _CODE.unpack(said)[0] if len(said) == _CODE.size else None
            more = self._pipe in readable or ended
            while open_ and more:
                open_, more = self._hear()
                if (found := self._understood()) is not None:
                    return found
            if ended or (self._told is None and not open_):
                raise NoAnswer(_SPOILT, ended=True)
            if not open_ and not ending:  # it may be about to end
                ending, self._until = True, time.monotonic() + _PATIENCE_S

    def _hear(self) -> tuple[bool, bool]:
        """Read what is there: whether the pipe is still open, and whether there may be more."""
        try:
            piece = self._pipe.recv(1 << 20)
        except BlockingIOError:
            return True, False
        except OSError:
            return False, False
        self._heard += piece
        return bool(piece), bool(piece)

    def _understood(self) -> bytes | None:
        """Act on each whole message; the answer, where it is among them."""
        while len(self._heard) >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._heard)
            if kind not in (b"S", b"C", b"A", b"M", b"X") or length > _LONGEST:
                raise NoAnswer(_SPOILT, spoilt=True)
            end = _HEAD.size + length
            if len(self._heard) < end:
                return None
            body = bytes(self._heard[_HEAD.size : end])
            del self._heard[:end]
            if kind == b"A":
                return body
            if kind == b"M":
                raise NoAnswer(self._limits.full)
            if kind == b"X":
                raise NoAnswer(one_line(body.decode("utf-8", "replace")))
            try:
                self._served(kind, body)
            except (struct.error, UnicodeDecodeError):
                raise NoAnswer(_SPOILT, spoilt=True) from None
        return None

    def _served(self, kind: bytes, body: bytes) -> None:
        if kind == b"S":
            (extra_s,) = _SECONDS.unpack(body)
            longer = extra_s if math.isfinite(extra_s) else 0.0
            self._until = time.monotonic() + self._limits.wall_s + longer + _BEAT_S
        elif self._count is not None:
            answer = _LENGTH.pack(self._count(body.decode("utf-8", "surrogatepass")))
            self._out = memoryview(bytes(self._out) + answer)


def can_fork() -> bool:
    """True if this system has processes of this kind."""
    return "fork" in get_all_start_methods()


def _no_end(by_itself: bool) -> int | None:
    return None


def _end_kept(keeper: int, owner: int, control: socket.socket, by_itself: bool) -> int | None:
    """End a child by its keeper, which alone knows all that is to end; its exit code, where it ended by itself."""
    control.close()
    if os.getpid() != owner:
        return None
    ways = ((0, _PATIENCE_S if by_itself else 0.02), (signal.SIGTERM, _PATIENCE_S), (signal.SIGKILL, _PATIENCE_S))
    for number, patience in ways:
        until = time.monotonic() + patience
        with contextlib.suppress(ProcessLookupError):
            os.kill(keeper, number)
        while True:
            try:
                found, status = os.waitpid(keeper, os.WNOHANG)
            except ChildProcessError:  # it was ended before, or somebody else waited for it
                return None
            if found:
                return os.waitstatus_to_exitcode(status) if by_itself and not number else None
            if time.monotonic() >= until:
                break
            time.sleep(0.001)
    return None


def _end_process(fresh: Any, by_itself: bool) -> int | None:
    fresh.join(_PATIENCE_S if by_itself else 0.02)
    code: int | None = fresh.exitcode
    fresh.kill()
    return code


# ---------------------------------------------------------------- in the child

_getpid, _monotonic, _fork, _waitpid = os.getpid, time.monotonic, os.fork, os.waitpid


def _warm(control: socket.socket, prepare: Prepare, limits: Limits) -> None:
    """Import the code, then fork a process for each request until the control closes."""
    limit_memory(held_mib() + limits.memory_mib)
    _limit_call(limits.call_s)
    ready = prepare()
    _limit_call(0.0)
    held, opened = held_mib(), regular_files({control.fileno()})
    limit_memory(held + limits.memory_mib)
    gc.freeze()  # so that a fork copies few pages
    for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
        signal.setitimer(timer, 0.0)  # the code meant to limit its own import
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    spared = frozenset(children())
    while True:
        message, files, _, _ = socket.recv_fds(control, 1, 2)
        if not message or len(files) != 2:
            return
        pipe, tells = files
        number = _fork()
        if number == 0:
            os.close(tells)
            control.close()
            os.setpgid(0, 0)
            reopen(opened)
            _answer(socket.socket(fileno=pipe), ready, limits.call_s)
        os.close(pipe)
        while True:
            ended, status = _waitpid(-1, 0)
            if ended == number:
                break
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(number, signal.SIGKILL)
        end_below(spared)
        with contextlib.suppress(OSError):
            os.write(tells, _CODE.pack(os.waitstatus_to_exitcode(status)))
        os.close(tells)


_set_timer = getattr(signal, "setitimer", None)


def _limit_call(seconds: float) -> None:
    """Let this process end by a signal (SIGPROF) after so much processor time from now, where there is such a timer."""
    if _set_timer is not None:
        _set_timer(signal.ITIMER_PROF, seconds)


def _fresh(pipe: socket.socket, prepare: Prepare, limits: Limits) -> None:
    """Answer one request in a process of its own, on platforms without fork."""
    limit_memory(held_mib() + limits.memory_mib)
    _answer(pipe, prepare(), limits.call_s)


def _answer(pipe: socket.socket, ready: Any, call_s: float) -> NoReturn:
    """Answer the request of a pipe, and end."""
    code = 1
    try:
        link = Link(pipe, call_s)
        work, given = link.request()
        try:
            kind, body = b"A", work(link, ready, *given)
        except MemoryError:
            kind, body = b"M", b""
        except BaseException as error:
            debugged(error)
            place = raised_at(error)
            said = f"{f'{place}: ' if place else ''}{type(error).__name__}: {one_line(error)}"
            kind, body = b"X", said.encode("utf-8", "replace")
        limit_memory(None)
        _limit_call(0.0)
        if _getpid() == link._process:
            link.send(kind, body)
        code = 0
    finally:
        leave(code)
