"""Every number: all metrics of every strategy against today."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..blocks import Cell, Fold, Row, Section, Span, Table, columns, number, table
from ..labels import FAMILIES, LABELS, label
from ..numbers import of, quantity
from ..reading import Reading

ORDER = 60
_ACROSS = 8  # strategies beside today in one table


def sections(reading: Reading) -> Iterator[Section]:
    """A row by metric that was measured, a column by strategy, today first."""
    metrics = [name for name in _metrics(reading) if any(reading.value(one, name) is not None for one in reading.everyone)]  # fmt: skip
    if not metrics:
        return
    today = reading.compared.today
    names = dict.fromkeys([*(item.strategy for item in reading.ranked), *reading.compared.references])
    others = [name for name in names if name != today]
    tables = [
        _table(reading, metrics, [today, *others[at : at + _ACROSS]]) for at in range(0, max(len(others), 1), _ACROSS)
    ]
    more = of(len(others) - _ACROSS, "more strategy", "more strategies")
    folded = (Fold(more, tuple(tables[1:])),) if tables[1:] else ()
    yield Section("numbers", "Every number", "Every number", (tables[0], *folded))


def _metrics(reading: Reading) -> list[str]:
    """The metrics by family in the order of the report, those of others at the end."""
    totals = (name for numbers in reading.compared.totals.values() for name in numbers)
    names, families, known = dict.fromkeys([*reading.compared.metrics, *totals]), [*FAMILIES], [*LABELS]

    def place(name: str) -> tuple[int, int]:
        family = name.split(".")[0]
        return (
            families.index(family) if family in families else len(families),
            known.index(name) if name in known else len(known),
        )

    return sorted(names, key=place)


def _table(reading: Reading, metrics: Sequence[str], names: Sequence[str]) -> Table:
    rows, last = [], ""
    for metric in metrics:
        family, unit = metric.split(".")[0], reading.unit(metric)
        values = [reading.value(name, metric) for name in names]
        cells = [Cell((Span("–", "muted"),) if value is None else quantity(value, unit)) for value in values]
        group = "" if family == last else FAMILIES.get(family, family)
        rows.append(Row((Cell(label(metric, reading.info(metric)), metric), *cells), group=group))
        last = family
    heads = columns("metric", *(number(reading.title(name)) for name in names))
    return table("Every number", heads, rows, look="numbers")
