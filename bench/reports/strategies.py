"""The table of strategies: a row for each, with its sign, its spec, its numbers and its verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..model.advice import Ranked
from .blocks import TONE_OF, Cell, Column, Fold, Row, Span, Table, columns, number, table
from .charts import Range
from .labels import label, why
from .numbers import of, quantity
from .reading import Reading

Numbers = Sequence[tuple[Column, Callable[[Ranked], Cell]]]
"""The columns between the name and the verdict, each with its cell for a strategy."""

NUMBERED = 8
"""With more strategies rows are numbered: where a chart has no room for a name, it shows the
number.
"""
_INACTIVE = 3  # more rows that changed nothing than this are folded


def strategies(reading: Reading, name: str, numbers: Numbers, *, verdicts: bool = True) -> Iterator[Table | Fold]:
    """The table; where many strategies changed nothing, they stand folded below it."""
    rows = [(item, _row(reading, place, item, numbers, verdicts)) for place, item in enumerate(reading.ranked, 1)]
    inactive = [row for item, row in rows if "inactive" in item.marks]
    if len(inactive) <= _INACTIVE or not verdicts:
        inactive = []
    verdict = [Column("verdict", card=" ")] if verdicts else []
    heads = columns("strategy", *(column for column, _ in numbers), *verdict)
    yield table(name, heads, [row for _, row in rows if row not in inactive])
    if inactive:
        title = f"{of(len(inactive), 'strategy', 'strategies')} changed nothing on these runs"
        yield Fold(title, (table(title, heads, inactive),))


def _row(reading: Reading, place: int, item: Ranked, numbers: Numbers, verdicts: bool) -> Row:
    mark = reading.mark(item.strategy)
    place_text = f"{place} " if verdicts and len(reading.ranked) > NUMBERED else ""
    about = "what runs today" if mark == "today" else reading.spec(item.strategy)
    cells = [Cell(place_text + reading.title(item.strategy), about if verdicts else "", mark=mark)]
    cells += [cell_of(item) for _, cell_of in numbers]
    if verdicts:
        cells.append(Cell((Span(item.verdict, TONE_OF[mark], strong=True),), why(item)))
    return Row(tuple(cells), chosen=mark == "advised")


def measured(reading: Reading, metrics: Sequence[str]) -> Numbers:
    """A column by metric: the value, and under a share its count over all runs.

    The first is drawn too.
    """
    pairs: list[tuple[Column, Callable[[Ranked], Cell]]] = []
    for metric in metrics:
        column = number(label(metric, reading.info(metric)))
        pairs.append((column, lambda item, metric=metric: _value(reading, item, metric)))  # type: ignore[misc]
    drawn = (Column("0 to 100%", card="-"), lambda item: _share(reading, item, metrics[0]))
    return [*pairs[:1], drawn, *pairs[1:]] if metrics and reading.unit(metrics[0]) == "fraction" else pairs


def _value(reading: Reading, item: Ranked, metric: str) -> Cell:
    value = reading.value(item.strategy, metric)
    if value is None:
        return Cell("–")
    return Cell(quantity(value, reading.unit(metric)), reading.counts(item.strategy, metric))


def _share(reading: Reading, item: Ranked, metric: str) -> Cell:
    """The value of a share as a bar from 0 to 100%."""
    value = reading.value(item.strategy, metric)
    if value is None:
        return Cell("")
    alt = f"{reading.title(item.strategy)}: {quantity(value, 'fraction')}"
    return Cell("", chart=Range(alt, value, (0.0, value), (0.0, 1.0), reading.mark(item.strategy)))
