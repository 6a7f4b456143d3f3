"""A cache in a folder of the user's: entries by key, each whole or not there. It may be deleted at any time, and never fails a run."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..model.errors import BenchError
from .git import git
from .limits import limit, read_regular

VARIABLE = "BENCH_CACHE"
"""The environment variable that names another folder for cases; `off` keeps none."""

_ABANDONED_S = 3600
_FILLED = 0.9
"""The share of its limit that a cache is brought down to, so that it is not cleared with every run."""


def cache_folder(name: str) -> Path:
    """The folder of one cache of the bench: below `XDG_CACHE_HOME`, by default `~/.cache`. It need not exist."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agent-memory-bench" / name


def cache_of_cases() -> Cache | None:
    """The cache of cases that a command uses: `BENCH_CACHE`, else the user's; None where it is off.

    Raises BenchError for a folder that a repository brings its files for: a change of these would decide.
    """
    said = os.environ.get(VARIABLE, "")
    folder = Path(said) if said else cache_folder("cases")
    if said.lower() in ("off", "0"):
        return None
    if folder.is_dir() and git(folder, "ls-files", "--", "."):
        raise BenchError(f"{folder}: is a cache whose files are part of a repository — name another with {VARIABLE}")
    return Cache(folder)


@dataclass(frozen=True)
class Cache:
    """Entries in a folder, of at most `limit("cache")` bytes together. Those that were not read for longest go first.

    Any number of processes may share it. An entry that is damaged is none.
    """

    folder: Path

    def get(self, key: str) -> bytes | None:
        """The bytes kept under a key; None for none."""
        path = self._path(key)
        try:
            data = read_regular(path)
            body = zlib.decompress(data[32:])
        except (OSError, zlib.error):
            return None
        if hashlib.sha256(body).digest() != data[:32]:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return body

    def put(self, key: str, body: bytes) -> None:
        """Keep bytes under a key, in the place of what was there. Where that is not possible nothing is kept."""
        path = self._path(key)
        staged = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            staged.write_bytes(hashlib.sha256(body).digest() + zlib.compress(body, 1))
            os.replace(staged, path)

    def _path(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self.folder / name[:2] / name[2:]

    def files(self) -> Iterator[tuple[float, int, Path]]:
        """Every file: when it was last read, its bytes, its path."""
        for folder in self.folder.glob("[0-9a-f][0-9a-f]"):
            with contextlib.suppress(OSError):
                for path in folder.iterdir():
                    with contextlib.suppress(OSError):
                        about = path.stat()
                        yield about.st_mtime, about.st_size, path

    def trim(self, since: float = 0.0) -> None:
        """Remove what a process that was killed left behind, then the oldest entries until the rest is below the limit.

        Does nothing where no entry was written `since` (a Unix time): looking at each of many entries would take longer than a run that reads them.
        """
        folders = self.folder.glob("[0-9a-f][0-9a-f]")
        with contextlib.suppress(OSError):
            if max((folder.stat().st_mtime for folder in folders), default=0.0) < since:
                return
        found = sorted(self.files())
        most, total = limit("cache"), sum(size for _, size, _ in found)
        enough = most if total <= most else most * _FILLED
        for at, size, path in found:
            if total > enough or (path.name.startswith(".") and time.time() - at > _ABANDONED_S):
                path.unlink(missing_ok=True)
                total -= size
