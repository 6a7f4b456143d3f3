"""The table of strategies: a row for each, with its mark, its spec, its numbers and its verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..model.advice import Ranked
from .blocks import TONE_OF, Cell, Cells, Column, Heads, Span, Table, table
from .numbers import counted, listed
from .reading import Reading


def strategies(reading: Reading, heads: Heads, cells: Callable[[Ranked], Sequence[Cell]]) -> Table:
    """The table, with columns of numbers between the name and the verdict of each strategy.

    Where many strategies changed nothing, its caption names them.
    """
    shown = [item for item in reading.ranked if item.strategy not in reading.inactive]
    rows = [_row(reading, item, cells(item)) for item in shown]
    note = ""
    if names := reading.inactive:
        many = counted(len(names), "more strategy", "more strategies")
        note = f"{many} changed nothing on these runs: {listed(names)}."
    heads = ["strategy", *heads, Column("verdict", card=" ")]
    return table("All strategies", heads, rows, note=note)


def _row(reading: Reading, item: Ranked, cells: Sequence[Cell]) -> Cells:
    """The cells of a strategy."""
    mark, place = reading.mark(item.strategy), reading.row_numbers.get(item.strategy)
    about = "what runs today" if mark == "today" else reading.spec(item.strategy)
    name = f"{place} {reading.title(item.strategy)}" if place else reading.title(item.strategy)
    verdict = (Span(item.verdict, TONE_OF[mark], strong=True),)
    return Cell(name, about, mark=mark), *cells, Cell(verdict, item.reason)
