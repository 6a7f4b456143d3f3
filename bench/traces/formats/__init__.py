"""The readers, each in a file that is named as its format, and their base classes."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import getfile
from pathlib import Path

from .. import Confidence, Document, Traces
from ..steps import Steps, traces_of
from ..values import Unread


class Format:
    """A reader that is certain of a file with its marks, and says which runs are in it. It has the
    name of its own file."""

    def marked(self, document: Document) -> object:
        """Something true for a file with the marks of the format, by its content. Never raises."""
        raise NotImplementedError

    def runs(self, document: Document, unread: Unread) -> Iterable[Steps]:
        """The runs of a file in order. What belongs to none of them is counted in `unread`. Raises
        TraceError."""
        raise NotImplementedError

    def sniff(self, document: Document) -> Confidence:
        """CERTAIN for a file with the marks of the format, else NO."""
        return Confidence.CERTAIN if self.marked(document) else Confidence.NO

    def read(self, document: Document) -> Traces:
        """The traces of a file. Raises NoRun where there is none."""
        unread = Unread()
        name = Path(getfile(type(self))).stem
        return traces_of(document, name, self.runs(document, unread), unread)


class SessionLog(Format, Steps):
    """A reader of files with one run each. It is the run that it reads: a new one for each file."""

    def add_file(self, document: Document) -> None:
        """Add the steps of a file. Raises TraceError."""
        raise NotImplementedError

    def runs(self, document: Document, unread: Unread) -> Iterable[Steps]:
        run = type(self)()
        run.add_file(document)
        return [run]
