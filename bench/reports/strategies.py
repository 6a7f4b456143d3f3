"""The table of strategies: a row for each, with its sign, its spec, its numbers and its verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..model.advice import Ranked
from .blocks import TONE_OF, Cell, Column, Fold, Row, Span, Table, columns, number, table
from .labels import label, why
from .numbers import of, quantity
from .reading import Reading

Numbers = Sequence[tuple[Column, Callable[[Ranked], Cell]]]
"""The columns between the name and the verdict, each with its cell for a strategy."""

NUMBERED = 12
"""With more strategies rows are numbered: where a chart has no room for a name, it shows the number."""
_INACTIVE = 3  # more rows that changed nothing than this are folded


def strategies(reading: Reading, name: str, numbers: Numbers, *, verdicts: bool = True) -> Iterator[Table | Fold]:
    """The table; where many strategies changed nothing, they stand folded below it."""
    ranked = list(enumerate(reading.ranked, 1))
    inactive = [pair for pair in ranked if "inactive" in pair[1].marks]
    if len(inactive) <= _INACTIVE or not verdicts:
        inactive = []
    verdict = [Column("verdict", card=" ")] if verdicts else []
    heads = columns("strategy", *(column for column, _ in numbers), *verdict)
    acted = [_row(reading, *pair, numbers, verdicts) for pair in ranked if pair not in inactive]
    yield table(name, heads, acted)
    if inactive:
        title = f"{of(len(inactive), 'strategy', 'strategies')} changed nothing on these runs"
        rows = [_row(reading, *pair, numbers, verdicts) for pair in inactive]
        yield Fold(title, (table(title, heads, rows),))


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
    """A column by metric: the value, and under a share its count over all runs."""

    def cell(item: Ranked, metric: str) -> Cell:
        value = reading.value(item.strategy, metric)
        counts = reading.counts(item.strategy, metric)
        return Cell("–") if value is None else Cell(quantity(value, reading.unit(metric)), counts)

    return [
        (number(label(name, reading.info(name))), lambda item, name=name: cell(item, name))  # type: ignore[misc]
        for name in metrics
    ]
