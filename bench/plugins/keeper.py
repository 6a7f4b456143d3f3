"""The keeper of a process that runs somebody else's code: a process between it and the bench, in which none of that code runs.

It makes printable what that process prints, by whatever way, and when that process or the bench ends it ends everything that was started there: on
Linux also what left its group and its session. Elsewhere only the group ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import select
import signal
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TextIO

from ..model.errors import debugged, sayable

_DEATH_SIGNAL, _SUBREAPER = 1, 36
_ENDING_S = 2.0
_GLANCE_S = 0.5
_LONGEST = 1 << 16


def adopt() -> None:
    """From here on a process that was started below this one, and was left alone, becomes its child. Linux alone has that."""
    _prctl(_SUBREAPER, 1)


def end_with_parent() -> None:
    """Let this process be killed when the one that forked it dies. Linux alone has that."""
    _prctl(_DEATH_SIGNAL, signal.SIGKILL)


def end_below(spared: frozenset[int] = frozenset()) -> None:
    """End every child of this process but the spared ones, and what was theirs, where the system tells which these are."""
    until = time.monotonic() + _ENDING_S
    while (found := set(children()) - spared) and time.monotonic() < until:
        for number in found:
            _send(number, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(number, os.WNOHANG)[0] == 0:
                    time.sleep(0.001)


def keep(bench: int, control: int, serve: Callable[[], None]) -> NoReturn:
    """In a process that the process `bench` just forked, with SIGINT and SIGTERM blocked: fork another one that serves, and end as it ended."""
    code = 1
    try:
        shut_but({control})
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
            signal.setitimer(timer, 0.0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        adopt()
        wakes, waking = os.pipe()
        os.set_blocking(waking, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(waking)
        said, saying = os.pipe()
        keeper = os.getpid()
        worker = os.fork()
        if worker == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _serve(keeper, saying, control, serve)
        os.close(control)
        os.close(saying)
        code = _watched(bench, worker, wakes, said)
    except BaseException as error:
        debugged(error)
    finally:
        _end_as(code)


def _watched(bench: int, worker: int, wakes: int, said: int) -> int:
    """Wait for the process, then end what it left; its exit code."""
    signal.signal(signal.SIGTERM, lambda number, frame: _send(worker, signal.SIGKILL))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    heard, code = bytearray(), None
    while code is None:
        readable = select.select([wakes, said], [], [], _GLANCE_S)[0]
        if os.getppid() != bench:  # it was killed
            _send(worker, signal.SIGKILL)
        if wakes in readable:
            os.read(wakes, 4096)
        if said in readable:
            _say(heard, os.read(said, _LONGEST))
        code = _reaped(worker)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(worker, signal.SIGKILL)
    end_below()
    while select.select([said], [], [], 0.0)[0] and (piece := os.read(said, _LONGEST)):
        _say(heard, piece)
    _say(heard, b"")
    return code


def _send(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)


def _reaped(worker: int) -> int | None:
    """Wait for all that has ended; the exit code of the process, where it is among them."""
    while True:
        number, status = os.waitpid(-1, os.WNOHANG)
        if number in (0, worker):
            return os.waitstatus_to_exitcode(status) if number else None


def _say(heard: bytearray, piece: bytes) -> None:
    """Print what was heard in whole lines; the last one, whole or not, at its end (no piece), and one that is very long."""
    heard += piece
    ends = heard.rfind(b"\n") + 1
    if not piece or (not ends and len(heard) >= _LONGEST):
        ends = len(heard)
    text = sayable(heard[:ends].decode("utf-8", "replace"))
    if text and not piece:
        text = f"{text}\n"
    del heard[:ends]
    rest = memoryview(text.encode("utf-8", "replace"))
    with contextlib.suppress(OSError):  # nobody reads it
        while rest:
            rest = rest[os.write(2, rest) :]


def _serve(keeper: int, saying: int, control: int, serve: Callable[[], None]) -> NoReturn:
    """Be the process of somebody else's code: it leads a group of its own, reads from nowhere, prints for its keeper, has no file of the bench."""
    code = 1
    try:
        os.setpgid(0, 0)
        end_with_parent()
        if os.getppid() != keeper:
            os._exit(1)
        nowhere = os.open(os.devnull, os.O_RDONLY)
        for end, standard in ((nowhere, 0), (saying, 1), (saying, 2)):
            os.dup2(end, standard)
        shut_but({control})
        sys.stdin, sys.stdout, sys.stderr = _streams()
        adopt()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
        serve()
        code = 0
    except BaseException as error:
        debugged(error)
    finally:
        leave(code)


def leave(code: int, *, _exit: Callable[[int], NoReturn] = os._exit) -> NoReturn:
    """End this process at once, whatever waits to be done at its end, once what it printed is out."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()
    _exit(code)


def _streams() -> tuple[TextIO, TextIO, TextIO]:
    """The standard files as streams."""
    reads = os.fdopen(0, encoding="utf-8", closefd=False)
    out, errors = (
        os.fdopen(number, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
        for number in (1, 2)
    )
    return reads, out, errors


def shut_but(kept: set[int]) -> None:
    """Let the files of this process lead nowhere, but for the standard ones and some. The numbers stay taken: an object may still close one."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in {*open_files()} - {0, 1, 2, nowhere} - kept:
        with contextlib.suppress(OSError):
            os.dup2(nowhere, number, inheritable=False)


def open_files() -> list[int]:
    """The numbers of this process's open files; none where the system does not say."""
    try:
        return [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        return []


def _end_as(code: int) -> NoReturn:
    """End this process with an exit code, or where it is negative by a signal."""
    if code < 0:
        with contextlib.suppress(ImportError, OSError, ValueError):
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


def how_ended(code: int) -> str:
    """The end of a process in words, by its exit code.

    >>> how_ended(-9), how_ended(7)
    ('signal 9', 'exit code 7')
    """
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def children() -> list[int]:
    """The children of this process; none where the system does not say."""
    try:
        found: list[int] = []
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children", "rb") as file:
                found += map(int, file.read().split())
        return found
    except OSError:
        return []


def _prctl(option: int, value: Any) -> None:
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


# ---------------------------------------------------------------- memory and open files of such a process

MIB = 1024 * 1024

LEAST_MIB = 256
"""The memory that the bench itself may need in such a process."""


def regular_files(kept: set[int]) -> list[int]:
    """The files that were opened at import."""
    found = []
    for number in {*open_files()} - kept - {0, 1, 2}:
        with contextlib.suppress(OSError):
            if stat.S_ISREG(os.fstat(number).st_mode):
                found.append(number)
    return found


def reopen(files: list[int]) -> None:
    """Open files once more under their numbers: a fork would share with others how far each was read."""
    for number in files:
        with contextlib.suppress(OSError):
            how = fcntl.fcntl(number, fcntl.F_GETFL) & (os.O_ACCMODE | os.O_APPEND)
            again = os.open(f"/proc/self/fd/{number}", how)
            os.lseek(again, os.lseek(number, 0, os.SEEK_CUR), os.SEEK_SET)
            os.dup2(again, number, inheritable=False)
            os.close(again)


def held_mib() -> int:
    """The memory that this process holds already, as a limit counts it: a fork has all of its parent. 0 where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmData:"))
    except (OSError, StopIteration):
        return 0


def limit_memory(mib: int | None) -> None:
    """Let this process, and what it starts, hold so many MiB; None takes the limit off. Nothing where the system has no such limit."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = hard if mib is None else mib * MIB if hard == resource.RLIM_INFINITY else min(hard, mib * MIB)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
