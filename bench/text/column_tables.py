"""Tables in the text of a tool: cells between signs, columns aligned with blanks, blocks of `key: value`.

A table has a line with the names of its columns, and rows below it. Where a text has none, or where
its columns are not certain, its lines are no rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from .tables import fields_of_line

Row = dict[str, str]
Table = list[Row] | dict[str, Row]
"""The rows of a table by the names of their columns, without empty cells; under the cells of a first
column without a name, if they differ."""

Cells = Callable[[str], list[str]]

_RULE = re.compile(r"(?=.*[-=─━═].*[-=─━═])[-=+|: \t\u2500-\u257f]+")
"""Matches a line that only draws the rule of a table."""

_OTHER_BARS = "│┃║"
_NAME = re.compile(r"(?=[^\W\d_]|[#%])[\w .,/()%#°²³&+-]{0,39}[^\s:.,;=]|[#%]")
"""Matches the name of a column."""

_BAR = re.compile(r"(?<!\\)\|")
_NOTE = re.compile(r"[\[(<…]|\.\.\.")
"""Matches the beginning of a line about the table, such as a notice."""

_PAIR = re.compile(r"\s*([^\W\d][\w ./()%#-]{0,39}?)\s*(?:=|:(?=\s|$))\s*(.*?)\s*")
_SIGNS = "|", "\t", ";", ","
_SIGN = re.compile(r"[|\t;,]")
_RUN = re.compile(r"\S+")
_FEWEST_ROWS, _MOST_COLUMNS = 2, 60
_LARGE = 3
"""The gaps and rows of a table that words do not have by accident."""


class TextTables(NamedTuple):
    """The tables in a text, and its lines outside of them."""

    tables: list[Table]
    rest: list[str]


def text_tables(text: str) -> TextTables:
    """The tables in a text. Linear in the text.

    >>> text_tables("POD     CPU  STATE\\napi-1    12  Ready\\ndb-0    140  Failed\\n\\n2 pods")
    TextTables(tables=[[{'POD': 'api-1', 'CPU': '12', 'STATE': 'Ready'}, {'POD': 'db-0', 'CPU': '140', 'STATE': 'Failed'}]], rest=['2 pods'])
    >>> text_tables("id,note\\n1,\\n2,late").tables, text_tables("A | B\\n--+--\\n1 | 2").tables
    ([[{'id': '1'}, {'id': '2', 'note': 'late'}]], [[{'A': '1', 'B': '2'}]])
    >>> text_tables("      n   p\\ngene1  5  .1\\ngene2 12  .5").tables
    [{'gene1': {'n': '5', 'p': '.1'}, 'gene2': {'n': '12', 'p': '.5'}}]
    >>> text_tables("Name: a\\nSize: 3\\n\\nName: b\\nSize: 4").tables
    [[{'Name': 'a', 'Size': '3'}, {'Name': 'b', 'Size': '4'}]]
    >>> texts = "two doors, a window\\nthree walls, no roof\\nall sold, all paid", "import os\\nimport re\\nimport sys", "a  b\\na  b\\na  b"
    >>> [text_tables(text).tables for text in texts]
    [[], [], []]
    """
    found = _tables_in(text, (_delimited, _aligned, _blocks))
    rest = [line for line in found.rest if line and not _is_rule(line)]
    return TextTables(found.tables, rest)


def aligned_tables(text: str, names: Collection[str]) -> TextTables:
    """The tables with aligned columns, and the blocks, in a text, if half of the columns have one
    of some names."""
    return _tables_in(text, (_aligned, _blocks), names)


def _tables_in(text: str, kinds: Sequence[_Find], names: Collection[str] = ()) -> TextTables:
    """The tables of some kinds; with `names` only those of which half of the columns have one."""
    if any(bar in text for bar in _OTHER_BARS):
        text = text.translate(dict.fromkeys(map(ord, _OTHER_BARS), "|"))
    lines = [*map(str.rstrip, text.split("\n"))]
    tables: list[Table] = []
    rest: list[str] = []
    at = begin = 0  # of the lines without a blank one or a rule between
    while at < len(lines):
        line, is_near = lines[at], at - begin <= _MOST_TITLES
        has_sign = ", " not in line and _SIGN.search(line)
        finds = kinds if is_near else kinds[: bool(has_sign) and kinds[0] is _delimited]
        table, end = next(filter(None, (find(lines, at) for find in finds)), (None, at + 1))
        if table is None or (names and not _has(table, names)):
            rest.append(line)
            at, begin = at + 1, at + 1 if not line or _is_rule(line) else begin
        else:
            tables.append(table)
            at = begin = end
    return TextTables(tables, rest)


_MOST_TITLES = 4
"""The most lines directly above a table without signs between its cells; so the search is linear."""

_TableAndEnd = tuple[Table, int]
"""A table, and the number of the line after it."""

_Find = Callable[[Sequence[str], int], _TableAndEnd | None]
"""A function that returns the table that begins at one of some lines."""


# ---------------------------------------------------------------- cells between signs


def _delimited(lines: Sequence[str], at: int) -> _TableAndEnd | None:
    """The table of delimited cells whose header is a line; None if that is not a header."""
    for sign in _SIGNS:
        if sign in lines[at] and ", " not in lines[at]:  # in a sentence
            cells = _cells_of(sign, lines[at].strip())
            if (found := _below(lines, at, cells)) is not None:
                return found
    return None


def _below(lines: Sequence[str], at: int, cells: Cells) -> _TableAndEnd | None:
    """The rows below a header, each with as many cells."""
    names = cells(lines[at])
    is_ruled = at + 1 < len(lines) and _is_rule(lines[at + 1])
    if len(names) < 2 or not _are_names(names, is_ruled):
        return None
    rows: list[Row] = []
    number = at + 1
    while number < len(lines) and lines[number]:
        if _is_rule(lines[number]):
            pass
        elif len(row := cells(lines[number])) == len(names):
            rows.append(_row(names, row))
        elif len(row) > 1:
            return None  # a row with other cells
        else:
            break
        number += 1
    return (rows, number) if len(rows) >= _FEWEST_ROWS - is_ruled else None


def _cells_of(sign: str, header: str) -> Cells:
    """A function that returns the cells of a line, with bars around lines if the header has them."""
    if sign != "|":
        return lambda line: [_bare(cell.strip()) for cell in fields_of_line(line, sign)]
    first, last = header.startswith("|"), -1 if header.endswith("|") else None
    return lambda line: [part.strip() for part in _BAR.split(line.strip())[first:last]]


# ---------------------------------------------------------------- columns aligned with blanks


def _aligned(lines: Sequence[str], at: int) -> _TableAndEnd | None:
    """The table of aligned columns whose header is a line; None if that is not a header."""
    header, below = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
    is_ruled = _is_rule(below)
    drawn, named = ([match.span() for match in _RUN.finditer(line)] for line in (below, header))
    is_drawn = is_ruled and len(drawn) > 1
    spans = drawn if is_drawn else named
    if (
        "\t" in header
        or not 1 < len(spans) <= _MOST_COLUMNS
        or not _are_names(header.split()[:1], is_ruled)
    ):
        return None
    if spans[0][0] and not is_ruled and below[: spans[0][0]].strip():
        spans = [(0, 0), *spans]  # the first column has no name
    taken, number, rows = _places_of(header), at + 1 + is_ruled, list[str]()
    while number < len(lines) and lines[number]:
        line = lines[number]
        merged = _merged(spans, taken | _places_of(line))
        is_uncertain = len(merged) < len(spans) and not _may_merge(spans, merged, is_drawn)
        if len(merged) < 2 or is_uncertain or _is_rule(line) or _NOTE.match(line):
            break
        spans, taken = merged, taken | _places_of(line)
        rows.append(line)
        number += 1
    if len(rows) < _FEWEST_ROWS - is_ruled:
        return None
    table = _table(header, spans, taken, rows, is_ruled)
    return None if table is None else (table, number)


def _table(
    header: str, spans: Sequence[tuple[int, int]], taken: int, rows: Sequence[str], is_ruled: bool
) -> Table | None:
    """The table of rows below a header, with the places of its columns; None if these are not
    certain."""
    edges = [_edge(one[1], other[0], taken) for one, other in pairwise(spans)]
    is_large = len(edges) >= _LARGE and len(rows) >= _LARGE
    if not (is_ruled or is_large or any(_is_wide(edge, taken) for edge in edges)):
        return None  # words of sentences
    cuts = [slice(*pair) for pair in zip([None, *edges], [*edges, None], strict=True)]
    names = [header[cut].strip() for cut in cuts]
    cells = [[line[cut].strip() for cut in cuts] for line in rows]
    for column in reversed(range(1, len(names))):
        both = slice(column - 1, column + 1)
        is_one_name = spans[column][0] - spans[column - 1][1] == 1
        if is_one_name and not (_is_filled(cells, column - 1) and _is_filled(cells, column)):
            for row in (names, *cells):
                row[both] = [" ".join(filter(None, row[both]))]
    if (
        names in cells
        or not all(row[0] for row in cells)
        or 2 * sum(any(row[1:]) for row in cells) <= len(cells)
    ):
        return None
    labels = [row[0] for row in cells]
    is_named = bool(names[0]) or len({*labels}) < len(labels)
    if not _are_names(names[not is_named :], is_ruled):
        return None
    if is_named:
        return [_row(names, row) for row in cells]
    of_rows = [_row(names[1:], row[1:]) for row in cells]
    numbers = [*map(str, range(len(rows)))]
    return of_rows if labels == numbers else dict(zip(labels, of_rows, strict=True))


def _is_filled(cells: Sequence[Sequence[str]], column: int) -> bool:
    """True if some row has a cell in a column."""
    return any(row[column] for row in cells)


def _is_wide(place: int, taken: int) -> bool:
    """True if two places beside each other, from one on, are blank in all lines."""
    return not taken >> place & 0b10


def _places_of(line: str) -> int:
    """The places of a line that are not blank, as bits."""
    return sum(
        ((1 << end) - (1 << start)) for start, end in (m.span() for m in _RUN.finditer(line))
    )


def _free(end: int, start: int, taken: int) -> int:
    """The places from an end to a start that are blank in all lines, as bits."""
    return ~taken & ((1 << start) - (1 << end))


def _edge(end: int, start: int, taken: int) -> int:
    """The beginning of the widest gap from an end to a start that is blank in all lines; of the last
    one among several."""
    gaps = re.finditer("1+", f"{_free(end, start, taken):b}"[::-1])
    return max(gaps, key=lambda gap: (gap.end() - gap.start(), gap.start())).start()


def _merged(spans: Sequence[tuple[int, int]], taken: int) -> list[tuple[int, int]]:
    """Columns, with those as one between which no place is blank in all lines."""
    merged = [spans[0]]
    for span in spans[1:]:
        if not _free(merged[-1][1], span[0], taken):
            merged[-1] = merged[-1][0], span[1]
        else:
            merged.append(span)
    return merged


def _may_merge(
    spans: Sequence[tuple[int, int]], merged: Sequence[tuple[int, int]], is_drawn: bool
) -> bool:
    """True if only names with one blank between them became one."""
    starts = {start for start, _ in merged}
    gaps = (
        spans[at][0] - spans[at - 1][1] for at in range(1, len(spans)) if spans[at][0] not in starts
    )
    return not is_drawn and all(gap == 1 for gap in gaps)


# ---------------------------------------------------------------- blocks of keys and values


def _blocks(lines: Sequence[str], at: int) -> _TableAndEnd | None:
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
    return (rows, end) if len(rows) >= _FEWEST_ROWS else None


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


# ---------------------------------------------------------------- both


def _is_rule(line: str) -> bool:
    """True for a line that only draws a rule."""
    return not line[:1].isalnum() and _RULE.fullmatch(line) is not None


def _are_names(names: Sequence[str], is_ruled: bool) -> bool:
    """True if some texts are the names of columns: all different, and each a few words with a letter
    in front, unless a rule below them tells."""
    small = {name.casefold() for name in names}
    are_short = all(_NAME.fullmatch(name) and name.count(" ") < _MOST_WORDS for name in names)
    is_few = 0 < len(names) <= _MOST_COLUMNS and len(small) == len(names)
    return is_few and (are_short or (is_ruled and all(names)))


_MOST_WORDS = 4
"""The most words of a name."""


def _has(table: Table, names: Collection[str]) -> bool:
    """True if half of the columns of a table have one of some names."""
    rows = table.values() if isinstance(table, dict) else table
    columns = {column for row in rows for column in row}
    return 2 * len(columns.intersection(names)) >= len(columns)


def _row(names: Sequence[str], cells: Sequence[str]) -> Row:
    return {name: cell for name, cell in zip(names, cells, strict=True) if cell}


def _bare(cell: str) -> str:
    """A cell without quotation marks around it."""
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "\"'"
    return cell[1:-1] if is_quoted else cell
