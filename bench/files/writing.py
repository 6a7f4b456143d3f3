"""The one way files are written: complete or not at all, and only over plain files.

A file is written beside its place under a name of this process's own, then moved there. Nothing is
removed that this process did not make.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..model.errors import BenchError

_MOST_CHARS = 40
"""The most characters of a file's name that its temporary file repeats."""


def require_place(paths: Iterable[Path]) -> None:
    """Raise BenchError for an address, and for the path of a link, a pipe, a device or a socket.

    Folders, and what cannot be looked at, are left to whoever writes.
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


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a reader finds the old one or the complete new one.

    Its folder is made; its permissions are those of the old file, else what the umask says. Raises
    BenchError where that is not possible, and as `require_place` does.
    """
    write_together({path: data})


def write_together(files: Mapping[Path, bytes | Iterable[bytes]]) -> None:
    """Write several files, each as `write_atomically` does: none of them before all are complete."""
    require_place(files)
    temporary: dict[Path, str] = {}
    path = Path()
    try:
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                raise IsADirectoryError(0, "is a folder")
            prefix = f".{path.name[:_MOST_CHARS]}.bench-"
            descriptor, temporary[path] = tempfile.mkstemp(dir=path.parent, prefix=prefix)
            with os.fdopen(descriptor, "wb") as file:
                file.writelines([data] if isinstance(data, bytes) else data)
            os.chmod(temporary[path], _mode(path))
        for path in files:
            os.replace(temporary[path], path)
            del temporary[path]
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        for name in temporary.values():
            Path(name).unlink(missing_ok=True)


@contextlib.contextmanager
def folder_in_place(folder: Path) -> Iterator[Path]:
    """An empty folder, whose files are moved below `folder` at the end of the block.

    Where the block raises, it is removed with its files. Raises BenchError where they cannot be
    moved.
    """
    near = next(
        above for above in (folder.absolute(), *folder.absolute().parents) if above.is_dir()
    )
    try:
        prefix = f".{folder.absolute().name[:_MOST_CHARS]}.bench-"
        stage = Path(tempfile.mkdtemp(dir=near, prefix=prefix))
    except OSError as error:
        raise _refused(folder, error) from None
    try:
        yield stage
        files = {
            folder / file.relative_to(stage): file
            for file in sorted(stage.rglob("*"))
            if file.is_file()
        }
        require_place(files)
        if folder.is_dir():
            _moved_into(files)
        elif files:
            _become(folder, stage)
    except BenchError as error:  # nobody knows the stage, which is removed
        raise BenchError(str(error).replace(str(stage), str(folder))) from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _moved_into(files: Mapping[Path, Path]) -> None:
    """Move files to their places, or none of them where a folder has one of the places."""
    path = Path()
    try:
        for path in files:
            if path.is_dir():
                raise IsADirectoryError(0, "Is a directory")
        for path, file in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            os.replace(file, path)
    except OSError as error:
        raise _refused(path, error) from None


def _become(folder: Path, stage: Path) -> None:
    """Give a finished folder its name, and the permissions of a new one."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        stage.chmod(0o777 & ~_umask())
        os.rename(stage, folder)
    except OSError as error:
        raise _refused(folder, error) from None


def _refused(path: Path, error: OSError) -> BenchError:
    return BenchError(f"{path}: cannot be written: {error.strerror or error} — check the folder")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode) if path.is_file() else 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
