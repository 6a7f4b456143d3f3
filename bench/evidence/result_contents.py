"""The contents of one tool result: its data, tables, lines and counts, each read once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from ..model import ToolResult, as_text, memo
from ..text.columnar import columns_as_records
from ..text.data_formats import comments_of, parse_data
from ..text.decode import NothingParsed, decode_strings, letters_of, parse_json
from ..text.encoded import decoded_runs
from ..text.excerpts import Excerpt
from ..text.exit_codes import exit_codes
from ..text.field_table import FieldTable
from ..text.kept_fields import KeptFields
from ..text.layouts import is_notice_line
from ..text.legends import written_out
from ..text.lossless import exact_json, write_tables
from ..text.notices import WORD, without_notices
from ..text.omissions import says_omission
from ..text.quantities import kind_of
from ..text.renderings import lines_beside
from ..text.result_lines import ResultLines
from ..text.tables import TextTables, tables_in
from ..text.value_diff import scalars_of
from .failures import failed
from .row_counts import counts_of, row_counts

_IN_TAG = re.compile(r"(<(?=(\w+))[^<>\n]*>)\s*(?!<(\w+)\b.*</\3>)(\S.*)</\2>\s*", re.DOTALL)
"""Matches a text in one tag."""


class ResultContents:
    """One tool result as the evidence reads it. Its parts are read on demand, once for all strategies.

    >>> contents = ResultContents(ToolResult(index=2, call_id="c", function="f", seen='[{"id": "W1"}]'))
    >>> contents.value, len(contents.columns.fields), contents.normalized('[\\n  {"id":  "W1"}\\n]')
    ([{'id': 'W1'}], 1, '[{"id": "W1"}]')
    >>> texts = '{"returncode": 0, "output": ""}', '{"returncode": 1, "output": ""}', '{"rows": 0}', "", "ok"
    >>> [ResultContents(ToolResult(index=2, call_id="c", function="f", seen=text)).is_empty for text in texts]
    [True, False, False, True, False]
    """

    def __init__(self, result: ToolResult) -> None:
        self.text = result.text
        self.result = replace(result, full=self.text)  # so that its text is not written again

    # ------------------------------------------------------------ data

    @cached_property
    def value(self) -> Any:
        """Its data, else its text read as data; None for any other text."""
        if isinstance(self.result.data, dict | list):
            return self.result.data
        with suppress(NothingParsed):
            return parse_data(self.text)
        return None

    @cached_property
    def table(self) -> FieldTable:
        """Its fields, if it is data."""
        return FieldTable(self.value)

    @cached_property
    def columns(self) -> FieldTable:
        """Its fields, or the cells of the tables in its text."""
        return FieldTable(self.tables.tables) if self.tables.tables else self.table

    @cached_property
    def tables(self) -> TextTables:
        """The tables in a result that is text."""
        if self.value is not None:
            return TextTables([], [])
        with suppress(NothingParsed):
            lines = filter(str.strip, self.text.split("\n"))
            return TextTables([[*map(parse_json, lines)]], [])
        return tables_in(self.text)

    @cached_property
    def field_search(self) -> KeptFields:
        """The search of other texts for its fields."""
        return KeptFields(self.columns)

    @cached_property
    def is_indented(self) -> bool:
        """True for data in YAML or settings, whose text may have comments."""
        value = self.value
        is_text = value is not None and value is not self.result.data
        return is_text and self.text.lstrip()[0] not in "[{"

    @cached_property
    def _comments(self) -> list[tuple[str, str]]:
        return comments_of(self.text) if self.is_indented else []

    @cached_property
    def comments(self) -> list[str]:
        """The comments in its YAML or settings."""
        return [words for words, _ in self._comments]

    # ------------------------------------------------------------ lines and counts

    @cached_property
    def lines(self) -> ResultLines:
        """Its lines; of data those of the long and empty values, each below its key, and the comments."""
        comments = "\n".join(f"# {words}" for words in self.comments)
        fields = self.table.fields
        return ResultLines(comments, fields.blocks()) if fields else ResultLines(self.text)

    @cached_property
    def row_counts(self) -> frozenset[int]:
        """The numbers of its rows and lines."""
        return row_counts(self.text, self.result.data, self.tables.tables)

    @cached_property
    def counts(self) -> frozenset[int]:
        """The numbers that a text may state as its size."""
        counts = self.row_counts | counts_of(self.text)
        return counts.union(count - 1 for count in counts)

    @cached_property
    def letters(self) -> str:
        """Its letters and digits."""
        return letters_of(self.text)

    @cached_property
    def call_words(self) -> frozenset[str]:
        """The words of the call that it answers, in small letters."""
        call = f"{self.result.function} {as_text(self.result.arguments)}"
        return frozenset(WORD.findall(call.casefold()))

    @cached_property
    def failed(self) -> bool:
        """True if it reports a failure."""
        return failed(self.result, self.value)

    @cached_property
    def is_empty(self) -> bool:
        """True if it has no value, except perhaps the exit code of a success."""
        if self.value is None:
            return not self.text.strip()
        values = ((key, as_text(item)) for key, item in scalars_of(self.value))
        says = (text for key, text in values if not exit_codes(f"{key}: {text}"))
        return not self.failed and all(kind_of(text) == "nothing" for text in says)

    # ------------------------------------------------------------ other texts that show it

    @cached_property
    def _exit_code(self) -> tuple[int, str] | None:
        """The number and the text of its only field that is an exit code; None without one."""
        keys = {key for key in self.columns.names if exit_codes(f"{key}: 0")}
        pairs = self.columns.fields.pairs() if keys else ()
        fields = [(number, text) for key, text, number in pairs if key in keys]
        return fields[0] if len(fields) == 1 else None

    def exit_code_field(self, text: str) -> frozenset[int]:
        """The number of its field that is the exit code, if a text states this, in any words.

        >>> text = '{"returncode": 1, "output": "no"}'
        >>> result = ToolResult(index=2, call_id="c", function="f", seen=text)
        >>> [sorted(ResultContents(result).exit_code_field(text)) for text in ("rc 1", "rc=0", "no")]
        [[0], [], []]
        """
        field = self._exit_code
        is_stated = field is not None and field[1] in map(str, exit_codes(text))
        return frozenset({field[0]}) if field and is_stated else frozenset()

    @memo
    def says_omission(self, text: str) -> bool:
        """True if a text that shows it says that something was left out."""
        return bool(says_omission(text, self.text))

    @memo
    def excerpt(self, text: str) -> Excerpt:
        """A text as an excerpt of it."""
        return Excerpt(text, self.text)

    @memo
    def decoded(self, text: str) -> tuple[str, bool]:
        """A text that shows it, with encoded runs decoded; True if there are any."""
        return decoded_runs(text, self.text)

    @memo
    def normalized(self, text: str) -> str:
        """A text that shows it, decoded as far as possible; where the text has all of its data in
        another layout, its own text stands there instead, behind the notices of that text."""
        if 2 * len(text) < len(self.text) and not without_notices(text).strip():
            return text
        if text in self.text and WORD.search(self.text.replace(text, "", 1)):
            return text  # a part of it, as it is
        if self._comments and comments_of(text) != self._comments:
            return text
        if text and text in (self._as_json, "@table" in text and self._as_csv):
            return self.text
        decoded = self.decoded(text)[0]
        text = written_out(decoded, self.text)
        for way in dict.fromkeys((decoded, text)):
            notices = [line for line in way.split("\n") if is_notice_line(line)]
            others = [line for line in way.split("\n") if line not in notices]
            if (beside := self._lines_beside(others)) is not None:
                return "\n".join([*notices, *beside, self.text])
        in_tag = _IN_TAG.fullmatch(text)
        return text if in_tag is None or in_tag[1] in self.text else f"{in_tag[1]}\n{in_tag[4]}"

    def _lines_beside(self, lines: Sequence[str]) -> list[str] | None:
        """The lines above and below all of its data, with the lines between its tables, in some
        lines; None if these do not have all of it."""
        between = [line.strip() for line in self.tables.rest]
        if [line.strip() for line in lines if line.strip() in between] != between:
            return None
        data = "\n".join(line for line in lines if line.strip() not in between)
        return lines_beside(data, self._records, self.call_words)

    @cached_property
    def _records(self) -> Any:
        """Its data or tables as records."""
        tables = self.tables.tables
        value = tables[0] if len(tables) == 1 else tables or self.value
        return columns_as_records(decode_strings(value))

    @cached_property
    def _as_json(self) -> str:
        return exact_json(self.value)

    @cached_property
    def _as_csv(self) -> str:
        """Its data with tables as CSV, as the bench writes them."""
        return write_tables(decode_strings(self.value))
