"""Tables in text: cells between separators, columns aligned with blanks, blocks of `key: value`.

A table is a header line with the names of its columns, and rows below it. The reader is strict with
the output of a tool, whose names are not known: each row has as many cells as the header, and lines
whose columns are not certain are no table. In a strategy's text the keys of the result are known
`names`: a line is a header if at least half of its cells are names, and the last row may be truncated.

`table_cells` splits a line, `outline` uses `parts_of`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

from .decode import SCALARS
from .table_cells import SEPARATORS, cells_of, framed_cells, with_breaks, with_separators
from .vocabulary import vocabulary

Row = dict[str, Any]
Table = list[Row] | dict[str, Row]
"""The rows of a table as mappings without empty cells. A mapping of rows if the first column has no
name and different cells, which are then the keys."""

Gap = tuple[int, int]
"""The end of a column's name and the start of the next one, in a header line."""


class Grid(NamedTuple):
    """A table: the names of its columns, the cells of its rows, and the number of the line after it."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    end: int

    def records(self, words: Mapping[str, Any]) -> Table:
        """The rows as mappings. `words` are the values of words such as `True`; a ditto mark stands
        for the cell above it.

        >>> Grid(["id", "by"], [["1", "Ann"], ["2", '"']], 3).records({})
        [{'id': '1', 'by': 'Ann'}, {'id': '2', 'by': 'Ann'}]
        """
        above: dict[str, str] = {}
        rows: list[dict[str, Any]] = []
        for row in self.rows:
            above = {
                column: above.get(column, cell) if cell in _DITTO else cell
                for column, cell in zip(self.columns, row, strict=False)
            }
            cells = [(column, cell) for column, cell in above.items() if cell not in _EMPTY_CELLS]
            rows.append({column: words.get(cell, cell) for column, cell in cells})
        if self.columns[0]:
            return [row for row in rows if row]
        labels = [row.pop("", "") for row in rows]
        are_row_numbers = all(label == str(number) for number, label in enumerate(labels))
        if are_row_numbers or not all(labels) or len({*labels}) < len(labels):
            return [row for row in rows if row]
        return dict(zip(labels, rows, strict=True))


_RULE, _DRAWN = re.compile(r"[-=+|: \t\u2500-\u257f]+"), "-=─━═"
"""The signs of a rule, a line such as `---+---`, and those of which it has at least two."""

_TYPE_NOTE = re.compile(rf"(?<=\w)\s*\((?:{'|'.join(sorted(vocabulary('types')))})\)$")
"""Matches the name of a type behind the name of a column."""

_NAME = re.compile(r"(?=[^\W\d_]|[#%])[\w .,/()%#°²³&+-]{0,39}[^\s:.,;=]|[#%]")
"""Matches the name of a column."""

_MEANING = re.compile(r"\S (?:=|->|→) \S")
_NOTE = re.compile(r"[\[(<…]|\.\.\.")
"""Matches the beginning of a line about the table, such as a notice."""

_PAIR = re.compile(r"\s*([^\W\d][\w ./()%#-]{0,39}?)\s*(?:=|:(?=\s|$))\s*(.*?)\s*")
_KEYED, _HAS_KEY = re.compile(r"\s*[^\W\d][\w.\[\]-]*+: "), re.compile(r"\w(?:=|: )")
"""Match a line that begins with a key, and a cell with a key."""

_SIGN = re.compile(r"[|\t;,]")
_RUN = re.compile(r"\S+")
_WORD = re.compile(r"\w+")
_EMPTY_CELLS = {"", "...", "..", "…"}
_DITTO = {'"', "″", "〃"}
"""The cells that mean "the value above"."""

_FEWEST_ROWS, _MOST_COLUMNS, _MOST_WORDS = 2, 200, 4
_LARGE = 3
"""So many gaps in so many lines are not aligned by accident."""

_MOST_TITLES = 4
"""The most lines between a blank line or rule and a table without separators. The limit keeps the
search linear."""


class TextTables(NamedTuple):
    """The tables in a text, and its other lines without blank lines and rules."""

    tables: list[Table]
    rest: list[str]


def tables_in(text: str, names: Collection[str] | None = None) -> TextTables:
    """The tables in a text; with `names` only those with at least half of their columns among them.
    Linear in the text.

    >>> tables_in("POD     CPU  STATE\\napi-1    12  Ready\\ndb-0    140  Failed\\n\\n2 pods")
    TextTables(tables=[[{'POD': 'api-1', 'CPU': '12', 'STATE': 'Ready'}, {'POD': 'db-0', 'CPU': '140', 'STATE': 'Failed'}]], rest=['2 pods'])
    >>> tables_in("id,note\\n1,\\n2,late").tables, tables_in("A | B\\n--+--\\n1 | 2").tables
    ([[{'id': '1'}, {'id': '2', 'note': 'late'}]], [[{'A': '1', 'B': '2'}]])
    >>> tables_in("id\\tnote\\n1\\t\\n2\\tlate").tables
    [[{'id': '1'}, {'id': '2', 'note': 'late'}]]
    >>> tables_in("      n   p\\ngene1  5  .1\\ngene2 12  .5").tables
    [{'gene1': {'n': '5', 'p': '.1'}, 'gene2': {'n': '12', 'p': '.5'}}]
    >>> tables_in("Name: a\\nSize: 3\\n\\nName: b\\nSize: 4").tables
    [[{'Name': 'a', 'Size': '3'}, {'Name': 'b', 'Size': '4'}]]
    >>> texts = "two doors, a window\\nthree walls, no roof\\nall sold, all paid", "import os\\nimport re\\nimport sys", "a  b\\na  b\\na  b"
    >>> [tables_in(text).tables for text in texts]
    [[], [], []]
    >>> tables_in("two walls\\nid, level (text)\\n1, L 1\\n2", {"id", "level"})
    TextTables(tables=[[{'id': '1', 'level': 'L 1'}]], rest=['two walls', '2'])
    """
    parts = [*parts_of(text, names)]
    rest = [part for part in parts if isinstance(part, str) and part and not _is_rule(part)]
    words = {} if names is None else SCALARS
    return TextTables([part.records(words) for part in parts if isinstance(part, Grid)], rest)


def parts_of(text: str, names: Collection[str] | None = None) -> Iterator[Grid | str]:
    """Yield the tables in a text, and the lines outside of them, in order; see `tables_in`."""
    lines = [
        line.rstrip(" \r") if line.strip() else "" for line in with_separators(text).split("\n")
    ]
    reader = _Reader(lines, None if names is None else frozenset(names))
    number = block_start = 0  # a block is a run of lines without a blank line or rule
    while number < len(lines):
        table = reader.table_at(number, is_near_start=number - block_start <= _MOST_TITLES)
        if table:
            yield table
            number = block_start = table.end
            continue
        yield from with_breaks(lines[number]).split("\n")
        ends_block = not lines[number] or reader.is_rule[number]
        number += 1
        if ends_block:
            block_start = number


class _Reader:
    """A reader of the tables in some lines. Its methods take the number of a table's first line."""

    def __init__(self, lines: Sequence[str], names: frozenset[str] | None) -> None:
        self._lines, self._names = lines, names
        self.is_rule = [*map(_is_rule, lines)]
        self._no_table_before: dict[str, int] = {}  # a line number for each separator

    def table_at(self, at: int, *, is_near_start: bool) -> Grid | None:
        """The table whose first line has a number; None if no table begins there. Tables without
        separators are only sought near the start of a block of lines."""
        line, names = self._lines[at], self._names
        if not line:
            return None
        if names is not None and not ("|" in line or _words_of(names) & {*_WORD.findall(line)}):
            return None
        may_be_sentence = names is None and ", " in line
        if _SIGN.search(line) and not may_be_sentence and (table := self._between_signs(at)):
            return table
        if not is_near_start:
            return None
        return self._aligned(at) or (self._blocks(at) if ":" in line or "=" in line else None)

    def _is_ruled(self, at: int) -> bool:
        """True if there is a rule below a line."""
        return at + 1 < len(self._lines) and self.is_rule[at + 1]

    def _are_columns(self, columns: Sequence[str], *, is_ruled: bool) -> bool:
        """True if some cells may be the names of columns. They differ; at least half of them are
        known, or else each is a few words, or there is a rule below them."""
        named = [column for column in columns if column]
        if len({*map(str.casefold, named)}) < len(named) or not 0 < len(named) <= _MOST_COLUMNS:
            return False
        if self._names is not None:
            return _are_known(named, self._names)
        return _are_names(columns, is_ruled=is_ruled)

    # ------------------------------------------------------------ cells between signs

    def _between_signs(self, at: int) -> Grid | None:
        """The table of cells between separators whose header is a line; None if it is no header."""
        header, is_ruled = self._lines[at].strip(), self._is_ruled(at)
        for sign in filter(header.__contains__, SEPARATORS):
            split = partial(framed_cells if header.startswith("|") else cells_of, sign=sign)
            columns = split(header)
            if self._names is not None:
                columns = [_TYPE_NOTE.sub("", column) for column in columns]
            if at < self._no_table_before.get(sign, 0) or len(columns) < 2:
                continue
            if self._are_columns(columns, is_ruled=is_ruled):
                rows, end = self._rows_below(at, columns, split)
                fewest = _FEWEST_ROWS - is_ruled if self._names is None else 1
                if len(rows) >= fewest:
                    return Grid(columns, rows, end)
                self._no_table_before[sign] = end
        return None

    def _rows_below(
        self, at: int, columns: Sequence[str], split: Callable[[str], list[str]]
    ) -> tuple[list[list[str]], int]:
        """The rows below a header, and the number of the line after them. No rows if the names are
        not known and a line has another number of cells."""
        rows: list[list[str]] = []
        is_strict = self._names is None
        number = at + 1
        while number < len(self._lines) and (line := self._lines[number]):
            cells, is_last_line = split(line), number + 1 == len(self._lines)
            is_row = len(cells) == len(columns)
            if not is_strict and not is_row:
                has_enough = is_last_line or 2 * len(cells) > len(columns)
                is_row = 1 < len(cells) < len(columns) and has_enough
            if self.is_rule[number]:
                pass
            elif not is_strict and _KEYED.match(line) and all(map(_HAS_KEY.search, cells)):
                break
            elif is_row and (is_strict or not _is_about_columns(columns, cells, line)):
                rows.append(cells)
            elif is_strict and len(cells) > 1:
                return [], number
            else:
                break
            number += 1
        return rows, number

    # ------------------------------------------------------------ columns aligned with blanks

    def _aligned(self, at: int) -> Grid | None:
        """The table of aligned columns whose header is a line; None if it is no header. Columns are
        separated by a gap between two words of the header that is blank in all rows. The sets of
        places in a line are integers, with a bit for each place."""
        header, is_ruled = self._lines[at], self._is_ruled(at)
        below = self._lines[at + 1] if at + 1 < len(self._lines) else ""
        if not below or "\t" in header or not _are_names(header.split()[:1], is_ruled=is_ruled):
            return None
        rule_spans = _spans(below) if is_ruled else []
        is_drawn = len(rule_spans) > 1  # the rule itself has columns
        spans = rule_spans if is_drawn else _spans(header)
        if not 2 <= len(spans) <= _MOST_COLUMNS * _MOST_WORDS:
            return None
        if spans[0][0] and not is_ruled and below[: spans[0][0]].strip():
            spans = [(0, 0), *spans]  # the first column has no name
        gaps = [(end, start) for (_, end), (start, _) in pairwise(spans)]
        certain = gaps if is_drawn else [(end, start) for end, start in gaps if start - end > 1]
        fewest = 1 if is_ruled or certain else _LARGE
        if len(gaps) < fewest:
            return None
        first_row, header_places = at + 1 + is_ruled, _places_of(header)
        end, row_places = self._aligned_rows(first_row, header_places, gaps, certain, fewest)
        places = header_places | row_places
        blanks = [blank for gap in gaps if (blank := _blank(places, gap))]
        is_large = len(blanks) >= _LARGE and end - first_row >= _LARGE
        is_wide = any(blank & blank >> 1 for blank in blanks)
        if end - first_row < _FEWEST_ROWS - is_ruled or not (is_ruled or is_large or is_wide):
            return None  # words of sentences
        lines = header, *self._lines[first_row:end]
        cuts = _cuts(gaps, places, row_places)
        slices = [slice(*pair) for pair in pairwise([None, *cuts, None])]
        columns, *rows = ([line[part].strip() for part in slices] for line in lines)
        is_filled = 2 * sum(any(row[1:]) for row in rows) > len(rows)
        if columns in rows or not is_filled or not all(row[0] for row in rows):
            return None
        has_labels = not columns[0] and len({row[0] for row in rows}) == len(rows)
        if not self._are_columns(columns[has_labels:], is_ruled=is_ruled):
            return None
        return Grid(columns, rows, end)

    def _aligned_rows(
        self, first: int, header: int, gaps: Sequence[Gap], certain: Sequence[Gap], fewest: int
    ) -> tuple[int, int]:
        """The number of the line after the rows from `first` on, and the places that they fill. All
        rows leave the `certain` gaps blank, and at least `fewest` of all gaps; if a line leaves
        fewer, there are no rows."""
        filled, number = 0, first
        while number < len(self._lines) and (line := self._lines[number]):
            places = filled | _places_of(line)
            blank = {gap for gap in gaps if _blank(header | places, gap)}
            if not blank or not blank.issuperset(certain):
                break
            if self.is_rule[number] or _NOTE.match(line):
                break
            if len(blank) < fewest:
                return first, 0
            filled, number = places, number + 1
        return number, filled

    # ------------------------------------------------------------ blocks of keys and values

    def _blocks(self, at: int) -> Grid | None:
        """The table of two or more blocks of `key: value` lines with the same keys, separated by
        blank lines or rules; None if no such blocks begin at a line."""
        rows: list[Row] = []
        number = end = at
        while (block := self._block(number)) is not None:
            if rows and not 2 * len(rows[0].keys() & block.keys()) >= len(rows[0]):
                break
            rows.append({key: value for key, value in block.items() if value})
            number = end = number + len(block)
            while number < len(self._lines) and self._ends_block(number):
                number += 1
        keys = [*dict.fromkeys(key for row in rows for key in row)]
        is_known = self._names is None or _are_known(keys, self._names)
        if len(rows) < _FEWEST_ROWS or not is_known:
            return None
        return Grid(keys, [[row.get(key, "") for key in keys] for row in rows], end)

    def _block(self, at: int) -> Row | None:
        """The keys and values of the block that begins at a line; None for fewer than two values, and
        for a key that comes twice."""
        row: Row = {}
        while at < len(self._lines) and (pair := _PAIR.fullmatch(self._lines[at])) is not None:
            if pair[1] in row:
                return None
            row[pair[1]] = pair[2]
            at += 1
        has_pairs = sum(map(bool, row.values())) > 1
        return row if has_pairs and self._ends_block(at) else None

    def _ends_block(self, at: int) -> bool:
        """True for a blank line, a rule, and the end of the text."""
        return at == len(self._lines) or not self._lines[at] or self.is_rule[at]


@lru_cache(maxsize=16)
def _words_of(names: frozenset[str]) -> frozenset[str]:
    """The longest word of each name."""
    return frozenset(max(_WORD.findall(name), key=len, default="") for name in names)


def _is_about_columns(columns: Sequence[str], cells: Sequence[str], line: str) -> bool:
    """True if a line explains a column (`size: in metres`) or is a legend (`A = apple, B = bean`)."""
    return line.partition(":")[0].strip() in columns or all(map(_MEANING.search, cells))


def _cuts(gaps: Sequence[Gap], places: int, row_places: int) -> list[int]:
    """The places where columns end: the start of the widest blank run in each gap, of several the
    last. Two words with one blank between them are one name if the rows have no cell below one of
    them."""
    cuts: list[int] = []
    are_close: list[bool] = []
    for end, start in gaps:
        if blank := _blank(places, (end, start)):
            runs = re.finditer("1+", f"{blank:b}"[::-1])
            widest = max(runs, key=lambda run: (run.end() - run.start(), run.start()))
            cuts.append(widest.start())
            are_close.append(start - end == 1)
    for number in reversed(range(len(cuts))):
        before, cut, after = [0, *cuts, places.bit_length()][number : number + 3]
        has_cells = all(
            row_places >> left & ((1 << right - left) - 1)
            for left, right in ((before, cut), (cut, after))
        )
        if are_close[number] and not has_cells:
            del cuts[number]
    return cuts


def _spans(line: str) -> list[tuple[int, int]]:
    """The start and the end of each word of a line."""
    return [word.span() for word in _RUN.finditer(line)]


@lru_cache(maxsize=1024)
def _places_of(line: str) -> int:
    """The places of a line that are not blank, one bit for each."""
    places = 0
    for start, end in _spans(line):
        places |= (1 << end) - (1 << start)
    return places


def _blank(filled: int, gap: Gap) -> int:
    """The places in a gap that are not filled, one bit for each."""
    end, start = gap
    return ~filled & ((1 << start) - (1 << end))


def _is_rule(line: str) -> bool:
    return _RULE.fullmatch(line) is not None and sum(map(line.count, _DRAWN)) > 1


def _are_names(columns: Sequence[str], *, is_ruled: bool) -> bool:
    """True if cells may be names of columns: each a few words, or any words above a rule."""
    are_short = all(_NAME.fullmatch(name) and name.count(" ") < _MOST_WORDS for name in columns)
    return are_short or (is_ruled and all(columns))


def _are_known(columns: Sequence[str], names: frozenset[str]) -> bool:
    """True if at least half of the columns are known names, or end in one behind a dot."""
    known = (name in names or name.rpartition(".")[2] in names for name in columns)
    return 2 * sum(known) >= len(columns)
