"""The first screen of a scenario about stores, evaluators or routers.

What they keep, not what they save.
"""

from __future__ import annotations

from .blocks import TONE_OF, Bars, Cell, Column, Figure, Figures, Row, Span, Table, Tone
from .labels import label, sentence_case, why
from .numbers import count, percent, quantity
from .reading import REFUSED, Reading


def measured_figures(reading: Reading) -> Figures:
    """The three figures of a scenario that is not about savings: best, today, worst.

    A bar by strategy.
    """
    metric = reading.measure
    unit = reading.unit(metric)
    found = [
        (value, item.strategy) for item in reading.ranked if (value := reading.value(item.strategy, metric)) is not None
    ]
    order = ("advised", "other", "rejected", "today")
    found.sort(key=lambda pair: (-pair[0], order.index(reading.mark(pair[1]))))
    name = sentence_case(label(metric, reading.info(metric)))

    def figure(title: str, pair: tuple[float, str], tone: Tone) -> Figure:
        return Figure(title, _of(reading, pair[1], metric), tone, name, f"{percent(pair[0])}")

    best, worst = found[0], found[-1]
    today = next((pair for pair in found if pair[1] == reading.compared.today), None)
    items = [
        figure(
            f"Best: {reading.shown(best[1])}",
            best,
            "good" if best[1] == reading.advice.advised else "",
        )
    ]
    items += [figure("Today", today, "")] if today and today is not best else []
    if worst[1] not in (best[1], reading.compared.today):
        items.append(figure(f"Lowest: {worst[1]}", worst, "bad" if worst[0] < best[0] else ""))
    kept = sum(item.verdict not in REFUSED and item.strategy != reading.compared.today for item in reading.ranked)
    tried = sum(item.strategy != reading.compared.today for item in reading.ranked)
    items += [Figure("Within limits", f"{count(kept)} of {count(tried)}", "", "strategies")] if len(items) < 3 else []
    top = max(abs(best[0]), 1e-12) if unit != "fraction" else 1.0
    bars = tuple(
        (reading.shown(who), max(0.0, value) / top, _of(reading, who, metric), reading.mark(who))
        for value, who in found
    )
    alt = f"{name}: " + "; ".join(f"{who} {text}" for who, _, text, _ in bars[:8])
    return Figures(tuple(items), name, Bars(alt, bars))


def _of(reading: Reading, strategy: str, metric: str) -> str:
    """A share as a count of what it is a share of, where that comes out whole: 251 of 364."""
    number = reading.number(strategy, metric)
    if number is None or number.value is None:
        return quantity(None, "")
    hits = number.value * number.weight
    if reading.unit(metric) == "fraction" and number.weight > 1 and abs(hits - round(hits)) < 1e-6:
        return f"{count(round(hits))} of {count(number.weight)}"
    return quantity(number.value, reading.unit(metric))


def measured_table(reading: Reading) -> Table:
    """A row by strategy with what it is measured by."""
    shown = reading.measures
    rows = []
    for item in reading.ranked:
        mark = reading.mark(item.strategy)
        tone = TONE_OF[mark]
        about = "what runs today" if mark == "today" else reading.spec(item.strategy)
        cells = [Cell(reading.shown(item.strategy), about, mark=mark)]
        cells += [Cell(_of(reading, item.strategy, name)) for name in shown]
        cells.append(Cell((Span(item.verdict, tone, strong=True),), why(item)))
        rows.append(Row(tuple(cells), chosen=mark == "advised"))
    columns = (
        Column("strategy"),
        *(Column(label(name, reading.info(name)), True) for name in shown),
        Column("verdict", card=" "),
    )
    return Table("All strategies", columns, tuple(rows), "cards")
