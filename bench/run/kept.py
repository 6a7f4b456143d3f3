"""Indexes and evidence kept between runs, in one SQLite file. It may be deleted at any time, and never fails a run.

An index is kept under the hash of its trace, evidence under the digests of the trace and of the
bytes of the replay: so no code of a strategy is hashed, and nothing can be stale. Both keys have
the version of the bench that made the value.
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
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from ..files.cache import cache_folder
from ..files.git import git
from ..files.limits import limit
from ..model import compact_json
from ..model.errors import BenchError
from ..model.replay import Replay
from ..version import VERSION

_Value = TypeVar("_Value", bound=msgspec.Struct)
VARIABLE = "BENCH_CACHE"
"""The environment variable that names another file; `off` keeps nothing."""

_PACKAGES = ("tiktoken", "genai-prices", "msgspec", "ahocorasick-rs")
_SHOWS = {"reports", "cli", "starter", "__pycache__"}
_KEEP = 0.9
_SCHEMA = "CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, body BLOB, used REAL) WITHOUT ROWID"


def kept_here() -> Kept | None:
    """The values kept on this machine: in the file that BENCH_CACHE names, else in the user's cache; None for `off`.

    Raises BenchError for a file that a repository brings.
    """
    setting = os.environ.get(VARIABLE, "")
    if setting.lower() in ("off", "0"):
        return None
    path = Path(setting) if setting else cache_folder("kept") / "kept.sqlite"
    if path.exists() and git(path.parent, "ls-files", "--", path.name):
        raise BenchError(f"{path}: is part of a repository, which could decide by it — name another with {VARIABLE}")
    return Kept(path)


class Kept:
    """Values by key. Any number of processes and threads may share the file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = Kept(Path(folder) / "kept.sqlite")
    ...     kept.put(b"a", b"one"), kept.get(b"a"), kept.get(b"b")
    (None, b'one', None)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._own = threading.local()

    def __reduce__(self) -> tuple[type[Kept], tuple[Path]]:
        return Kept, (self.path,)

    def get(self, key: bytes) -> bytes | None:
        """The bytes kept under a key; None for none, and for damaged ones."""
        with contextlib.suppress(sqlite3.Error, OSError, zlib.error):
            with self._open() as connection:
                row = connection.execute("SELECT body FROM kept WHERE key = ?", (key,)).fetchone()
                if row is None:
                    return None
                connection.execute("UPDATE kept SET used = ? WHERE key = ?", (time.time(), key))
            return zlib.decompress(row[0])
        return None

    def put(self, key: bytes, body: bytes) -> None:
        """Keep bytes under a key. Where that is not possible nothing is kept."""
        with contextlib.suppress(sqlite3.Error, OSError), self._open() as connection:
            row = key, zlib.compress(body, 1), time.time()
            connection.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", row)

    def value(
        self,
        kind: type[_Value],
        key: tuple[object, ...],
        make: Callable[[], _Value],
        wanted: Callable[[_Value], bool] = lambda value: True,
    ) -> _Value:
        """The value of a key as it was kept, else as it is made now, which is kept where it is `wanted`."""
        digest = key_of(*key)
        body = self.get(digest)
        if body is not None:
            with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                return msgspec.msgpack.decode(body, type=kind)
        value = make()
        if wanted(value):
            with contextlib.suppress(UnicodeEncodeError, OverflowError):  # texts and numbers that no file can hold
                self.put(digest, msgspec.msgpack.encode(value))
        return value

    def trim(self) -> None:
        """Remove what was not read for longest where the file is larger than `limit("cache")`."""
        with contextlib.suppress(sqlite3.Error, OSError), self._open() as connection:
            (size,) = connection.execute("SELECT coalesce(sum(length(body)), 0) FROM kept").fetchone()
            most = limit("cache")
            if size <= most:
                return
            rows = connection.execute("SELECT key, length(body) FROM kept ORDER BY used").fetchall()
            for key, length in rows:
                if size <= most * _KEEP:
                    break
                connection.execute("DELETE FROM kept WHERE key = ?", (key,))
                size -= length

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The connection of this thread and process; what is done in the block is done or not."""
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


def key_of(*about: object) -> bytes:
    """The key of a value: its kind, all that it depends on, and the version that makes it."""
    return hashlib.sha256(compact_json([version(), *map(str, about)]).encode("utf-8", "replace")).digest()


def replay_digest(replay: Replay) -> str:
    """The digest of all that a replay shows, stores, judges and routes, whatever the strategy is called."""
    bare = msgspec.structs.replace(replay, strategy="", spec="")
    try:
        body = msgspec.msgpack.encode(bare)
    except (UnicodeEncodeError, OverflowError):  # lone surrogates, whole numbers above 64 bits
        body = compact_json(msgspec.to_builtins(bare)).encode("utf-8", "replace")
    return hashlib.sha256(body).hexdigest()


@functools.cache
def version() -> str:
    """The version of all that makes such a value: the bench, its files as they stand, Python, packages."""
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
