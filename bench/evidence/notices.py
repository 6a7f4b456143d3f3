"""Gaps: the places where a text says that it leaves something of a result out, and the parts
between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from typing import NamedTuple

from ..text.excerpts import NOTICE_CHARS, Gap
from ..text.fields import FieldTable
from ..text.omissions import omission_in
from .result_counts import counts_of

_TAG = re.compile(
    r"\s*(?:</?[A-Za-z_][\w-]*(?: [\w-]+=[\"'][^\"'<>\n]{0,60}[\"'])*>|`{3}\w*|[^\w\s]{1,3})\s*"
)
# Begins with a set of characters.
_MARK = re.compile(r"(?:…\[|\.\.\.\[|\[)[^\[\]\n]{0,80}\](?:…|\.{3})?")
_QUOTED_KEY = re.compile(r"\"([^\"\n]{1,60})\"\s*:")
OPENING = re.compile(r"[\s{\[,*-]*[\"']?([A-Za-z_][\w .-]*?)[\"']?\s*[:=]")
_SMALL = 99
"""A number up to this counts only the missing characters."""

_SIZE = re.compile(r"(?<![\w.,-])\d[\d,]{1,14}(?![\w-]|\.\d)")


class Notices(NamedTuple):
    """The words that are notices in a text which shows a result: that in `full`, with its lines,
    its fields and its sizes; `handles` stand for all of it.
    """

    full: str
    known: Container[str]
    table: FieldTable
    is_size: Callable[[int], bool]
    handles: tuple[str, ...] = ()

    def admits(self, gap: Gap) -> bool:
        """True if the words of a gap say that something is left out, and nothing else. Tags say
        nothing.
        """
        lines = [
            line for line in gap.words.split("\n") if line.strip() and not _TAG.fullmatch(line)
        ]
        if not lines:
            return not gap.missing.strip()
        return all(self.omits(line) or self._states_size(line, gap.missing) for line in lines)

    def omits(self, line: str) -> bool:
        """True if a line says that something is left out, in words that the result does not have
        there, or names a handle.
        """
        if not self._is_own(line):
            return False
        return omission_in(line, self.full) != "" or any(name in line for name in self.handles)

    def _states_size(self, line: str, missing: str) -> bool:
        """True if a line states a size of the result, or of what is missing."""
        stated = {int(number.replace(",", "")) for number in _SIZE.findall(line)}
        large = {number for number in stated if number > _SMALL}
        is_stated = len(missing) in stated or any(map(self.is_size, large))
        if not is_stated and large:
            is_stated = not large.isdisjoint(counts_of(missing))
        return is_stated and self._is_own(line)

    def _is_own(self, line: str) -> bool:
        """True for a short line that is none of the result, and has no field of it."""
        return (
            line not in self.known
            and len(line) <= NOTICE_CHARS
            and not ((key := OPENING.match(line)) and self.table.has_key(key[1]))
            and not any(map(self.table.has_key, _QUOTED_KEY.findall(line)))
        )

    def pieces_of(self, text: str) -> list[str]:
        """The parts of a text between its gaps, each a run of the strategy's own lines of which one
        is a notice; itself without.
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
