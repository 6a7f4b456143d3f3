"""A user's reader in a child process: its faults cost only the file that it reads."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..model import Trace
from ..model.errors import TraceError, one_line
from ..plugins.registry import build, entries
from ..plugins.worker import Child, NoAnswer
from .documents import Document
from .lines import encode_trace
from .reader import Confidence, NoReader, NoRun, PartOf, Reader

if TYPE_CHECKING:
    from ..plugins.child import Link

_Act = Literal["open", "sniff", "read"]
_PART = b"PART"
"""The beginning of an answer that has the whole and the reason of a PartOf; other answers are
native files."""


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
        return Confidence(int.from_bytes(self._ask("sniff", document), "big"))

    def read(self, document: Document) -> Iterable[Trace]:
        """The traces of a file, each checked."""
        answer = self._ask("read", document)
        if answer.startswith(_PART):
            whole, _, reason = answer.removeprefix(_PART).decode("utf-8", "replace").partition("\0")
            raise PartOf(one_line(reason), Path(whole) if whole else None)
        answered = Document(document.path, document.name)
        answered.disk_bytes = answer
        native: Reader = entries("reader")["native"].target()
        return native.read(answered) if answer else ()

    def close(self) -> None:
        """End its process."""
        self._child.stop()

    def _ask(self, act: _Act, document: Document) -> bytes:
        about = (document.path, document.name, document.below, tuple(document.beside))
        try:
            with self._child.session(act, about) as session:
                return session.ask()
        except NoAnswer as error:
            why = str(error)
        if why.startswith(document.name):  # of `document.fail`
            raise TraceError(why)
        reader = "" if act == "open" else f"reader {self._spec} "
        raise document.fail(f"{reader}cannot {'be loaded' if act == 'open' else 'read it'}: {why}")


# ---------------------------------------------------------------- in the child


def _prepare(spec: str, base: Path) -> Callable[..., bytes]:
    """The function that answers about files. The reader is imported; an error is left for the
    session to raise, which can report it."""
    here = os.getcwd()
    with contextlib.suppress(BaseException):
        build("reader", spec, base)
    os.chdir(here)
    return functools.partial(_answer, spec, base)


def _answer(spec: str, base: Path, link: Link, act: _Act, about: Any) -> bytes:
    document, reader = Document(*about), build("reader", spec, base).start()[0]
    if act == "sniff":
        return bytes([Confidence(reader.sniff(document))])
    if act == "read":
        try:
            traces = list(reader.read(document))
        except NoRun as error:
            whole = getattr(error, "whole", None) or ""
            return _PART + f"{whole}\0{one_line(error)}".encode("utf-8", "replace")
        if other := [trace for trace in traces if not isinstance(trace, Trace)]:
            raise TypeError(f"`read` gave a {type(other[0]).__name__}, expected a Trace")
        return b"".join(map(encode_trace, traces))
    if not all(callable(getattr(reader, name, None)) for name in ("sniff", "read")):
        raise TraceError("is no reader — name a class with `sniff(document)` and `read(document)`")
    return b""
