"""The interface of a reader: its confidence in a file, and the traces that it reads."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Protocol

from ..model import Source, Trace
from ..model.errors import TraceError
from .documents import Document


class Confidence(enum.IntEnum):
    """A reader's confidence that a file has its format, by the content alone."""

    NO = 0
    POSSIBLE = 1
    CERTAIN = 2


def certain_if(marked: object) -> Confidence:
    """CERTAIN if a file has the marks of a format, else NO."""
    return Confidence.CERTAIN if marked else Confidence.NO


class PartOf(TraceError):
    """A file that is read with another one: listed in a folder, an error where it is named."""


class NoReader(TraceError):
    """A reader that cannot be opened, or a file of two readers: the user names another."""


class NoRun(PartOf):
    """An intact file of the format without a run, such as a cassette of embeddings."""


Traces = Iterable[Trace]
"""The traces of a file, as a reader returns them."""


class Reader(Protocol):
    """One trace format. `read` leaves a trace's id empty where the source has none; loading fills
    it from the path. `sniff` judges by content alone and never raises."""

    def sniff(self, document: Document) -> Confidence: ...

    def read(self, document: Document) -> Traces: ...


def source_of(document: Document, reader: str) -> Source:
    """The source of a reader's traces: format, path below the given folder, sha256 of the file."""
    return Source(format=reader, path=document.below, sha256=document.sha256)
