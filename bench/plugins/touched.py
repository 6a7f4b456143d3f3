"""Everything outside of itself that somebody else's code looks at, as its child process hears of it: files, folders, variables of the environment.

From Python's audit events. What cannot be heard is said in `why`: then nobody knows if the code would do the same again.
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from ..model.errors import one_line
from .own_code import is_installed

_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty")
_REACHES = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.bind", "socket.sendto")
_MOVES = ("os.link", "os.symlink", "os.rename")
_ASKS = tuple(
    f"os.{name}"
    for name in ("chdir", "utime", "getxattr", "listxattr", "chmod", "chown", "truncate", "remove", "mkdir", "rmdir")
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_OPENS = ("open", "ctypes.dlopen", "sqlite3.connect", *_STARTS)
_EVENTS = frozenset((*_OPENS, *_REACHES, *_MOVES, *_ASKS, "os.listdir", "os.scandir", "import"))
_BENCH = str(Path(__file__).parents[1]) + os.sep
_PYTHON = (os.path.dirname(os.__file__) + os.sep, "<frozen ")
_AROUND = {str(Path(__file__).with_name(f"{name}.py")) for name in ("apart", "keeper", "touched")}
_CODE = (".py", ".so", ".pyd", ".pyc")


class Touched(msgspec.Struct, frozen=True):
    """The paths that code looked at, each with its state then, and its variables. `why`: the reason for which nobody can know it all."""

    paths: dict[str, str] = {}
    variables: dict[str, str] = {}
    why: str = ""

    def is_as_it_was(self, states: dict[str, str] | None = None) -> bool:
        """True if all that the code looked at is still the same. `states` keeps what is found of paths, for those who ask several times."""
        known = {} if states is None else states
        if self.why or any(_variable(os.environ.get(name)) != was for name, was in self.variables.items()):
            return False
        for path, was in self.paths.items():
            if path not in known:
                known[path] = state_of(path)
            if known[path] != was:
                return False
        return True


def state_of(path: str) -> str:
    """The state of a path: the hash of a file, the modules and folders in a folder (all names in it, where the path ends in `/`), the target of a
    link that leads nowhere, `""` where there is nothing.

    Of what is installed the size and the time, since there are many.

    >>> state_of("/no/such/file"), state_of("/dev/null")
    ('', 'other')
    """
    try:
        target = f"{os.readlink(path)}\n" if os.path.islink(path) else ""
        if not os.path.exists(path):
            return target
        about = _stat(path)
        if stat.S_ISDIR(about.st_mode):
            names = os.listdir(path) if path.endswith(os.sep) else filter(_is_seen, os.listdir(path))
            return target + _hash("\n".join(sorted(names)).encode("utf-8", "surrogatepass"))
        if not stat.S_ISREG(about.st_mode):
            return f"{target}other"
        if is_installed(path):
            return f"{target}{about.st_size} {about.st_mtime_ns}"
        return target + _hash(Path(path).read_bytes())
    except (OSError, ValueError):
        return ""


def _is_seen(name: str) -> bool:
    """True for what an import would find in a folder. A report that is written there is none."""
    return name.endswith(_CODE) or name.isidentifier()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _variable(value: str | None) -> str:
    return "" if value is None else _hash(value.encode("utf-8", "surrogatepass"))


_stat, _lstat = os.stat, os.lstat
_paths: set[str] = set()
_taken: set[str] = set()
_looked: set[str] = set()
_names: set[str] = set()
_resolving: list[str] = []
_why: list[str] = []


def watch() -> None:
    """From here on hear what this process looks at. For a process of somebody else's code."""
    known = {name.partition(".")[0] for name in sys.modules}
    sys.addaudithook(functools.partial(_heard, known))
    encoded = os.environ.encodekey  # called with the name of each variable that is asked for

    def asked(name: str) -> Any:
        _names.add(os.fsdecode(name))
        return encoded(name)

    os.environ.encodekey = asked
    looks = ("stat", "lstat", "access", "readlink", "statvfs", "pathconf")
    noting = {name: _noting(getattr(os, name)) for name in looks if hasattr(os, name)}
    for module in (os, sys.modules[os.name]):
        vars(module).update(noting)


def _noting(function: Any) -> Any:
    """A function that looks at a path, which is noted."""

    @functools.wraps(function)
    def noted(path: Any, *more: Any, **named: Any) -> Any:
        if function is _stat or not _is_folder(path):  # to resolve a path is to look at each folder above it
            _add(path, *([_looked] if _is_theirs() else []))
        return function(path, *more, **named)

    return noted


def _is_folder(path: Any) -> bool:
    try:
        return stat.S_ISDIR(_lstat(path).st_mode)
    except (OSError, ValueError, TypeError):
        return False


def taken() -> list[str]:
    """The files that were opened to be read, loaded or started so far."""
    return sorted(_taken)


def looked_at() -> list[str]:
    """The files and folders (these end in `/`) that somebody else's code has asked about so far, without opening them."""
    return sorted(_looked)


def touched() -> Touched:
    """Return what this process has looked at so far."""
    paths, names, why = sorted(_paths), sorted(_names), "; ".join(dict.fromkeys(_why))
    return Touched(
        {path: state_of(path) for path in paths}, {name: _variable(os.environ.get(name)) for name in names}, why
    )


def _asker(above: int = 2) -> str:
    """The file of the code that asks, behind Python's own."""
    frame: FrameType | None = sys._getframe(above)
    file = ""
    while frame is not None:
        file = frame.f_code.co_filename
        if file in _AROUND or "site-packages" in file or not file.startswith(_PYTHON):
            return file
        frame = frame.f_back
    return file


def _is_theirs() -> bool:
    """True if neither the bench nor Python itself asks."""
    file = _asker(3)
    return bool(file) and not file.startswith(_BENCH) and ("site-packages" in file or not file.startswith(_PYTHON))


def _heard(known: set[str], event: str, given: tuple[Any, ...]) -> None:
    if event not in _EVENTS or _asker() in _AROUND:
        return
    if event == "open":
        path, _, flags = given
        if isinstance(path, int):  # an open file, whose path was heard when it was opened
            return
        writes = isinstance(flags, int) and flags & _WRITES
        only_writes = writes and flags & os.O_ACCMODE == os.O_WRONLY
        _add(path, *([] if only_writes and not _is_theirs() else [_looked if only_writes else _taken]))
        if writes and "__pycache__" not in os.fspath(path) and path != os.devnull:
            _why.append("it writes files")
    elif event in ("os.listdir", "os.scandir"):
        folder = given[0] or "."
        if "importlib" in sys._getframe(1).f_code.co_filename or not _is_theirs():  # it looks for modules and packages
            _add(folder)
        elif isinstance(folder, str | bytes | os.PathLike):
            _add(os.path.join(os.fsdecode(folder), ""), _looked)
    elif event == "import":
        name, file = given[0], given[1]
        if file and "lib-dynload" not in str(file) and name.partition(".")[0] not in known:
            _why.append(f"it loads compiled code, which may read anything: {one_line(name)}")
    elif event in _REACHES:
        _why.append("it uses the network")
    elif event in _ASKS:
        _add(given[0], *([_looked] if _is_theirs() else []))
    else:
        for item in given[:2]:
            for path in item if isinstance(item, list | tuple) else (item,):
                _add(path, _taken)
        if event in _STARTS:
            _why.append("it starts processes")
        elif event == "sqlite3.connect":
            _why.append("it opens a database")
        elif event in _MOVES:
            _why.append("it writes files")


def _add(path: Any, *also: set[str]) -> None:
    text = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
    if text and "\0" not in text and not _resolving:
        whole = os.path.abspath(text) + (os.sep if text.endswith(os.sep) else "")
        if whole.startswith("/proc/"):  # links there lead elsewhere a moment later
            _resolving.append(whole)
            whole = os.path.realpath(whole)
            _resolving.pop()
        for places in (_paths, *also):
            places.add(whole)
