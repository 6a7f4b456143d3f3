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
from .separators import TYPES
from .table_cells import SIGNS, cells_of, framed_cells

Row = dict[str, Any]
Table = list[Row] | dict[str, Row]
"""The rows of a table by the names of their columns, without empty cells; under the cells of a first
column without a name, if they differ."""


class Grid(NamedTuple):
    """The names of the columns of a table, its rows, and the number of the line after it."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    end: int

    def records(self, words: Mapping[str, Any]) -> Table:
        """Its rows by the names of their columns, with the values of some words, such as `True`."""
        cells = (zip(self.columns, row, strict=False) for row in self.rows)
        rows = [
            {column: words.get(cell, cell) for column, cell in row if cell not in _LEFT_OUT}
            for row in cells
        ]
        if self.columns[0]:
            return [row for row in rows if row]
        labels = [row.pop("", "") for row in rows]
        are_numbers = all(label == str(at) for at, label in enumerate(labels))
        if are_numbers or not all(labels) or len({*labels}) < len(labels):
            return [row for row in rows if row]
        return dict(zip(labels, rows, strict=True))


_RULE = re.compile(r"(?=.*[-=─━═].*[-=─━═])[-=+|: \t\u2500-\u257f]+")
"""Matches a line that only draws the rule of a table."""

_OTHER_BARS = "│┃║"
_BETWEEN_CELLS = re.compile(r"</t[dh]>\s*<t[dh]\b[^>]*>")
_OF_LINES = re.compile(r"(?:\s*</?t(?:able|head|body|[rdh])\b[^>]*>)+\s*")
_TOON = re.compile(r"(?m)^(\s*[\w.\"-]*\[\d+\])\{([^{}\n]+)\}:[ \t]*$")
_BEFORE_COLUMNS = re.compile(r"\s*(?:\[\d+\][\s:]+|(?:columns|fields|header): )")
_TYPE_NOTE = re.compile(rf"(?<=\w)\s*\((?:{'|'.join(sorted(TYPES))})\)$")
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
    known = None if names is None else frozenset(names)
    lines = [*map(str.rstrip, _with_signs(text).split("\n"))]
    at = begin = 0  # of the lines without a blank one or a rule between
    while at < len(lines):
        line = lines[at]
        found = _table_at(lines, at, known, is_near=at - begin <= _MOST_TITLES) if line else None
        yield found or line
        at = found.end if found else at + 1
        if found or not line or _is_rule(line):
            begin = at


def _with_signs(text: str) -> str:
    """A text with signs between the cells of its tables where it has tags or brackets.

    >>> _with_signs("<table><tr><th>id</th><th>n</th></tr> <tr><td>W1</td><td>2</td></tr></table>")
    '\\nid\\tn\\nW1\\t2\\n'
    >>> _with_signs("rows[1]{id,n}:\\n  W1,2")
    'rows[1]:\\nid,n\\n  W1,2'
    """
    for bar in _OTHER_BARS:
        text = text.replace(bar, "|")
    if "</td>" in text:
        text = _OF_LINES.sub("\n", _BETWEEN_CELLS.sub("\t", text))
    return _TOON.sub(r"\1:\n\2", text)


def _table_at(
    lines: Sequence[str], at: int, names: frozenset[str] | None, *, is_near: bool
) -> Grid | None:
    """The table whose header is a line, or of which that is the first line."""
    line = lines[at]
    if names is not None and not ("|" in line or _words_of(names) & {*_WORD.findall(line)}):
        return None
    found = None
    if _SIGN.search(line) and (names is not None or ", " not in line):  # in a sentence
        found = _between_signs(lines, at, names)
    if found is None and is_near:
        found = _aligned(lines, at, names) or _blocks(lines, at, names)
    return found


@lru_cache(maxsize=16)
def _words_of(names: frozenset[str]) -> frozenset[str]:
    """The longest word of each name."""
    return frozenset(max(_WORD.findall(name), key=len, default="") for name in names)


# ---------------------------------------------------------------- cells between signs


def _between_signs(lines: Sequence[str], at: int, names: frozenset[str] | None) -> Grid | None:
    """The table of cells between signs whose header is a line; None if that is not a header."""
    header = lines[at].strip() if names is None else _BEFORE_COLUMNS.sub("", lines[at].strip())
    for sign in filter(header.__contains__, SIGNS):
        split = partial(framed_cells if header.startswith("|") else cells_of, sign=sign)
        columns = split(header)
        if names is not None:
            columns = [_TYPE_NOTE.sub("", column) for column in columns]
        if (found := _rows_below(lines, at, columns, split, names)) is not None:
            return found
    return None


def _rows_below(
    lines: Sequence[str],
    at: int,
    columns: Sequence[str],
    split: Callable[[str], list[str]],
    names: frozenset[str] | None,
) -> Grid | None:
    """The rows below a header; where names are not known, each has as many cells."""
    is_ruled = at + 1 < len(lines) and _is_rule(lines[at + 1])
    if len(columns) < 2 or not _are_columns(columns, names, is_ruled=is_ruled):
        return None
    rows: list[list[str]] = []
    number = at + 1
    while number < len(lines) and (line := lines[number]):
        cells, is_last = split(line), number + 1 == len(lines)
        is_short = len(cells) < len(columns) and (is_last or 2 * len(cells) > len(columns))
        if _is_rule(line):
            pass
        elif len(cells) < 2 or (names is not None and _is_about(columns, cells, line)):
            break
        elif len(cells) == len(columns) or (names is not None and is_short):
            rows.append(cells)
        elif names is None:
            return None  # a row with other cells
        else:
            break
        number += 1
    is_table = len(rows) >= (_FEWEST_ROWS - is_ruled if names is None else 1)
    return Grid(columns, rows, number) if is_table else None


def _is_about(columns: Sequence[str], cells: Sequence[str], line: str) -> bool:
    """True for a legend, or a statement on a column, below a header."""
    return line.partition(":")[0].strip() in columns or all(map(_MEANING.search, cells))


# ---------------------------------------------------------------- columns aligned with blanks


def _aligned(lines: Sequence[str], at: int, names: frozenset[str] | None) -> Grid | None:
    """The table of aligned columns whose header is a line; None if that is not a header."""
    header, below = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
    is_ruled = _is_rule(below)
    drawn, spans = ([match.span() for match in _RUN.finditer(line)] for line in (below, header))
    is_drawn = is_ruled and len(drawn) > 1
    if is_drawn:
        spans = drawn
    if "\t" in header or len(spans) < 2 or not _are_names(header.split()[:1], is_ruled=is_ruled):
        return None
    if spans[0][0] and not is_ruled and below[: spans[0][0]].strip():
        spans = [(0, 0), *spans]  # the first column has no name
    gaps = [(end, start) for (_, end), (start, _) in pairwise(spans)]
    certain = gaps if is_drawn else [(end, start) for end, start in gaps if start - end > 1]
    begin = end = at + 1 + is_ruled
    of_header, of_rows = _places_of(header), 0
    while end < len(lines) and lines[end] and not _is_rule(lines[end]):
        places = of_rows | _places_of(lines[end])
        is_blank = partial(_blank, of_header | places)
        if _NOTE.match(lines[end]) or not (
            all(map(is_blank, certain)) and any(map(is_blank, gaps))
        ):
            break
        of_rows, end = places, end + 1
    if end - begin < _FEWEST_ROWS - is_ruled:
        return None
    cuts = _cuts(gaps, of_header | of_rows, of_rows)
    is_large = len(cuts) >= _LARGE and end - begin >= _LARGE
    is_wide = any(not (of_header | of_rows) >> cut & 0b11 for cut in cuts)
    if not (is_ruled or is_large or is_wide):
        return None  # words of sentences
    parts = [slice(*pair) for pair in pairwise([None, *cuts, None])]
    columns, *rows = (
        [line[part].strip() for part in parts] for line in (header, *lines[begin:end])
    )
    is_named = bool(columns[0]) or len({row[0] for row in rows}) < len(rows)
    is_filled = all(row[0] for row in rows) and 2 * sum(any(row[1:]) for row in rows) > len(rows)
    if not is_filled or columns in rows:
        return None
    if not _are_columns(columns[not is_named :], names, is_ruled=is_ruled):
        return None
    return Grid(columns, rows, end)


def _cuts(gaps: Sequence[tuple[int, int]], taken: int, of_rows: int) -> list[int]:
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


def _places_of(line: str) -> int:
    """The places of a line that are not blank, as bits."""
    return sum((1 << run.end()) - (1 << run.start()) for run in _RUN.finditer(line))


def _blank(taken: int, gap: tuple[int, int]) -> int:
    """The places from the end of a name to the start of the next one that no line has, as bits."""
    end, start = gap
    return ~taken & ((1 << start) - (1 << end))


# ---------------------------------------------------------------- blocks of keys and values


def _blocks(lines: Sequence[str], at: int, names: frozenset[str] | None) -> Grid | None:
    """Two or more blocks of lines with the same keys, with blank lines or rules between them."""
    rows: list[Row] = []
    number = end = at
    while (block := _block(lines, number)) is not None:
        if rows and not 2 * len(rows[0].keys() & block.keys()) >= len(rows[0]):
            break
        rows.append({key: value for key, value in block.items() if value})
        number = end = number + len(block)
        while number < len(lines) and (not lines[number] or _is_rule(lines[number])):
            number += 1
    keys = [*dict.fromkeys(key for row in rows for key in row)]
    if len(rows) < _FEWEST_ROWS or (names is not None and not _are_known(keys, names)):
        return None
    return Grid(keys, [[row.get(key, "") for key in keys] for row in rows], end)


def _block(lines: Sequence[str], at: int) -> Row | None:
    """The keys and values of the lines from one on; None for fewer than two, and for a key that
    comes twice."""
    row: Row = {}
    while at < len(lines) and (pair := _PAIR.fullmatch(lines[at])) is not None:
        if pair[1] in row:
            return None
        row[pair[1]] = pair[2]
        at += 1
    is_ended = at == len(lines) or not lines[at] or _is_rule(lines[at])
    return row if sum(map(bool, row.values())) > 1 and is_ended else None


# ---------------------------------------------------------------- all of them


def _is_rule(line: str) -> bool:
    """True for a line that only draws a rule."""
    return not line[:1].isalnum() and _RULE.fullmatch(line) is not None


def _are_columns(columns: Sequence[str], names: frozenset[str] | None, *, is_ruled: bool) -> bool:
    """True if some texts, which differ, are the names of columns: half of them known, or else each
    a few words with a letter in front, unless a rule below them tells."""
    named = [column for column in columns if column]
    if len({*map(str.casefold, named)}) < len(named) or not 0 < len(named) <= _MOST_COLUMNS:
        return False
    if names is not None:
        return _are_known(named, names)
    return _are_names(columns, is_ruled=is_ruled)


def _are_names(columns: Sequence[str], *, is_ruled: bool) -> bool:
    """True if texts may be names of columns."""
    are_short = all(_NAME.fullmatch(name) and name.count(" ") < _MOST_WORDS for name in columns)
    return are_short or (is_ruled and all(columns))


def _are_known(columns: Sequence[str], names: frozenset[str]) -> bool:
    """True if at least half of some columns are known, perhaps by the end of their path."""
    known = (name in names or name.rpartition(".")[2] in names for name in columns)
    return 2 * sum(known) >= len(columns)
