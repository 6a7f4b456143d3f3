"""The child's side of the process boundary (`worker` is the other): four kinds of processes, each
started by the one before.

The warden runs no user code: it waits, and ends all processes below it. The importer imports the
user code, and forks a server for each process of the bench. A server forks a process for each
session, and afterwards empties the folder of temporary files.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
from collections.abc import Callable

# Imported by name, since user code may replace these functions in their modules.
from os import WNOHANG, _exit, close, fork, getpid, kill, killpg, listdir, rmdir, unlink, waitpid
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
_POLL_MS = 5  # between two looks, where the system gives no event for the end of a process


class Link(Frames):
    """The connection from a session's process to the process that measures."""

    def count(self, item: bytes) -> int:
        """The tokens of a text or message, counted by the process that measures."""
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
    """Run the warden: start the importer, and end all processes below when the importer ends or the
    bench closes the control socket.

    `number` is the file descriptor of that socket, `size` the bytes that the bench sends first. The
    warden ends with the exit code or the signal of the importer.
    """
    control = socket(fileno=number)
    os.set_inheritable(number, False)
    prepare, limits = pickle.loads(control.recv(size, MSG_WAITALL))
    adopt_orphans()
    folder = own_folder()
    leave, importer = _exit, fork()  # a local name, which user code cannot replace
    if importer == 0:
        try:
            _import(control, limits, prepare)
        finally:  # without a traceback, which would show code of the bench for a user's error
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
    """The exit code of a process; None if the bench closes the control socket before it ends."""
    events, process = poll(), -1
    events.register(control, 0)  # 0: only the event that the bench closed it
    with contextlib.suppress(AttributeError, OSError):  # on Linux the end of a process is an event
        process = os.pidfd_open(number)
        events.register(process, POLLIN)
    while True:
        is_closed = control.fileno() in dict(events.poll(_POLL_MS if process < 0 else -1))
        has_ended, status = waitpid(number, WNOHANG)
        if is_closed or has_ended:
            if process >= 0:
                close(process)
            return os.waitstatus_to_exitcode(status) if has_ended else None


def _end_below() -> None:
    """End every process below this one. The children of an ended process become children of this
    one, so it repeats until there are none, or none that can be ended."""
    can_end_more = True
    while can_end_more and (numbers := _children()):
        can_end_more = False
        for number in numbers:
            with contextlib.suppress(OSError):
                kill(number, SIGKILL)
                can_end_more = True
                waitpid(number, 0)


def _children() -> set[int]:
    """The ids of the child processes, including orphans of ended children. Empty outside Linux."""
    numbers: set[int] = set()
    with contextlib.suppress(OSError):
        os.waitid(os.P_ALL, 0, os.WEXITED | WNOHANG | os.WNOWAIT)  # raises if there is no child
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children", "rb") as file:
                numbers.update(map(int, file.read().split()))
    return numbers


def _empty(folder: str) -> None:
    """Remove the contents of a folder, also deep ones and those whose rights the code took away."""
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
    """Import the code, then fork a server for each control socket that the bench sends, until the
    bench closes this one."""
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
        server_control = socket(fileno=files[0])
        if fork() == 0:
            begin_below()
            adopt_orphans()
            control.close()
            _serve(server_control, answer, limits)
        server_control.close()


# ---------------------------------------------------------------- a server


def _serve(control: socket, answer: Callable[..., bytes], limits: Limits) -> NoReturn:
    """Fork a process for each session's socket that the bench sends, one after another, until the
    bench closes the control socket. No session finds files that another one wrote."""
    folder = own_folder()
    rules = rules_without()  # made once for all sessions, since it takes as long as a fork
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
        if code is None:  # the bench closed the socket; not on every system can the warden end this
            _exit(0)
        link.send(b"E", CODE.pack(code))
        link.pipe.close()


# ---------------------------------------------------------------- the process of a session


def _answer(link: Link, answer: Callable[..., bytes], limits: Limits) -> NoReturn:
    """Answer the requests of one session, and end."""
    leave = _exit
    full = _FULL.format(limits).encode()  # now, while there is memory for it
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
                except BaseException:  # user code replaced something that `own_error` needs
                    text = SPOILT
                link.send(b"X", text.encode("utf-8", "replace"))
    finally:
        leave(1)
