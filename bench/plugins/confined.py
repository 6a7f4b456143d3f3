"""Limits of a child process and of all processes that it starts, as far as the system has them."""

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
_READS = 0b_0100  # to read files; to list folders and to run programs is always allowed
_CHANGES = 0b_0111_1111_1111_0110  # to read, and every right of Landlock to change files
_TO_A_FILE = 0b_0100_0000_0000_0110  # those of the above that a single file can have

_FOLDER = "bench-child-"
"""The beginning of the names of temporary folders of children."""

WRITABLE = "BENCH_WRITABLE"
"""The environment variable with the folders and files that user code may change, separated by
colons."""


def begin_below() -> None:
    """Let this process end together with its parent, and give it its own process group."""
    os.setpgid(0, 0)
    _prctl(_DEATH_SIGNAL, SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of all processes that ended children leave behind; and let no program gain
    rights that this process lacks, which Landlock requires (Linux)."""
    _prctl(_SUBREAPER, 1)
    _prctl(_NO_NEW_PRIVILEGES, 1)


def limit_memory(size: int) -> None:
    """Limit the memory of each process to `size` bytes."""
    with contextlib.suppress(OSError, ValueError):
        _, hard_limit = resource.getrlimit(resource.RLIMIT_DATA)
        most = size if hard_limit == resource.RLIM_INFINITY else min(hard_limit, size)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def rules_without(hidden: Sequence[str] = ()) -> int:
    """A Landlock rule set for `restrict_to`; -1 if the system has none (it needs Linux 6.7).

    It forbids to read hidden files and the memory of processes outside of it, to change files
    except in the temporary folder and below WRITABLE, and, from Linux 6.12, to reach other
    processes by signals and abstract sockets.
    """
    with contextlib.suppress(AttributeError, OSError):
        call = _libc.syscall
        version = call(_CREATE_RULES, None, ctypes.c_size_t(0), 1)
        if version < 4:
            return -1
        rules = struct.pack("=Q", _CHANGES)
        if version >= 6:  # which also knows rights of networks (none here), and the two scopes
            rules = struct.pack("=QQQ", _CHANGES, 0, 3)
        number: int = call(_CREATE_RULES, rules, ctypes.c_size_t(len(rules)), 0)
        writable = os.devnull, os.environ["TMPDIR"], *os.environ.get(WRITABLE, "").split(":")
        for rights, places in ((_READS, _places_without({*hidden})), (_CHANGES, writable)):
            for place in places:
                with contextlib.suppress(OSError):  # "", or a place that does not exist
                    file = os.open(place, os.O_PATH)
                    fitting = rights if os.path.isdir(place) else rights & _TO_A_FILE
                    call(_ADD_RULE, number, 1, struct.pack("=Qi", fitting, file), 0)
                    os.close(file)
        return number
    return -1


def restrict_to(rules: int) -> None:
    """Obey a Landlock rule set from here on."""
    if rules >= 0:
        _libc.syscall(_RESTRICT_SELF, rules, 0)


def own_folder() -> str:
    """A new folder, in which this process and its children put temporary files from here on."""
    folder = os.path.join(os.environ["TMPDIR"], f"{_FOLDER}{os.urandom(8).hex()}")
    os.mkdir(folder, 0o700)
    os.environ["TMPDIR"] = folder
    with contextlib.suppress(Exception):  # user code may have replaced the module
        vars(sys.modules["tempfile"])["tempdir"] = None  # so that it reads TMPDIR again
    return folder


def temporary_folders() -> list[str]:
    """The temporary folders of all children, this one's included."""
    with os.scandir(os.path.dirname(os.environ["TMPDIR"])) as entries:
        return [entry.path for entry in entries if entry.name.startswith(_FOLDER)]


def _places_without(hidden: Set[str]) -> Iterator[str]:
    """Yield the places without hidden files: the other entries of each folder above a hidden file.

    For `/a/b/c` these are the entries of `/a/b` but `c`, of `/a` but `b`, and of `/` but `a`. Links
    are left out, since they can lead to a hidden file.
    """
    above = {str(folder) for path in hidden for folder in PurePath(path).parents}
    if not above:
        yield os.sep
    for folder in above:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if not (entry.path in hidden or entry.path in above or entry.is_symlink()):
                    yield entry.path


def _prctl(option: int, value: int) -> None:
    """Call `prctl` for this process on Linux; do nothing on other systems."""
    if sys.platform == "linux":
        _libc.prctl(option, value, 0, 0, 0)
