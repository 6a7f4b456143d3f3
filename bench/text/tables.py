"""Tables in text: cells between signs, columns aligned with blanks, blocks of `key: value`.

A table has a line with the names of its columns, and rows below it. In a text without known names,
such as the output of a tool, each row has as many cells as the header, and where the columns are not
certain, the lines are no rows. With the keys of a value as names, a line is a header if at least
half of its names are known; a truncated last row keeps its cells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

from .decode import SCALARS
from .table_cells import SIGNS, cells_of, framed_cells, with_breaks, without_breaks
from .vocabulary import vocabulary

Row = dict[str, Any]
Table = list[Row] | dict[str, Row]
"""The rows of a table by the names of their columns, without empty cells; under the cells of a first
column without a name, if they differ."""


Gap = tuple[int, int]
"""The place after the name of a column, and that of the next name."""


class Grid(NamedTuple):
    """The names of the columns of a table, its rows, and the number of the line after it."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    end: int

    def records(self, words: Mapping[str, Any]) -> Table:
        """Its rows by the names of their columns, with the values of some words, such as `True`; a
        ditto mark stands for the cell above it.

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
            cells = ((it, cell) for it, cell in above.items() if cell not in _LEFT_OUT)
            rows.append({column: words.get(cell, cell) for column, cell in cells})
        if self.columns[0]:
            return [row for row in rows if row]
        labels = [row.pop("", "") for row in rows]
        are_numbers = all(label == str(at) for at, label in enumerate(labels))
        if are_numbers or not all(labels) or len({*labels}) < len(labels):
            return [row for row in rows if row]
        return dict(zip(labels, rows, strict=True))


_RULE, _DRAWN = re.compile(r"[-=+|: \t\u2500-\u257f]+"), "-=─━═"
"""The signs of a line that only draws the rule of a table, at least two of them drawn."""

_OTHER_BARS = "│┃║"
_BETWEEN_CELLS = re.compile(r"</t[dh]>\s*<t[dh]\b[^>]*>")
_OF_LINES = re.compile(r"(?:\s*</?t(?:able|head|body|[rdh])\b[^>]*>)+\s*")
_TOON = re.compile(r"(?m)^(\s*[\w.\"-]*\[\d+\])\{([^{}\n]+)\}:[ \t]*$")
_TYPE_NOTE = re.compile(rf"(?<=\w)\s*\((?:{'|'.join(sorted(vocabulary('types')))})\)$")
"""Matches the name of a type behind the name of a column."""

_NAME = re.compile(r"(?=[^\W\d_]|[#%])[\w .,/()%#°²³&+-]{0,39}[^\s:.,;=]|[#%]")
"""Matches the name of a column."""

_MEANING = re.compile(r"\S (?:=|->|→) \S")
_NOTE = re.compile(r"[\[(<…]|\.\.\.")
"""Matches the beginning of a line about the table, such as a notice."""

_PAIR = re.compile(r"\s*([^\W\d][\w ./()%#-]{0,39}?)\s*(?:=|:(?=\s|$))\s*(.*?)\s*")
_SIGN = re.compile(r"[|\t;,]")
_RUN = re.compile(r"\S+")
_WORD = re.compile(r"\w+")
_LEFT_OUT = {"", "...", "..", "…"}
_DITTO = {'"', "″", "〃"}
"""The cells that mean "the value above"."""

_FEWEST_ROWS, _MOST_COLUMNS, _MOST_WORDS = 2, 200, 4
_LARGE = 3
"""The gaps and rows of a table that words do not have by accident."""

_MOST_TITLES = 4
"""The most lines directly above a table without signs between its cells; so the search is linear."""


class TextTables(NamedTuple):
    """The tables in a text, and its lines outside of them, without blank lines and rules."""

    tables: list[Table]
    rest: list[str]


def tables_in(text: str, names: Collection[str] | None = None) -> TextTables:
    """The tables in a text; with `names` those of which half of the columns have one of them.
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
    lines = [line.rstrip(" \r") if line.strip() else "" for line in _with_signs(text).split("\n")]
    reader = _Reader(lines, None if names is None else frozenset(names))
    at = begin = 0  # of the lines without a blank one or a rule between
    while at < len(lines):
        found = reader.table_at(at, is_near=at - begin <= _MOST_TITLES)
        yield from [found] if found else with_breaks(lines[at]).split("\n")
        is_end = found is not None or not lines[at] or reader.is_rule[at]
        at = found.end if found else at + 1
        begin = at if is_end else begin


def _with_signs(text: str) -> str:
    """A text with signs between the cells of its tables where it has tags or brackets.

    >>> _with_signs("<table><tr><th>id</th><th>n</th></tr> <tr><td>W1</td><td>2</td></tr></table>")
    '\\nid\\tn\\nW1\\t2\\n'
    >>> _with_signs("rows[1]{id,n}:\\n  W1,2")
    'rows[1]:\\nid,n\\n  W1,2'
    """
    for bar in _OTHER_BARS:
        text = text.replace(bar, "|")
    text = without_breaks(text)
    if "</td>" in text:
        text = _OF_LINES.sub("\n", _BETWEEN_CELLS.sub("\t", text))
    return _TOON.sub(r"\1:\n\2", text) if "]{" in text else text


class _Reader:
    """A reader of the tables in some lines; with `names` those of which half of the columns have one
    of them.
    """

    def __init__(self, lines: Sequence[str], names: frozenset[str] | None) -> None:
        self._lines, self._names = lines, names
        self.is_rule = [*map(_is_rule, lines)]
        self._other_cells: dict[str, int] = {}  # by sign the line that no table goes on behind

    def table_at(self, at: int, *, is_near: bool) -> Grid | None:
        """The table whose header is a line, or of which that is the first line; if that is not near
        the lines above, only one with signs."""
        line, names = self._lines[at], self._names
        if not line:
            return None
        if names is not None and not ("|" in line or _words_of(names) & {*_WORD.findall(line)}):
            return None
        found = None
        if _SIGN.search(line) and (names is not None or ", " not in line):  # in a sentence
            found = self._between_signs(at)
        if found is None and is_near:
            found = self._aligned(at) or (self._blocks(at) if ":" in line or "=" in line else None)
        return found

    def _is_ruled(self, at: int) -> bool:
        """True if there is a rule below a line."""
        return at + 1 < len(self._lines) and self.is_rule[at + 1]

    def _are_columns(self, columns: Sequence[str], *, is_ruled: bool) -> bool:
        """True if some texts, which differ, are the names of columns: half of them known, or else
        each a few words with a letter in front, unless a rule below them tells."""
        named = [column for column in columns if column]
        if len({*map(str.casefold, named)}) < len(named) or not 0 < len(named) <= _MOST_COLUMNS:
            return False
        if self._names is not None:
            return _are_known(named, self._names)
        return _are_names(columns, is_ruled=is_ruled)

    # ------------------------------------------------------------ cells between signs

    def _between_signs(self, at: int) -> Grid | None:
        """The table of cells between signs whose header is a line; None if that is not a header."""
        header, is_ruled = self._lines[at].strip(), self._is_ruled(at)
        for sign in filter(header.__contains__, SIGNS):
            split = partial(framed_cells if header.startswith("|") else cells_of, sign=sign)
            columns = split(header)
            if self._names is not None:
                columns = [_TYPE_NOTE.sub("", column) for column in columns]
            if at < self._other_cells.get(sign, 0) or len(columns) < 2:
                continue
            if self._are_columns(columns, is_ruled=is_ruled):
                rows, end = self._rows_below(at, columns, split)
                fewest = _FEWEST_ROWS - is_ruled if self._names is None else 1
                if len(rows) >= fewest:
                    return Grid(columns, rows, end)
                self._other_cells[sign] = end
        return None

    def _rows_below(
        self, at: int, columns: Sequence[str], split: Callable[[str], list[str]]
    ) -> tuple[list[list[str]], int]:
        """The rows below a header, and the number of the line after them. Where names are not known,
        a line with other cells says that they are none."""
        rows: list[list[str]] = []
        number = at + 1
        while number < len(self._lines) and (line := self._lines[number]):
            cells, is_last = split(line), number + 1 == len(self._lines)
            is_row = len(cells) == len(columns)
            if self._names is not None and not is_row:
                is_most = is_last or 2 * len(cells) > len(columns)
                is_row = 1 < len(cells) < len(columns) and is_most
            if self.is_rule[number]:
                pass
            elif is_row and not (self._names is not None and _is_about(columns, cells, line)):
                rows.append(cells)
            elif self._names is None and len(cells) > 1:
                return [], number
            else:
                break
            number += 1
        return rows, number

    # ------------------------------------------------------------ columns aligned with blanks

    def _aligned(self, at: int) -> Grid | None:
        """The table of aligned columns whose header is a line; None if that is not a header."""
        header, is_ruled = self._lines[at], self._is_ruled(at)
        below = self._lines[at + 1] if at + 1 < len(self._lines) else ""
        if not below or "\t" in header or not _are_names(header.split()[:1], is_ruled=is_ruled):
            return None
        drawn = _spans(below) if is_ruled else []
        is_drawn = len(drawn) > 1
        spans = drawn if is_drawn else _spans(header)
        if not 2 <= len(spans) <= _MOST_COLUMNS * _MOST_WORDS:
            return None
        if spans[0][0] and not is_ruled and below[: spans[0][0]].strip():
            spans = [(0, 0), *spans]  # the first column has no name
        gaps = [(end, start) for (_, end), (start, _) in pairwise(spans)]
        certain = gaps if is_drawn else [(end, start) for end, start in gaps if start - end > 1]
        begin, taken = at + 1 + is_ruled, _places_of(header)
        fewest = 1 if is_ruled or certain else _LARGE
        end, of_rows = self._rows_apart(begin, taken, gaps, certain, fewest)
        taken |= of_rows
        blanks = [blank for gap in gaps if (blank := _blank(taken, gap))]
        is_large = len(blanks) >= _LARGE and end - begin >= _LARGE
        is_wide = any(blank & blank >> 1 for blank in blanks)
        if end - begin < _FEWEST_ROWS - is_ruled or not (is_ruled or is_large or is_wide):
            return None  # words of sentences
        lines = header, *self._lines[begin:end]
        cuts = _cuts(gaps, taken, of_rows)
        parts = [slice(*pair) for pair in pairwise([None, *cuts, None])]
        columns, *rows = ([line[part].strip() for part in parts] for line in lines)
        is_filled = 2 * sum(any(row[1:]) for row in rows) > len(rows)
        if columns in rows or not is_filled or not all(row[0] for row in rows):
            return None
        has_labels = not columns[0] and len({row[0] for row in rows}) == len(rows)
        if not self._are_columns(columns[has_labels:], is_ruled=is_ruled):
            return None
        return Grid(columns, rows, end)

    def _rows_apart(
        self, begin: int, taken: int, gaps: Sequence[Gap], certain: Sequence[Gap], fewest: int
    ) -> tuple[int, int]:
        """The number of the line after those from one on that leave some gaps blank, and the certain
        ones; and the places of these lines that are not blank, as bits. No lines if that are fewer
        gaps than `fewest`."""
        of_rows, at = 0, begin
        while at < len(self._lines) and (line := self._lines[at]):
            places = of_rows | _places_of(line)
            blank = [gap for gap in gaps if _blank(taken | places, gap)]
            if not blank or not {*certain} <= {*blank} or self.is_rule[at] or _NOTE.match(line):
                break
            if len(blank) < fewest:
                return begin, 0
            of_rows, at = places, at + 1
        return at, of_rows

    # ------------------------------------------------------------ blocks of keys and values

    def _blocks(self, at: int) -> Grid | None:
        """Two or more blocks of lines with the same keys, with blank lines or rules between them."""
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
        """The keys and values of the lines from one on; None for fewer than two, and for a key that
        comes twice."""
        row: Row = {}
        while at < len(self._lines) and (pair := _PAIR.fullmatch(self._lines[at])) is not None:
            if pair[1] in row:
                return None
            row[pair[1]] = pair[2]
            at += 1
        has_pairs = sum(map(bool, row.values())) > 1
        return row if has_pairs and self._ends_block(at) else None

    def _ends_block(self, at: int) -> bool:
        """True for the end of the lines, a blank line, and a rule."""
        return at == len(self._lines) or not self._lines[at] or self.is_rule[at]


@lru_cache(maxsize=16)
def _words_of(names: frozenset[str]) -> frozenset[str]:
    """The longest word of each name."""
    return frozenset(max(_WORD.findall(name), key=len, default="") for name in names)


def _is_about(columns: Sequence[str], cells: Sequence[str], line: str) -> bool:
    """True for a legend, or a statement on a column, below a header."""
    return line.partition(":")[0].strip() in columns or all(map(_MEANING.search, cells))


def _cuts(gaps: Sequence[Gap], taken: int, of_rows: int) -> list[int]:
    """The places where columns end: in the widest gap between two names that is blank in all lines,
    the last one among several. Names with one blank between them are one name if no row has a cell
    below one of them.
    """
    cuts: list[int] = []
    are_close: list[bool] = []
    for end, start in gaps:
        if blank := _blank(taken, (end, start)):
            runs = re.finditer("1+", f"{blank:b}"[::-1])
            cuts.append(max(runs, key=lambda run: (run.end() - run.start(), run.start())).start())
            are_close.append(start - end == 1)
    for number in reversed(range(len(cuts))):
        before, cut, after = [0, *cuts, taken.bit_length()][number : number + 3]
        has_cells = all(
            of_rows >> left & ((1 << right - left) - 1)
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
    """The places of a line that are not blank, as bits."""
    places = 0
    for start, end in _spans(line):
        places |= (1 << end) - (1 << start)
    return places


def _blank(taken: int, gap: Gap) -> int:
    """The places from the end of a name to the start of the next one that no line has, as bits."""
    end, start = gap
    return ~taken & ((1 << start) - (1 << end))


def _is_rule(line: str) -> bool:
    """True for a line that only draws a rule."""
    return _RULE.fullmatch(line) is not None and sum(map(line.count, _DRAWN)) > 1


def _are_names(columns: Sequence[str], *, is_ruled: bool) -> bool:
    """True if texts may be names of columns."""
    are_short = all(_NAME.fullmatch(name) and name.count(" ") < _MOST_WORDS for name in columns)
    return are_short or (is_ruled and all(columns))


def _are_known(columns: Sequence[str], names: frozenset[str]) -> bool:
    """True if at least half of some columns are known, perhaps by the end of their path."""
    known = (name in names or name.rpartition(".")[2] in names for name in columns)
    return 2 * sum(known) >= len(columns)
