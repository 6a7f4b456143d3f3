"""Reading traces: what a reader is, how a file finds its reader, and how a path, a folder or a pattern becomes cases.

A reader is one small file with a class registered as `@register("reader", NAME)`; see `native.py`. It never guesses: `sniff` says how sure it
is from the content, and `read` gives the traces or raises TraceError naming file, line and path.
"""

from __future__ import annotations

import enum
import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

import msgspec

from ..errors import SpecError, TraceError, nearest
from ..files.documents import Document
from ..model import Source, Trace
from ..plugins.registry import build, entries

_ENDINGS = (".gz", ".zst", ".jsonl", ".ndjson", ".json", ".traj")
_BY_PATH = re.compile(r"([^:]+\.py:\w+):(.+)", re.DOTALL)


class Confidence(enum.IntEnum):
    """How sure a reader is that a file is of its format, by the content alone."""

    NO = 0
    POSSIBLE = 1
    CERTAIN = 2


class Reader(Protocol):
    """One trace format. `read` leaves a trace's id empty where the source has none; `load` fills it from the path."""

    def sniff(self, document: Document) -> Confidence: ...

    def read(self, document: Document) -> Iterable[Trace]: ...


@dataclass(frozen=True)
class Loaded:
    """What `load` found: the traces in order, the files of folders and patterns that no reader took, each with the reason,
    and the sha256 of the file that each trace (by id) was read from."""

    traces: tuple[Trace, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    sha256s: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Given:
    """One path as given: its format, if named, and the files it stands for. `named` files must be readable, others may be skipped."""

    text: str
    format: str | None
    documents: tuple[Document, ...]
    named: bool
    base: Path


def load(paths: Sequence[str], base: Path | None = None) -> Loaded:
    """Every trace of some paths, in the order given; a folder's or pattern's in the order of their names.

    A path is a file, a folder (read recursively, hidden entries left out) or a glob pattern, with or without its format before a colon
    (`openai:runs/a.jsonl`); relative paths start at `base`. A named file must be recognised; in a folder what no reader recognises is
    skipped and listed, but a damaged file is an error, and so is a folder without a trace. No paths give no traces.
    Raises TraceError, one line with the place and what to do.
    """
    taken: list[tuple[Document, Trace]] = []
    skipped: list[tuple[str, str]] = []
    for text in paths:
        given = _given(text, base or Path())
        before = len(taken)
        for document in given.documents:
            reader = _reader_for(document, given, skipped)
            if reader is not None:
                taken.extend((document, trace) for trace in _read(reader, document, given.named))
        if len(taken) == before:
            raise TraceError(_nothing_found(given, skipped))
    _refuse_duplicates(taken)
    return Loaded(
        tuple(trace for _, trace in taken), tuple(skipped), {trace.id: document.sha256 for document, trace in taken}
    )


def _given(text: str, base: Path) -> _Given:
    reader, path = _split_format(text, base)
    shown = path.replace(os.sep, "/")
    target = base / path
    if target.is_dir():
        return _Given(text, reader, tuple(_walk(target, shown.rstrip("/") or "/")), named=False, base=base)
    if target.exists() or not glob.has_magic(path):
        return _Given(text, reader, (Document(target, shown),), named=True, base=base)
    return _Given(text, reader, tuple(_matches(base, path)), named=False, base=base)


def _split_format(text: str, base: Path) -> tuple[str | None, str]:
    by_path = _BY_PATH.fullmatch(text)
    if by_path is not None:
        return by_path.group(1), by_path.group(2)
    prefix, colon, rest = text.partition(":")
    known = entries("reader")
    if colon and prefix in known:
        if not rest:
            raise TraceError(f"{text!r}: a path is missing — write {prefix}:FILE")
        return prefix, rest
    if colon and prefix.isidentifier() and not (base / text).exists() and not glob.has_magic(prefix):
        raise TraceError(f"{text}: unknown trace format {prefix!r}{nearest(prefix, known)}")
    if not text:
        raise TraceError("an empty path was given — name a file, a folder or a pattern")
    return None, text


def _walk(folder: Path, shown: str) -> Iterator[Document]:
    found: list[str] = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = Path(place).relative_to(folder)
        found.extend((below / name).as_posix() for name in files if not name.startswith("."))
    for name in sorted(found):
        yield Document(folder / name, f"{shown.rstrip('/')}/{name}", name)


def _matches(base: Path, pattern: str) -> Iterator[Document]:
    """The files a pattern stands for, named below its part without wildcards; a folder it matches is read as a folder."""
    fixed: list[str] = []
    for part in PurePosixPath(pattern).parts[:-1]:
        if glob.has_magic(part):
            break
        fixed.append(part)
    root = PurePosixPath(*fixed)
    seen: set[Path] = set()
    for match in sorted(glob.glob(pattern, root_dir=base, recursive=True)):
        target, shown = base / match, match.replace(os.sep, "/")
        inside = _walk(target, shown.rstrip("/")) if target.is_dir() else [Document(target, shown)]
        for document in inside:
            if document.path not in seen:  # `**` matches a folder and what is in it
                seen.add(document.path)
                below = PurePosixPath(document.name).relative_to(root).as_posix()
                yield Document(document.path, document.name, below)


def _open_reader(name: str, base: Path) -> Reader:
    try:
        plugin = build("reader", name, base)
    except SpecError as error:
        raise TraceError(str(error)) from None
    reader: Reader = plugin.start()[0]
    return reader


def _reader_for(document: Document, given: _Given, skipped: list[tuple[str, str]]) -> tuple[str, Reader] | None:
    """The reader to read a document with; None (and a line in `skipped`) where it is to be left out."""
    if given.format is not None:
        reader = _open_reader(given.format, given.base)
        if given.named or reader.sniff(document) is not Confidence.NO:
            return given.format, reader
        reasons = f"not {given.format}"
    else:
        sure = {name: _open_reader(name, given.base).sniff(document) for name in entries("reader")}
        best = max(sure.values(), default=Confidence.NO)
        candidates = [name for name, confidence in sure.items() if confidence is best]
        if best is not Confidence.NO:
            if len(candidates) > 1:
                first = f"{candidates[0]}:{document.name}"
                raise document.fail(f"could be {' or '.join(candidates)} — name the format: {first}")
            return candidates[0], _open_reader(candidates[0], given.base)
        reasons = f"not recognised as {', '.join(sure)}"
    problem = document.problem
    if problem is not None and (given.named or document.is_broken_json):
        raise problem
    if given.named:
        example = f"{next(iter(entries('reader')))}:{document.name}"
        raise document.fail(f"{reasons} — name the format if it is one of these: {example}")
    skipped.append((document.name, reasons))
    return None


def _read(chosen: tuple[str, Reader], document: Document, named: bool) -> Iterator[Trace]:
    name, reader = chosen
    traces = list(reader.read(document))
    if not traces:
        raise document.fail(f"holds no trace that {name} can read — record it again, or leave the file out")
    stem = case_id(PurePosixPath(document.below).name if named else document.below)
    for position, trace in enumerate(traces):
        own = trace.id or (stem if len(traces) == 1 else f"{stem}#{position}")
        yield trace if trace.id else msgspec.structs.replace(trace, id=own)


def files_of(text: str, base: Path) -> tuple[tuple[Path, ...], bool]:
    """Every file that a path given as traces stands for, and whether it names one file (else a folder or a pattern). Errors: those of `load`."""
    given = _given(text, base)
    return tuple(document.path for document in given.documents), given.named


def case_id(path: str) -> str:
    """The case id a path gives: the path without the endings of trace formats and compression.

    >>> case_id("runs/r2/trajectory.json"), case_id("github_issue.traj.json"), case_id("v1.2/session.jsonl.gz")
    ('runs/r2/trajectory', 'github_issue', 'v1.2/session')
    """
    folder, slash, name = path.rpartition("/")
    while (ending := PurePosixPath(name).suffix) in _ENDINGS:
        name = name.removesuffix(ending)
    return f"{folder}{slash}{name}"


def source_of(document: Document, reader: str) -> Source:
    """The source that a reader records in its traces: the format, the path below what was given, the sha256 of the file."""
    return Source(format=reader, path=document.below, sha256=document.sha256)


def _nothing_found(given: _Given, skipped: list[tuple[str, str]]) -> str:
    if not given.documents:
        return f"{given.text}: no file matches — check the folder or the pattern"
    names = {document.name for document in given.documents}
    first, reason = next(item for item in skipped if item[0] in names)
    count = len(given.documents)
    return f"{given.text}: none of {count} file{'s' * (count > 1)} is a trace (the first, {first}: {reason}) — check the folder or name the format"


def _refuse_duplicates(taken: list[tuple[Document, Trace]]) -> None:
    first: dict[str, Document] = {}
    for document, trace in taken:
        known = first.get(trace.id)
        if known is document:
            raise document.fail(f"case id {trace.id!r} is used by two of its traces — give each its own id")
        if known is not None:
            both = f"by {known.name} and by {document.name}"
            raise TraceError(
                f"case id {trace.id!r} is taken twice: {both} — give one folder that holds both, or leave one out"
            )
        first[trace.id] = document
