"""Tables in a structured value, and their cells in a text: every value in its row and column."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from .separators import behind_separator, is_part
from .value_tree import Node, Words, nodes_of
from .written_values import end_of

_WORD = re.compile(r"\w+")
_SIGNS = "\t", "|", ";", "&", "</t", ","
"""What parts the cells of a line."""

_DITTO = re.compile(r"(?<![^\s|;&,])[\"″〃](?=[\t|;&,]|$)")
"""The sign for the value above, as a cell."""


EndOf = Callable[[int, Node], int | None]
"""The place behind a nested value that stands at a place; None where it does not."""


class Grid(NamedTuple):
    """A list of records as a table: the name of each column, and the rows; a row may lack some cells.

    With `nested` cells there is a column for each key, else for each scalar within a row.
    """

    node: Node
    columns: list[Words]
    rows: list[Node]
    lacks_cells: bool
    nested: bool

    def cells_of(self, row: Node) -> list[Node | None]:
        """The values of a row by column; None where it has none."""
        cells = dict(_by_column(row, nested=self.nested))
        return [cells.get(column) for column in self.columns]

    def sign_in(self, header: str) -> str:
        """The sign that parts the names of the columns; a blank where there is none, "" where none
        is needed.
        """
        parting = (sign for sign in _SIGNS if header.count(sign) >= len(self.columns) - 1)
        return next(parting, " ") if self.lacks_cells else ""

    def sign_behind(self, text: str, at: int) -> str:
        """The sign that stands behind the name of a column; as `sign_in`."""
        behind = text[at : at + 8].lstrip(" \"'`")
        parting = (sign for sign in _SIGNS if behind.startswith(sign))
        return next(parting, " ") if self.lacks_cells else ""


class Cells:
    """The cells of a text, line by line. Where a row lacks some, the signs between the others count
    them.
    """

    def __init__(self, text: str, at: int, sign: str, end_of_nested: EndOf) -> None:
        self.at = at
        """The place behind the last cell, or behind the name of a line."""

        self._text, self._sign, self._end_of_nested = text, sign, end_of_nested
        self._lacking = 0  # cells at the end of the line above
        self._borders: int | None = None  # signs around each line
        self._above: Sequence[Node | None] = ()

    def go_behind(
        self,
        cells: Sequence[Node | None],
        numbers: Collection[int] = (),
        *,
        is_named: bool = False,
    ) -> bool:
        """Go behind one line; False, and stay, where a value does not stand where it is due.

        At its start stands its name (`is_named`), or may stand one of some `numbers`.
        """
        at, before = self.at, -1
        for place, cell in enumerate(cells):
            if cell is None:
                continue
            above = self._above[place] if self._above and not is_named else None
            is_same = above is not None and above.value == cell.value
            found = self._cell(at, cell, numbers if before < 0 else (), may_ditto=is_same)
            if found is None or not self._counts(
                self._text.count(self._sign, at, found[0]), place - before, is_named or before >= 0
            ):
                return False
            before, at = place, found[1]
        self.at, self._lacking, self._above = at, len(cells) - 1 - before, cells
        return True

    def _counts(self, signs: int, due: int, is_inner: bool) -> bool:
        """True if the signs between two cells are those that are due there, or as many as before
        each line.
        """
        if not self._sign:
            return True
        if is_inner:
            return signs == due
        borders = signs - self._lacking - (due - 1)
        if self._borders is None and self._above:
            self._borders = borders
        return not self._above or borders == self._borders

    def _cell(
        self, at: int, cell: Node, numbers: Collection[int], *, may_ditto: bool
    ) -> tuple[int, int] | None:
        """Where the next cell begins and ends; None where something else stands there."""
        while True:
            end = (
                self._end_of_nested(at, cell)
                if cell.children
                else end_of(self._text, at, cell.value)
            )
            if end is not None and (end > at or self._sign):
                return at, end
            if may_ditto and _DITTO.match(self._text, at):
                return at, at + 1
            word = _WORD.match(self._text, at)
            if word and word[0] in map(str, numbers):
                at, numbers = word.end(), ()
            elif word and is_part(word[0].casefold()):
                at = word.end()
            else:
                behind = behind_separator(self._text, at)
                if behind is None:
                    return None
                at = behind


def tables_of(root: Node) -> dict[Words, list[Grid]]:
    """By the words of their columns, in order of the alphabet, the lists of records, and the whole
    as a row.
    """
    grids: dict[Words, list[Grid]] = {}
    for node in nodes_of(root):
        rows = rows_of(node) or [node] * (node is root)
        if not rows or not all(isinstance(row.value, dict) and row.children for row in rows):
            continue
        for nested in (False, True):
            of_rows = [[column for column, _ in _by_column(row, nested=nested)] for row in rows]
            columns = list(dict.fromkeys(column for of_row in of_rows for column in of_row))
            lacks_cells = any(len(of_row) < len(columns) for of_row in of_rows)
            words = tuple(sorted(word for column in columns for word in column))
            grids.setdefault(words, []).append(Grid(node, columns, rows, lacks_cells, nested))
            if not any(child.children for row in rows for child in row.children):
                break
    return grids


def rows_of(node: Node) -> list[Node]:
    """The records of a list, or of a mapping in which each has its key as a value; none for any
    other.
    """
    by_key = bool(node.children) and all(
        any(leaf.is_key for leaf in child.children) for child in node.children
    )
    return node.children if by_key or isinstance(node.value, list) else []


def _by_column(row: Node, *, nested: bool) -> Iterator[tuple[Words, Node]]:
    """Yield what stands under each key of a row, or each scalar of it behind the words of its path
    within the row.
    """
    if nested:
        yield from ((child.key, child) for child in row.children)
        return
    depth = len(row.path)
    for leaf in row.leaves():
        inner = leaf.path[depth:]
        yield tuple(word for node in inner for word in (node.key or (str(node.place),))), leaf


def in_order(columns: list[Words], header: Sequence[str]) -> list[int] | None:
    """The columns as a header names them, by number; None where it does not name each once."""
    order: list[int] = []
    at = 0
    while at < len(header):
        left = [number for number in range(len(columns)) if number not in order]
        named = [
            number
            for number in left
            if columns[number] == tuple(header[at : at + len(columns[number])])
        ]
        if not named:
            return None
        order.append(max(named, key=lambda number: len(columns[number])))
        at += len(columns[order[-1]])
    return order if len(order) == len(columns) else None
