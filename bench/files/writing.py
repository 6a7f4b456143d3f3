"""The one way a file is written: whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from ..errors import BenchError


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a reader finds the old one or the whole new one. Its folder is made; its permissions are those of the old file, else
    what the user's umask says. Raises BenchError where that is not possible.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.chmod(temporary, _mode(path))
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise BenchError(f"{path}: cannot be written: {error.strerror or error} — check the folder") from None


def _mode(path: Path) -> int:
    if path.is_file():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
