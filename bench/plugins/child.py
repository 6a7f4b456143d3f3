"""The child's side of the process boundary, in four kinds of processes, each below the one before.

The warden runs no user code: it waits, and ends all processes below it. The importer imports the
user code, and forks a server for each process of the bench; a server forks a process for each
session, and empties the folder of temporary files after it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
from collections.abc import Callable

# Bound here, before that code is imported, which may put others in their places.
from os import (
    WNOHANG,
    _exit,
    close,
    fork,
    getpid,
    kill,
    killpg,
    listdir,
    rmdir,
    unlink,
    waitpid,
)
from select import POLLIN, poll
from signal import SIG_DFL, SIGKILL
from socket import MSG_WAITALL, recv_fds, socket
from typing import NoReturn

from ..model.errors import own_error
from .confined import (
    adopt_orphans,
    begin_below,
    limit_memory,
    own_folder,
    restrict_to,
    rules_without,
    temporary_folders,
)
from .frames import CODE, SPOILT, Frames, Limits

_FULL = "it needs more than {0.memory:,} bytes of memory — keep less, or raise --limit memory=N"
_GLANCE_MS = 5  # where the system does not say that a process ended


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
    """Run the warden: start the importer, and end all below when that ends or the bench closes the
    control socket.

    `number` is the file descriptor of that socket, `size` the bytes that the bench sends before the
    sockets of sessions. The warden ends with the same exit code or signal as the importer.
    """
    control = socket(fileno=number)
    os.set_inheritable(number, False)
    prepare, limits = pickle.loads(control.recv(size, MSG_WAITALL))
    adopt_orphans()
    folder = own_folder()
    leave, importer = _exit, fork()  # bound to a local name, which that code cannot replace
    if importer == 0:
        try:
            _import(control, limits, prepare)
        finally:  # without a traceback: what that code broke is not the bench's
            leave(1)
    code = _awaited(importer, control) or 0
    _end_below()
    _empty(folder)
    with contextlib.suppress(OSError):
        rmdir(folder)
    if code < 0:
        with contextlib.suppress(OSError):
            signal.signal(-code, SIG_DFL)
        kill(getpid(), -code)
    _exit(code)


def _awaited(number: int, control: socket) -> int | None:
    """The exit code of a process; None if the bench closed the control socket before."""
    events, its_end = poll(), -1
    events.register(control, 0)  # no event but that the bench closed it
    with contextlib.suppress(AttributeError, OSError):  # on Linux its end is an event too
        its_end = os.pidfd_open(number)
        events.register(its_end, POLLIN)
    while True:
        closed = control.fileno() in dict(events.poll(_GLANCE_MS if its_end < 0 else -1))
        ended, status = waitpid(number, WNOHANG)
        if closed or ended:
            if its_end >= 0:
                close(its_end)
            return os.waitstatus_to_exitcode(status) if ended else None


def _end_below() -> None:
    """End every process below this one; and then those that each leaves, as long as one can be
    ended."""
    goes_on = True
    while goes_on and (numbers := _children()):
        goes_on = False
        for number in numbers:
            with contextlib.suppress(OSError):
                kill(number, SIGKILL)
                goes_on = True
                waitpid(number, 0)


def _children() -> set[int]:
    """The ids of the child processes, including orphans of ended children. Empty outside Linux."""
    numbers: set[int] = set()
    with contextlib.suppress(OSError):
        os.waitid(os.P_ALL, 0, os.WEXITED | WNOHANG | os.WNOWAIT)  # raises where there is none
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children", "rb") as file:
                numbers.update(map(int, file.read().split()))
    return numbers


def _empty(folder: str) -> None:
    """Remove what is in a folder, however deep it is, and also where the code took its own rights
    away."""
    for name in listdir(folder):
        path = os.path.join(folder, name)
        try:
            unlink(path)
        except OSError:  # a folder
            import subprocess

            for command in (["chmod", "-R", "u+rwx", path], ["rm", "-rf", path]):
                subprocess.run(command, stderr=subprocess.DEVNULL, check=False)


# ---------------------------------------------------------------- the importer


def _import(
    control: socket, limits: Limits, prepare: Callable[[], Callable[..., bytes]]
) -> NoReturn:
    """Import the code, then fork a server for each control socket that comes in, until the bench
    closes this one."""
    begin_below()
    adopt_orphans()
    restrict_to(rules_without([*limits.hidden, *temporary_folders()]))
    control.send(b"\0")
    limit_memory(limits.memory)
    answer = prepare()
    gc.freeze()  # so that a fork copies few pages
    gc.enable()
    while True:
        _, files, _, _ = recv_fds(control, 1, 1)
        if not files:
            _exit(0)
        of_a_server = socket(fileno=files[0])
        if fork() == 0:
            begin_below()
            adopt_orphans()
            control.close()
            _serve(of_a_server, answer, limits)
        of_a_server.close()


# ---------------------------------------------------------------- a server


def _serve(control: socket, answer: Callable[..., bytes], limits: Limits) -> NoReturn:
    """Fork a process for each socket that comes in, one after another, until the bench closes the
    control socket. No session finds what another one wrote."""
    folder = own_folder()
    rules = rules_without()  # of sessions; made once: it takes as long as a fork
    while True:
        _, files, _, _ = recv_fds(control, 1, 1)
        if not files:
            _exit(0)
        link = Link(socket(fileno=files[0]))
        number = fork()
        if number == 0:
            begin_below()
            control.close()
            restrict_to(rules)
            _answer(link, answer, limits)
        code = _awaited(number, control)
        with contextlib.suppress(OSError):
            killpg(number, SIGKILL)
        _end_below()
        _empty(folder)
        if code is None:  # the warden cannot end it on every system
            _exit(0)
        link.send(b"E", CODE.pack(code))
        link.pipe.close()


# ---------------------------------------------------------------- the process of a session


def _answer(link: Link, answer: Callable[..., bytes], limits: Limits) -> NoReturn:
    """Answer the requests of one session, and end."""
    leave = _exit
    full = _FULL.format(limits).encode()  # while there is room for it
    try:
        while True:
            request = link.request()
            try:
                link.send(b"A", answer(link, *pickle.loads(request)))
            except MemoryError:
                link.send(b"X", full)
            except BaseException as error:
                try:
                    text = own_error(error)
                except BaseException:  # the code replaced what that needs
                    text = SPOILT
                link.send(b"X", text.encode("utf-8", "replace"))
    finally:
        leave(1)
