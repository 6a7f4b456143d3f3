"""The interface of a reader: how sure it is of a file, what it declares, and what it gives."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

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


Kept = Literal["cuts", "usage", "times", "errors", "outcome", "labels", "routes", "reasoning", "threads", "resets",
               "tools", "approvals", "model"]  # fmt: skip
"""Facts that a reader may keep beside messages and results: that a result was cut at the source, recorded token counts,
times or durations, failed results, how the run ended, what people said of it, route decisions, reasoning as text,
agents of their own, where the history was cut, tool definitions, a person's yes or no, the name of the model."""


@dataclass(frozen=True)
class Keeps:
    """The features that a reader keeps, declared as its attribute `keeps`: a row of docs/traces.md, which a test holds
    against its samples.

    `results`: `untruncated` (all of it, where the model saw less), `as shown` (what is recorded is what the model saw)
    or `none`. `never` is what it cannot keep, and why; `tested` the versions of the format it was tested on, and how
    those files came to be.
    """

    results: Literal["untruncated", "as shown", "none"]
    also: tuple[Kept, ...]
    never: str
    tested: str


def all_but(*missing: Kept) -> tuple[Kept, ...]:
    """All that a reader may keep, but some of it."""
    return tuple(kept for kept in get_args(Kept) if kept not in missing)


class PartOf(TraceError):
    """A file that is read together with another: left out of a folder, and said; an error where it is named itself."""


class NoRun(PartOf):
    """A complete file of the format that holds no run, such as a cassette of embeddings: nothing is damaged."""


Traces = Iterable[Trace]
"""The traces of a file, as a reader gives them."""


class Reader(Protocol):
    """One trace format. `read` leaves a trace's id empty where the source has none; loading fills it from the path.
    `sniff` judges by content alone and never raises."""

    def sniff(self, document: Document) -> Confidence: ...

    def read(self, document: Document) -> Traces: ...


def source_of(document: Document, reader: str) -> Source:
    """The source of a reader's traces: the format, the path below what was given, the sha256 of the file."""
    return Source(format=reader, path=document.below, sha256=document.sha256)
