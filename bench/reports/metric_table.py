"""Tables of metrics: a row for each, a column by strategy, today first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.advice import TODAY
from .blocks import Cell, Fold, Row, Span, Table, columns, number, table
from .numbers import of, quantity
from .reading import Reading

BASES = "Prices and counts are totals over all runs; shares are means over tasks."
"""The bases of the numbers in a table of metrics."""

_ACROSS = 8  # strategies beside today in one table
_FAMILIES = {
    "cost": "Cost",
    "needed": "Needed",
    "loss": "Loss",
    "faithful": "Faithful",
    "prompt": "Valid prompts",
    "findings": "Findings",
    "probes": "Questions",
    "routing": "Routing and selection",
}


def metric_tables(reading: Reading, title: str, metrics: Sequence[str]) -> Iterator[Table | Fold]:
    """Yields a table of the first strategies, and the tables of the others folded."""
    names = dict.fromkeys(
        [*(item.strategy for item in reading.ranked), *reading.compared.references]
    )
    others = [
        name
        for name in names
        if name != TODAY and any(reading.value(name, metric) is not None for metric in metrics)
    ]
    starts = range(0, max(len(others), 1), _ACROSS)
    first, *rest = (
        _table(reading, title, metrics, [TODAY, *others[at : at + _ACROSS]]) for at in starts
    )
    yield first
    if rest:
        yield Fold(of(len(others) - _ACROSS, "more strategy", "more strategies"), tuple(rest))


def _table(reading: Reading, title: str, metrics: Sequence[str], names: Sequence[str]) -> Table:
    rows, last = [], ""
    for metric in metrics:
        family, unit = metric.split(".")[0], reading.unit(metric)
        values = [reading.value(name, metric) for name in names]
        cells = [
            Cell((Span("–", "muted"),) if value is None else quantity(value, unit))
            for value in values
        ]
        group = "" if family == last else _FAMILIES.get(family, family)
        rows.append(Row((Cell(reading.label(metric), metric), *cells), group=group))
        last = family
    heads = columns("metric", *(number(reading.title(name)) for name in names))
    return table(title, heads, rows, look="numbers", note=BASES)
