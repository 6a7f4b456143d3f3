"""The interface of a reader: how sure it is of a file, what it declares, and what it gives."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from ..model import Trace
from ..model.errors import TraceError
from .documents import Document


class Confidence(enum.IntEnum):
    """The certainty that a file is of a reader's format, by the content alone."""

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
        """The share of the format's marks that was found, 0–1."""
        return len(self.has) / (len(self.has) + len(self.lacks))


def by_marks(marks: Mapping[str, bool], sure: Confidence = Confidence.CERTAIN) -> Confidence | Near:
    """The certainty by the marks of a format, each with True where the file has it: `sure` with all, Near with some, NO without any.

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
    """The certainty alone, without what is missing."""
    return Confidence.NO if isinstance(sniffed, Near) else sniffed


Kept = Literal["cuts", "usage", "times", "errors", "outcome", "labels", "routes", "reasoning", "threads", "resets", "tools", "approvals",
               "model"]  # fmt: skip
"""Facts that a reader may keep beside messages and results: that a result was cut at the source, recorded token counts, times or durations, failed
results, how the run ended, what people said of it, route decisions, reasoning as text, agents of their own, where the history was cut, tool
definitions, a person's yes or no, the name of the model."""


@dataclass(frozen=True)
class Keeps:
    """The features that a reader keeps, declared as its attribute `keeps`: a row of docs/traces.md, which a test holds against its samples.

    `results`: `untruncated` (the whole, where the model saw less), `as shown` (what is recorded is what the model saw) or `none`. `never` is
    what it cannot keep, and why; `tested` the versions of the format it was tested on, and how those files came to be.
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
    """A whole file of the format that holds no run, such as a cassette of embeddings: nothing is damaged."""


Traces = Iterable[Trace]
"""The traces of a file, as a reader gives them."""


class Reader(Protocol):
    """One trace format. `read` leaves a trace's id empty where the source has none; loading fills it from the path.

    `sniff` judges by content alone and never raises; a reader that says why a file is not its own returns Near in place of NO.
    """

    def sniff(self, document: Document) -> Confidence | Near: ...

    def read(self, document: Document) -> Traces: ...
