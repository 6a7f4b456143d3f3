"""Blocks reduced to what any text can show: prose, lists, tables, folds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .blocks import Block, Drawing, Figure, Figures, Fold, Gallery, Prose, Span, Table, Text
from .charts import Plot

DOTS = {"advised": "●", "today": "■", "rejected": "○", "other": "·"}
"""The signs of marks in a text."""


@dataclass(frozen=True)
class Items:
    """A list."""

    texts: tuple[Text, ...]


Part = Prose | Items | Table | Fold


def outline(blocks: Iterable[Block]) -> Iterator[Part]:
    """The parts of some blocks in order; a chart is the sentence that describes it."""
    for block in blocks:
        match block:
            case Figures(items, _):  # the table below has what the chart draws
                yield Items(tuple(map(_figure, items)))
            case Drawing(Plot()):
                pass  # a table below it names the same values
            case Drawing(chart, title):  # its note says how to read the drawing
                yield from [Prose(title, "heading")] if title else []
                yield Prose(chart.alt)
            case Gallery(items, _):
                yield Items(tuple(map(_small, items)))
            case _:
                yield block


def _small(item: Drawing) -> str:
    return f"{DOTS[item.mark]} {item.title}: {item.note}" if item.mark else item.chart.alt


def _figure(item: Figure) -> Text:
    rest = "; ".join(filter(None, (item.line, item.note)))
    return (f"{item.name}: ", Span(item.value, strong=True), f" ({rest})" if rest else "")
