"""The interface of a reader: how sure it is of a file, and what it gives."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Protocol

from ..model import Source, Trace
from ..model.errors import TraceError
from .documents import Document


class Confidence(enum.IntEnum):
    """The certainty that a file is of a reader's format, by the content alone."""

    NO = 0
    POSSIBLE = 1
    CERTAIN = 2


def certain_if(marked: object) -> Confidence:
    """CERTAIN where a file has the marks of a format, NO where it has not."""
    return Confidence.CERTAIN if marked else Confidence.NO


class PartOf(TraceError):
    """A file that is read together with another: left out of a folder, and said; an error where it
    is named itself."""


class NoRun(PartOf):
    """A complete file of the format that holds no run, such as a cassette of embeddings: nothing is
    damaged."""


Traces = Iterable[Trace]
"""The traces of a file, as a reader gives them."""


class Reader(Protocol):
    """One trace format. `read` leaves a trace's id empty where the source has none; loading fills
    it from the path. `sniff` judges by content alone and never raises."""

    def sniff(self, document: Document) -> Confidence: ...

    def read(self, document: Document) -> Traces: ...


def source_of(document: Document, reader: str) -> Source:
    """The source of a reader's traces: the format, the path below what was given, the sha256 of the
    file."""
    return Source(format=reader, path=document.below, sha256=document.sha256)
