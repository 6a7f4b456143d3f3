"""Values kept between runs, in one SQLite file, which may be deleted and never fails a run.

Each is kept under all that it depends on: the hash of the recording and how its tokens are counted,
for what a strategy did its spec where it ships with the bench, else the bytes of its replay; and
the version of the bench. So no code of a user is hashed, and nothing can be stale.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import os
import sqlite3
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..files.git import git
from ..files.limits import limit
from ..model import Trace, compact_json
from ..model.errors import BenchError, one_line
from ..model.replay import Replay
from ..version import VERSION

_Value = TypeVar("_Value")
VARIABLE = "BENCH_CACHE"
"""The environment variable that names another file; `off` keeps nothing."""

_PACKAGES = ("tiktoken", "genai-prices", "msgspec", "ahocorasick-rs")
_SHOWS = {"reports", "cli", "starter", "__pycache__"}
_SCHEMA = "CREATE TABLE IF NOT EXISTS value (key BLOB PRIMARY KEY, body BLOB) WITHOUT ROWID"


def kept_here(warn: Callable[[str], object]) -> Kept | None:
    """The values kept on this machine, in the file of BENCH_CACHE or the user's cache; None: off.

    A file that holds something else stays as it is, and `warn` is called with a line that says so.
    Raises BenchError for a file that a repository brings.
    """
    setting = os.environ.get(VARIABLE, "")
    if setting.lower() in ("off", "0"):
        return None
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = Path(setting) if setting else caches / "agent-memory-bench" / "kept" / "kept.sqlite"
    if path.exists() and git(path.parent, "ls-files", "--", path.name):
        raise BenchError(
            f"{path}: is part of a repository, which could decide by it — name another with {VARIABLE}"
        )
    kept = Kept(path)
    if path.exists() and (problem := kept.problem):
        warn(f"{path}: {problem}; nothing is kept between runs")
    return kept


class Kept:
    """Values by what they depend on. Any number of processes and threads may share the file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = Kept(Path(folder) / "kept.sqlite")
    ...     kept.put([1, 2], "sizes", "of a")
    ...     kept.get(list[int], "sizes", "of a"), kept.get(list[int], "sizes", "of b")
    ([1, 2], None)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._own = threading.local()

    def __reduce__(self) -> tuple[type[Kept], tuple[Path]]:
        return Kept, (self.path,)

    @property
    def problem(self) -> str:
        """The reason why the file cannot be used, in the words of SQLite or the system; `""`: none."""
        try:
            with self._open():
                return ""
        except (sqlite3.Error, OSError) as error:
            return one_line(error)

    def get(self, kind: type[_Value], *about: object) -> _Value | None:
        """The value that is kept about something; None for none, and for a damaged one."""
        with contextlib.suppress(
            sqlite3.Error, OSError, zlib.error, msgspec.DecodeError, UnicodeDecodeError
        ):
            with self._open() as connection:
                found = "SELECT body FROM value WHERE key = ?", (key_of(*about),)
                row = connection.execute(*found).fetchone()
            if row is not None:
                return msgspec.msgpack.decode(zlib.decompress(row[0]), type=kind)
        return None

    def put(self, value: Any, *about: object) -> None:
        """Keep a value; nothing where that is not possible (a full disk, odd texts)."""
        with contextlib.suppress(sqlite3.Error, OSError, UnicodeEncodeError, OverflowError):
            row = key_of(*about), zlib.compress(msgspec.msgpack.encode(value), 1)
            with self._open() as connection:
                connection.execute("INSERT OR REPLACE INTO value VALUES (?, ?)", row)

    def trim(self) -> None:
        """Remove everything where it is more than `limit("cache")`."""
        with contextlib.suppress(sqlite3.Error, OSError), self._open() as connection:
            (size,) = next(connection.execute("SELECT sum(length(body)) FROM value"))
            if size and size > limit("cache"):
                connection.execute("DELETE FROM value")

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The connection of this thread and process; what the block changes is kept whole or not."""
        known = getattr(self._own, "known", None)
        if known is None or known[0] != os.getpid():
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            connection = sqlite3.connect(self.path, timeout=10.0)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(_SCHEMA)
            known = self._own.known = os.getpid(), connection
        with known[1]:
            yield known[1]


class KeptAbout:
    """The values kept about one recording, by their names; without `kept` there are none.

    They depend on `model`, by which the tokens of one that names no model are counted.
    """

    def __init__(self, kept: Kept | None, trace: Trace, model: str) -> None:
        self._kept, self._trace, self._model = kept, trace, model

    def __bool__(self) -> bool:
        return self._kept is not None

    def once(
        self,
        kind: type[_Value],
        name: object,
        make: Callable[[], _Value],
        lasts: Callable[[_Value], bool] = lambda value: True,
    ) -> _Value:
        """A value as it was kept, else as it is made now, which is kept where it `lasts`."""
        if self._kept is None:
            return make()
        about = name, self._trace.sha256, self._model
        known = self._kept.get(kind, *about)
        if known is not None:
            return known
        value = make()
        if lasts(value):
            self._kept.put(value, *about)
        return value


def key_of(*about: object) -> bytes:
    """The key of a value: its kind, all that it depends on, and the version that makes it."""
    return hashlib.sha256(
        compact_json([version(), *map(str, about)]).encode("utf-8", "replace")
    ).digest()


def replay_digest(replay: Replay) -> str:
    """The digest of all that a replay shows, stores, judges and routes; names do not count."""
    return _digest(msgspec.structs.replace(replay, strategy="", spec=""))


def prompts_digest(replay: Replay) -> str:
    """The digest of the prompts that a replay shows."""
    return _digest((replay.calls, replay.written))


def _digest(value: Any) -> str:
    try:
        body = msgspec.msgpack.encode(value)
    except (UnicodeEncodeError, OverflowError):  # lone surrogates, whole numbers above 64 bits
        body = compact_json(msgspec.to_builtins(value)).encode("utf-8", "replace")
    return hashlib.sha256(body).hexdigest()


@functools.cache
def version() -> str:
    """The version of what makes such a value: the bench and its files, Python, packages."""
    top = Path(__file__).parents[1]
    digest = hashlib.sha256(f"{VERSION} {sys.version}".encode())
    for name in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            digest.update(f"{name} {importlib.metadata.version(name)}\0".encode())
    for path in sorted(top.rglob("*")):
        parts = path.relative_to(top).parts
        if not _SHOWS.intersection(parts) and path.is_file():
            about = path.stat()
            digest.update(f"{'/'.join(parts)} {about.st_size} {about.st_mtime_ns}\0".encode())
    return digest.hexdigest()
