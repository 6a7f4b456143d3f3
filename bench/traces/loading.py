"""Loading traces: each file finds its reader, and each run becomes one trace with an id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from os.path import realpath
from pathlib import Path

import msgspec

from ..model import Trace, encodable, grouped
from ..model.errors import BenchError, SpecError, TraceError, debugged, defect
from ..plugins.registry import build, entries
from ..text.wording import counted
from .documents import Document
from .paths import GivenPath, InputFile, case_id, given_files
from .reader import Confidence, NoReader, NoRun, PartOf, Reader

Paths = str | Path | Sequence[str | Path]
"""One path or several."""


@dataclass(frozen=True)
class Loaded:
    """The result of `load`: the traces in order, the files that were left out, each with the
    reason, and which of these are `damaged` (a recording may be lost)."""

    traces: tuple[Trace, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    damaged: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Trace]:
        return iter(self.traces)

    def __len__(self) -> int:
        return len(self.traces)

    def __getitem__(self, place: int) -> Trace:
        return self.traces[place]

    def __repr__(self) -> str:
        left_out = f", {counted(len(self.skipped), 'file')} left out" if self.skipped else ""
        return f"<{counted(len(self), 'trace')}{left_out}>"

    @property
    def paths(self) -> tuple[str, ...]:
        """The files of the traces, as they were given."""
        return tuple(trace.source.path for trace in self.traces)


def load(paths: Paths, base: Path | None = None) -> Loaded:
    """Every trace of some paths, in the order given; in a folder or pattern in the order of file
    names.

    A path is a file, a folder (read recursively, hidden entries left out) or a glob pattern, with
    or without its format before a colon (`messages:runs/a.jsonl`); relative paths start at `base`.
    A named file must be recognised and complete. In a folder, files that are damaged or that no
    reader recognises are left out and listed with the reason; a folder without a trace is an error,
    and so is a file of which two readers are equally certain. Among several files, those without a run,
    and those whose run another has given, are left out and listed; a part of another is read with
    it. One that two paths name is read once. Runs are named after their files, a second one of the
    same name after its path. No paths give no traces. A user's reader (`mine.py:Reader:runs/`) runs
    in a separate process, with limits for each file; whatever goes wrong there is an error of that
    file. Raises TraceError, one line with the place and what to do.
    """
    source = TraceSource(paths, base)
    return Loaded(tuple(source), tuple(source.skipped), tuple(source.damaged))


class TraceSource:
    """The traces of some paths, read one file at a time while they are iterated: memory holds one
    file.

    `skipped` (file and reason) and `damaged` (the files among these that cannot be read) grow
    during the iteration and are complete at its end; each iteration starts again. Errors are those
    of `load`, raised when met; for a missing file or an unknown format before anything is read.
    """

    def __init__(self, paths: Paths, base: Path | None = None) -> None:
        several = [paths] if isinstance(paths, str | Path) else paths
        self.paths, self.base = tuple(map(str, several)), base or Path()
        self.skipped: list[tuple[str, str]] = []
        self.damaged: list[str] = []
        self._parts: list[tuple[Path, tuple[str, str]]] = []

    def __iter__(self) -> Iterator[Trace]:
        self.skipped, self.damaged, self._parts = [], [], []
        with ExitStack() as processes:
            yield from self._each(_Readers(self.base, processes))

    def _each(self, readers: _Readers) -> Iterator[Trace]:
        everything = [given_files(text, self.base) for text in self.paths]
        for given in everything:
            if given.format is not None:
                _ = readers[given.format]  # an unknown one is an error before anything is read
        alone = sum(len(given.files) for given in everything) == 1
        known, begun = _Known(), set[str]()
        for given in everything:
            skipped, traces = len(self.skipped), len(known.outlines)
            new = [f for f in given.files if realpath(f.path) not in begun]  # each file once
            begun.update(realpath(f.path) for f in new)
            folders = grouped((file.path.parent, file.path) for file in given.files)
            for file in new:
                # those of a folder know their neighbours
                document = Document(*file, () if given.named else folders[file.path.parent])
                for read in self._read(document, given, readers, alone=alone):
                    trace, reason = known.named(read, file, document.sha256)
                    if not reason:
                        yield trace
                    else:
                        self._leave_out(file.name, reason)
            if len(known.outlines) == traces and new and not given.named:
                raise TraceError(_no_recordings(given, self.skipped[skipped:]))
        if self.paths and not known.outlines:
            raise TraceError(": ".join(self.skipped[0]))
        for whole, part in self._parts:
            if known.has_read(whole):
                self.skipped.remove(part)

    def _read(
        self, document: Document, given: GivenPath, readers: _Readers, *, alone: bool
    ) -> list[Trace]:
        try:
            name = readers.of(document, given)
            return list(_traces_of(name, readers[name], document))
        except NoReader:
            raise
        except TraceError as error:
            meant = readers.most_certain(document) if given.named and given.format else []
            if meant and given.format not in meant:
                short = str(error).partition(" — ")[0]
                instead = f"recognised as {meant[0]}: write {meant[0]}:{document.name}"
                raise TraceError(f"{short} — {instead}") from None
            if given.named and (alone or not isinstance(error, NoRun)):
                raise
            left_out = self._leave_out(document.name, _without_name(str(error), document.name))
            if not isinstance(error, NoRun | _NotRecognised):
                self.damaged.append(left_out[0])
            if isinstance(error, PartOf) and error.whole is not None:
                self._parts.append((error.whole, left_out))
            return []

    def _leave_out(self, name: str, reason: str) -> tuple[str, str]:
        """List a file as left out, once if it has several runs; returns the entry."""
        left_out = encodable(name), encodable(reason)
        self.skipped += [left_out] if left_out not in self.skipped[-1:] else []
        return left_out


class _NotRecognised(TraceError):
    """A file that no reader recognises, and that is not damaged."""


class _Readers(dict[str, Reader]):
    """The readers of an iteration by format or spec, each opened once; a user's has a process."""

    def __init__(self, base: Path, processes: ExitStack) -> None:
        super().__init__()
        self._base, self._processes = base, processes

    def __missing__(self, name: str) -> Reader:
        if name not in entries("reader"):
            from .user_reader import UserReader  # what starts processes makes each fork larger

            own = self[name] = UserReader(name, self._base)
            self._processes.callback(own.close)
            return own
        try:  # one that the program itself registered runs in it, as the rest of the program does
            self[name] = build("reader", name, self._base).start()[0]
        except SpecError as error:
            raise NoReader(str(error)) from None
        return self[name]

    def most_certain(self, document: Document, format: str | None = None) -> list[str]:
        """The names of the readers that are most certain of a document, or of `format` if it is."""
        answers: dict[str, Confidence] = {}
        for name in entries("reader") if format is None else [format]:
            with _error_of(document, name):
                answers[name] = self[name].sniff(document)
        best = max(answers.values(), default=Confidence.NO)
        return [name for name, answer in answers.items() if answer is best is not Confidence.NO]

    def of(self, document: Document, given: GivenPath) -> str:
        """The name of the reader for a document. TraceError if none recognises it."""
        if given.format is not None and given.named:
            return given.format
        most_certain = self.most_certain(document, given.format)
        if not most_certain:
            raise _not_recognised(document, given)
        if len(most_certain) > 1:
            named = f"{most_certain[0]}:{document.name}"
            both = f"could be {' or '.join(most_certain)}"
            raise NoReader(f"{document.name}: {both} — name the format: {named}")
        return most_certain[0]


def _not_recognised(document: Document, given: GivenPath) -> TraceError:
    problem, name = document.problem, document.name
    instead = {
        ".toml": f"a scenario is run: bench run {name}",
        ".py": f"code is a strategy: --strategy mine=summarizer={name}:FUNCTION",
    }.get(Path(name).suffix)
    if instead and given.named:
        return document.fail(f"no recording — {instead}")
    if problem is not None and document.is_broken_json:
        return problem
    fits = "no format fits" if problem is None else "neither JSON nor a text of any format"
    reason = f"not recognised: {fits}" if given.format is None else f"not {given.format}"
    hint = " — `bench list traces` names what is read" if given.named else ""
    return _NotRecognised(f"{name}: {reason}{hint}")


class _Known:
    """The runs so far, and the first file that gave each, so that no run counts twice."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], InputFile] = {}
        self.outlines: dict[str, int] = {}

    def named(self, trace: Trace, file: InputFile, sha256: str) -> tuple[Trace, str]:
        """A trace with an id of its own, and the reason to leave it out (`""`: none)."""
        session, outline, own = trace.meta.get("session_id"), _outline(trace), trace.id
        # Before the bytes: it says more. Two formats may record one session.
        if isinstance(session, str) and (other := self._other("session", session, file)):
            return trace, f"holds session {session!r}, which {other} has given already"
        if other := self._other("bytes", sha256, file):
            return trace, f"has the same bytes as {other}, which is already read"
        if own in self.outlines and (other := self._other("id", own, file)):
            if self.outlines[own] == outline:
                return trace, f"holds run {own!r}, which {other} has given already"
            own = file.name if own == case_id(file.below) else f"{file.name}:{own}"
            trace = msgspec.structs.replace(trace, id=own)
        if own in self.outlines:
            what = f"run id {own[:200]!r} is taken twice: by {self._first['id', own].name}"
            raise TraceError(f"{what} and by {file.name} — give each its own id, or leave one out")
        self._first["id", own], self.outlines[own] = file, outline
        return trace, ""

    def has_read(self, whole: Path) -> bool:
        """True if a run came from this file, or from a file of this folder."""
        return any(whole in (file.path, file.path.parent) for file in self._first.values())

    def _other(self, kind: str, value: str, file: InputFile) -> str:
        first = self._first.setdefault((kind, value), file)
        return "" if first.path == file.path else first.name


def _outline(trace: Trace) -> int:
    """A hash that two recordings of one run share: of the kinds and the sizes of its steps."""
    texts = (getattr(step, "content", "") or getattr(step, "seen", "") for step in trace.steps)
    return hash(
        tuple((type(s), len(str(t or ""))) for s, t in zip(trace.steps, texts, strict=True))
    )


@contextmanager
def _error_of(document: Document, reader: str) -> Iterator[None]:
    try:
        yield
    except (BenchError, MemoryError):
        raise
    except Exception as error:
        debugged(error)
        raise document.fail(f"reader {reader} cannot read it: {defect(error)}") from error


def _traces_of(name: str, reader: Reader, document: Document) -> Iterator[Trace]:
    with _error_of(document, name):
        traces = list(reader.read(document))
    if not traces:
        what = f"holds no trace that {name} can read"
        raise document.fail(f"{what} — record it again, or leave the file out")
    stem = case_id(document.below)
    for position, trace in enumerate(traces):
        own = trace.id or (stem if len(traces) == 1 else f"{stem}#{position}")
        yield msgspec.structs.replace(trace, id=encodable(own))


def _no_recordings(given: GivenPath, skipped: Sequence[tuple[str, str]]) -> str:
    """The error for a path without recordings: the reason of the file that looks most like one."""
    unlike = ("not recognised:", "not recognised: neither")
    first, reason = min(skipped, key=lambda file: sum(map(file[1].startswith, unlike)))
    hint = "check the folder, or write a reader: docs/traces.md"
    several = len(given.files) > 1
    what = f"none of {len(given.files)} files is a trace" if several else "is no trace"
    return f"{given.text}: {what} ({first}: {reason}) — {hint}"


def _without_name(reason: str, name: str) -> str:
    rest = reason.removeprefix(name)
    if rest == reason:
        return reason
    return rest.removeprefix(":").strip() if rest[1:2] in (" ", "$") else f"line {rest[1:]}"
