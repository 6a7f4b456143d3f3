"""Every number: all metrics, with a column per strategy, today first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ...model.advice import TODAY
from ..blocks import Cell, Cells, Fold, Heads, Section, Table, number, table
from ..numbers import BASES, counted, quantity, sentence_case
from ..reading import Reading

_ACROSS = 8  # strategies beside today in one table


def sections(reading: Reading) -> Iterator[Section]:
    """A section with a row for each metric that was measured."""
    if metrics := [name for name in reading.compared.metrics if reading.values(name)]:
        tables = tuple(_tables(reading, metrics))
        yield Section("numbers", "Every number", "Every number", tables)


def _tables(reading: Reading, metrics: Sequence[str]) -> Iterator[Table | Fold]:
    """Yield a table of the first strategies, then the tables of the others in a fold."""
    ranked = (item.strategy for item in reading.ranked)
    names = dict.fromkeys([*ranked, *reading.compared.references])
    others = [name for name in names if name != TODAY]
    starts = range(0, max(len(others), 1), _ACROSS)
    first, *rest = (_table(reading, metrics, [TODAY, *others[at : at + _ACROSS]]) for at in starts)
    yield first
    if rest:
        yield Fold(counted(len(others) - _ACROSS, "more strategy", "more strategies"), tuple(rest))


def _table(reading: Reading, metrics: Sequence[str], names: Sequence[str]) -> Table:
    """The table of every number of some strategies."""
    rows: list[Cells] = []
    for family, of_family in groupby(metrics, lambda metric: metric.split(".")[0]):
        rows.append(sentence_case(family))
        for metric in of_family:
            unit, values = reading.unit(metric), (reading.value(name, metric) for name in names)
            cells = (Cell("–", tone="muted") if it is None else quantity(it, unit) for it in values)
            rows.append((Cell(reading.label(metric), metric), *cells))
    heads: Heads = ["metric", *(number(reading.title(name)) for name in names)]
    return table("Every number", heads, rows, look="numbers", note=BASES)
