"""Reading traces: what a reader is, how a file finds its reader, and how a path, a folder or a pattern becomes cases.

A reader is one small file with a class registered as `@register("reader", NAME)`; see `native.py`. It never guesses: `sniff` says how sure it
is from the content, and `read` gives the traces or raises TraceError naming file, line and path. What it does not understand it counts in
`Trace.left_out`. What every reader needs is imported from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ..model import Source, Trace, encodable, grouped
from ..model.errors import BenchError, SpecError, TraceError, debugged, defect
from ..plugins.registry import build, entries, installed, register as register
from ..plugins.worker import Limits
from .decoded import as_dict as as_dict, dicts as dicts, strict_json as strict_json
from .documents import Document as Document
from .far import FarPath
from .markers import with_marked_cuts
from .own_reader import NotOpened, OwnReader
from .paths import GivenPath, InputFile, case_id as case_id, given_files, told_apart
from .reader import (
    Confidence as Confidence,
    Keeps as Keeps,
    Kept as Kept,
    Near as Near,
    NoRun as NoRun,
    PartOf as PartOf,
    Reader as Reader,
    Traces as Traces,
    all_but as all_but,
    by_marks as by_marks,
    confidence_of as confidence_of,
)


@dataclass(frozen=True)
class Loaded:
    """The result of `load`: the traces in order, the files that were left out, each with the reason, those of them that are `damaged` (a
    recording may be lost), and the sha256 of the file that each trace (by id) was read from."""

    traces: tuple[Trace, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    sha256s: dict[str, str] = field(default_factory=dict)
    damaged: tuple[str, ...] = ()

    @property
    def stored(self) -> Mapping[str, StoredTrace]:
        """None: these traces are here."""
        return {}

    def expected(self, found: int) -> int:
        """The number of traces; at least so many."""
        return max(found, len(self.traces))


@dataclass(frozen=True)
class StoredTrace:
    """A trace in a file that lies elsewhere: all that it takes to read it there again. `own_id` is its id in the file."""

    file: InputFile
    reader: str
    own_id: str
    id: str

    def read(self) -> Trace:
        """The trace. Errors: those of `load`."""
        document = Document(*self.file)
        for trace in _read(self.reader, _Readers(Path(), Limits()).open(self.reader), document):
            if trace.id == self.own_id:
                return msgspec.structs.replace(trace, id=self.id)
        raise document.fail(f"no longer holds {self.own_id!r} — run again")


class TraceSource:
    """The traces of some paths, read one file at a time while they are iterated: no trace is kept, so memory holds one file.

    `skipped` (file and reason), `damaged` (the files among these that cannot be read) and `sha256s` (trace id to the sha256 of its file) grow as
    the iteration goes on and are complete at its end; each iteration starts anew. Errors: those of `load`, raised when met; a missing file or an
    unknown format before anything is read. `still`: a file that changes before it is read is an error.
    """

    def __init__(
        self,
        paths: Sequence[str],
        base: Path | None = None,
        *,
        strict: bool = False,
        limits: Limits | None = None,
        still: bool = False,
    ) -> None:
        self.paths, self.base, self.strict, self.still = tuple(paths), base or Path(), strict, still
        self.limits = limits or Limits()
        self.skipped: list[tuple[str, str]] = []
        self.damaged: list[str] = []
        self.sha256s: dict[str, str] = {}
        self.stored: dict[str, StoredTrace] = {}
        self.files = self.files_read = 0

    def expected(self, found: int) -> int:
        """The number of traces that there will be, where so many were found in the files that were read: a guess until all were."""
        return found if self.files_read >= self.files else max(found + 1, found * self.files // max(1, self.files_read))

    def __iter__(self) -> Iterator[Trace]:
        self.skipped, self.damaged, self.sha256s = [], [], {}
        readers = _Readers(self.base, self.limits)
        try:
            yield from self._iterated(readers)
        finally:
            readers.close()

    def _iterated(self, readers: _Readers) -> Iterator[Trace]:
        everything = told_apart([given_files(text, self.base) for text in self.paths])
        for name in dict.fromkeys(given.format for given in everything if given.format is not None):
            readers.open(name)
        self.files, self.files_read = sum(len(given.files) for given in everything), 0
        known, found = _Known(), 0
        states = {file.path: _state(file) for given in everything for file in given.files} if self.still else {}
        for given in everything:
            before, found_before = len(self.skipped), found
            folders = grouped((file.path.parent, file.path) for file in given.files)
            for file in given.files:
                self.files_read += 1
                document = Document(*file, () if given.named else folders[file.path.parent])
                if self.still and _state(file) != states[file.path]:
                    what = "was changed by what was measured before it"
                    raise document.fail(f"{what} — look at what the strategies write")
                for own in self._traces(document, given, readers):
                    trace, reason = known.named(own, file, document.sha256)
                    if reason:
                        if (file.name, reason) not in self.skipped[-1:]:
                            self.skipped.append((file.name, reason))
                        continue
                    self.sha256s[trace.id] = document.sha256
                    if isinstance(file.path, FarPath):
                        self.stored[trace.id] = StoredTrace(file, trace.source.format, own.id, trace.id)
                    found += 1
                    yield trace
            if found == found_before and not given.named:
                raise TraceError(_nothing_found(given, self.skipped[before:]))
        if self.paths and not found:
            raise TraceError(": ".join(self.skipped[0]))

    def _traces(self, document: Document, given: GivenPath, readers: _Readers) -> Sequence[Trace]:
        """A file's traces; none, and a line in `skipped`, where it is to be left out. All or nothing: a damaged file gives no trace."""
        try:
            chosen, why_not = _reader_for(document, given, readers)
            if chosen is not None:
                return list(_read(*chosen, document))
        except PartOf as error:
            if given.named and self.files == 1:
                raise
            why_not = str(error)
        except (_Ambiguous, NotOpened):
            raise
        except TraceError as error:
            if given.named and given.format is not None and (meant := _recognised(document, readers)[1]):
                short = str(error).partition(" — ")[0]
                raise TraceError(f"{short} — recognised as {meant[0]}: write {meant[0]}:{document.name}") from None
            if given.named or self.strict:
                raise
            why_not = str(error)
            self.damaged.append(document.name)
        self.skipped.append((document.name, _without_name(why_not, document.name)))
        return ()


def _state(file: InputFile) -> tuple[int, ...]:
    """The state by which a file on this machine is known again."""
    try:
        about = None if isinstance(file.path, FarPath) else file.path.stat()
    except OSError:
        about = None
    return () if about is None else (about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)


class _Known:
    """The traces so far, and the first file that gave each run, session and content: what another file gives again would count twice."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, ...], InputFile] = {}
        self._outlines: dict[str, int] = {}

    def named(self, trace: Trace, file: InputFile, sha256: str) -> tuple[Trace, str]:
        """A trace under the id that it has among the others, and why it is to be left out (`""`: it is not). TraceError for an id taken twice."""
        session, outline = trace.meta.get("session_id"), _outline(trace)
        again = [(("bytes", sha256), "has the same bytes as {}, which would count twice")]
        if isinstance(session, str):  # before the bytes: it says more. Two formats may record one session.
            again.insert(0, (("session", session), f"holds session {session!r}, which {{}} has given already"))
        for mark, reason in again:
            first = self._first.setdefault(mark, file)
            if first.path != file.path:
                return trace, reason.format(first.name)
        first = self._first.get(("id", trace.id), file)
        if first.path != file.path:
            if self._outlines[trace.id] == outline:
                return trace, f"holds run {trace.id!r}, which {first.name} has given already"
            longer = file.below if trace.id == case_id(file.below) else f"{file.below}:{trace.id}"
            trace = msgspec.structs.replace(trace, id=longer)
        taken = self._first.setdefault(("id", trace.id), file)
        if trace.id in self._outlines:
            if taken is file:
                what = f"case id {trace.id[:200]!r} is used by two of its traces"
                raise TraceError(f"{file.name}: {what} — give each its own id")
            both = f"by {taken.name} and by {file.name}"
            raise TraceError(f"case id {trace.id[:200]!r} is taken twice: {both} — leave one of the two out")
        self._outlines[trace.id] = outline
        return trace, ""


def load(
    paths: Sequence[str], base: Path | None = None, *, strict: bool = False, limits: Limits | None = None
) -> Loaded:
    """Every trace of some paths, in the order given; a folder's or pattern's in the order of their names.

    A path is a file, a folder (read recursively, hidden entries left out) or a glob pattern, with or without its format before a colon
    (`messages:runs/a.jsonl`); relative paths start at `base`. A named file must be recognised and whole. In a folder, what no reader recognises
    and what is damaged is left out and listed with the reason (`strict`: damaged files are errors); a folder without a trace is an error, and
    so is a file that two readers are equally sure of. Of several files, one that holds no run, or what another has given, is left out and
    listed. Cases are named by their files, those of one name by what tells their paths apart. No paths give no traces. A reader of somebody's
    own (`mine.py:Reader:runs/`) runs in a process of its own and may take what `limits` say for each file; whatever it does there is an error
    of that file. Raises TraceError, one line with the place and what to do.
    """
    source = TraceSource(paths, base, strict=strict, limits=limits)
    traces = tuple(source)
    return Loaded(traces, tuple(source.skipped), source.sha256s, tuple(source.damaged))


class _Readers:
    """The readers of one reading. Those of somebody's own are opened once, in processes that end with it."""

    def __init__(self, base: Path, limits: Limits) -> None:
        self._base, self._limits = base, limits
        self._own: dict[str, OwnReader] = {}
        self._shipped: dict[str, Reader] = {}
        # one that the program itself registered runs in it, as the rest of the program does
        self._known = entries("reader").keys() - installed("reader")

    def open(self, name: str) -> Reader:
        """The reader of a format, or that a spec names. Raises TraceError where there is none."""
        if name in self._shipped:
            return self._shipped[name]
        if name in self._known:
            try:
                self._shipped[name] = build("reader", name, self._base).start()[0]
            except SpecError as error:
                raise NotOpened(str(error)) from None
            return self._shipped[name]
        if name not in self._own:
            self._own[name] = OwnReader(name, self._base, self._limits)
        return self._own[name]

    def close(self) -> None:
        for reader in self._own.values():
            reader.close()


class _Ambiguous(TraceError):
    """A file that two readers are equally sure of: somebody has to say which."""


def _reader_for(document: Document, given: GivenPath, readers: _Readers) -> tuple[tuple[str, Reader] | None, str]:
    """The reader to read a document with, and its name; None and why not where it is to be left out."""
    if given.format is not None and given.named:
        return (given.format, readers.open(given.format)), ""
    answers, candidates = _recognised(document, readers, given.format)
    if len(candidates) > 1:
        first = f"{candidates[0]}:{document.name}"
        raise _Ambiguous(f"{document.name}: could be {' or '.join(candidates)} — name the format: {first}")
    if candidates:
        return (candidates[0], readers.open(candidates[0])), ""
    problem = document.problem
    meant = {
        ".toml": f"a scenario is run: bench run {document.name}",
        ".py": f"code is a strategy: --strategy mine=summarizer={document.name}:FUNCTION",
    }.get(Path(document.name).suffix)
    if meant and given.named:
        raise document.fail(f"no recording — {meant}")
    if problem is not None and (document.is_broken_json or (given.named and document.looks_like_json)):
        raise problem
    name, why_not = _nearest_format(answers)
    if not why_not and given.format is not None:
        why_not = f"not {given.format}"
    elif not why_not:
        why_not = f"not recognised: {'no format fits' if problem is None else 'no JSON, and no text of a format'}"
    if given.named:
        meant = f"if it is that, name the format: {name}:{document.name}" if name else ""
        raise document.fail(f"{why_not} — {meant or '`bench list traces` has what is read'}")
    return None, why_not


def _recognised(
    document: Document, readers: _Readers, format: str | None = None
) -> tuple[dict[str, Confidence | Near], list[str]]:
    """The answers of one reader (None: of all) on a document, and the names of the surest; none where all say no."""
    names = entries("reader") if format is None else [format]
    answers = {name: _sniffed(name, readers.open(name), document) for name in names}
    best = max(map(confidence_of, answers.values()), default=Confidence.NO)
    found = [name for name, answer in answers.items() if confidence_of(answer) is best is not Confidence.NO]
    return answers, found


@contextmanager
def _its_own_error(reader: str, document: Document) -> Iterator[None]:
    """Make sure that an error which a reader did not foresee costs the file that it reads, not the run: a TraceError that names both."""
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


def _nearest_format(answers: Mapping[str, Confidence | Near]) -> tuple[str, str]:
    """The one format that a file has at least half the marks of, and the words on it; `""` and `""` where there is none, or are several."""
    near = {name: answer for name, answer in answers.items() if isinstance(answer, Near)}
    best = max((answer.share for answer in near.values()), default=0.0)
    nearest = [name for name, answer in near.items() if answer.share == best >= 0.5]
    if len(nearest) != 1:
        return "", ""
    (name,) = nearest
    has, lacks = " and ".join(near[name].has), " and ".join(near[name].lacks)
    return name, f"not recognised; the nearest format is {name}: the file has {has}, what is missing is {lacks}"


def _read(name: str, reader: Reader, document: Document) -> Iterator[Trace]:
    with _its_own_error(name, document):
        traces = list(reader.read(document))
    if not traces:
        raise document.fail(f"holds no trace that {name} can read — record it again, or leave the file out")
    stem, repeated = case_id(document.below), sum(document.repeated_keys.values())
    for position, trace in enumerate(traces):
        own = trace.id or (stem if len(traces) == 1 else f"{stem}#{position}")
        clean, left_out = encodable(own), dict(trace.left_out)
        if clean != own:
            left_out["lone surrogate of its id"] = sum(a != b for a, b in zip(own, clean, strict=True))
        if repeated and not position:
            left_out["key that an object has twice: the last one counts"] = repeated
        if trace.source.format != "native":  # what is written there says itself what was cut
            trace = with_marked_cuts(trace)
        changed = clean != trace.id or left_out != trace.left_out
        yield msgspec.structs.replace(trace, id=clean, left_out=left_out) if changed else trace


def files_of(text: str, base: Path) -> tuple[tuple[Path, ...], bool]:
    """Every file that a path given as traces stands for, and whether it names one file (else a folder or a pattern). Errors: those of `load`."""
    given = given_files(text, base)
    return tuple(file.path for file in given.files), given.named


def source_of(document: Document, reader: str) -> Source:
    """The source that a reader records in its traces: the format, the path below what was given, the sha256 of the file."""
    return Source(format=reader, path=document.below, sha256=document.sha256)


def _outline(trace: Trace) -> int:
    """A number that two recordings of one run share: the kinds of its steps and the sizes of their texts."""
    texts = (getattr(step, "content", None) or getattr(step, "seen", None) or "" for step in trace.steps)
    return hash(tuple((type(step), len(str(text))) for step, text in zip(trace.steps, texts, strict=True)))


def _nothing_found(given: GivenPath, skipped: Sequence[tuple[str, str]]) -> str:
    first, reason = min(skipped, key=lambda item: item[1].startswith("not recognised:"))  # the nearest to a trace
    files = f"none of {len(given.files)} files is a trace (" if len(given.files) > 1 else "is no trace ("
    return f"{given.text}: {files}{first}: {reason}) — check the folder or name the format"


def _without_name(reason: str, name: str) -> str:
    """Why a file was left out, without the file's own name before it, which is listed beside it."""
    rest = reason.removeprefix(name)
    if rest == reason:
        return reason
    return rest.removeprefix(":").strip() if rest[1:2] in (" ", "$") else f"line {rest[1:]}"
