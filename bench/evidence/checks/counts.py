"""Counts in notices, compared with what a text shows of its result and what it leaves out."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from ...model import memo, nested
from ...text.escapes import unescape
from ...text.notices import Number
from ...text.vocabulary import in_vocabulary
from ..generated_text import RewrittenResult
from ..result_diff import diff_of
from ..row_counts import NEAR, counts_of, line_counts, row_counts

_MOST_OWN_LINES = 3
_ACCURACY = 50
"""The most own lines that a text may count among those of the result, and the part of a large number
(1/50) by which a count of what is left out may be wrong."""


class Counts:
    """The numbers of rows, lines, words and characters of a result, and of a text that shows it."""

    def __init__(self, rewritten: RewrittenResult) -> None:
        self._rewritten: RewrittenResult = weakref.proxy(rewritten)  # which keeps these counts
        self._full, self._text = rewritten.result.text, rewritten.message.text
        self._row_counts = rewritten.contents.row_counts
        self._total = rewritten.contents.counts

    @cached_property
    def _records_shown(self) -> int:
        """The largest number of records in the text that begin with the same key."""
        records = self._rewritten.session.messages.reading(self._rewritten.brief).records
        counts = Counter(record.pairs[0][0] for record in records if record.pairs)
        return max(counts.values(), default=0)

    @cached_property
    def _text_counts(self) -> frozenset[int]:
        """The numbers of rows, lines, words and characters of the text."""
        text, own_lines = self._text, range(_MOST_OWN_LINES + 1)
        lines = {count - more for count in line_counts(text) for more in own_lines}
        rows = row_counts(text) if text[:1] in ("{", "[") else frozenset[int]()
        return counts_of(text) | rows | lines

    def _is_shown(self, value: int) -> bool:
        return value in self._text_counts or value == self._records_shown

    @cached_property
    def _missing_lines(self) -> set[int]:
        """The numbers of lines that the text leaves out, in each gap and in all."""
        rewritten = self._rewritten
        counts = {count for gap in rewritten.gaps or () for count in line_counts(gap.missing)}
        counts.add(sum(map(len, rewritten.lines_shown.gaps)))
        own_lines = sum(bool(line.strip()) for line in diff_of(rewritten).added)
        plain = rewritten.session.messages.texts.plain(self._full)
        for full_text in {self._full, plain, *rewritten.table.fields.prose}:
            pairs = zip(line_counts(full_text), line_counts(self._text), strict=True)
            counts.update(full - shown + own_lines for full, shown in pairs)
        return counts

    @cached_property
    def _missing_rows(self) -> set[int]:
        """The numbers of rows that the text leaves out."""
        rewritten = self._rewritten
        if not rewritten.columns.fields:
            return set()
        missing = len(rewritten.columns.rows(rewritten.kept_fields)[1])
        return {missing, *(count - self._records_shown for count in self._row_counts)}

    @cached_property
    def _missing_fields(self) -> set[int]:
        """The numbers of fields that the text leaves out: of all, and of different keys, in the
        outermost records and in all."""
        text = self._text
        for line in filter(str.strip, diff_of(self._rewritten).added):
            text = text.replace(line, " ")
        value = self._rewritten.contents.value
        outermost = value if isinstance(value, list) else [value]
        keys_of = (
            {str(key) for record in records if isinstance(record, dict) for key in record}
            for records in (outermost, nested(value))
        )
        keys = {sum(key not in text for key in keys) for keys in keys_of}
        return {*keys, len(self._rewritten.columns.fields) - len(self._rewritten.kept_fields)}

    @cached_property
    def _missing_chars(self) -> set[int]:
        """The numbers of characters that the text leaves out, in each gap and in all."""
        gaps = [gap.missing for gap in self._rewritten.gaps or ()]
        in_gaps = {len(text) for gap in gaps for text in (gap, unescape(gap))}
        return in_gaps.union(self._all_missing_chars)

    @cached_property
    def _all_missing_chars(self) -> tuple[int, int]:
        """The fewest and the most characters that the text leaves out: runs of blanks may count as
        one, and own lines may not count as shown."""
        full, text = (len(" ".join(text.split())) for text in (self._full, self._text))
        own_chars = sum(len(line) + 1 for line in diff_of(self._rewritten).added if line)
        differences = full - text, len(self._full) - len(self._text) + own_chars
        return min(differences), max(differences)

    def is_right(self, number: Number) -> bool:
        """True if a number counts what its notice says, or is the number of a part."""
        is_size = in_vocabulary(number.noun, "sizes")
        if number.counted == "part" or not number.text.isdigit():
            return number.text.isdigit()
        value = int(number.text[:18])
        if number.counted == "missing":
            if in_vocabulary(number.noun, "columns") and value in self._missing_fields:
                return True
            return self._is_missing(value, is_size)
        if number.counted == "shown":
            return self._is_shown(value)
        is_total = value in self._total or self._counts_columns(number)
        if number.counted == "total" or is_total:
            return is_total
        if is_size or self._is_shown(value) or self._is_missing(value, is_size=False):
            return True
        return not number.noun and (
            value in self._missing_fields or self._is_missing(value, is_size=True)
        )

    def _missing(self, is_size: bool) -> Iterator[int]:
        """Yield the missing characters, or the missing lines and then the rows, which take longer."""
        yield from self._missing_chars if is_size else self._missing_lines
        yield from () if is_size else self._missing_rows

    def _is_missing(self, value: int, is_size: bool) -> bool:
        """True if about so many characters, or lines or rows, are left out."""
        if is_size and self._all_missing_chars[0] <= value <= self._all_missing_chars[1]:
            return True
        return any(
            abs(value - count) <= max(min(NEAR, count // 4), count // _ACCURACY)
            for count in self._missing(is_size)
        )

    def _counts_columns(self, number: Number) -> bool:
        """True for the number of columns of the result."""
        return in_vocabulary(number.noun, "columns") and int(number.text[:18]) == len(
            self._rewritten.columns.names
        )


def is_counted(rewritten: RewrittenResult, number: Number) -> bool:
    """True if a number in the notice of a text is right. A placeholder may count something else
    that it replaces, but not zero parts of a result that has text."""
    if rewritten.shows_nothing:
        is_zero = not number.text.strip("0.") and rewritten.result.text.strip() != ""
        return not (is_zero and in_vocabulary(number.noun, "units", "turns"))
    return _counts_of(rewritten).is_right(number)


@memo
def _counts_of(rewritten: RewrittenResult) -> Counts:
    return Counts(rewritten)
