"""Limits of the own process, and of all that it starts, as far as the system has them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import struct
import sys
from collections.abc import Iterator, Sequence, Set
from pathlib import PurePath
from signal import SIGKILL

_libc = ctypes.CDLL(None)
_DEATH_SIGNAL, _SUBREAPER, _NO_NEW_PRIVILEGES = 1, 36, 38
_CREATE_RULES, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READS = 0b_0100  # the content of files; folders are listed, and programs run
_CHANGES = 0b_0111_1111_1111_0110  # that, and every right of Landlock to change files
_TO_A_FILE = 0b_0100_0000_0000_0110

_FOLDER = "bench-child-"
"""The beginning of the names of temporary folders of children."""

WRITABLE = "BENCH_WRITABLE"
"""The environment variable that names folders and files, with colons between, that user code may
change.
"""


def begin_below() -> None:
    """Begin a process that ends with the one above it, and has a group of its own."""
    os.setpgid(0, 0)
    _prctl(_DEATH_SIGNAL, SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of what child processes leave behind, and let no program give rights that
    this process has not, as a Landlock rule set needs (Linux)."""
    _prctl(_SUBREAPER, 1)
    _prctl(_NO_NEW_PRIVILEGES, 1)


def limit_memory(size: int) -> None:
    """Limit the memory of each process to `size` bytes."""
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = size if hard == resource.RLIM_INFINITY else min(hard, size)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def rules_without(hidden: Sequence[str] = ()) -> int:
    """A Landlock rule set against reading hidden files and other processes' memory, changing files
    (Linux 6.7), and reaching other processes by signals and abstract sockets (6.12); -1 where the
    system has none.

    Any rule set hides the memory of processes outside it. Allowed are changes in the temporary
    folder, and below WRITABLE.
    """
    with contextlib.suppress(AttributeError, OSError):
        call = _libc.syscall
        version = call(_CREATE_RULES, None, ctypes.c_size_t(0), 1)
        if version < 4:
            return -1
        alone = struct.pack("=QQQ", _CHANGES, 0, 3)
        rules = alone if version >= 6 else struct.pack("=Q", _CHANGES)
        number: int = call(_CREATE_RULES, rules, ctypes.c_size_t(len(rules)), 0)
        writable = os.devnull, os.environ["TMPDIR"], *os.environ.get(WRITABLE, "").split(":")
        for rights, places in ((_READS, _beside({*hidden})), (_CHANGES, writable)):
            for place in places:
                with contextlib.suppress(OSError):  # "" or one that is not there
                    top = os.open(place, os.O_PATH)
                    fitting = rights if os.path.isdir(place) else rights & _TO_A_FILE
                    call(_ADD_RULE, number, 1, struct.pack("=Qi", fitting, top), 0)
                    os.close(top)
        return number
    return -1


def restrict_to(rules: int) -> None:
    """Let a Landlock rule set hold from here on."""
    if rules >= 0:
        _libc.syscall(_RESTRICT_SELF, rules, 0)


def own_folder() -> str:
    """A new folder, which becomes that of temporary files."""
    folder = os.path.join(os.environ["TMPDIR"], f"{_FOLDER}{os.urandom(8).hex()}")
    os.mkdir(folder, 0o700)
    os.environ["TMPDIR"] = folder
    with contextlib.suppress(Exception):  # which user code may have changed
        vars(sys.modules["tempfile"])["tempdir"] = None  # it remembers another one
    return folder


def temporary_folders() -> list[str]:
    """The temporary folders of all children, this one too."""
    with os.scandir(os.path.dirname(os.environ["TMPDIR"])) as entries:
        return [entry.path for entry in entries if entry.name.startswith(_FOLDER)]


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
    if sys.platform == "linux":
        _libc.prctl(option, value, 0, 0, 0)
