"""The interface of a reader: its confidence in a file, and the traces that it reads."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from ..model import Source, Trace
from ..model.errors import TraceError
from .documents import Document


class Confidence(enum.IntEnum):
    """A reader's confidence that a file has its format, by the content alone."""

    NO = 0
    POSSIBLE = 1
    CERTAIN = 2


class NoReader(TraceError):
    """A reader that cannot be opened, or a file of two readers: the user names another."""


class NoRun(TraceError):
    """An intact file of the format without a run, such as a cassette of embeddings: listed in a
    folder, an error where it is named."""


class PartOf(NoRun):
    """A file that is read with another, `whole`, or with those of that folder; listed without
    one."""

    def __init__(self, reason: str, whole: Path | None = None) -> None:
        super().__init__(reason)
        self.whole = whole


Traces = Iterable[Trace]
"""The traces of a file, as a reader returns them."""


class Reader(Protocol):
    """One trace format. `read` leaves a trace's id empty where the source has none; loading fills
    it from the path. `sniff` judges by content alone and never raises."""

    def sniff(self, document: Document) -> Confidence: ...

    def read(self, document: Document) -> Traces: ...


def pieces_of(document: Document, is_piece: Callable[[Document], bool]) -> list[Document]:
    """A file and the others given from its folder that are pieces of the same recording, in order.
    Raises PartOf unless it is the first."""
    pieces: list[Document] = []
    for path in document.beside:
        name = Path(document.name).with_name(path.name).as_posix()
        piece = document if path == document.path else Document(path, name)
        if piece is document or is_piece(piece):
            pieces.append(piece)
        if pieces and pieces[0] is not document:
            what = f"is read together with {path.name}, which comes first"
            raise PartOf(f"{document.name}: {what} — name it to read it alone", path)
    return pieces or [document]


def source_of(document: Document, reader: str) -> Source:
    """The source of a reader's traces: format, path below the given folder, sha256 of the file."""
    return Source(format=reader, path=document.below, sha256=document.sha256)
