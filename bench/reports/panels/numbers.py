"""Every number: all metrics of every strategy against today."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..blocks import Cell, Column, Fold, Row, Section, Span, Table
from ..labels import FAMILIES, label
from ..numbers import of, quantity
from ..reading import Reading

ORDER = 60
_ACROSS = 9  # strategies beside today in one table


def sections(reading: Reading) -> Iterator[Section]:
    """A row by metric that was measured, a column by strategy, today first."""
    metrics = [
        name for name in _metrics(reading) if any(reading.value(one, name) is not None for one in reading.everyone)
    ]
    if not metrics:
        return
    today = reading.compared.today
    ranked = [item.strategy for item in reading.ranked if item.strategy != today]
    others = [
        *ranked,
        *(name for name in reading.compared.references if name not in (*ranked, today)),
    ]
    chunks = [others[at : at + _ACROSS] for at in range(0, len(others), _ACROSS)] or [[]]
    tables = [_table(reading, metrics, [today, *names]) for names in chunks]
    more = sum(map(len, chunks[1:]))
    folded = (Fold(of(more, "more strategy", "more strategies"), tuple(tables[1:])),) if more else ()
    yield Section("numbers", "Every number", "Every number", (tables[0], *folded))


def _metrics(reading: Reading) -> list[str]:
    """The metrics by family in the order of the report, those of others at the end."""
    names = dict.fromkeys(
        [
            *reading.compared.metrics,
            *(name for totals in reading.compared.totals.values() for name in totals),
        ]
    )
    families = [*FAMILIES]
    order = {name: families.index(family) if (family := name.split(".")[0]) in families else 99 for name in names}
    return sorted(names, key=lambda name: order[name])


def _table(reading: Reading, metrics: Sequence[str], names: Sequence[str]) -> Table:
    rows, last = [], ""
    for metric in metrics:
        family, unit = metric.split(".")[0], reading.unit(metric)
        values = [reading.value(name, metric) for name in names]
        cells = [
            Cell(label(metric, reading.info(metric)), metric),
            *(_cell(value, unit) for value in values),
        ]
        rows.append(Row(tuple(cells), group="" if family == last else FAMILIES.get(family, family)))
        last = family
    columns = (Column("metric"), *(Column(reading.shown(name), True) for name in names))
    return Table("Every number", columns, tuple(rows), "numbers")


def _cell(value: float | None, unit: str) -> Cell:
    return Cell((Span("–", "muted"),)) if value is None else Cell(quantity(value, unit))
