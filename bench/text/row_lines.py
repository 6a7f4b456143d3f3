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
from .keys import plain_key, words_of_key
from .outline import is_of_all
from .quantities import kind_of
from .records import Record
from .separators import is_link, is_part

_BETWEEN = re.compile(r"\s*([,;|]|(?<=\S):(?=\s))\s*|\s+|$")
"""Matches what stands between the parts of a line, with its sign."""

_APART = frozenset(",;|")
_BULLET, _END = re.compile(r"[-*•] +"), re.compile(r"[.,;|]? *$")
_WORD = re.compile(r"[^\s,;|:=]+")
_HEADING = re.compile(r"([#=\[]*) *(\S.*?) *(?:\((\d{1,6})(?: (\w+))?\))?([\]:= ]*)")
_IN_ALL = re.compile(r" in (?:all|each|every) \w+\.?$")
_NAMES = re.compile(r"\s*[,;|\t]\s*")
_TOKEN = re.compile(r"\w+")
_SIGNS = " \t-#*•:>|[](),;.="
_FEWEST_ROWS, _MOST_TRIES, _MOST_FIELDS, _MOST_CELLS = 2, 12, 50_000, 200
"""The fewest rows of a text, the most records that a line may write, and the most fields and cells among
which their values are sought."""

_ROW_CHARS, _HEADING_CHARS = 2000, 200
"""The most characters of a row and of a heading."""


class _Cell(NamedTuple):
    """A value of a record in small letters, its key, the number of its column, and that of its
    field; -1 for prose and for a dash in place of an empty value."""

    text: str
    key: str
    column: int
    field: int


class _Part(NamedTuple):
    """A value in a line: the cells that it may be, the key that stands before it, and True if a sign
    separates these from what is before."""

    cells: list[_Cell]
    key: str
    is_apart: bool

    @property
    def columns(self) -> set[tuple[int, str]]:
        """The columns in which it may stand, with their keys."""
        return {(cell.column, cell.key) for cell in self.cells}


class _Row(NamedTuple):
    """A record that a line writes, the values in the line and in the heading above it."""

    record: int
    parts: list[_Part]
    above: list[_Part]

    @property
    def unnamed(self) -> list[_Part]:
        """Its values without keys."""
        return [part for part in self.parts if not part.key]

    @property
    def form(self) -> tuple[str, ...]:
        """The keys in it, "" for a value without one."""
        return tuple(part.key for part in self.parts)


class RowsRead(NamedTuple):
    """The numbers of the fields that the rows in a text write, and the other lines of the text."""

    fields: frozenset[int]
    beside: list[str]


class _Section:
    """The rows below a heading, or below none."""

    def __init__(self, line: str = "", heading: str = "", count: str | None = None) -> None:
        self.line, self.heading, self.count = line, heading, count
        self.rows: list[_Row] = []


class RowLines:
    """The records of a value, to find the lines of a text that write them.

    Such a line has values of one record, of those around it and inside it, and no words but their
    keys. All rows have the same form. Values without keys have one order in all lines: that of the
    record, or of a line of keys above them.

    >>> values = ("W1", "sent", "5"), ("W2", "paid", "7"), ("W3", "sent", "7")
    >>> records = [Record(("id", "status", "size"), of, ()) for of in values]
    >>> rows = RowLines(records, Fields(records))
    >>> rows.read("Orders\\nstatus sent (2):\\nW1 5\\nW3 7\\npaid (1):\\n- W2, 7").beside
    ['Orders']
    >>> rows.read("columns: size, id\\n5 W1\\n7 W3"), rows.read("paid:\\nW1 5\\nW3 7")
    (RowsRead(fields=frozenset({0, 8, 2, 6}), beside=[]), None)
    >>> [rows.read(text) for text in ("sent (3):\\nW1 5\\nW3 7", "5 W1\\n7 W3", "W1 7\\nW3 5")]
    [None, None, None]
    """

    def __init__(
        self, records: Sequence[Record], fields: Fields, containers: frozenset[str] = frozenset()
    ) -> None:
        self._records, self._fields, self._containers = records, fields, containers

    @memo
    def read(self, text: str) -> RowsRead | None:
        """The rows in a text; None if these are all but one, or something about them is wrong."""
        if "\n" not in text or len(text) > LONG_CHARS or len(self._fields) > _MOST_FIELDS:
            return None
        sections, names, beside = [_Section()], list[list[str]](), list[str]()
        used: set[int] = set()
        lines = [line for line in map(str.strip, text.split("\n")) if line]
        long = [line for line in lines if len(line) > _ROW_CHARS]
        for line in (line for line in lines if len(line) <= _ROW_CHARS):
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
                if used or names:
                    return None  # of which rows?
                names.append(found)
            else:
                beside.append(line)
        beside += [section.line for section in sections if section.line and not section.rows]
        sections = [section for section in sections if section.rows]
        rows = [row for section in sections for row in section.rows]
        if len(rows) < _FEWEST_ROWS or len({row.form for row in rows}) > 1:
            return None
        columns = _columns([row.unnamed for row in rows], *names)
        if columns is None or not all(map(self._is_right, sections)):
            return None
        keys = {self._records[number].keys for number in used}
        alike = [number for number, it in enumerate(self._records) if it.keys in keys]
        of_all = {line: parts for line in beside if (parts := self._of_all(line, alike))}
        beside = [line for line in beside if line not in of_all]
        if any(self._may_be_heading(line, rows[0]) for line in beside):
            return None
        fields = {cell.field for parts in of_all.values() for part in parts for cell in part.cells}
        for row in rows:
            placed = zip(row.unnamed, columns, strict=True)
            fields |= {it.field for part, at in placed for it in part.cells if it.column == at}
            named = [part for part in (*row.parts, *row.above) if part.key]
            fields |= {part.cells[0].field for part in (*named, *row.above)}
        return RowsRead(frozenset(fields - {-1}), beside + long)

    def _is_right(self, section: _Section) -> bool:
        """True if the heading of a section names one value that all of its rows have, and their
        number, which is that of all records with it."""
        above = [row.above for row in section.rows]
        common = _common(above)
        if not all(common) or section.count is None:
            return all(common)
        keys = {key for of in common for _, key in of}
        cells = (cell for part in above[0] for cell in part.cells if cell.key in keys)
        having = min((self._having[cell.key, cell.text] for cell in cells), default=0)
        return int(section.count) == len(section.rows) >= having

    @cached_property
    def _having(self) -> Counter[tuple[str, str]]:
        """The numbers of the records by a key and the value under it."""
        pairs = ({(key, text.casefold()) for key, text in it.pairs} for it in self._records)
        return Counter(chain.from_iterable(pairs))

    def _may_be_heading(self, line: str, row: _Row) -> bool:
        """True for a line that may say what the rows are, or what their columns are."""
        plain, words = line.strip(_SIGNS).casefold(), {*_TOKEN.findall(line.casefold())}
        if plain in self._by_text or plain_key(plain) in self._containers:
            return True
        keys = {*map(words_of_key, self._records[row.record].keys)}
        if sum(bool(key) and words.issuperset(key) for key in keys) > 1:
            return True
        counts = len(_NAMES.split(line)), len(line.split())
        return not any(map(str.isdigit, line)) and len(row.parts) > 1 and len(row.parts) in counts

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
    def _is_row(self) -> list[bool]:
        """For each record whether another one beside it has the same keys."""
        alike = Counter((record.around, record.keys) for record in self._records)
        return [alike[record.around, record.keys] > 1 for record in self._records]

    @cached_property
    def _with_rows(self) -> set[int]:
        """The records around rows, of which a title may speak."""
        rows = (
            record for record, is_row in zip(self._records, self._is_row, strict=True) if is_row
        )
        return {outer for record in rows for outer in record.around}

    @cached_property
    def _inside(self) -> dict[int, list[int]]:
        """The numbers of the records inside each, without rows and what is inside them."""
        inside: dict[int, list[int]] = {}
        for number, record in enumerate(self._records):
            for within, outer in pairwise((number, *reversed(record.around))):
                if self._is_row[within]:
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
                shown = "-" if kind_of(text) == "nothing" else text.casefold()
                cells.append(_Cell(shown, key, len(cells), numbers.get((key, text), -1)))
        return cells

    def _row(self, heading: str, line: str, used: Collection[int]) -> _Row | None:
        """The record that a line below a heading writes, of those that no other one writes."""
        for number in self._with_one_of(_WORD.findall(line.casefold())):
            is_free = number not in used and number not in self._with_rows
            parts = self._parts(line, number) if is_free else []
            above = self._parts(heading, number)
            if len(parts) > 1 and (above or not heading):
                return _Row(number, parts, above)
        return None

    def _parts(self, line: str, number: int) -> list[_Part]:
        """The values in a line; none if it has other words than those of a record and its keys, or
        keys that may belong to two values."""
        cells = self._cells(number)
        if len(cells) > _MOST_CELLS:
            return []
        line = _END.sub("", _BULLET.sub("", line.casefold(), count=1))
        parts: list[_Part] = []
        label, at, is_apart = "", 0, True
        while at < len(line):
            between = _BETWEEN.match(line, at)
            if label and line[at] == "=":
                at += 1
            elif between and _is_allowed(between[1], label, len(parts)):
                is_apart, at = is_apart or between[1] in _APART, between.end()
            elif between:
                return []
            elif fits := _fitting(cells, label, line, at):
                parts.append(_Part(fits, fits[0].key if label else "", is_apart))
                label, at, is_apart = "", at + len(fits[0].text), False
            elif (word := _WORD.match(line, at)) and words_of_key(word[0]):
                label, at = f"{label} {word[0]}".strip(), word.end()
            else:
                return []
        is_mixed = not all(part.key or part.is_apart for part in parts[1:])
        named_within = any(part.key and not part.is_apart for part in parts)
        return [] if label or (is_mixed and named_within) else parts

    def _names_in(self, line: str) -> list[str]:
        """The names of columns of which a line consists; [] for any other."""
        before, colon, after = line.partition(":")
        is_label = colon and all(is_of_all(it) or is_link(it) for it in words_of_key(before))
        names = after.strip() if is_label else line
        ways = _NAMES.split(names), names.split()
        known = (it for it in ways if len(it) > 1 and self._keys.issuperset(map(words_of_key, it)))
        return next(known, [])

    def _of_all(self, line: str, numbers: Sequence[int]) -> list[_Part]:
        """The values in a line, each of which some records have under the same key; none if one has
        not."""
        before, colon, after = line.partition(":")
        words = _IN_ALL.sub("", after if colon and is_of_all(before) else line)
        found: list[list[_Part]] = []
        for number in numbers:
            parts = self._parts(words, number)
            if not parts or len(parts) != len((found or [parts])[0]):
                return []
            found.append(parts)
        return [*chain.from_iterable(found)] if all(_common(found)) else []


def _is_allowed(sign: str | None, label: str, parts: int) -> bool:
    """True for a sign that may follow a label, or so many parts of a line: a colon stands behind a
    key or the first part, a comma behind a value."""
    return bool(label or parts == 1) if sign == ":" else not (sign and label)


def _fitting(cells: Sequence[_Cell], label: str, line: str, at: int) -> list[_Cell]:
    """The cells with the longest value that stands at a place of a line; with a label the one under
    that key, if it is the only one."""
    found = [it for it in cells if line.startswith(it.text, at)]
    found = [it for it in found if _BETWEEN.match(line, at + len(it.text))]
    size = max((len(it.text) for it in found), default=0)
    fits = [it for it in found if len(it.text) == size]
    if label:
        key = words_of_key(label)
        alike = [it for it in cells if words_of_key(it.key.casefold()) == key]
        fits = alike if len(alike) == 1 and alike[0] in fits else []
    return fits


def _common(rows: Sequence[Sequence[_Part]]) -> list[set[tuple[int, str]]]:
    """The columns that the values at each place of some rows have in common."""
    return [set.intersection(*(part.columns for part in of)) for of in zip(*rows, strict=True)]


def _heading(line: str) -> _Section | None:
    """The section below a line that names what its rows have, perhaps with their number."""
    match = _HEADING.fullmatch(line) if len(line) <= _HEADING_CHARS else None
    if match is None or not (match[1] or ":" in match[5]) or (match[4] and not is_part(match[4])):
        return None
    return _Section(line, match[2], match[3])


def _columns(rows: Sequence[Sequence[_Part]], names: Sequence[str] = ()) -> list[int] | None:
    """The columns of some values, the same in all rows and in the order of some names, else of the
    columns; None without such an order."""
    columns = _common(rows)
    if names and len(names) != len(columns):
        return None
    found: list[int] = []
    for at, column in enumerate(columns):
        last = max(found, default=-1)
        if names:
            wanted = words_of_key(names[at])
            fits = [number for number, key in column if words_of_key(key) == wanted]
        else:
            fits = [number for number, _ in column if number > last]
        if not fits:
            return None
        found.append(min(fits))
    return found
