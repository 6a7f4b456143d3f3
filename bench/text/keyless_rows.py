"""Rows that a text writes without keys: `W1 sent 5` for `{"id": "W1", "status": "sent", "size": 5}`.

`tables` reads the rows below a header without looking at the data. Here the records of a result are
known, and a line is a row if it consists of the values of one record. A heading, such as `sent (2):`,
may state what all rows below it have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, compress, islice, pairwise
from typing import NamedTuple

from ..model import grouped, memo
from .decode import LONG_CHARS
from .field_list import Fields
from .keys import plain_key, words_of_key
from .layout_words import is_filler_word, is_layout_word
from .outline import means_every_record
from .quantities import kind_of
from .records import Record

_BETWEEN = re.compile(r"\s*([,;|]|(?<=\S):(?=\s))\s*|\s+|$")
"""Matches what separates two values in a line: blanks, and a sign as its group."""

_SEPARATORS = frozenset(",;|")
_BULLET, _END = re.compile(r"[-*•] +"), re.compile(r"[.,;|]? *$")
_WORD = re.compile(r"[^\s,;|:=]+")
_HEADING = re.compile(r"([#=\[]*) *(\S.*?) *(?:\((\d{1,6})(?: (\w+))?\))?([\]:= ]*)")
_IN_ALL = re.compile(r" in (?:all|each|every) \w+\.?$")
_NAME_SEPARATOR = re.compile(r"\s*[,;|\t]\s*")
_TOKEN = re.compile(r"\w+")
_SIGNS = " \t-#*•:>|[](),;.="
_FEWEST_ROWS, _MOST_TRIES, _MOST_FIELDS, _MOST_CELLS = 2, 12, 50_000, 200
"""The fewest rows of a text, the most records that are tried for a line, and the most fields of a value
and cells of a record that are searched."""

_ROW_CHARS, _HEADING_CHARS = 2000, 200
"""The most characters of a row and of a heading."""


class _Cell(NamedTuple):
    """A value of a record in small letters ("-" for an empty one), its key, its column, and the
    number of its field (-1 for prose and empty values)."""

    text: str
    key: str
    column: int
    field: int


class _Value(NamedTuple):
    """A value in a line: the cells of the record that it may be, the key in front of it ("" for
    none), and whether a separator, not only a blank, stands before both."""

    cells: list[_Cell]
    key: str
    is_separated: bool

    @property
    def columns(self) -> set[tuple[int, str]]:
        """The columns that it may be in, each with its key."""
        return {(cell.column, cell.key) for cell in self.cells}


class _Row(NamedTuple):
    """A line that writes a record: the number of the record, the values in the line, and those in
    the heading above it."""

    record: int
    values: list[_Value]
    heading_values: list[_Value]

    @property
    def keyless(self) -> list[_Value]:
        """The values without a key."""
        return [value for value in self.values if not value.key]

    @property
    def form(self) -> tuple[str, ...]:
        """The key of each value, "" for none."""
        return tuple(value.key for value in self.values)


class RowsRead(NamedTuple):
    """The numbers of the fields that the rows of a text write, and its lines that are no rows."""

    fields: frozenset[int]
    other_lines: list[str]


class _Section:
    """The rows below a heading line, with the values and the number of rows that it states; the
    first section has no heading."""

    def __init__(self, line: str = "", heading: str = "", count: str | None = None) -> None:
        self.line, self.heading, self.count = line, heading, count
        self.rows: list[_Row] = []


_Lines = tuple[list[_Section], list[list[str]], list[str]]
"""The lines of a text: its sections of rows, its lines of column names, and all others."""


class KeylessRows:
    """The search of texts for rows that write the records of a value without keys.

    A row has the values of one record, and perhaps of its ancestors and the records nested in it,
    and no words but their keys. All rows of a text have the same form. Their values without keys
    have the order of the record, or of a line of column names above them.

    >>> values = ("W1", "sent", "5"), ("W2", "paid", "7"), ("W3", "sent", "7")
    >>> records = [Record(("id", "status", "size"), texts, ()) for texts in values]
    >>> rows = KeylessRows(records, Fields(records))
    >>> rows.read("Orders\\nstatus sent (2):\\nW1 5\\nW3 7\\npaid (1):\\n- W2, 7").other_lines
    ['Orders']
    >>> rows.read("columns: size, id\\n5 W1\\n7 W3"), rows.read("paid:\\nW1 5\\nW3 7")
    (RowsRead(fields=frozenset({0, 8, 2, 6}), other_lines=[]), None)
    >>> [rows.read(text) for text in ("sent (3):\\nW1 5\\nW3 7", "5 W1\\n7 W3", "W1 7\\nW3 5")]
    [None, None, None]
    """

    def __init__(
        self, records: Sequence[Record], fields: Fields, containers: frozenset[str] = frozenset()
    ) -> None:
        self._records, self._fields, self._containers = records, fields, containers

    @memo
    def read(self, text: str) -> RowsRead | None:
        """The fields that the rows of a text write, and its other lines. None for a text with fewer
        than two rows, or with rows of different forms, and if the records contradict a heading, its
        count, or the order of the columns."""
        if "\n" not in text or len(text) > LONG_CHARS or len(self._fields) > _MOST_FIELDS:
            return None
        every = [line for line in map(str.strip, text.split("\n")) if line]
        lines = self._sorted_lines([line for line in every if len(line) <= _ROW_CHARS])
        if lines is None:
            return None
        sections, column_names, others = lines
        sections = [section for section in sections if section.rows]
        rows = [row for section in sections for row in section.rows]
        if len(rows) < _FEWEST_ROWS or len({row.form for row in rows}) > 1:
            return None
        columns = _column_order([row.keyless for row in rows], *column_names)
        if columns is None or not all(map(self._is_heading_right, sections)):
            return None
        keys = {self._records[row.record].keys for row in rows}
        alike = [number for number, record in enumerate(self._records) if record.keys in keys]
        values_of_all = {line: self._values_of_all(line, alike) for line in others}
        other_lines = [line for line in others if not values_of_all[line]]
        if any(self._may_be_heading(line, rows[0]) for line in other_lines):
            return None
        cells = [cell for value in chain(*values_of_all.values()) for cell in value.cells]
        for row in rows:
            for value, column in zip(row.keyless, columns, strict=True):
                cells += (cell for cell in value.cells if cell.column == column)
            keyed = [value for value in row.values if value.key]
            cells += (value.cells[0] for value in (*keyed, *row.heading_values))
        fields = frozenset(cell.field for cell in cells) - {-1}
        return RowsRead(fields, other_lines + [line for line in every if len(line) > _ROW_CHARS])

    def _sorted_lines(self, lines: Sequence[str]) -> _Lines | None:
        """The lines of a text by what they are; None if column names do not stand above all rows."""
        sections, column_names, others = [_Section()], list[list[str]](), list[str]()
        used: set[int] = set()
        for line in lines:
            if section := _section_below(line):
                sections.append(section)
                continue
            row = self._row(sections[-1].heading, line, used)
            if row is None and not sections[-1].rows and (row := self._row("", line, used)):
                sections.append(_Section())  # the line above states no value of this row
            if row is not None:
                used.add(row.record)
                sections[-1].rows.append(row)
            elif names := self._column_names_in(line):
                if used or column_names:
                    return None
                column_names.append(names)
            else:
                others.append(line)
        others += [section.line for section in sections if section.line and not section.rows]
        return sections, column_names, others

    def _is_heading_right(self, section: _Section) -> bool:
        """True if the heading of a section states values that all of its rows have, and no other
        number than that of its rows. With a number, no further record may have these values."""
        rows = [row.heading_values for row in section.rows]
        columns = _common_columns(rows)
        if not all(columns) or section.count is None:
            return all(columns)
        keys = {key for column in columns for _, key in column}
        cells = (cell for value in rows[0] for cell in value.cells if cell.key in keys)
        in_records = min((self._pair_counts[cell.key, cell.text] for cell in cells), default=0)
        return int(section.count) == len(section.rows) >= in_records

    @cached_property
    def _pair_counts(self) -> Counter[tuple[str, str]]:
        """The number of records that have a value under a key."""
        pairs = ({(key, text.casefold()) for key, text in record.pairs} for record in self._records)
        return Counter(chain.from_iterable(pairs))

    def _may_be_heading(self, line: str, row: _Row) -> bool:
        """True if a line may state something about the rows that could not be read: it is a value or
        a container's key, names two keys, or has as many words as a row has values."""
        plain, words = line.strip(_SIGNS).casefold(), {*_TOKEN.findall(line.casefold())}
        if plain in self._records_by_text or plain_key(plain) in self._containers:
            return True
        keys = {*map(words_of_key, self._records[row.record].keys)}
        if sum(bool(key) and words.issuperset(key) for key in keys) > 1:
            return True
        counts = len(_NAME_SEPARATOR.split(line)), len(line.split())
        return not any(map(str.isdigit, line)) and len(row.values) > 1 and len(row.values) in counts

    def record_with(self, texts: Collection[str]) -> int:
        """The number of the first record that has all of some values, itself or in its ancestors and
        nested records; -1 without one."""
        values = [*map(str.casefold, texts)]
        for number in self._records_with_any(values):
            if {*values} <= {cell.text for cell in self._cells(number)}:
                return number
        return -1

    def _records_with_any(self, words: Iterable[str]) -> Iterator[int]:
        """Yield the records with one of some values, the rarest value first, and their ancestors."""
        lists = filter(None, map(self._records_by_text.get, dict.fromkeys(words)))
        rarest_first = sorted(lists, key=lambda numbers: len(numbers))
        for number in dict.fromkeys(islice(chain.from_iterable(rarest_first), _MOST_TRIES)):
            yield from (number, *reversed(self._records[number].ancestors))

    @cached_property
    def _records_by_text(self) -> dict[str, list[int]]:
        return grouped(
            (text.casefold(), number)
            for number, record in enumerate(self._records)
            for text in {*record.texts}
        )

    @cached_property
    def _is_row(self) -> list[bool]:
        """For each record True if a sibling has the same keys."""
        alike = Counter((record.ancestors, record.keys) for record in self._records)
        return [alike[record.ancestors, record.keys] > 1 for record in self._records]

    @cached_property
    def _ancestors_of_rows(self) -> set[int]:
        """The numbers of the records with rows nested in them, which a title may be about."""
        rows = compress(self._records, self._is_row)
        return {ancestor for record in rows for ancestor in record.ancestors}

    @cached_property
    def nested(self) -> dict[int, list[int]]:
        """The numbers of the records nested in each, without rows and what is nested in these."""
        nested: dict[int, list[int]] = {}
        for number, record in enumerate(self._records):
            for inner, outer in pairwise((number, *reversed(record.ancestors))):
                if self._is_row[inner]:
                    break
                nested.setdefault(outer, []).append(number)
        return nested

    @cached_property
    def _words_of_keys(self) -> frozenset[tuple[str, ...]]:
        return frozenset(words_of_key(key) for record in self._records for key in record.keys)

    @memo
    def _cells(self, number: int) -> list[_Cell]:
        """The cells of a record, of the records nested in it, and of its ancestors, in order."""
        cells: list[_Cell] = []
        for near in (number, *self.nested.get(number, ()), *self._records[number].ancestors):
            fields = {(key, text): number for key, text, _, number in self._fields.of_record(near)}
            for key, text in self._records[near].pairs:
                shown = "-" if kind_of(text) == "nothing" else text.casefold()
                cells.append(_Cell(shown, key, len(cells), fields.get((key, text), -1)))
        return cells

    def _row(self, heading: str, line: str, used: Collection[int]) -> _Row | None:
        """The row that a line below a heading is; None if it writes no record that is not `used`."""
        for number in self._records_with_any(_WORD.findall(line.casefold())):
            is_free = number not in used and number not in self._ancestors_of_rows
            values = self._values_in(line, number) if is_free else []
            heading_values = self._values_in(heading, number)
            if len(values) > 1 and (heading_values or not heading):
                return _Row(number, values, heading_values)
        return None

    def _values_in(self, line: str, number: int) -> list[_Value]:
        """The values of a record in a line; [] if the line has other words than these and keys, or a
        key that may belong to either of two values."""
        cells = self._cells(number)
        if len(cells) > _MOST_CELLS:
            return []
        line = _END.sub("", _BULLET.sub("", line.casefold(), count=1))
        values: list[_Value] = []
        key, position, is_separated = "", 0, True
        while position < len(line):
            between = _BETWEEN.match(line, position)
            if key and line[position] == "=":
                position += 1
            elif between and _may_follow(between[1], key, len(values)):
                is_separated = is_separated or between[1] in _SEPARATORS
                position = between.end()
            elif between:
                return []
            elif matches := _matching_cells(cells, key, line, position):
                values.append(_Value(matches, matches[0].key if key else "", is_separated))
                key, position, is_separated = "", position + len(matches[0].text), False
            elif (word := _WORD.match(line, position)) and words_of_key(word[0]):
                key, position = f"{key} {word[0]}".strip(), word.end()
            else:
                return []
        has_blank = any(not (value.key or value.is_separated) for value in values[1:])
        has_key_behind_blank = any(value.key and not value.is_separated for value in values)
        return [] if key or (has_blank and has_key_behind_blank) else values

    def _column_names_in(self, line: str) -> list[str]:
        """The column names that a line consists of, perhaps behind a label; [] for any other line."""
        before, colon, after = line.partition(":")
        words = words_of_key(before)
        is_label = all(means_every_record(word) or is_filler_word(word) for word in words)
        text = after.strip() if colon and is_label else line
        for names in (_NAME_SEPARATOR.split(text), text.split()):
            if len(names) > 1 and self._words_of_keys.issuperset(map(words_of_key, names)):
                return names
        return []

    def _values_of_all(self, line: str, numbers: Sequence[int]) -> list[_Value]:
        """The values in a line that each of some records has under the same key, such as
        `all: sent`; [] if one of them has not."""
        before, colon, after = line.partition(":")
        words = _IN_ALL.sub("", after if colon and means_every_record(before) else line)
        rows: list[list[_Value]] = []
        for number in numbers:
            values = self._values_in(words, number)
            if not values or (rows and len(values) != len(rows[0])):
                return []
            rows.append(values)
        return [*chain.from_iterable(rows)] if all(_common_columns(rows)) else []


def _may_follow(sign: str | None, key: str, count: int) -> bool:
    """True if a sign may follow: a colon behind a key or the first value, others behind a value."""
    return bool(key or count == 1) if sign == ":" else not (sign and key)


def _matching_cells(cells: Sequence[_Cell], key: str, line: str, position: int) -> list[_Cell]:
    """The cells with the longest value that begins at a position; after a key only the one under that
    key, and [] if several have the key."""
    matches = [cell for cell in cells if line.startswith(cell.text, position)]
    matches = [cell for cell in matches if _BETWEEN.match(line, position + len(cell.text))]
    size = max((len(cell.text) for cell in matches), default=0)
    longest = [cell for cell in matches if len(cell.text) == size]
    if not key:
        return longest
    words = words_of_key(key)
    under_key = [cell for cell in cells if words_of_key(cell.key.casefold()) == words]
    return under_key if len(under_key) == 1 and under_key[0] in longest else []


def _common_columns(rows: Sequence[Sequence[_Value]]) -> list[set[tuple[int, str]]]:
    """For each place in the rows the columns that the values there have in common."""
    places = zip(*rows, strict=True)
    return [set.intersection(*(value.columns for value in values)) for values in places]


def _section_below(line: str) -> _Section | None:
    """The section that a heading opens, perhaps with the number of its rows: `sent (2):`; None for
    any other line."""
    match = _HEADING.fullmatch(line) if len(line) <= _HEADING_CHARS else None
    if match is None or not (match[1] or ":" in match[5]):
        return None
    is_count = not match[4] or is_layout_word(match[4])
    return _Section(line, match[2], match[3]) if is_count else None


def _column_order(rows: Sequence[Sequence[_Value]], names: Sequence[str] = ()) -> list[int] | None:
    """The column of each value, the same in all rows and in the order of the names, without names in
    the order of the columns; None without such an order."""
    columns = _common_columns(rows)
    if names and len(names) != len(columns):
        return None
    order: list[int] = []
    for place, column in enumerate(columns):
        last = max(order, default=-1)
        if names:
            words = words_of_key(names[place])
            possible = [number for number, key in column if words_of_key(key) == words]
        else:
            possible = [number for number, _ in column if number > last]
        if not possible:
            return None
        order.append(min(possible))
    return order
