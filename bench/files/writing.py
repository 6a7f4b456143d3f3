"""Writing of files: completely or not at all, and only over plain files.

The contents are collected in a file without a name, which is gone where this process is killed.
Then they get a temporary name in the same folder, and are moved to their place. Only files of this
process are removed.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

from ..model.errors import BenchError

_MOST_CHARS = 40
"""The most characters of a file's name that its temporary file repeats."""


def require_place(paths: Iterable[Path]) -> None:
    """Raise BenchError for a URL, and for the path of a link, a pipe, a device or a socket.

    Folders, and paths that cannot be inspected, fail when they are written.
    """
    for path in paths:
        if path.parts[:1] in (("https:",), ("http:",), ("s3:",), ("gs:",), ("file:",)):
            raise BenchError(f"{path}: is an address — give the name of a file on this machine")
        try:
            mode = path.lstat().st_mode
        except (OSError, ValueError):
            continue
        if stat.S_ISLNK(mode):
            what = f"is a link to {os.readlink(path)}, whose place a file would take"
            raise BenchError(f"{path}: {what} — give the name of the file itself")
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            what = "is a pipe, a device or a socket, whose place a file would take"
            raise BenchError(f"{path}: {what} — give another name")


def write_together(files: Mapping[Path, bytes | Iterable[bytes]]) -> None:
    """Write files so that a reader finds the old one or the complete new one: all or none.

    Folders are made; the permissions are those of the old file, else the umask's. Raises BenchError
    where that is not possible, and as `require_place` does.
    """
    require_place(files)
    path = Path()
    try:
        with contextlib.ExitStack() as temporary:
            contents: dict[Path, IO[bytes]] = {}
            for path, data in files.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                if path.is_dir():
                    raise IsADirectoryError(0, "is a folder")
                unnamed = tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115 - in the stack
                contents[path] = temporary.enter_context(unnamed)
                unnamed.writelines([data] if isinstance(data, bytes) else data)
            named = {}
            for path, content in contents.items():
                named[path] = _named_copy(path, content, temporary)
            for path, name in named.items():
                os.replace(name, path)
    except OSError as error:
        raise refused(path, error) from None


def _named_copy(path: Path, content: IO[bytes], temporary: contextlib.ExitStack) -> Path:
    """A temporary file with the complete contents of a file, removed with `temporary`."""
    name = path.with_name(f".{path.name[:_MOST_CHARS]}.bench-{secrets.token_hex(6)}")
    content.seek(0)
    with name.open("xb") as copy:
        temporary.callback(name.unlink, missing_ok=True)
        shutil.copyfileobj(content, copy)
    if path.exists():
        shutil.copymode(path, name)
    return name


def refused(path: Path, error: OSError) -> BenchError:
    """The error for a path that cannot be written."""
    hint = "give another folder" if path.parent.is_dir() else "check the folder"
    return BenchError(f"{path}: cannot be written: {error.strerror or error} — {hint}")
