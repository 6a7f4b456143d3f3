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
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_EVENTS = frozenset((*_STARTS, *_REACHES, "open", "os.listdir", "os.scandir", "import", "sqlite3.connect"))
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
    """The state of a path: the hash of a file, the modules and folders in a folder, `""` where there is nothing.

    Of what is installed the size and the time, since there are many.

    >>> state_of("/no/such/file"), state_of("/dev/null")
    ('', 'other')
    """
    try:
        about = os.lstat(path) if not os.path.exists(path) else _stat(path)
        if stat.S_ISDIR(about.st_mode):
            return _hash("\n".join(sorted(filter(_is_seen, os.listdir(path)))).encode("utf-8", "surrogatepass"))
        if not stat.S_ISREG(about.st_mode):
            return "other"
        if is_installed(path):
            return f"{about.st_size} {about.st_mtime_ns}"
        return _hash(Path(path).read_bytes())
    except (OSError, ValueError):
        return ""


def _is_seen(name: str) -> bool:
    """True for what an import would find in a folder. A report that is written there is none."""
    return name.endswith(_CODE) or name.isidentifier()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _variable(value: str | None) -> str:
    return "" if value is None else _hash(value.encode("utf-8", "surrogatepass"))


_stat = os.stat
_paths: set[str] = set()
_names: set[str] = set()
_why: list[str] = []


def watch() -> None:
    """From here on hear what this process looks at. For a process of somebody else's code."""
    known = {name.partition(".")[0] for name in sys.modules}
    sys.addaudithook(functools.partial(_heard, known))
    encoded = os.environ.encodekey  # called with the name of each variable that is asked for

    def asked(name: str) -> Any:
        _names.add(os.fsdecode(name))
        return encoded(name)

    def looked(path: Any, *more: Any, **named: Any) -> os.stat_result:
        _add(path)
        return _stat(path, *more, **named)

    os.environ.encodekey = asked
    os.stat = looked


def touched() -> Touched:
    """Return what this process has looked at so far."""
    paths, names, why = sorted(_paths), sorted(_names), "; ".join(dict.fromkeys(_why))
    return Touched(
        {path: state_of(path) for path in paths}, {name: _variable(os.environ.get(name)) for name in names}, why
    )


def _is_ours() -> bool:
    """True if it is not the code that asks, but the process around it."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if file in _AROUND or "site-packages" in file or not file.startswith(_PYTHON):
            return file in _AROUND
        frame = frame.f_back
    return False


def _heard(known: set[str], event: str, given: tuple[Any, ...]) -> None:
    if event not in _EVENTS or _is_ours():
        return
    if event == "open":
        path, _, flags = given
        if isinstance(path, int):  # an open file, whose path was heard when it was opened
            return
        _add(path)
        if isinstance(flags, int) and flags & _WRITES and "__pycache__" not in os.fspath(path) and path != os.devnull:
            _why.append("it writes files")
    elif event in ("os.listdir", "os.scandir"):
        _add(given[0] or ".")
    elif event == "import":
        name, file = given[0], given[1]
        if file and "lib-dynload" not in str(file) and name.partition(".")[0] not in known:
            _why.append(f"it loads compiled code, which may read anything: {one_line(name)}")
    elif event in _STARTS:
        _why.append("it starts processes")
    elif event in _REACHES:
        _why.append("it uses the network")
    elif event == "sqlite3.connect":
        _why.append("it opens a database")


def _add(path: Any) -> None:
    if isinstance(path, str | bytes | os.PathLike):
        _paths.add(os.path.abspath(os.fsdecode(path)))
