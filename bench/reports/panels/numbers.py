"""Every number: all metrics, with a column for each of some strategies, today first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ...comparison.wording import bases
from ...model.advice import REFUSED, TODAY
from ...text.wording import counted, sentence_case
from ..blocks import Cell, Cells, Section, Table, muted, table
from ..reading import Reading

_ACROSS = 9  # strategies in the table


def sections(reading: Reading) -> Iterator[Section]:
    """A section with a row for each metric that was measured: a table of the first strategies."""
    everyone = dict.fromkeys((TODAY, *reading.compared.everyone))
    metrics = [
        metric
        for metric in reading.compared.metrics
        if any(reading.number(name, metric) for name in everyone)
    ]
    if not metrics:
        return
    names = _by_interest(reading)
    shown = _table(reading, metrics, names[:_ACROSS])
    more = counted(len(names) - _ACROSS, "more strategy", "more strategies")
    note = f" {more}: `-o report.csv`." if len(names) > _ACROSS else ""
    blocks = (shown, muted(bases(reading.advice) + note))
    yield Section("numbers", "Every number", blocks)


def _by_interest(reading: Reading) -> list[str]:
    """All strategies: today's, those that the answer is about, the first refused one, others that
    changed something, the references, the rest."""
    advice, compared = reading.advice, reading.compared
    ranked = [item.strategy for item in advice.ranked]
    refused = [item.strategy for item in reading.advice.ranked if item.verdict in REFUSED]
    answer = advice.subject, compared.asks, *refused[:1]
    acting = (item.strategy for item in reading.advice.ranked if "inactive" not in item.marks)
    ordered = dict.fromkeys((TODAY, *answer, *acting, *compared.references, *ranked))
    known = {*ranked, *compared.everyone}
    return [name for name in ordered if name in known]


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
