"""Reading traces: what a reader is, how a file finds its reader, and how a path, a folder or a pattern becomes cases.

A reader is one small file with a class registered as `@register("reader", NAME)`; see `native.py`. It never guesses: `sniff` says how sure it
is from the content, and `read` gives the traces or raises TraceError naming file, line and path. What it does not understand it counts in
`Trace.left_out`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal, Protocol

import msgspec

from ..errors import BenchError, SpecError, TraceError, debugged, defect
from ..files.documents import Document
from ..model import Source, Trace, encodable
from ..plugins.registry import build, entries
from .paths import File, Given, given_files

_ENDINGS = (".gz", ".zst", ".jsonl", ".ndjson", ".json", ".traj", ".eval", ".yaml", ".yml", ".md", ".csv")


class Confidence(enum.IntEnum):
    """How sure a reader is that a file is of its format, by the content alone."""

    NO = 0
    POSSIBLE = 1
    CERTAIN = 2


@dataclass(frozen=True)
class Near:
    """NO, but the file has something of the format: what it has of it and what it lacks, each in a few words."""

    has: tuple[str, ...]
    lacks: tuple[str, ...]

    @property
    def share(self) -> float:
        """How much of the format was found, 0–1."""
        return len(self.has) / (len(self.has) + len(self.lacks))


def by_marks(marks: Mapping[str, bool], sure: Confidence = Confidence.CERTAIN) -> Confidence | Near:
    """How sure a reader is by the marks of its format, each with whether the file has it: `sure` with all, Near with some, NO without any.

    >>> by_marks({"a key 'history'": True, "labels": True})
    <Confidence.CERTAIN: 2>
    >>> by_marks({"a key 'history'": True, "labels": False})
    Near(has=("a key 'history'",), lacks=('labels',))
    >>> by_marks({"a key 'history'": False})
    <Confidence.NO: 0>
    """
    has = tuple(mark for mark, found in marks.items() if found)
    if len(has) == len(marks):
        return sure
    return Near(has, tuple(mark for mark, found in marks.items() if not found)) if has else Confidence.NO


def confidence_of(sniffed: Confidence | Near) -> Confidence:
    """How sure a reader is, whatever it says of why not."""
    return Confidence.NO if isinstance(sniffed, Near) else sniffed


Kept = Literal[
    "cuts",
    "usage",
    "times",
    "errors",
    "outcome",
    "labels",
    "routes",
    "reasoning",
    "threads",
    "resets",
    "tools",
    "approvals",
    "model",
]
"""What a reader may keep beside messages and results: that a result was cut at the source, recorded token counts, times or durations, failed
results, how the run ended, what people said of it, route decisions, reasoning as text, agents of their own, where the history was cut, tool
definitions, a person's yes or no, the name of the model."""


@dataclass(frozen=True)
class Keeps:
    """What a reader keeps of its format, declared as its attribute `keeps`: a row of docs/formats.md, which a test holds against its samples.

    `results`: `untruncated` (the whole, where the model saw less), `as shown` (what is recorded is what the model saw) or `none`. `never` is
    what it cannot keep, and why; `tested` the versions of the format it was tested on, and how those files came to be.
    """

    results: Literal["untruncated", "as shown", "none"]
    also: tuple[Kept, ...]
    never: str
    tested: str


class PartOf(TraceError):
    """A file that is read together with another: left out of a folder, and said; an error where it is named itself."""


class Reader(Protocol):
    """One trace format. `read` leaves a trace's id empty where the source has none; loading fills it from the path.

    `sniff` judges by content alone and never raises; a reader that says why a file is not its own returns Near in place of NO.
    """

    def sniff(self, document: Document) -> Confidence | Near: ...

    def read(self, document: Document) -> Iterable[Trace]: ...


@dataclass(frozen=True)
class Loaded:
    """What `load` found: the traces in order, the files of folders and patterns that were left out, each with the reason,
    and the sha256 of the file that each trace (by id) was read from."""

    traces: tuple[Trace, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    sha256s: dict[str, str] = field(default_factory=dict)


class TraceSource:
    """The traces of some paths, read one file at a time while they are iterated: no trace is kept, so memory holds one file.

    `skipped` (file and reason) and `sha256s` (trace id to the sha256 of its file) grow as the iteration goes on and are complete at its end;
    each iteration starts anew. Errors: those of `load`, raised when met; a missing file or an unknown format before anything is read.
    """

    def __init__(self, paths: Sequence[str], base: Path | None = None, *, strict: bool = False) -> None:
        self.paths, self.base, self.strict = tuple(paths), base or Path(), strict
        self.skipped: list[tuple[str, str]] = []
        self.sha256s: dict[str, str] = {}

    def __iter__(self) -> Iterator[Trace]:
        self.skipped, self.sha256s = [], {}
        file_of: dict[str, File] = {}
        sessions: dict[tuple[str, str], File] = {}
        copies: dict[str, File] = {}
        for given in [given_files(text, self.base) for text in self.paths]:
            before, found = len(self.skipped), 0
            folders: dict[Path, list[Path]] = {}
            for file in given.files:
                folders.setdefault(file.path.parent, []).append(file.path)
            for file in given.files:
                document = Document(*file, () if given.named else folders[file.path.parent])
                for trace in self._traces(document, given):
                    if self._is_known(trace, file, given, sessions):
                        continue
                    if self._is_copy(document.sha256, file, given, copies):
                        break
                    if trace.id in file_of:
                        raise _taken_twice(trace.id, document, file_of[trace.id] is file, file_of[trace.id].name)
                    file_of[trace.id] = file
                    self.sha256s[trace.id] = document.sha256
                    found += 1
                    yield trace
            if not found:
                raise TraceError(_nothing_found(given, self.skipped[before:]))

    def _is_known(self, trace: Trace, file: File, given: Given, sessions: dict[tuple[str, str], File]) -> bool:
        """Whether another file has given the same recorded session (`meta["session_id"]`): then it is left out, or an error where it is named."""
        session = trace.meta.get("session_id")
        if not isinstance(session, str):
            return False
        first = sessions.setdefault((trace.source.format, session), file)
        if first is file:
            return False
        reason = f"holds session {session!r}, which {first.name} has given already"
        if given.named:
            raise TraceError(f"{file.name}: {reason} — leave one of the two out")
        self.skipped.append((file.name, reason))
        return True

    def _is_copy(self, sha256: str, file: File, given: Given, copies: dict[str, File]) -> bool:
        """Whether another file with the very same bytes has given its traces: counted again, they would count twice. Left out, or an error where
        it is named.
        """
        first = copies.setdefault(sha256, file)
        if first.path == file.path:
            return False
        reason = f"has the same bytes as {first.name}, which would count twice"
        if given.named:
            raise TraceError(f"{file.name}: {reason} — leave one of the two out")
        self.skipped.append((file.name, reason))
        return True

    def _traces(self, document: Document, given: Given) -> Sequence[Trace]:
        """A file's traces; none, and a line in `skipped`, where it is to be left out. All or nothing: a damaged file gives no trace."""
        try:
            reader, why_not = _reader_for(document, given, self.base)
            if reader is not None:
                return list(_read(reader, document, given.named))
        except PartOf as error:
            if given.named:
                raise
            why_not = str(error)
        except _Ambiguous:
            raise
        except TraceError as error:
            if given.named or self.strict:
                raise
            why_not = str(error)
        self.skipped.append((document.name, _without_name(why_not, document.name)))
        return ()


def iter_traces(paths: Sequence[str], base: Path | None = None, *, strict: bool = False) -> TraceSource:
    """The traces of some paths as an iterable that reads each file when its turn comes. Paths, order and errors are those of `load`."""
    return TraceSource(paths, base, strict=strict)


def load(paths: Sequence[str], base: Path | None = None, *, strict: bool = False) -> Loaded:
    """Every trace of some paths, in the order given; a folder's or pattern's in the order of their names.

    A path is a file, a folder (read recursively, hidden entries left out) or a glob pattern, with or without its format before a colon
    (`openai:runs/a.jsonl`); relative paths start at `base`. A named file must be recognised and whole. In a folder, what no reader recognises
    and what is damaged is left out and listed with the reason (`strict`: damaged files are errors); a folder without a trace is an error, and
    so is a file that two readers are equally sure of. No paths give no traces.
    Raises TraceError, one line with the place and what to do.
    """
    source = TraceSource(paths, base, strict=strict)
    traces = tuple(source)
    return Loaded(traces, tuple(source.skipped), source.sha256s)


def _open_reader(name: str, base: Path) -> Reader:
    try:
        plugin = build("reader", name, base)
    except SpecError as error:
        raise TraceError(str(error)) from None
    reader: Reader = plugin.start()[0]
    return reader


class _Ambiguous(TraceError):
    """A file that two readers are equally sure of: somebody has to say which."""


_Chosen = tuple[str, Reader]


def _reader_for(document: Document, given: Given, base: Path) -> tuple[_Chosen | None, str]:
    """The reader to read a document with; None and why not where it is to be left out."""
    if given.format is not None:
        reader = _open_reader(given.format, base)
        if given.named:
            return (given.format, reader), ""
        sniffed = _sniffed(given.format, reader, document)
        if confidence_of(sniffed) is not Confidence.NO:
            return (given.format, reader), ""
        answers = {given.format: sniffed}
        why_not = f"not {given.format}"
    else:
        answers = {name: _sniffed(name, _open_reader(name, base), document) for name in entries("reader")}
        best = max(map(confidence_of, answers.values()), default=Confidence.NO)
        candidates = [name for name, answer in answers.items() if confidence_of(answer) is best]
        if best is not Confidence.NO:
            if len(candidates) > 1:
                first = f"{candidates[0]}:{document.name}"
                raise _Ambiguous(f"{document.name}: could be {' or '.join(candidates)} — name the format: {first}")
            return (candidates[0], _open_reader(candidates[0], base)), ""
        why_not = f"not recognised as {', '.join(answers)}"
    problem = document.problem
    if problem is not None and (given.named or document.is_broken_json):
        raise problem
    closest = _nearest_format(answers)
    why_not = closest or why_not
    if given.named:
        example = f"{next(iter(entries('reader')))}:{document.name}"
        raise document.fail(f"{why_not} — name the format if it is one of these: {example}")
    return None, why_not


@contextmanager
def _its_own_error(reader: str, document: Document) -> Iterator[None]:
    """What a reader did not foresee costs the file that it reads, not the run: a TraceError that names both."""
    try:
        yield
    except (BenchError, MemoryError):
        raise
    except Exception as error:
        debugged(error)
        raise document.fail(f"reader {reader} cannot read it: {defect(error)}") from error


def _sniffed(name: str, reader: Reader, document: Document) -> Confidence | Near:
    with _its_own_error(name, document):
        return reader.sniff(document)


def _nearest_format(answers: Mapping[str, Confidence | Near]) -> str:
    """What to say of the format that a file is nearest to; `""` where it has nothing of any."""
    near = {name: answer for name, answer in answers.items() if isinstance(answer, Near)}
    if not near:
        return ""
    name = max(near, key=lambda item: near[item].share)
    has, lacks = " and ".join(near[name].has), " and ".join(near[name].lacks)
    return f"not recognised; the nearest format is {name}: the file has {has}, what is missing is {lacks}"


def _read(chosen: _Chosen, document: Document, named: bool) -> Iterator[Trace]:
    name, reader = chosen
    with _its_own_error(name, document):
        traces = list(reader.read(document))
    if not traces:
        raise document.fail(f"holds no trace that {name} can read — record it again, or leave the file out")
    stem = case_id(PurePosixPath(document.below).name if named else document.below)
    repeated = sum(document.repeated_keys.values())
    for position, trace in enumerate(traces):
        own = trace.id or (stem if len(traces) == 1 else f"{stem}#{position}")
        clean, left_out = encodable(own), dict(trace.left_out)
        if clean != own:
            left_out["lone surrogate of its id"] = sum(a != b for a, b in zip(own, clean, strict=True))
        if repeated and not position:
            left_out["key that an object has twice: the last one counts"] = repeated
        changed = clean != trace.id or left_out != trace.left_out
        yield msgspec.structs.replace(trace, id=clean, left_out=left_out) if changed else trace


def files_of(text: str, base: Path) -> tuple[tuple[Path, ...], bool]:
    """Every file that a path given as traces stands for, and whether it names one file (else a folder or a pattern). Errors: those of `load`."""
    given = given_files(text, base)
    return tuple(file.path for file in given.files), given.named


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


def _nothing_found(given: Given, skipped: Sequence[tuple[str, str]]) -> str:
    first, reason = skipped[0]
    count = len(given.files)
    return f"{given.text}: none of {count} file{'s' * (count > 1)} is a trace (the first, {first}: {reason}) — check the folder or name the format"


def _taken_twice(case: str, document: Document, by_itself: bool, known: str) -> TraceError:
    if by_itself:
        return document.fail(f"case id {case!r} is used by two of its traces — give each its own id")
    both = f"by {known} and by {document.name}"
    return TraceError(f"case id {case!r} is taken twice: {both} — give one folder that holds both, or leave one out")


def _without_name(reason: str, name: str) -> str:
    """Why a file was left out, without the file's own name before it, which is listed beside it.

    >>> _without_name("a.json:2: ends early", "a.json"), _without_name("a.json $.x: no", "a.json"), _without_name("not b", "a.json")
    ('line 2: ends early', '$.x: no', 'not b')
    """
    rest = reason.removeprefix(name)
    if rest == reason:
        return reason
    return rest.removeprefix(":").strip() if rest[1:2] in (" ", "$") else f"line {rest[1:]}"
