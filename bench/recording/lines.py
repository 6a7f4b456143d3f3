"""A file that grows line by line, so that a crash loses no finished line."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from ..model.errors import BenchError


class Lines:
    """Appends whole lines to a file, each with one call to the system and none of it kept back; `close` waits until the disk has them.

    Several threads may append. Raises BenchError where the file cannot be written, or, with `new`, where it holds something already.
    """

    def __init__(self, path: Path, *, new: bool = False) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if new and path.exists() and path.stat().st_size:
                raise BenchError(f"{path}: holds something already, which recording would add to — give another file")
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise BenchError(f"{path}: cannot be written: {error.strerror or error} — check the folder") from None

    def append(self, line: bytes) -> None:
        left = memoryview(line + b"\n")
        with self._lock:
            while left:
                left = left[os.write(self._file, left) :]

    def close(self) -> None:
        """Wait until the disk has every line, and close the file; nothing where it is closed."""
        with self._lock:
            if self._file >= 0:
                os.fsync(self._file)
                os.close(self._file)
                self._file = -1
