"""A reader of somebody else's in a child process: its faults cost the file that it reads."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ..model import Trace
from ..model.errors import BenchError, TraceError, debugged, one_line, raised_at
from ..plugins.loader import compile_from_source
from ..plugins.registry import build
from ..plugins.worker import Answer, Child, NoAnswer
from .documents import Document
from .lines import decode_trace, encode_trace
from .reader import Confidence, PartOf

if TYPE_CHECKING:
    from ..plugins.child import Link

_Act = Literal["open", "sniff", "read"]


class _Answer(msgspec.Struct, frozen=True):
    """A reader's answer over one file, or an error: its confidence, or its traces as lines of
    JSON."""

    confidence: int = 0
    traces: tuple[bytes, ...] = ()
    error: str = ""
    is_part: bool = False


class NotOpened(TraceError):
    """A reader that cannot be opened: nothing can be read with it."""


class OwnReader:
    """A reader that a spec names, or that a package of somebody else registers.

    Its code is imported once in a child; each file is read in a session of its own. Raises
    NotOpened.
    """

    def __init__(self, spec: str, base: Path) -> None:
        self._spec = spec
        self._base = base
        self._child = Child(functools.partial(_prepare, spec, base), (__name__,))
        try:
            error = self._ask("open", Document(Path(), "")).error
        except NoAnswer as why:
            reason = f"{why} — code that is imported must not exit" if why.ended else str(why)
            error = f"reader {spec} cannot be loaded: {reason}"
        if error:
            self.close()
            raise NotOpened(error)

    def sniff(self, document: Document) -> Confidence:
        """The reader's confidence that a file is in its format."""
        return Confidence(self._answer_on("sniff", document).confidence)

    def read(self, document: Document) -> Sequence[Trace]:
        """The traces of a file, each checked."""
        return list(map(decode_trace, self._answer_on("read", document).traces))

    def close(self) -> None:
        """End its process."""
        self._child.stop()

    def _answer_on(self, act: _Act, document: Document) -> _Answer:
        """The answer about a file; its error as one of the file."""
        try:
            answer = self._ask(act, document)
        except NoAnswer as why:
            reason = f"{why} — a reader returns traces or raises" if why.ended else str(why)
            raise document.fail(f"reader {self._spec} cannot read it: {reason}") from None
        if answer.error:
            raise (PartOf if answer.is_part else TraceError)(answer.error)
        return answer

    def _ask(self, act: _Act, document: Document) -> _Answer:
        """The answer of a session of the child; NoAnswer where it gives none."""
        about = (document.path, document.name, document.below, tuple(document.beside))
        with self._child.session(_open_file, act, about, self._spec, self._base) as session:
            body = session.ask(b"")
        try:
            return msgspec.msgpack.decode(body, type=_Answer)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise NoAnswer("it left its process unable to answer") from None


# ---------------------------------------------------------------- in the child


def _prepare(spec: str, base: Path) -> None:
    """Import the reader. An error is raised again by the session, which can report it."""
    compile_from_source()
    here = os.getcwd()
    with contextlib.suppress(BaseException):
        build("reader", spec, base)
    os.chdir(here)


def _open_file(link: Link, ready: None, act: _Act, about: Any, spec: str, base: Path) -> Answer:
    """The function of a session that answers about one file, an error of the reader included."""

    def answer(request: bytes) -> bytes:
        document = Document(*about)
        try:
            given = _answer(act, document, spec, base)
        except MemoryError:
            raise
        except BaseException as error:
            why = _fault(error, act, document, spec)
            given = _Answer(error=why, is_part=isinstance(error, PartOf))
        return msgspec.msgpack.encode(given)

    return answer


def _fault(error: BaseException, act: _Act, document: Document, spec: str) -> str:
    """The line about an error: a reader's own, or one that it did not foresee."""
    if isinstance(error, BenchError):
        said = one_line(error)
        return said if act == "open" or document.name in said else f"{document.name}: {said}"
    debugged(error)
    place = raised_at(error)
    what = f"{type(error).__name__}: {one_line(error)}{f' ({place})' if place else ''}"
    if act == "open":
        return f"reader {spec} cannot be loaded: {what}"
    return str(document.fail(f"reader {spec} cannot read it: {what}"))


def _answer(act: _Act, document: Document, spec: str, base: Path) -> _Answer:
    """What the reader answers. Raises TraceError where it is no answer of a reader."""
    reader: Any = build("reader", spec, base).start()[0]
    if act == "open":
        if not all(callable(getattr(reader, name, None)) for name in ("sniff", "read")):
            methods = "`sniff(document)` and `read(document)`"
            raise TraceError(f"{spec}: is no reader — name a class with {methods}")
        return _Answer()
    if act == "read":
        return _Answer(traces=tuple(_trace_lines(reader.read(document), document, spec)))
    sniffed = reader.sniff(document)
    if not isinstance(sniffed, int) or sniffed not in list(Confidence):
        what = f"`sniff` gave a {type(sniffed).__name__}, expected a Confidence"
        raise document.fail(f"reader {spec} cannot read it: {what}")
    return _Answer(confidence=int(sniffed))


def _trace_lines(given: Any, document: Document, spec: str) -> Iterator[bytes]:
    """The traces that a reader gave as lines of JSON. Raises TraceError for anything else."""
    gave = f"reader {spec}: `read` gave a"
    if not isinstance(given, Iterable):
        raise document.fail(f"{gave} {type(given).__name__}, expected traces")
    for trace in given:
        if not isinstance(trace, Trace):
            raise document.fail(f"{gave} {type(trace).__name__}, expected a Trace")
        try:
            lines = encode_trace(trace)
            for line in lines.splitlines():
                Document(document.path, "").decode(line)  # its limits
        except TraceError as error:
            why = str(error).removeprefix(":").strip()
            raise document.fail(f"reader {spec} gave what is no trace: {why}") from None
        indices = [step.index for step in trace.steps]
        for before, after in itertools.pairwise(indices):
            if after <= before:
                what = f"step {after} follows step {before}"
                raise document.fail(f"reader {spec}: {what} — steps are in order, each index once")
        yield lines
