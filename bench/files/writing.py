"""The one way files are written: whole or not at all, several of them together, and never in the place of what is no plain file.

Several files are written beside their places, and a journal says what each place held. Then they are moved there, and the journal is removed. Where
something fails, or the process is killed, the journal says what to take back.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import signal
import stat
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from ..model.errors import BenchError

_SHOWN = 40
"""The most characters of a file's name that its hidden temporary file repeats, so that a long name stays allowed."""


def require_place(paths: Iterable[Path]) -> None:
    """Raise BenchError for a path where a file cannot take its place without taking the place of something else: a link, which may lead
    anywhere, a pipe, a device, a socket; and for an address. Folders and what cannot be looked at are left to whoever writes.
    """
    for path in paths:
        if path.parts[:1] in (("https:",), ("http:",), ("s3:",), ("gs:",), ("file:",)):
            raise BenchError(f"{path}: is an address — give the name of a file on this machine")
        try:
            mode = path.lstat().st_mode
        except (OSError, ValueError):
            continue
        if stat.S_ISLNK(mode):
            raise BenchError(
                f"{path}: is a link to {os.readlink(path)}, whose place a file would take — give the name of the file itself"
            )
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise BenchError(
                f"{path}: is a pipe, a device or a socket, whose place a file would take — give another name"
            )


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a reader finds the old one or the whole new one. Its folder is made; its permissions are those of the old file, else
    what the user's umask says. Raises BenchError where that is not possible, and as `require_place` does.
    """
    write_together({path: data})


def write_together(files: Mapping[Path, bytes | Iterable[bytes]]) -> None:
    """Write several files, all or none, whatever happens. Else as `write_atomically`."""
    with written_together(files):
        return


@contextlib.contextmanager
def written_together(files: Mapping[Path, bytes | Iterable[bytes]], decides: Path | None = None) -> Iterator[None]:
    """Several files for a block, all or none: they are in their places inside of it, and are taken back where it fails.

    Each is written beside its place first. Where the process is killed, the next one takes them back (`settle`); not where the file `decides`, which
    the block writes at its end, is another one by then.
    """
    settle()
    require_place(files)
    staged: dict[Path, str] = {}
    path = Path()
    try:
        with contextlib.ExitStack() as placed:
            try:
                for path, data in files.items():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    if path.is_dir():
                        raise IsADirectoryError(0, "is a folder")
                    descriptor, staged[path] = tempfile.mkstemp(dir=path.parent, prefix=_own_prefix(path))
                    with os.fdopen(descriptor, "wb") as file:
                        file.writelines([data] if isinstance(data, bytes) else data)
                        if len(files) > 1:
                            file.flush()
                            os.fsync(descriptor)
                    os.chmod(staged[path], _mode(path))
                placed.enter_context(_placed(staged, decides))
            except OSError as error:
                why = error.strerror or error
                raise BenchError(f"{error.filename2 or path}: cannot be written: {why} — check the folder") from None
            yield
    finally:
        for temporary in staged.values():
            Path(temporary).unlink(missing_ok=True)


def write_new(path: Path, data: bytes) -> bool:
    """Write a file that is not there; False where it is. Raises BenchError as `write_atomically` does."""
    temporary = path.with_name(f"{_own_prefix(path)}{threading.get_ident()}-new")
    write_together({temporary: data})
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError as error:
        raise BenchError(f"{path}: cannot be written: {error.strerror or error} — check the folder") from None
    finally:
        temporary.unlink()
    return True


@contextlib.contextmanager
def folder_in_place(folder: Path) -> Iterator[Path]:
    """An empty folder whose files take their places below `folder` once the block has ended well, all of them or none; else it goes.

    Raises BenchError where they cannot.
    """
    settle()
    near = next(above for above in (folder.absolute(), *folder.absolute().parents) if above.is_dir())
    stage = Path(tempfile.mkdtemp(dir=near, prefix=_own_prefix(near / folder.absolute().name)))
    try:
        yield stage
        files = {folder / file.relative_to(stage): str(file) for file in sorted(stage.rglob("*")) if file.is_file()}
        require_place(files)
        try:
            if folder.is_dir():
                for path in files:
                    path.parent.mkdir(parents=True, exist_ok=True)
                with _placed(files, None):
                    pass
            elif files:
                folder.parent.mkdir(parents=True, exist_ok=True)
                stage.chmod(0o777 & ~_umask())
                os.rename(stage, folder)
        except OSError as error:
            raise BenchError(f"{folder}: cannot be written: {error.strerror or error} — check the folder") from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)


@contextlib.contextmanager
def scratch(name: str) -> Iterator[Path]:
    """An empty folder for a block, that no other user can look into. The next one of its name removes those of processes that were killed."""
    folder = Path(tempfile.mkdtemp(prefix=_own_prefix(Path(tempfile.gettempdir()) / name))).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# ---------------------------------------------------------------- files that take their places, and give them back

_State = tuple[int, int, int]


class _Move(msgspec.Struct):
    """A file on its way: its place, the name that it has until then, its state, and a second name of the file that was there."""

    path: str
    staged: str
    state: _State
    old: str | None


class _Journal(msgspec.Struct):
    """The moves of one process; they stay where `decides` is no longer what it `was`."""

    moves: list[_Move]
    decides: str | None
    was: _State | None


@contextlib.contextmanager
def _placed(staged: Mapping[Path, str], decides: Path | None) -> Iterator[None]:
    """Let each file take its place for a block. Of several a journal is kept as long as they may have to give it back; signals that can wait do."""
    if len(staged) <= (decides is None):
        for path, temporary in staged.items():
            os.replace(temporary, path)
        yield
        return
    signals = signal.pthread_sigmask(signal.SIG_BLOCK, _WAIT) if hasattr(signal, "pthread_sigmask") else None
    moves: list[_Move] = []
    journal = _Journal(moves, None, None)
    if decides is not None:
        journal = _Journal(moves, os.path.realpath(decides), _state(decides))
    written: Path | None = None
    try:
        for path, temporary in staged.items():
            old = f"{temporary}.old" if path.exists() else None
            moves.append(_Move(str(path.absolute()), os.path.abspath(temporary), _state(temporary) or (0, 0, 0), old))
            if old is not None:
                try:
                    os.link(path, old)
                except OSError:  # a file system without links
                    shutil.copy2(path, old)
        written = _kept(journal)
        for move in moves:
            os.replace(move.staged, move.path)
        yield
    except BaseException:
        _take_back(journal)
        raise
    finally:
        _end(journal, written)
        if signals is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, signals)


def _journals() -> Path:
    """The folder of the journals of this user's processes."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "agent-memory-bench" / "writing"


def _kept(journal: _Journal) -> Path | None:
    """Write a journal, after the files that it is about; None where the user has no folder for it."""
    with contextlib.suppress(OSError, RuntimeError):
        _journals().mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=_journals(), prefix=f"{os.getpid()}-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(journal))
            file.flush()
            os.fsync(descriptor)
        return Path(name)
    return None


def settle() -> None:
    """Take back what processes that were killed had put into place of several files, but for those that had all done, and remove what they left here
    and among the temporary files. Each command begins with it.
    """
    for folder in (Path(), Path(tempfile.gettempdir())):
        _sweep(folder, ".*.bench-*")
    with contextlib.suppress(OSError, RuntimeError):
        for path in sorted(_journals().iterdir()):
            if _is_left(path, path.name.partition("-")[0]):
                with contextlib.suppress(
                    msgspec.DecodeError, UnicodeDecodeError
                ):  # it was killed before it moved anything
                    journal = msgspec.json.decode(path.read_bytes(), type=_Journal)
                    journal.moves = [move for move in journal.moves if _is_ours(move)]
                    if not _has_decided(journal):
                        _take_back(journal)
                    _end(journal, None)
                path.unlink(missing_ok=True)


def _is_ours(move: _Move) -> bool:
    """True if the names of a move are hidden ones, as this room makes them: a journal that somebody planted removes nothing else."""
    hidden = any(part.startswith(".") and ".bench-" in part for part in Path(move.staged).parts)
    return hidden and move.old in (None, f"{move.staged}.old")


def _has_decided(journal: _Journal) -> bool:
    """True if the file that decides was written, and is not about to be rolled back by SQLite."""
    path = journal.decides
    return path is not None and _state(path) != journal.was and not os.path.exists(f"{path}-journal")


def _take_back(journal: _Journal) -> None:
    """Let the files that were there before take their places again, but for a file that somebody has changed since."""
    for move in journal.moves:
        if _state(move.path) == move.state:
            with contextlib.suppress(OSError):
                if move.old is None:
                    os.unlink(move.path)
                else:
                    os.replace(move.old, move.path)


def _end(journal: _Journal, written: Path | None) -> None:
    """Remove a journal, then the names that files had beside their places."""
    if written is not None:
        written.unlink(missing_ok=True)
    for name in (name for move in journal.moves for name in (move.staged, move.old) if name is not None):
        with contextlib.suppress(OSError):
            os.unlink(name)


def _state(path: str | Path) -> _State | None:
    """The state by which a file is known again; None for no file."""
    try:
        about = os.stat(path)
    except OSError:
        return None
    return about.st_ino, about.st_size, about.st_mtime_ns


_WAIT = {number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None}


def _own_prefix(path: Path) -> str:
    """The prefix of hidden names for what is on its way to a path. What a process that was killed left behind under such a name is removed."""
    head = f".{path.name[:_SHOWN]}.bench-"
    _sweep(path.parent, f"{glob.escape(head)}*")
    return f"{head}{os.getpid()}-"


def _sweep(folder: Path, names: str) -> None:
    with contextlib.suppress(OSError):
        for left in folder.glob(names):
            if _is_left(left, left.name.rpartition(".bench-")[2].partition("-")[0]):
                with contextlib.suppress(OSError):
                    shutil.rmtree(left) if left.is_dir() else left.unlink()


def _is_left(path: Path, number: str) -> bool:
    """True if a process of a number wrote a file, and has ended, or was there before the machine was started."""
    if not number.isdecimal() or not hasattr(os, "fork"):  # elsewhere a signal of 0 ends a process
        return False
    try:
        os.kill(int(number), 0)
        boot = getattr(time, "CLOCK_BOOTTIME", None)
        return boot is not None and path.stat().st_mtime < time.time() - time.clock_gettime(boot) - 1
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode) if path.is_file() else 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
