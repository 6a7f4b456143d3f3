"""Lines that write records without their keys, one below the other, perhaps below headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import NamedTuple

from ..model import grouped, memo
from .decode import LONG_CHARS
from .field_list import Fields
from .keys import words_of_key
from .outline import is_of_all
from .records import Record
from .separators import is_link, is_part

_BETWEEN = re.compile(r"[\s,;|()\[\]:=/*•·]+|[-–—.](?=\s|$)|$")
"""Matches what stands between the values of a line."""

_WORD = re.compile(r"[^\s,;|()\[\]:=]+")
_HEADING = re.compile(r"([#=\[]*) *(\S.*?)[ :]*(?:\((\d{1,6})(?: (\w+))?\))?([\]:= ]*)")
_NAMES = re.compile(r"\s*[,;|\t]\s*")
_FEWEST_ROWS, _MOST_TRIES, _MOST_FIELDS, _MOST_CELLS = 2, 40, 50_000, 200
"""The fewest rows of a text, the most records that a line may write, and the most fields and cells among
which their values are sought."""

_ROW_CHARS, _HEADING_CHARS = 2000, 200
"""The most characters of a row and of a heading."""


class _Cell(NamedTuple):
    """A value of a record in small letters, its key, the number of its column, and that of its
    field; -1 for prose."""

    text: str
    key: str
    column: int
    field: int


class _Part(NamedTuple):
    """A value in a line: the cells that it may be, and True if the line names its key."""

    cells: list[_Cell]
    is_named: bool

    def field(self, column: int | None = None) -> int:
        """The number of its field, in a column if it may stand in several."""
        return next((it.field for it in self.cells if it.column == column), self.cells[0].field)


class _Row(NamedTuple):
    """A record that a line writes, the values in the line and in the heading above it."""

    record: int
    parts: list[_Part]
    above: list[_Part]

    @property
    def unnamed(self) -> list[_Part]:
        """Its values without keys."""
        return [part for part in self.parts if not part.is_named]

    def fields(self, columns: Sequence[int]) -> Iterator[int]:
        """Yield the numbers of its fields; `columns` are those of the values without keys."""
        of_unnamed = iter(columns)  # of which a row may lack the last ones
        for part in self.parts:
            yield part.field(None if part.is_named else next(of_unnamed))
        yield from (part.field() for part in self.above)


class RowsRead(NamedTuple):
    """The numbers of the fields that the rows in a text write, and the other lines of the text."""

    fields: frozenset[int]
    beside: list[str]


class _Section:
    """The rows below a heading, or below none."""

    def __init__(self, line: str = "", heading: str = "", count: str | None = None) -> None:
        self.line, self.heading, self._count = line, heading, count
        self.rows: list[_Row] = []

    @property
    def is_counted(self) -> bool:
        """True if it has as many rows as its heading says."""
        return self._count is None or int(self._count) == len(self.rows)


class RowLines:
    """The records of a value, to find the lines of a text that write them.

    Such a line has values of one record, of those around it and inside it, and no words but their
    keys. Values without keys have one order in all lines: that of the record, or of a line of keys.

    >>> values = ("W1", "sent", "5"), ("W2", "paid", "7"), ("W3", "sent", "7")
    >>> records = [Record(("id", "status", "size"), of, ()) for of in values]
    >>> rows = RowLines(records, Fields(records))
    >>> rows.read("Orders\\nstatus sent (2):\\nW1 5\\nW3 7\\npaid (1):\\n- W2, 7").beside
    ['Orders']
    >>> rows.read("columns: size, id\\n5 W1\\n7 W3"), rows.read("paid:\\nW1 5\\nW3 7").beside
    (RowsRead(fields=frozenset({0, 8, 2, 6}), beside=[]), ['paid:'])
    >>> [rows.read(text) for text in ("sent (3):\\nW1 5\\nW3 7", "5 W1\\n7 W3", "W1 7\\nW3 5")]
    [None, None, None]
    """

    def __init__(self, records: Sequence[Record], fields: Fields) -> None:
        self._records, self._fields = records, fields

    @memo
    def read(self, text: str) -> RowsRead | None:
        """The rows in a text; None if these are all but one, or a row or a heading is wrong."""
        if "\n" not in text or len(text) > LONG_CHARS or len(self._fields) > _MOST_FIELDS:
            return None
        sections, names, beside = [_Section()], list[str](), list[str]()
        used: set[int] = set()
        for line in filter(None, map(str.strip, text.split("\n"))):
            if heading := _heading(line):
                sections.append(heading)
                continue
            row = self._row(sections[-1].heading, line, used)
            if row is None and not sections[-1].rows and (row := self._row("", line, used)):
                sections.append(_Section())
            if row is not None:
                used.add(row.record)
                sections[-1].rows.append(row)
            elif found := self._names_in(line):
                names = found
            else:
                beside.append(line)
        beside += [section.line for section in sections if section.line and not section.rows]
        rows = [row for section in sections for row in section.rows]
        if len(rows) < _FEWEST_ROWS or not all(it.is_counted for it in sections if it.rows):
            return None
        columns = _columns(rows, names)
        if columns is None or (not names and any(_may_be_names(it, columns) for it in beside)):
            return None
        fields = {field for row in rows for field in row.fields(columns)}
        of_all = {line: parts for line in beside if (parts := self._of_all(line, used))}
        fields.update(part.field() for parts in of_all.values() for part in parts)
        return RowsRead(frozenset(fields - {-1}), [it for it in beside if it not in of_all])

    def record_with(self, texts: Collection[str]) -> int:
        """The number of the first record that has all of some values, perhaps around it or inside
        it; -1 without one."""
        wanted = [*map(str.casefold, texts)]
        for number in self._with_one_of(wanted):
            if {*wanted} <= {cell.text for cell in self._cells(number)}:
                return number
        return -1

    def _with_one_of(self, words: Iterable[str]) -> Iterator[int]:
        """Yield the records with one of some words, and those around them, the rarest word first."""
        of_words = sorted(filter(None, map(self._by_text.get, dict.fromkeys(words))), key=len)
        for number in dict.fromkeys(islice(chain.from_iterable(of_words), _MOST_TRIES)):
            yield from (number, *reversed(self._records[number].around))

    @cached_property
    def _by_text(self) -> dict[str, list[int]]:
        return grouped(
            (text.casefold(), number)
            for number, record in enumerate(self._records)
            for text in {*record.texts}
        )

    @cached_property
    def _inside(self) -> dict[int, list[int]]:
        """The numbers of the records inside each, without rows and what is inside them."""
        alike = Counter((record.around, record.keys) for record in self._records)
        is_row = [alike[record.around, record.keys] > 1 for record in self._records]
        inside: dict[int, list[int]] = {}
        for number, record in enumerate(self._records):
            for within, outer in pairwise((number, *reversed(record.around))):
                if is_row[within]:
                    break
                inside.setdefault(outer, []).append(number)
        return inside

    @cached_property
    def _keys(self) -> frozenset[tuple[str, ...]]:
        """The words of each key."""
        return frozenset(words_of_key(key) for record in self._records for key in record.keys)

    @memo
    def _cells(self, number: int) -> list[_Cell]:
        """The cells of a record, of those inside it and of those around it, in order."""
        cells: list[_Cell] = []
        for at in (number, *self._inside.get(number, ()), *self._records[number].around):
            numbers = {(it.key, it.text): it.number for it in self._fields.of_record(at)}
            for key, text in self._records[at].pairs:
                field = numbers.get((key, text), -1)
                cells.append(_Cell(text.casefold(), key, len(cells), field))
        return [cell for cell in cells if cell.text.strip()]

    def _row(self, heading: str, line: str, used: Collection[int]) -> _Row | None:
        """The record that a line below a heading writes, of those that no other one writes."""
        words = _WORD.findall(line.casefold()) if len(line) <= _ROW_CHARS else ()
        for number in self._with_one_of(words):
            parts = self._parts(line, number) if number not in used else []
            above = self._parts(heading, number)
            if len(parts) > 1 and (above or not heading):
                return _Row(number, parts, above)
        return None

    def _parts(self, line: str, number: int) -> list[_Part]:
        """The values in a line; none if it has other words than those of a record and its keys."""
        line, cells = line.casefold(), self._cells(number)
        parts: list[_Part] = []
        label: list[str] = []
        at = 0 if len(cells) <= _MOST_CELLS else len(line)
        while at < len(line):
            if between := _BETWEEN.match(line, at):
                at = between.end()
                continue
            found = [it for it in cells if line.startswith(it.text, at)]
            found = [it for it in found if _BETWEEN.match(line, at + len(it.text))]
            size = max((len(it.text) for it in found), default=0)
            longest = [it for it in found if len(it.text) == size]
            fits = [it for it in longest if _may_name(label, it.key)]
            if fits:
                parts.append(_Part(fits, bool(label)))
                label, at = [], at + size
            elif not found and (word := _WORD.match(line, at)) and words_of_key(word[0]):
                label += words_of_key(word[0])
                at = word.end()
            else:
                return []
        return [] if label else parts

    def _names_in(self, line: str) -> list[str]:
        """The names of columns of which a line consists; [] for any other."""
        before, colon, after = line.partition(":")
        is_label = colon and all(is_of_all(it) or is_link(it) for it in words_of_key(before))
        names = after.strip() if is_label else line
        ways = _NAMES.split(names), names.split()
        known = (it for it in ways if len(it) > 1 and self._keys.issuperset(map(words_of_key, it)))
        return next(known, [])

    def _of_all(self, line: str, rows: Collection[int]) -> list[_Part]:
        """The values in a line, each of which all rows have, or all records with their keys if it
        says so; none if one has not."""
        before, colon, after = line.partition(":")
        if colon and is_of_all(before):
            line, keys = after, {self._records[number].keys for number in rows}
            rows = [number for number, it in enumerate(self._records) if it.keys in keys]
        found = [self._parts(line, number) for number in rows]
        return [part for parts in found for part in parts] if all(found) else []


def _may_be_names(line: str, columns: Sequence[int]) -> bool:
    """True for a line that may name the columns in other words."""
    return len(columns) > 1 and len(columns) in (len(_NAMES.split(line)), len(line.split()))


def _may_name(label: Sequence[str], key: str) -> bool:
    """True if each word of a label is one of a key, or its beginning."""
    words = words_of_key(key)
    return all(
        it in words or (len(it) > 2 and any(map(str.startswith, words, [it] * len(words))))
        for it in label
    )


def _heading(line: str) -> _Section | None:
    """The section below a line that names what its rows have, perhaps with their number."""
    match = _HEADING.fullmatch(line) if len(line) <= _HEADING_CHARS else None
    if match is None or not (match[1] or ":" in match[5]) or (match[4] and not is_part(match[4])):
        return None
    return _Section(line, match[2], match[3])


def _columns(rows: Sequence[_Row], names: Sequence[str]) -> list[int] | None:
    """The columns of the values without keys, the same in all rows and in the order of some names,
    else of the columns; None without such an order."""
    of_rows = [[{(it.column, it.key) for it in part.cells} for part in row.unnamed] for row in rows]
    longest = max(of_rows, key=len)
    columns = [
        set.intersection(*(row[at] for row in of_rows if at < len(row)))
        for at in range(len(longest))
    ]
    if names and len(names) != len(columns):
        return None
    found: list[int] = []
    for at, column in enumerate(columns):
        last = max(found, default=-1)
        if names:
            fits = [
                number for number, key in column if words_of_key(key) == words_of_key(names[at])
            ]
        else:
            fits = [number for number, _ in column if number > last]
        if not fits:
            return None
        found.append(min(fits))
    return found
