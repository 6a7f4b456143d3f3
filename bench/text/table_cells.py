"""Tables of a structured value, and their cells in a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from .separators import behind_separator, is_part
from .value_tree import Node, Words, nodes_of
from .written_values import NOTHING, end_of

_WORD = re.compile(r"\w+")
_SIGNS = "\t", "|", ";", "&", "</t", ","
"""The separators between cells."""

_DITTO = re.compile(r"(?<![^\s|;&,])[\"″〃](?=[\s|;&,]|$)")
"""Matches a cell that means "the value above"."""

_NOTHING = re.compile(NOTHING, re.IGNORECASE)


EndOf = Callable[[int, Node], int | None]
"""A function that returns the place after a nested value at a place; None if it is not there."""


class Row(NamedTuple):
    """A record of a table, and its values by column; None for a missing cell."""

    node: Node
    cells: list[Node | None]


class Grid(NamedTuple):
    """Records as a table: the name of each column, and the rows, which may lack cells."""

    node: Node
    columns: list[Words]
    rows: list[Row]
    lacks_cells: bool

    def sign_in(self, header: str) -> str:
        """The separator between the names of the columns; a blank without one, "" if none is
        needed.
        """
        parting = (sign for sign in _SIGNS if header.count(sign) >= len(self.columns) - 1)
        return next(parting, " ") if self.lacks_cells else ""


class Cells:
    """The cells of a table in a text, line by line. Missing cells may have a word for nothing, and
    are counted by the separators between the others.
    """

    def __init__(self, text: str, at: int, sign: str, end_of_nested: EndOf) -> None:
        self.at = at
        """The place behind the last cell."""

        self._text, self._sign, self._end_of_nested = text, sign, end_of_nested
        self._nothing = re.compile(
            rf"[ \"'`(]{{0,3}}{re.escape(sign)}[ \"'`(]{{0,3}}{NOTHING}\)?", re.I
        )
        self._lacking = 0  # cells at the end of the line above, which have no word
        self._borders: int | None = None  # signs around each line
        self._above: Sequence[Node | None] = ()

    def go_behind(self, row: Row, order: Sequence[int]) -> bool:
        """Move past one line, which may begin with a label of its record, and does so if no value
        is its key; False, without moving, if a value is not where it is due.
        """
        cells, labels = [row.cells[column] for column in order], row.node.labels
        at, before = self.at, -1
        if row.node.label and not row.node.own_key:
            at = self._behind_label(at, row.node.label)
        for place, cell in enumerate(cells):
            if cell is None:
                continue
            above = self._above[place] if self._above else None
            is_same = above is not None and above.value == cell.value
            lacks = place - before > 1 or (before < 0 and self._lacking > 0)
            found = self._cell(
                at, cell, labels if before < 0 else (), may_ditto=is_same, lacks=lacks
            )
            if found is None:
                return False
            if before < 0 and cell.is_key:  # which may have a column of its own before it
                found = self._cell(found[1], cell, (), may_ditto=False, lacks=False) or found
            start, end = found
            signs = self._text.count(self._sign, at if before >= 0 else self.at, start)
            if not self._counts(signs, place - before, before >= 0):
                return False
            before, at = place, end
        self._lacking, self._above = len(cells) - 1 - before, cells
        while self._lacking and (nothing := self._nothing.match(self._text, at)):
            at, self._lacking = nothing.end(), self._lacking - 1
        self.at = at
        return True

    def _behind_label(self, at: int, label: str) -> int:
        """The place after the label of a line; behind the text without it."""
        while (end := end_of(self._text, at, label)) is None:
            behind = behind_separator(self._text, at)
            if behind is None:
                return len(self._text)
            at = behind
        return end

    def _counts(self, signs: int, due: int, is_inner: bool) -> bool:
        """True if the separators between two cells are those that are due."""
        if not self._sign:
            return True
        if is_inner:
            return signs == due
        borders = signs - self._lacking - (due - 1)
        if self._borders is None and self._above:
            self._borders = borders
        return not self._above or borders == self._borders

    def _cell(
        self, at: int, cell: Node, labels: Collection[str], *, may_ditto: bool, lacks: bool
    ) -> tuple[int, int] | None:
        """The start and the end of the next cell; None if something else is there. If it `lacks`
        others in front of it, there may be words for nothing."""
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
            if word and word[0] in labels:
                at, labels = word.end(), ()
            elif word and is_part(word[0].casefold()):
                at = word.end()
            elif lacks and (nothing := _NOTHING.match(self._text, at)):
                at = nothing.end()
            else:
                behind = behind_separator(self._text, at)
                if behind is None:
                    return None
                at = behind


def tables_of(root: Node) -> dict[Words, list[Grid]]:
    """The lists of records in a value, and the whole value as a row, by the sorted words of their
    columns: one for each key of a record, and one for each scalar within it.
    """
    grids: dict[Words, list[Grid]] = {}
    for node in nodes_of(root):
        rows = rows_of(node) or [node] * (node is root)
        if not rows or not all(isinstance(row.value, dict) and row.children for row in rows):
            continue
        for nested in (False, True):
            of_rows = [dict(_by_column(row, nested=nested)) for row in rows]
            columns = list(dict.fromkeys(column for of_row in of_rows for column in of_row))
            lacks_cells = any(len(of_row) < len(columns) for of_row in of_rows)
            words = tuple(sorted(word for column in columns for word in column))
            lines = [
                Row(row, list(map(of_row.get, columns)))
                for row, of_row in zip(rows, of_rows, strict=True)
            ]
            grids.setdefault(words, []).append(Grid(node, columns, lines, lacks_cells))
            if not any(child.children for row in rows for child in row.children):
                break
    return grids


def rows_of(node: Node) -> list[Node]:
    """The records of a list, or of a mapping of records; none for any other value."""
    keys = {tuple(child.value) for child in node.children if isinstance(child.value, dict)}
    is_of_records = len(keys) == 1 and len(node.children) > 1
    by_key = bool(node.children) and all(child.own_key for child in node.children)
    return node.children if by_key or is_of_records or isinstance(node.value, list) else []


def _by_column(row: Node, *, nested: bool) -> Iterator[tuple[Words, Node]]:
    """Yield each scalar of a row under the words of its path; with `nested` the value under each of
    its keys.
    """
    if nested:
        yield from ((child.key, child) for child in row.children)
        return
    depth = len(row.path)
    for leaf in row.leaves():
        inner = leaf.path[depth:]
        yield tuple(word for node in inner for word in (node.key or (str(node.place),))), leaf


def in_order(columns: list[Words], header: Sequence[str]) -> list[int] | None:
    """The numbers of the columns in the order of a header; None if it does not name each once."""
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
