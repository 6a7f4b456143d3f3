"""A user's reader in a child process: its faults cost only the file that it reads."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ..model import Trace
from ..model.errors import BenchError, TraceError, debugged, one_line, raised_at
from ..plugins.loader import compile_from_source
from ..plugins.registry import build, entries
from ..plugins.worker import Child, NoAnswer
from .documents import Document
from .lines import encode_trace
from .reader import Confidence, NoReader, PartOf, Reader

if TYPE_CHECKING:
    from ..plugins.child import Link

_Act = Literal["open", "sniff", "read"]


class _Answer(msgspec.Struct, frozen=True):
    """A reader's answer about a file: its confidence, its traces as a native file, or an error."""

    confidence: int = 0
    traces: bytes = b""
    error: str = ""
    is_part: bool = False


class UserReader:
    """A reader that a spec names. Its code is imported once in a child process; each file is read
    in a separate session. Raises NoReader."""

    def __init__(self, spec: str, base: Path) -> None:
        self._spec = spec
        self._child = Child(functools.partial(_prepare, spec, base))
        try:
            self._ask("open", Document(Path(), f"reader {spec}"))
        except TraceError as error:
            self.close()
            raise NoReader(str(error)) from None

    def sniff(self, document: Document) -> Confidence:
        """The reader's confidence that a file is in its format."""
        return Confidence(self._ask("sniff", document).confidence)

    def read(self, document: Document) -> Iterable[Trace]:
        """The traces of a file, each checked."""
        answered = Document(document.path, document.name)
        answered.disk_bytes = self._ask("read", document).traces
        native: Reader = entries("reader")["native"].target()
        return native.read(answered) if answered.disk_bytes else ()

    def close(self) -> None:
        """End its process."""
        self._child.stop()

    def _ask(self, act: _Act, document: Document) -> _Answer:
        about = (document.path, document.name, document.below, tuple(document.beside))
        try:
            with self._child.session(act, about) as session:
                answer = msgspec.msgpack.decode(session.ask(), type=_Answer)
        except (NoAnswer, msgspec.DecodeError, UnicodeDecodeError) as error:
            why = str(error) if isinstance(error, NoAnswer) else "it spoilt its process"
            raise _failure(act, document, self._spec, why) from None
        if answer.error:
            raise (PartOf if answer.is_part else TraceError)(answer.error)
        return answer


def _failure(act: _Act, document: Document, spec: str, what: str) -> TraceError:
    if act == "open":
        return TraceError(one_line(f"reader {spec} cannot be loaded: {what}"))
    return document.fail(f"reader {spec} cannot read it: {what}")


# ---------------------------------------------------------------- in the child


def _prepare(spec: str, base: Path) -> Callable[..., bytes]:
    """The function that answers about files. The reader is imported; an error is left for the
    session to raise, which can report it."""
    compile_from_source()
    here = os.getcwd()
    with contextlib.suppress(BaseException):
        build("reader", spec, base)
    os.chdir(here)
    return functools.partial(_file_answer, spec, base)


def _file_answer(spec: str, base: Path, link: Link, act: _Act, about: Any) -> bytes:
    document = Document(*about)
    try:
        given = _answer(act, document, spec, base)
    except MemoryError:
        raise
    except BenchError as error:
        why = one_line(error)
        named = act == "open" or document.name in why
        why = why if named else f"{document.name}: {why}"
        given = _Answer(error=why, is_part=isinstance(error, PartOf))
    except BaseException as error:
        debugged(error)
        what = f"{type(error).__name__}: {one_line(error)} ({raised_at(error)})"
        given = _Answer(error=str(_failure(act, document, spec, what.removesuffix(" ()"))))
    return msgspec.msgpack.encode(given)


def _answer(act: _Act, document: Document, spec: str, base: Path) -> _Answer:
    reader: Any = build("reader", spec, base).start()[0]
    if act == "sniff":
        return _Answer(confidence=Confidence(reader.sniff(document)))
    if act == "read":
        traces = list(reader.read(document))
        if other := [trace for trace in traces if not isinstance(trace, Trace)]:
            raise TypeError(f"`read` gave a {type(other[0]).__name__}, expected a Trace")
        return _Answer(traces=b"".join(map(encode_trace, traces)))
    if not all(callable(getattr(reader, name, None)) for name in ("sniff", "read")):
        methods = "`sniff(document)` and `read(document)`"
        raise TraceError(f"{spec}: is no reader — name a class with {methods}")
    return _Answer()
