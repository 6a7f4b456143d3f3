"""Counts in a notice, held against what a text shows of its result and what is missing."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from ...text.escapes import unescape
from ...text.notices import Number
from ...text.vocabulary import in_vocabulary
from ..own_text import RewrittenResult
from ..row_counts import NEAR, counts_of, line_counts, row_counts
from ..shown import shown_of

_FEW_LINES = 4
_ABOUT = 50
"""The most lines beside those of the result that a text may count, and the part of a large number by
which a count of what is left out may be wrong."""


class Counts:
    """The numbers of rows, lines, words and characters of a result and of a text that shows it."""

    def __init__(self, own: RewrittenResult) -> None:
        self._own: RewrittenResult = weakref.proxy(own)  # which keeps these counts
        self._full, self._text = own.result.text, own.message.text
        self._rows = own.session.row_counts(own.result.index)
        self._total = own.session.counts(own.result.index)

    @cached_property
    def _records(self) -> int:
        """The number of records that begin with the same key."""
        records = self._own.session.messages.reading(self._own.brief).records
        return max(Counter(it.pairs[0][0] for it in records if it.pairs).values(), default=0)

    @cached_property
    def _of_text(self) -> frozenset[int]:
        text = self._text
        lines = (count - own for count in line_counts(text) for own in range(_FEW_LINES))
        rows = row_counts(text) if text[:1] in ("{", "[") else frozenset[int]()
        return counts_of(text) | rows | {*lines}

    def has_shown(self, value: int) -> bool:
        """True for one of the text."""
        return value in self._of_text or value == self._records

    @cached_property
    def _lines_missing(self) -> set[int]:
        """The numbers of lines that the text leaves out."""
        own = self._own
        missing = {count for gap in own.gaps or () for count in line_counts(gap.missing)}
        lines = sum(bool(line.strip()) for line in shown_of(own).own)
        for full in {self._full, own.session.messages.texts.plain(self._full)}:
            counts = zip(line_counts(full), line_counts(self._text), strict=True)
            missing.update(of - shown + lines for of, shown in counts)
        return missing

    @cached_property
    def _rows_missing(self) -> set[int]:
        """The numbers of rows that it leaves out."""
        own = self._own
        if not own.columns.fields:
            return set()
        kept = own.session.messages.fields_of(own.number, own.result.index)
        return {len(own.columns.rows(kept)[1]), *(of - self._records for of in self._rows)}

    @cached_property
    def _chars_missing(self) -> set[int]:
        """The characters that it leaves out, in all and of each gap."""
        gaps = [gap.missing for gap in self._own.gaps or ()]
        return {len(text) for gap in gaps for text in (gap, unescape(gap))} | {*self._all_missing}

    @cached_property
    def _all_missing(self) -> tuple[int, int]:
        """The fewest and the most characters that it leaves out: with one blank for several, and
        with all, beside words of its own."""
        full, text = (len(" ".join(it.split())) for it in (self._full, self._text))
        of_own = sum(len(line) + 1 for line in shown_of(self._own).own if line)
        ways = full - text, len(self._full) - len(self._text) + of_own
        return min(ways), max(ways)

    def has(self, number: Number) -> bool:
        """True if a number counts what it says, or is that of a part."""
        is_size = in_vocabulary(number.noun, "sizes")
        if number.counted == "part" or not number.text.isdigit():
            return number.text.isdigit()
        value = int(number.text[:18])
        if number.counted == "missing":
            return self._is_missing(value, is_size) or (
                value <= max(self._total) and all(it < value for it in self._missing(is_size))
            )
        if number.counted == "shown":
            return self.has_shown(value)
        is_total = value in self._total or self._counts_columns(number)
        if number.counted == "total" or is_total:
            return is_total
        return is_size or self.has_shown(value) or self._is_missing(value, is_size)

    def _missing(self, is_size: bool) -> Iterator[int]:
        """Yield the characters, or the lines and rows, that it leaves out, those found soonest
        first."""
        yield from self._chars_missing if is_size else self._lines_missing
        yield from () if is_size else self._rows_missing

    def _is_missing(self, value: int, is_size: bool) -> bool:
        """True if so much is left out, or about so much."""
        if is_size and self._all_missing[0] <= value <= self._all_missing[1]:
            return True
        return any(
            abs(value - it) <= max(min(NEAR, it // 4), it // _ABOUT)
            for it in self._missing(is_size)
        )

    def _counts_columns(self, number: Number) -> bool:
        """True for the number of columns of the result."""
        return in_vocabulary(number.noun, "columns") and int(number.text[:18]) == len(
            self._own.columns.names
        )


def is_counted(own: RewrittenResult, number: Number) -> bool:
    """True if a number in a text's notice counts what it says, or is that of a part. A placeholder
    may count another text that it replaces, but no result with text has zero parts."""
    if own.shows_nothing:
        is_zero = not number.text.strip("0.") and own.result.text.strip() != ""
        return not (is_zero and in_vocabulary(number.noun, "units", "turns"))
    return own.once("counts", lambda: Counts(own)).has(number)
