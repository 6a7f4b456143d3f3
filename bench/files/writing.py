"""The one way files are written: whole or not at all, and several of them together."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..errors import BenchError

_SHOWN = 40
"""How much of a file's name the hidden one beside it shows: with all of it, one of the longest names would be too long."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a reader finds the old one or the whole new one. Its folder is made; its permissions are those of the old file, else
    what the user's umask says. Raises BenchError where that is not possible.
    """
    write_together({path: data})


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write several files, all or none: each is written beside its place first, and none takes it before all are there.

    Else as `write_atomically`.
    """
    staged: dict[Path, str] = {}
    path = Path()
    try:
        try:
            for path, data in files.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                if path.is_dir():
                    raise IsADirectoryError(0, "is a folder")
                descriptor, staged[path] = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:_SHOWN]}.")
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                os.chmod(staged[path], _mode(path))
            for path in files:
                os.replace(staged[path], path)
                del staged[path]
        finally:
            for temporary in staged.values():
                os.unlink(temporary)
    except OSError as error:
        raise BenchError(f"{path}: cannot be written: {error.strerror or error} — check the folder") from None


def _mode(path: Path) -> int:
    if path.is_file():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
