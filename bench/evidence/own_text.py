"""Messages that a strategy wrote, each read once for all replays and rules."""

from __future__ import annotations

import re
import weakref
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from functools import cached_property
from html import unescape as unescape_html
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..model import ToolResult, compact_json
from ..text.column_claims import (
    has_right_constants,
    has_right_counts,
    has_right_order,
    has_right_sums,
)
from ..text.decode import LONG_CHARS, NothingParsed, parse_json, plain_lines
from ..text.escapes import unescape
from ..text.excerpts import NOTICE_CHARS, Gap, folded, folded_once, gaps_of, shared
from ..text.fields import FieldTable
from ..text.line_notes import without_number
from ..text.line_places import LinePlaces
from ..text.omissions import omission_in
from ..text.speakers import speaker_of
from .notices import Notices
from .row_counts import line_counts, row_counts

if TYPE_CHECKING:
    from .session import TraceSession

_V = TypeVar("_V")
_FEW_LINES = 2
_NAME = re.compile(r"[^\W\d][\w-]*")
_STRING = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"(\s*+:)?')
"""Matches a string of JSON, and the colon after a key."""


class OwnText:
    """A message of the strategy, as the rules read it."""

    def __init__(self, session: TraceSession, number: int, handles: tuple[str, ...] = ()) -> None:
        # No circle: a run that was measured is freed without a search for it.
        self.session: TraceSession = weakref.proxy(session)
        self.number, self.message = number, session.messages.messages[number]
        self.step, self.handles = self.message.step, handles
        self._found: dict[Hashable, Any] = {}

    @property
    def is_blank(self) -> bool:
        """True if it says nothing and calls nothing."""
        return not self.message.text.strip() and not self.message.tool_calls

    @cached_property
    def text(self) -> str:
        """Its text as it is read."""
        return self.session.messages.contents.text_of(self.message)

    @cached_property
    def added(self) -> str:
        """Its words besides the results that it shows."""
        return self.without_results(len(self.session.trace.steps))

    def without_results(self, before: int) -> str:
        """Its text without the results, of steps before one, that it quotes as a whole or from
        their beginning to a cut, except for those that it says somebody said.
        """
        text = self.text
        quoted = self.session.messages.results_by_beginning if len(text) <= LONG_CHARS else {}
        for beginning, results in quoted.items():
            start = text.find(beginning)
            earlier = sorted({it for step, it in results if step < before}) if start >= 0 else []
            while start >= 0 and earlier:
                label = text[:start].rstrip().rpartition("\n")[2]
                if speaker_of(label) == ("", ""):
                    # the result that shares most stands beside the text in alphabetical order
                    at = bisect_left(earlier, text[start:])
                    nearest = earlier[max(0, at - 1) : at + 1]
                    end = start + max(shared(text, start, result, 0) for result in nearest)
                    text = f"{text[:start]}\n{text[end:]}"
                start = text.find(beginning, start + 1)
        return text

    @cached_property
    def new_lines(self) -> list[str]:
        """Its lines that are not in the result that it shows; for a summary those that are not in
        the trace.

        Data at the beginning of a line, and words that some message has in a row, are left out.
        """
        known, unsaid = self._known, self.session.mentions.unsaid
        lines = (
            line
            for line in self._lines()
            if line not in known and known.isdisjoint((without_number(line), unescape_html(line)))
        )
        return [part for line in lines for part in unsaid(line)]

    @property
    def _known(self) -> frozenset[str]:
        return self.session.lines_of(None)

    def _lines(self) -> list[str]:
        return self.added.split("\n")

    def once(self, key: Hashable, find: Callable[[], _V]) -> _V:
        """The value of `find()` about this text, cached under a key."""
        if key not in self._found:
            self._found[key] = find()
        return cast(_V, self._found[key])


class RewrittenResult(OwnText):
    """A message of the strategy that shows a result."""

    def __init__(
        self, session: TraceSession, number: int, handles: tuple[str, ...], result: ToolResult
    ) -> None:
        super().__init__(session, number, handles)
        self.result = result

    @cached_property
    def table(self) -> FieldTable:
        """The fields of the result."""
        return self.session.contents.table(self.result.index)

    @cached_property
    def columns(self) -> FieldTable:
        """The fields of the result, or the cells of its tables where it is text."""
        return self.session.contents.fields(self.result.index)

    @property
    def shows_cells(self) -> bool:
        """True if it has records with columns of its result, which is text, and lines of its own."""
        if self.columns is self.table or self._known.issuperset(self.text.split("\n")):
            return False
        records = self.session.messages.reading(self.text).records
        return any(self.columns.has_key(key) for record in records for key, _ in record.pairs)

    @cached_property
    def outside_tables(self) -> tuple[LinePlaces, str]:
        """The lines of its result, and its text, outside of tables."""
        step, messages = self.result.index, self.session.messages
        if self.columns is self.table:
            return self.session.line_places(step), messages.texts.plain(self.text)
        rest = messages.contents.tables(step).rest
        return LinePlaces("\n".join(rest)), messages.reading(self.text).outside_records

    @cached_property
    def replaced_lines(self) -> list[tuple[str, str]]:
        """Its lines, outside of tables, that stand in place of others of its result, each with
        that; none in an excerpt."""
        if self.table.fields or self.shows_all or self.gaps is not None:
            return []
        places, text = self.outside_tables
        return [pair for pair in places.replaced(text) if pair[0] not in self._known]

    @property
    def is_encoded(self) -> bool:
        """True if a reader has to undo an encoding first."""
        contents = self.session.messages.contents
        return contents.decoded(self.message.text, self.result.index)[1]

    @property
    def shows_all(self) -> bool:
        """True if it has its whole result."""
        return self.result.text.strip() in self.text

    @property
    def says_omission(self) -> bool:
        """True if it says that something was left out."""
        return self.session.says_omission(self.result.index, self.text)

    @property
    def failed(self) -> bool:
        """True if the result failed."""
        return self.session.failed(self.result)

    def has_right_sums(self, sentence: str) -> bool:
        """True if a sentence of it, with its line, rightly states sums or extremes of columns, or
        counts of their values."""
        lines = self._lines_with(sentence)
        return bool(lines) and all(map(self.is_right_line, lines))

    def is_right_line(self, line: str) -> bool:
        """True if a line rightly states sums or extremes of columns, or counts of their values; a
        notice of what is left out does not."""
        if omission_in(line, ""):
            return False
        return has_right_sums(line, self.columns) or has_right_counts(line, self.columns)

    def is_of_columns(self, sentence: str) -> bool:
        """True if a sentence names a column of its result."""
        return any(map(self.columns.has_key, _NAME.findall(sentence)))

    def has_right_constants(self, sentence: str) -> bool:
        """True if all columns that a sentence names have one value, which it states."""
        return has_right_constants(sentence, self.columns)

    @property
    def row_counts(self) -> frozenset[int]:
        """The numbers of rows and lines of its result, of text also without a header."""
        counts = row_counts(self.result, self.session.contents.tables(self.result.index).tables)
        below = {count - 1 for count in line_counts(self.result.text) if count > _FEW_LINES}
        return counts if self.table.fields else counts | below

    def has_right_order(self, sentence: str) -> bool:
        """True if a sentence of it, with its line, rightly states by what its rows are sorted."""
        rows = self.session.messages.reading(self.message.text).records
        lines = self._lines_with(sentence)
        return bool(lines) and all(has_right_order(line, rows) for line in lines)

    def _lines_with(self, sentence: str) -> list[str]:
        return [line for line in self.message.text.split("\n") if sentence in line]

    @cached_property
    def notices(self) -> Notices:
        """The words in it that are notices."""
        return Notices(self.result.text, self._known, self.table, self.handles)

    @cached_property
    def gaps(self) -> list[Gap] | None:
        """The gaps of a text that shows only parts of its result and notices between them; None for
        any other.

        The result may be written as its text, its value, its plain lines, in JSON or in Python.
        """
        as_written = self.session.messages.contents.excerpt(self.text, self.result.index)
        found = (
            as_written.gaps(self.notices.admits)
            if (shown, full) == (self.text, self.result.text)
            else gaps_of(shown, full, self.notices.admits)
            for shown, full in self._ways()
            if _may_show(shown, full)
        )
        return next((gaps for gaps in found if gaps is not None), None)

    def _ways(self) -> Iterator[tuple[Any, Any]]:
        """Yield the text and its result in the ways in which they may be the same."""
        text, result = self.message.text, self.result
        yield from ((shown, result.text) for shown in dict.fromkeys((self.text, text)))
        value = result.data
        with suppress(NothingParsed):
            yield parse_json(text), parse_json(result.text) if value is None else value
        yield text, self.session.messages.texts.plain(result.text)
        if isinstance(value, dict | list) and text[:2] in _PYTHON:
            yield text, str(value)
        elif isinstance(value, dict | list) and result.text[:2] in _PYTHON and '{"' in text:
            yield text, compact_json(value)

    @cached_property
    def added(self) -> str:
        """The words of its gaps, else its text without the result in it; data without its lines."""
        if self.gaps is not None:
            return "\n".join(gap.words for gap in self.gaps)
        contents = self.session.messages.contents
        text = contents.of(self.message)[0] if self.message.text else ""
        if self.result.text and self.result.text in text:
            return text.replace(self.result.text, "\n")
        return _STRING.sub(self._if_new, text) if text[:1] in ("{", "[") else text

    def _if_new(self, string: re.Match[str]) -> str:
        """A string in data as it is written; an empty one for a line of the result, or for a long
        part of it."""
        if string[2]:
            return string[0]
        text = unescape(string[1])
        is_long = len(text) >= _LONG_LINE_CHARS and len(text) * _MOST_PARTS >= len(self.text)
        if text in self.session.result_lines(self.result.index) or (
            is_long and text in self._plain
        ):
            return '""'
        return string[0]

    @property
    def _plain(self) -> str:
        """Its result as plain text."""
        return self.session.messages.texts.plain(self.result.text)

    @property
    def _known(self) -> frozenset[str]:
        return self.session.lines_of(self.result.index)

    def _lines(self) -> list[str]:
        if not self.table.fields:
            return lines_shown(self.added)
        return super()._lines()

    @cached_property
    def shows_line(self) -> bool:
        """True if it has a line of its result that its call lacks, or a long part within data."""
        if self.text[:1] in ("{", "[") and self.gaps is None and self.added != self.text:
            return True
        called = plain_lines(self.result.arguments)
        shown = (line for line in self.text.split("\n") if line.strip() not in called)
        if any(line in self._known for line in shown if line.strip()):
            return True
        text, lines = unescape(self.text), (line.strip() for line in self._plain.split("\n"))
        long = (line for line in lines if len(line) >= _LONG_LINE_CHARS and line not in called)
        return any(line in text for line in long)


_LONG_LINE_CHARS, _MOST_PARTS = 24, 20
"""A line with this many characters is not in another text by accident; and the most parts of a
result to search for in one text."""


_PYTHON = frozenset({"{'", "[{", "['"})
"""The beginnings of a Python mapping or list as text."""


def _may_show(shown: Any, full: Any) -> bool:
    """False if no outer line of a text begins or ends like one of another text, with any blanks;
    then it is in a layout of its own.
    """
    if not isinstance(shown, str) or not isinstance(full, str) or len(shown) <= NOTICE_CHARS:
        return True
    lines = shown.split("\n")
    outer = (
        lines if len(lines) <= 2 * _OUTER_LINES else [*lines[:_OUTER_LINES], *lines[-_OUTER_LINES:]]
    )
    plain = (without_number(line).strip() for line in outer)
    parts = [
        part
        for line in plain
        for part in (line[:_PART_CHARS], line[-_PART_CHARS:])
        if len(part) > 1
    ]
    if any(part in full for part in parts):
        return True
    return len(full) <= LONG_CHARS and any(folded(part) in folded_once(full) for part in parts)


_OUTER_LINES, _PART_CHARS = 20, 12
"""The lines to compare at each end, and the characters of each."""


def lines_shown(text: str, *, keys: bool = False) -> list[str]:
    """The lines of a text; for JSON, or for a line of JSON, the lines of the texts in it, perhaps
    with its `keys`, each before a text of one line.

    >>> lines_shown("a\\nb"), lines_shown('{"a": "b\\\\nc", "d": 1}'), lines_shown('a\\n["b"]')
    (['a', 'b'], ['b', 'c'], ['a', 'b'])
    >>> lines_shown('{"a": "b", "c": 1}', keys=True)
    ['a: b', 'c']
    """
    texts = _texts_in(text, keys)
    if texts is None:
        texts = [inner for line in text.split("\n") for inner in _texts_in(line, keys) or [line]]
    return [line for item in texts for line in item.split("\n")]


def _texts_in(text: str, keys: bool) -> list[str] | None:
    """The texts in a JSON value; None if the text is not JSON."""
    with suppress(NothingParsed):
        return [*_texts_of(parse_json(text), keys)]
    return None


def _texts_of(value: Any, keys: bool) -> Iterator[str]:
    """Yield the texts in a value, perhaps with the keys of its mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            is_line = isinstance(item, str) and "\n" not in item
            if keys:
                yield f"{key}: {item}" if is_line else key
            if not (keys and is_line):
                yield from _texts_of(item, keys)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts_of(item, keys)
