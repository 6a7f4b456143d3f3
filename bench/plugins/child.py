"""The child's side of the process boundary, in three kinds of processes, each below the one before.

The warden runs no user code: it waits, and ends all processes below it. The importer imports the
user code, and forks a process for each session.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import gc
import importlib
import os
import pickle
import resource
import signal
import struct
import sys
import time
from collections.abc import Iterator, Sequence, Set

# Bound here, before that code is imported, which may put others in their places.
from os import WNOHANG, _exit, close, fork, getpid, kill, killpg, setpgid, waitpid
from pathlib import PurePath
from select import POLLIN, poll
from signal import SIG_DFL, SIGKILL
from socket import MSG_WAITALL, recv_fds, socket
from typing import Any, NoReturn

from ..model.errors import own_error
from .frames import CODE, SPOILT, Frames, Limits, Work

_FULL = "it needs more than {0.memory_mib} MiB of memory — keep less, or raise --limit memory=N"
_builtins, _BUILTINS = vars(builtins), dict(vars(builtins))
_libc = ctypes.CDLL(None)
_GLANCE_MS = 5
_DEATH_SIGNAL, _SUBREAPER, _NO_NEW_PRIVILEGES = 1, 36, 38
_CREATE_RULES, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READS = 0b_0100  # the content of files; folders are listed, and programs run
_CHANGES = 0b_0111_1111_1111_0110  # that, and every right of Landlock to change files
_TO_A_FILE = 0b_0100_0000_0000_0110

WRITABLE = "BENCH_WRITABLE"
"""The environment variable that names folders and files, with colons between, that user code may
change.
"""


class Link(Frames):
    """The connection from a session's process to the process that measures."""

    def count(self, item: bytes) -> int:
        """The tokens of something that the process that measures can read."""
        self.send(b"C", item)
        return int.from_bytes(self.request(), "big")

    def request(self) -> bytes:
        """The next request. Ends this process at the end of the requests."""
        try:
            _, body = self.receive()
        except EOFError:
            _exit(0)
        return body


# ---------------------------------------------------------------- the warden


def main(number: int, size: int) -> NoReturn:
    """Run the warden: start the process that imports the code, and end all below it when that ends.

    `number` is the file descriptor of the control socket to the process that measures, `size` the
    bytes that it sends before the sockets of sessions. The warden ends with the same exit code or
    signal as the process below it.
    """
    control = socket(fileno=number)
    os.set_inheritable(number, False)
    for stream in (sys.stdout, sys.stderr):  # in whole lines, since sessions share them
        stream.reconfigure(  # type: ignore[union-attr]
            encoding="utf-8", errors="backslashreplace", line_buffering=True, write_through=False
        )
    modules, limits, prepare = pickle.loads(control.recv(size, MSG_WAITALL))
    for name in modules:
        importlib.import_module(name)
    _prctl(_SUBREAPER, 1)  # whatever is left below becomes its child
    _own_folder()
    leave, below = _exit, fork()  # bound to a local name, which that code cannot replace
    if below == 0:
        try:
            _import(control, limits, prepare)
        finally:  # without a traceback: what that code broke is not the bench's
            leave(1)
    code = _awaited(below, control)
    _end_below()
    _remove(os.environ["TMPDIR"])
    if code is None:
        _exit(0)
    if code < 0:
        with contextlib.suppress(OSError):
            signal.signal(-code, SIG_DFL)
        kill(getpid(), -code)
    _exit(code)


def _awaited(number: int, control: socket) -> int | None:
    """The exit code of a process; None if the bench has died or needs it no more."""
    events, glance_ms = poll(), _GLANCE_MS
    events.register(control.fileno(), 0)  # no event but that its other end was closed
    with contextlib.ExitStack() as opened:
        with contextlib.suppress(AttributeError, OSError):  # on Linux its end is an event too
            events.register(pidfd := os.pidfd_open(number), POLLIN)
            opened.callback(close, pidfd)
            glance_ms = -1
        while True:
            ended, status = waitpid(number, WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            if control.fileno() in dict(events.poll(glance_ms)):
                return None


def _end_below(but: Set[int] = frozenset()) -> None:
    """End every process below this one, but some."""
    until = time.monotonic() + 2.0
    while (numbers := _children() - but) and time.monotonic() < until:
        for number in numbers:
            with contextlib.suppress(OSError):
                kill(number, SIGKILL)
                waitpid(number, WNOHANG)


def _own_folder() -> None:
    """Make the temporary folder of this process, and of all below it, in TMPDIR."""
    folder = os.path.join(os.environ["TMPDIR"], f"bench-{os.urandom(8).hex()}")
    os.mkdir(folder, 0o700)
    os.environ["TMPDIR"] = folder


def _remove(folder: str) -> None:
    """Remove the temporary folder of this process, however deep it is, and also where the code took
    its own rights away."""
    try:
        os.rmdir(folder)
    except OSError:  # the code left files
        import subprocess

        for command in (["chmod", "-R", "u+rwx", folder], ["rm", "-rf", folder]):
            subprocess.run(command, stderr=subprocess.DEVNULL, check=False)


def _children() -> set[int]:
    """The ids of the child processes, including orphans of ended children. Empty outside Linux."""
    numbers: set[int] = set()
    with contextlib.suppress(OSError):
        os.waitid(os.P_ALL, 0, os.WEXITED | WNOHANG | os.WNOWAIT)  # raises where there is none
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children", "rb") as file:
                numbers.update(map(int, file.read().split()))
    return numbers


# ---------------------------------------------------------------- the process that imports


def _import(control: socket, limits: Limits, prepare: bytes) -> NoReturn:
    """Import the code, then fork a process for each session, until the control closes."""
    _begin()
    _prctl(_SUBREAPER, 1)
    _prctl(_NO_NEW_PRIVILEGES, 1)
    _restrict(_rules(limits.hidden))
    from_here = _rules(())  # made once: it takes as long as a fork
    control.send(CODE.pack(0))
    ready = _prepared(prepare, limits)
    own = _children()  # which the code started as it was imported
    while True:
        pipe = _next(control)
        number = fork()
        if number == 0:
            _begin()
            control.close()
            _restrict(from_here)
            _answer(pipe, ready, limits)
        pipe.close()
        code = _awaited(number, control)
        with contextlib.suppress(OSError):
            killpg(number, SIGKILL)
        _end_below(own)
        if code is None:
            _exit(0)
        control.send(CODE.pack(code))


def _begin() -> None:
    """Begin a process that ends with the one above it, and has a group of its own."""
    setpgid(0, 0)
    _prctl(_DEATH_SIGNAL, SIGKILL)


def _next(control: socket) -> socket:
    """The next socket that comes in. Ends this process where the control closes instead."""
    message, files, _, _ = recv_fds(control, 1, 1)
    if not message or not files:
        _exit(0)
    return socket(fileno=files[0])


def _prepared(prepare: bytes, limits: Limits) -> Any:
    """The value of `prepare()`, which imports the code, within the limit of memory."""
    _limit_memory(limits.memory_mib << 20)
    ready = pickle.loads(prepare)()
    gc.collect()
    gc.freeze()  # so that a fork copies few pages
    return ready


# ---------------------------------------------------------------- the process of a session


def _answer(pipe: socket, ready: Any, limits: Limits) -> NoReturn:
    """Answer the requests of one session, and end."""
    link, own, leave = Link(pipe), getpid(), _exit
    anything, no_memory = BaseException, MemoryError  # that code may replace all that is built in
    full = _FULL.format(limits).encode()  # while there is room for it
    try:
        work: Work = pickle.loads(link.request())
        while True:
            request = link.request()
            try:
                body = work(link, ready, request)
                if getpid() != own:  # a fork that the code made, and that goes on as this process
                    leave(0)
                link.send(b"A", body)
            except no_memory:
                link.send(b"X", full)
            except anything as error:
                if getpid() != own:
                    leave(0)
                link.send(b"X", _error_text(error, _put_back()).encode("utf-8", "replace"))
    finally:
        leave(1)


def _put_back() -> list[str]:
    """Put back the built-in functions that the code replaced; returns their names."""
    replaced = [name for name, value in _BUILTINS.items() if _builtins.get(name) is not value]
    _builtins.update(_BUILTINS)
    return replaced


def _error_text(error: BaseException, replaced: list[str]) -> str:
    """The text of an error, and the names of the built-in functions that the code replaced."""
    also = f" — it replaced {', '.join(replaced)} of Python" if replaced else ""
    try:
        return f"{own_error(error)}{also}"
    except BaseException:  # it replaced parts of modules too
        return f"{SPOILT}{also}"


# ---------------------------------------------------------------- limits of a process


def _limit_memory(size: int) -> None:
    """Limit the memory of this process, and of each that it starts, to `size` bytes, where the
    system can."""
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = size if hard == resource.RLIM_INFINITY else min(hard, size)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _rules(hidden: Sequence[str]) -> int:
    """A Landlock rule set against reading hidden files and other processes' memory, changing files
    (Linux 6.7), and sending other processes signals (6.12); -1 where the system has none.

    Any rule set hides the memory of processes outside it. Allowed are changes in the temporary
    folder, and below WRITABLE.
    """
    with contextlib.suppress(AttributeError, OSError):
        call = _libc.syscall
        version = call(_CREATE_RULES, None, ctypes.c_size_t(0), 1)
        if version < 4:
            return -1
        no_signals = struct.pack("=QQQ", _CHANGES, 0, 2)
        rules = no_signals if version >= 6 else struct.pack("=Q", _CHANGES)
        number: int = call(_CREATE_RULES, rules, ctypes.c_size_t(len(rules)), 0)
        writable = (
            os.devnull,
            os.environ.get("TMPDIR", ""),
            *os.environ.get(WRITABLE, "").split(":"),
        )
        for rights, places in ((_READS, _beside({*hidden})), (_CHANGES, writable)):
            for place in places:
                with contextlib.suppress(OSError):  # "" or one that is not there
                    top = os.open(place, os.O_PATH)
                    fitting = rights if os.path.isdir(place) else rights & _TO_A_FILE
                    call(_ADD_RULE, number, 1, struct.pack("=Qi", fitting, top), 0)
                    close(top)
        return number
    return -1


def _restrict(rules: int) -> None:
    """Let a Landlock rule set hold for this process, and for each that it starts."""
    with contextlib.suppress(AttributeError):
        _libc.syscall(_RESTRICT_SELF, rules, 0)


def _beside(hidden: Set[str]) -> Iterator[str]:
    """Yield the places that hold nothing hidden: of each folder above a hidden one the others in
    it. Links are left out, since they lead elsewhere."""
    above = {str(folder) for path in hidden for folder in PurePath(path).parents}
    if not above:
        yield os.sep
    for folder in above:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if not (entry.path in hidden or entry.path in above or entry.is_symlink()):
                    yield entry.path


def _prctl(option: int, value: int) -> None:
    """Call Linux's `prctl` for this process; nothing on other systems."""
    with contextlib.suppress(AttributeError):
        _libc.prctl(option, value, 0, 0, 0)
