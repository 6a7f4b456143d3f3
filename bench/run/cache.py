"""The cache between runs: one SQLite file, which may be deleted and never makes a run fail.

A value's key has everything that the value depends on: the hash of the recording, the counting of
its tokens, the version of the bench, and for the score of a strategy its spec, or the bytes of its
replay if it has user code. So user code is never hashed, and no value can be stale.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..files.git import git
from ..files.limits import limit
from ..model import compact_json
from ..model.errors import BenchError
from ..model.replay import Replay
from ..version import VERSION

_Value = TypeVar("_Value")
VARIABLE = "BENCH_CACHE"
"""The environment variable that names another file for the cache; `off` turns it off."""

_PACKAGES = ("tiktoken", "genai-prices", "msgspec", "ahocorasick-rs", "bm25s", "jmespath")
_NO_VALUES = {"reports", "cli", "starter", "__pycache__"}  # folders that change no cached value


def user_cache() -> Cache | None:
    """The cache in the file of BENCH_CACHE, or in the user's cache folder; None if it is off.

    A file of another kind is left alone. Raises BenchError for a file in a repository.
    """
    path = cache_path()
    if path is not None and path.exists() and git(path.parent, "ls-files", "--", path.name):
        what = "is part of a repository, which could decide by it"
        raise BenchError(f"{path}: {what} — name another with {VARIABLE}")
    return None if path is None else Cache(path)


def cache_path() -> Path | None:
    """The file of the cache; None if it is off."""
    setting = os.environ.get(VARIABLE, "")
    if setting.lower() in ("off", "0"):
        return None
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(setting) if setting else caches / "agent-memory-bench" / "kept" / "kept.sqlite"


@dataclass(frozen=True)
class Cache:
    """Values by their keys. Any number of processes and threads may share the file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = Cache(Path(folder) / "kept.sqlite")
    ...     cache.put([1, 2], "sizes", "of a")
    ...     cache.get(list[int], "sizes", "of a"), cache.get(list[int], "sizes", "of b")
    ([1, 2], None)
    """

    path: Path

    def get(self, kind: type[_Value], *key: object) -> _Value | None:
        """The value under a key of several parts; None if there is none or it is damaged."""
        with contextlib.suppress(
            sqlite3.Error, OSError, zlib.error, msgspec.DecodeError, UnicodeDecodeError
        ):
            query = "SELECT body FROM value WHERE key = ?"
            with self._open() as connection:
                row = connection.execute(query, (key_of(*key),)).fetchone()
            if row and isinstance(row[0], bytes):
                return msgspec.msgpack.decode(zlib.decompress(row[0]), type=kind)
        return None

    def put(self, value: Any, *key: object) -> None:
        """Store a value; a failure (a full disk, odd texts) is ignored."""
        with contextlib.suppress(sqlite3.Error, OSError, UnicodeEncodeError, OverflowError):
            body = zlib.compress(msgspec.msgpack.encode(value), 1)
            with self._open() as connection:
                query = "INSERT OR REPLACE INTO value VALUES (?, ?)"
                connection.execute(query, (key_of(*key), body))

    def trim(self) -> None:
        """Remove everything if the values exceed `limit("cache")`."""
        with contextlib.suppress(sqlite3.Error, OSError), self._open() as connection:
            (size,) = next(connection.execute("SELECT sum(length(body)) FROM value"))
            if size and size > limit("cache"):
                connection.execute("DELETE FROM value")

    def _open(self) -> sqlite3.Connection:
        """The connection of this process and thread; a `with` block is one transaction."""
        return _connection(self.path, os.getpid(), threading.get_ident())


@functools.lru_cache(maxsize=8)
def _connection(path: Path, process: int, thread: int) -> sqlite3.Connection:
    """A connection to the file of a cache, which is created if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    connection = sqlite3.connect(path, timeout=10.0)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS value (key BLOB PRIMARY KEY, body BLOB) WITHOUT ROWID"
    )
    return connection


def key_of(*parts: object) -> bytes:
    """The digest of the parts of a key and the version of the code."""
    text = compact_json([code_version(), *map(str, parts)])
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def replay_digest(replay: Replay) -> str:
    """The digest of everything in a replay except the strategy's name and spec."""
    return _digest(msgspec.structs.replace(replay, strategy="", spec=""))


def prompts_digest(replay: Replay) -> str:
    """The digest of a replay's prompts."""
    return _digest((replay.calls, replay.written))


def _digest(value: Any) -> str:
    """The digest of a value."""
    try:
        body = msgspec.msgpack.encode(value)
    except (UnicodeEncodeError, OverflowError):  # lone surrogates, whole numbers above 64 bits
        body = compact_json(msgspec.to_builtins(value)).encode("utf-8", "replace")
    return hashlib.sha256(body).hexdigest()


@functools.cache
def code_version() -> str:
    """The digest of the code that computes values: the bench with its files, Python, and
    packages."""
    top = Path(__file__).parents[1]
    digest = hashlib.sha256(f"{VERSION} {sys.version}".encode())
    for name in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            digest.update(f"{name} {importlib.metadata.version(name)}\0".encode())
    for path in sorted(top.rglob("*")):
        parts = path.relative_to(top).parts
        if not _NO_VALUES.intersection(parts) and path.is_file():
            status = path.stat()
            digest.update(f"{'/'.join(parts)} {status.st_size} {status.st_mtime_ns}\0".encode())
    return digest.hexdigest()
