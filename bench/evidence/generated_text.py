"""Messages that a strategy wrote, each read once for all replays and rules."""

from __future__ import annotations

import re
import weakref
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..model import as_text, compact_json
from ..text.decode import LONG_CHARS, NothingParsed, parse_json, plain_lines
from ..text.escapes import unescape
from ..text.excerpts import NOTICE_CHARS, Excerpt, Gap, common_length
from ..text.field_table import FieldTable
from ..text.omissions import omission_in
from ..text.result_lines import LinesShown, ResultLines
from ..text.speakers import speaker_of
from ..text.value_diff import scalars_of
from .result_contents import ResultContents

if TYPE_CHECKING:
    from .session import TraceSession

TAG_LINE = re.compile(
    r"\s*(?:</?[A-Za-z_][\w-]*(?: [\w-]+=(?:[\"'][^\"'<>\n]{0,60}[\"']|\w+))*>|`{3}\w*|)\s*"
)
"""Matches a line with nothing but a tag."""

_DATA = re.compile(r"(?!\s*\[.*\]\s*$).*\":")
"""Matches a line with a key and a value, unless it is all in brackets."""


_STRING, _LONG_CHARS = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL), 200
"""Matches a string in JSON; the fewest characters of a long one."""


class GeneratedText:
    """A message of the strategy, as the rules read it."""

    def __init__(self, session: TraceSession, number: int, handles: tuple[str, ...] = ()) -> None:
        # No circle: a run that was measured is freed without a search for it.
        self.session: TraceSession = weakref.proxy(session)
        self.number, self.message = number, session.messages.messages[number]
        self.step, self.handles = self.message.step, handles

    @property
    def is_blank(self) -> bool:
        """True if it says nothing and calls nothing."""
        return not self.message.text.strip() and not self.message.tool_calls

    @cached_property
    def text(self) -> str:
        """Its text as it is read."""
        return self.session.contents.text_of(self.message)

    @cached_property
    def added(self) -> str:
        """Its words besides the results that it shows."""
        return self.without_results(len(self.session.trace.steps))

    def without_results(self, before: int) -> str:
        """Its text without the results, of steps before one, that it quotes as a whole or from
        their beginning to a cut, except for those that it says somebody said."""
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
                    end = start + max(common_length(text, start, result) for result in nearest)
                    text = f"{text[:start]}\n{text[end:]}"
                start = text.find(beginning, start + 1)
        return text

    @cached_property
    def new_lines(self) -> list[str]:
        """The lines of a summary that are not in the trace.

        Data at the beginning of a line, and words that some message has in a row, are left out.
        """
        known, new_parts = self.session.lines_of(None), self.session.mentions.new_parts
        lines = (line for line in self.added.split("\n") if line not in known)
        return [part for line in lines for part in new_parts(line)]


class RewrittenResult(GeneratedText):
    """A message of the strategy that shows a result."""

    def __init__(
        self, session: TraceSession, number: int, handles: tuple[str, ...], contents: ResultContents
    ) -> None:
        super().__init__(session, number, handles)
        self.contents, self.result = contents, contents.result

    @property
    def table(self) -> FieldTable:
        """The fields of the result."""
        return self.contents.table

    @property
    def columns(self) -> FieldTable:
        """The fields of the result, or the cells of its tables where it is text."""
        return self.contents.columns

    @cached_property
    def brief(self) -> str:
        """Its text with only the beginnings of the long strings in its JSON that are a part of a value
        of the result."""
        return _STRING.sub(self._beginning_of, self.text) if self.text[:1] in "{[" else self.text

    def _beginning_of(self, string: re.Match[str]) -> str:
        text = unescape(string[1]).strip() if len(string[1]) > _LONG_CHARS else ""
        values = map(str.strip, self.table.fields.prose if text else ())
        is_part = any(text in value and text != value for value in values)
        return compact_json(text[:_LONG_CHARS]) if is_part else string[0]

    @property
    def kept_fields(self) -> frozenset[int]:
        """The fields of the result, by their places, that the message has."""
        return self.session.messages.fields_of(self.number, self.result.index)

    @property
    def is_encoded(self) -> bool:
        """True if a reader has to undo an encoding first."""
        return self.contents.decoded(self.message.text)[1]

    @cached_property
    def shows_all(self) -> bool:
        """True if it has its whole result."""
        return self.result.text.strip() in self.text

    @cached_property
    def shows_nothing(self) -> bool:
        """True for a placeholder: a text with nothing of its result."""
        missing = [gap.missing.strip() for gap in self.gaps or ()]
        return missing == [self.result.text.strip()]

    @property
    def says_omission(self) -> bool:
        """True if it says that something was left out."""
        return self.contents.says_omission(self.text)

    @property
    def failed(self) -> bool:
        """True if the result failed."""
        return self.contents.failed

    @cached_property
    def gaps(self) -> list[Gap] | None:
        """The gaps of a text that shows only parts of its result, perhaps as plain lines, or of what
        the recorded prompt showed of it, and notices between them; None for any other."""
        gaps = self.contents.excerpt(self.text).gaps(self._admits)
        if gaps is None and self.table.fields and (full := self._in_notation()):
            gaps = Excerpt(self.text, full).gaps(self._admits)
        recorded = self.result.recorded_text
        if gaps is None and recorded not in ("", self.result.text):
            gaps = Excerpt(self.text, recorded).gaps(self._admits)
        return gaps

    def _in_notation(self) -> str:
        """The result in Python, in JSON or as plain lines, as its text is; "" if it is so itself."""
        full, data = self.result.text, self.result.data
        of_text, of_result = (text[:2] in _PYTHON for text in (self.text, full))
        if of_text or '{"' in self.text:
            other = str(data) if of_text else compact_json(data)
            return other if of_text != of_result and data is not None else ""
        return self.session.messages.texts.plain(full)

    @cached_property
    def lines_shown(self) -> LinesShown:
        """What its lines, or those of the texts in its JSON, show of a text result."""
        lines = self.contents.lines
        try:
            return lines.compare(_lines_in(parse_json(self.text), lines))
        except NothingParsed:
            return lines.compare(self.text.split("\n"))

    @cached_property
    def leaves_out_lines(self) -> bool:
        """True for JSON in which a text of several lines says that some are left out."""
        with suppress(NothingParsed):
            texts = (item for _, item in scalars_of(parse_json(self.text)) if isinstance(item, str))
            lines = chain.from_iterable(text.split("\n") for text in texts if "\n" in text)
            known = self.contents.lines.numbers_of
            return any(self._is_notice(line) and not known(line) for line in lines)
        return False

    @property
    def missing(self) -> list[str]:
        """What it leaves out between two lines, or at an end, of a text result."""
        if self.gaps is not None:
            return [gap.missing for gap in self.gaps]
        return ["\n".join(lines) for lines in self.lines_shown.gaps]

    def _admits(self, gap: Gap) -> bool:
        """True if the words of a gap only say that something is left out, or name a handle to it;
        tags are ignored."""
        lines = [line for line in gap.words.split("\n") if not TAG_LINE.fullmatch(line)]
        if not lines:
            return bool(self.handles) or TAG_LINE.fullmatch(gap.missing) is not None
        return all(map(self._is_notice, lines))

    def _is_notice(self, line: str) -> bool:
        """True for a line with a handle and no data, or that says that something is left out."""
        if len(line) > NOTICE_CHARS or line in self._known or _DATA.match(line):
            return False
        has_handle = any(name in line for name in self.handles) and '"' not in line
        return has_handle or omission_in(line, self.result.text) != ""

    @cached_property
    def added(self) -> str:
        """The words of its gaps, else its text without the result in it."""
        if self.gaps is not None:
            return "\n".join(gap.words for gap in self.gaps)
        text = self.session.contents.of(self.message)[0] if self.message.text else ""
        return text.replace(self.result.text, "\n") if self.result.text else text

    @property
    def _known(self) -> frozenset[str]:
        return self.session.lines_of(self.result.index)

    @cached_property
    def shows_line(self) -> bool:
        """True if it has a line of its result that its call lacks, or a long part of one."""
        called = plain_lines(self.result.arguments)
        shown = (line for line in self.text.split("\n") if line.strip() not in called)
        if any(line in self._known for line in shown if line.strip()):
            return True
        plain = self.session.messages.texts.plain(self.result.text)
        text, lines = unescape(self.text), (line.strip() for line in plain.split("\n"))
        long = (line for line in lines if len(line) >= _LONG_LINE_CHARS and line not in called)
        return any(line in text for line in long)


_LONG_LINE_CHARS = 24
"""A line with this many characters is not in another text by accident."""


def _lines_in(value: Any, result: ResultLines) -> Iterator[str]:
    """Yield the lines of the texts in a value, below their key if the result has it alone in a line;
    other values, and texts of one line that the result does not have, with their keys."""
    for key, item in scalars_of(value):
        part = as_text(item)
        is_shown = isinstance(item, str) and ("\n" in item or result.numbers_of(item))
        if is_shown and key and result.numbers_of(f"{key}:"):
            yield f"{key}:"
        yield from part.split("\n") if is_shown or not key else [f"{key}: {part}"]


_PYTHON = frozenset({"{'", "[{", "['"})
"""The beginnings of a Python mapping or list as text."""
