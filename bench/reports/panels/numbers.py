"""Every number: all metrics, with a column per strategy, today first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ...comparison.wording import bases
from ...model.advice import TODAY
from ..blocks import Block, Cell, Cells, Fold, Section, Table, muted, table
from ..numbers import counted, sentence_case
from ..reading import Reading

_ACROSS = 8  # strategies beside today in one table


def sections(reading: Reading) -> Iterator[Section]:
    """A section with a row for each metric that was measured: a table of the first strategies, the
    tables of the others in a fold."""
    everyone = dict.fromkeys((TODAY, *reading.compared.everyone))
    metrics = [
        metric
        for metric in reading.compared.metrics
        if any(reading.value(name, metric) is not None for name in everyone)
    ]
    if not metrics:
        return
    ranked = (item.strategy for item in reading.ranked)
    names = dict.fromkeys([*ranked, *reading.compared.references])
    others = [name for name in names if name != TODAY]
    starts = range(0, max(len(others), 1), _ACROSS)
    first, *rest = (_table(reading, metrics, [TODAY, *others[at : at + _ACROSS]]) for at in starts)
    blocks: list[Block] = [first, muted(bases(reading.advice))]
    if rest:
        title = counted(len(others) - _ACROSS, "more strategy", "more strategies")
        blocks.append(Fold(title, tuple(rest)))
    yield Section("numbers", "Every number", "Every number", tuple(blocks))


def _table(reading: Reading, metrics: Sequence[str], names: Sequence[str]) -> Table:
    """The table of every number of some strategies."""
    rows: list[Cells] = []
    for family, of_family in groupby(metrics, lambda metric: metric.split(".")[0]):
        rows.append(sentence_case(family))
        for metric in of_family:
            values = (reading.value(name, metric) for name in names)
            cells = (
                Cell("–", tone="muted") if value is None else reading.stated(value, metric)
                for value in values
            )
            rows.append((Cell(reading.label(metric), metric), *cells))
    heads = ["metric", *map(reading.title, names)]
    return table("Every number", heads, rows, look="numbers")
