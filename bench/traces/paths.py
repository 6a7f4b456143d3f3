"""The paths that a user gives: the files that each names, and the format in front of it."""

from __future__ import annotations

import contextlib
import glob
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..files.limits import how_to_raise, limit
from ..model.errors import TraceError, nearest
from ..plugins.registry import entries
from .documents import Document

_ENDINGS = (".gz", ".jsonl", ".ndjson", ".json", ".traj", ".eval", ".yaml", ".yml")
_BY_PATH = re.compile(r"([^:]+\.py:\w+):(.+)", re.DOTALL)


class InputFile(NamedTuple):
    """One file to read: its path, its name as given, and its path below the given folder."""

    path: Path
    name: str
    below: str


@dataclass(frozen=True)
class GivenPath:
    """One path as given: its format, if named, and its files. Those `named` must be readable."""

    text: str
    format: str | None
    files: tuple[InputFile, ...]
    named: bool


def given_files(text: str, base: Path) -> GivenPath:
    """The files of a path. TraceError for an unknown format, and where there is no file."""
    reader, path = _split_format(text, base)
    name = path.replace(os.sep, "/")
    target = base / path
    if os.path.isdir(target):  # of a name that is too long too, where Path.is_dir raises
        given = GivenPath(text, reader, tuple(_in_folder(target, name.rstrip("/"))), named=False)
    elif os.path.exists(target) or not glob.has_magic(path):
        given = GivenPath(text, reader, (InputFile(target, name, target.name),), named=True)
        if not os.path.exists(target):
            _ = Document(target, name).disk_bytes  # raises
    else:
        given = GivenPath(text, reader, tuple(_matches(base, path)), named=False)
    if not given.files:
        raise TraceError(f"{text}: no file matches — check the folder or the pattern")
    return given


def recorded_files(texts: Iterable[str], base: Path) -> Iterator[Path]:
    """Yield the files of recordings that some paths name. Of a folder those with a usual ending,
    and none where it contains `base`, since code may be among them. A wrong path has none."""
    for text in texts:
        with contextlib.suppress(TraceError):
            given = given_files(text, base)
            around = base.resolve().is_relative_to((base / _split_format(text, base)[1]).resolve())
            for file in () if around else given.files:
                if given.named or file.path.suffix in _ENDINGS:
                    yield file.path


def case_id(path: str) -> str:
    """The id of a run by its path: the path without the endings of trace formats and compression.

    >>> case_id("runs/r2/trajectory.json"), case_id("github_issue.traj.json"), case_id("v1.2/session.jsonl.gz")
    ('runs/r2/trajectory', 'github_issue', 'v1.2/session')
    """
    folder, slash, name = path.rpartition("/")
    while (ending := PurePosixPath(name).suffix) in _ENDINGS:
        name = name.removesuffix(ending)
    return f"{folder}{slash}{name}"


def require_inside(
    texts: Iterable[str],
    base: Path,
    hint: str = "move it inside, or allow it with --outside",
    *,
    future: bool = False,
) -> None:
    """Raise TraceError for a path outside the repository that contains `base`, links followed.
    Where there is no repository every path is fine; with `future` it will be in `base`."""
    here = base.resolve()
    root = next((above for above in (here, *here.parents) if (above / ".git").exists()), None)
    where = "repository" if root else "folder"
    root = root or (here if future else None)
    for text in texts if root else ():
        for file in given_files(text, base).files:
            if root and not file.path.resolve().is_relative_to(root):
                raise TraceError(f"{file.name}: lies outside the {where} {root} — {hint}")


def _split_format(text: str, base: Path) -> tuple[str | None, str]:
    """The format that a path begins with (None without one), and the rest of the path."""
    by_path = _BY_PATH.fullmatch(text)
    if by_path is not None:
        return by_path.group(1), by_path.group(2)
    prefix, colon, rest = text.partition(":")
    known = entries("reader")
    if colon and prefix in known:
        if not rest:
            raise TraceError(f"{text!r}: a path is missing — write {prefix}:FILE")
        return prefix, rest
    is_path = os.path.exists(base / text) or glob.has_magic(prefix)
    if colon and prefix.isidentifier() and not is_path:
        raise TraceError(f"{text}: unknown trace format {prefix!r}{nearest(prefix, known)}")
    if not text:
        raise TraceError("an empty path was given — name a file, a folder or a pattern")
    return None, text


def _in_folder(folder: Path, name: str) -> Iterator[InputFile]:
    """The files of a folder and of its subfolders, sorted by name, hidden entries left out."""
    names: list[str] = []

    def unread(error: OSError) -> None:  # listed as a file is: reading it gives the reason
        names.append(Path(error.filename).relative_to(folder).as_posix())

    for place, folders, files in os.walk(folder, onerror=unread):
        folders[:] = [inner for inner in folders if not inner.startswith(".")]
        below = Path(place).relative_to(folder)
        names.extend((below / file).as_posix() for file in files if not file.startswith("."))
        _require_few(len(names), name or "/")
    for file in sorted(names):
        yield InputFile(folder / file, f"{name}/{file}", file)


def _require_few(count: int, name: str) -> None:
    most = limit("files")
    if count > most:
        what = f"{name}: holds more than {most:,} files"
        raise TraceError(f"{what} — {how_to_raise('files')}, or give a smaller folder")


def _matches(base: Path, pattern: str) -> Iterator[InputFile]:
    """The files of a pattern, named below its part without wildcards; a matching folder gives its
    files. Hidden entries are left out unless the pattern names them. Links to folders are not
    followed, since they may lead back."""
    parts = PurePosixPath(pattern).parts
    fixed = next(at for at, part in enumerate(parts) if glob.has_magic(part))
    root, rest = PurePosixPath(*parts[:fixed]), parts[fixed:]
    hidden = any(part.startswith(".") for part in rest)  # asked for
    matches: list[str] = []
    try:
        for match in (base / root).glob("/".join(rest)):
            inside = match.relative_to(base / root)
            if hidden or not any(part.startswith(".") for part in inside.parts):
                matches.append(inside.as_posix())
                _require_few(len(matches), pattern)
    except OSError as error:
        what = f"{error.filename or 'a folder'} cannot be listed: {error.strerror or error}"
        raise TraceError(f"{pattern}: {what} — give a narrower pattern") from None
    seen: set[Path] = set()
    for below in sorted(matches):
        target, name = base / root / below, str(root / below)
        for file in _in_folder(target, name) if target.is_dir() else [InputFile(target, name, "")]:
            if file.path not in seen:  # `**` matches a folder and what is in it
                seen.add(file.path)
                _require_few(len(seen), pattern)
                yield file._replace(below=PurePosixPath(file.name).relative_to(root).as_posix())
