"""Every number: all metrics, with a column for each of some strategies, today first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ...comparison.wording import bases
from ...model.advice import TODAY
from ...text.wording import counted, sentence_case
from ..blocks import Cell, Cells, Section, Table, muted, table
from ..reading import Reading

_ACROSS = 9  # strategies in the table


def sections(reading: Reading) -> Iterator[Section]:
    """A section with a row for each metric that was measured: a table of the first strategies."""
    ranked = (item.strategy for item in reading.advice.ranked)
    names = [*dict.fromkeys((TODAY, *ranked, *reading.compared.everyone))]
    metrics = [
        metric
        for metric in reading.compared.metrics
        if any(reading.number(name, metric) for name in names)
    ]
    if not metrics:
        return
    shown = _table(reading, metrics, names[:_ACROSS])
    more = counted(len(names) - _ACROSS, "more strategy", "more strategies")
    note = f" {more}: `-o report.csv`." if len(names) > _ACROSS else ""
    blocks = (shown, muted(bases(reading.advice) + note))
    yield Section("numbers", "Every number", blocks)


def _table(reading: Reading, metrics: Sequence[str], names: Sequence[str]) -> Table:
    """The table of every number of some strategies."""
    rows: list[Cells] = []
    for family, of_family in groupby(metrics, lambda metric: metric.split(".")[0]):
        rows.append(sentence_case(family))
        for metric in of_family:
            rows.append(
                (Cell(reading.label(metric), metric), *(_cell(reading, it, metric) for it in names))
            )
    heads = ["metric", *map(reading.title, names)]
    return table("Every number", heads, rows, look="numbers")


def _cell(reading: Reading, name: str, metric: str) -> Cell:
    """One number; with ≥ if it is the least that it can be, which says nothing of 0."""
    number = reading.number(name, metric)
    if number is None or (number.reason and not number.value):
        return Cell("–", tone="muted")
    return Cell(f"{'≥ ' if number.reason else ''}{reading.stated(number.value, metric)}")
