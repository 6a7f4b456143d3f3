"""Notices of a text that shows a result, and the parts of the text between them."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

from ..text.excerpts import NOTICE_CHARS, Gap
from ..text.fields import FieldTable
from ..text.omissions import omission_in

_TAG = re.compile(
    r"\s*(?:</?[A-Za-z_][\w-]*(?: [\w-]+=[\"'][^\"'<>\n]{0,60}[\"'])*>|`{3}\w*|[^\w\s]{1,3})\s*"
)
# Begins with a set of characters.
_MARK = re.compile(r"(?:…|\.{3})?[\[(<⟨⟦][^\[\]()<>⟨⟩⟦⟧\n]{4,80}[\])>⟩⟧](?:…|\.{3})?")
_QUOTED_KEY = re.compile(r"\"([^\"\n]{1,60})\"\s*:")
_OPENING = re.compile(r"[\s{\[,*-]*[\"']?([A-Za-z_][\w .-]*?)[\"']?\s*[:=]")


class Notices(NamedTuple):
    """The notices in a text that shows a result: the result is `full`, with its lines and fields;
    `handles` stand for all of it.
    """

    full: str
    known: Container[str]
    table: FieldTable
    handles: tuple[str, ...] = ()

    def admits(self, gap: Gap) -> bool:
        """True if the words of a gap only say that something is left out; tags are ignored. With a
        handle to all of the result they need not."""
        lines = [
            line for line in gap.words.split("\n") if line.strip() and not _TAG.fullmatch(line)
        ]
        if not lines:
            return bool(self.handles) or not gap.missing.strip()
        return all(map(self.omits, lines))

    def omits(self, line: str) -> bool:
        """True if a line says that something is left out, in words that the result does not have,
        or names a handle.
        """
        if not self._is_own(line):
            return False
        return omission_in(line, self.full) != "" or any(name in line for name in self.handles)

    def _is_own(self, line: str) -> bool:
        """True for a short line that is not in the result, and has none of its fields."""
        return (
            line not in self.known
            and len(line) <= NOTICE_CHARS
            and not ((key := _OPENING.match(line)) and self.table.has_key(key[1]))
            and not any(map(self.table.has_key, _QUOTED_KEY.findall(line)))
        )

    def pieces_of(self, text: str) -> list[str]:
        """The parts of a text between runs of the strategy's own lines with a notice; without one
        the text itself.
        """
        marked = _MARK.sub(
            lambda mark: f"\n{mark[0]}\n" if omission_in(mark[0], self.full) else mark[0], text
        )
        lines = marked.split("\n")
        omits = list(map(self.omits, lines))
        if not any(omits):
            return [text]
        pieces: list[list[str]] = [[]]
        number = 0
        while number < len(lines):
            stop = number
            while stop < len(lines) and (omits[stop] or _TAG.fullmatch(lines[stop])):
                stop += 1
            if any(omits[number:stop]):
                pieces.append([])
                number = stop
            else:
                pieces[-1].append(lines[number])
                number += 1
        return ["\n".join(piece) for piece in pieces]
