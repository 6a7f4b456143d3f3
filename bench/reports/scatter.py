"""Price against missed turns: a mark for each strategy, with its name or the number of its row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..model.advice import Ranked
from .blocks import Drawing
from .charts import Axis, Line, Plot, spaced, ticks
from .naming import FIELDS, Point, names
from .numbers import count, dollars, listed, percent, sentence_case
from .reading import Reading

MISSED_TURNS = "turns that would have missed something"
"""The name of the measure on the vertical axis."""


def scatter(reading: Reading) -> Drawing | None:
    """The chart; None for fewer than two strategies that have a price and a share."""
    places = dict(_places(reading))
    if len(places) < 2:
        return None
    limit = reading.limit("needed")
    prices, shares = ([pair[at] for pair in places.values()] for at in (0, 1))
    room = (max(prices) - min(prices)) * 0.09 or abs(prices[0]) * 0.1 or 1.0
    across = Axis(min(prices) - room, max(prices) + room)
    down = Axis(max(max(shares) * 1.08, (limit or 0.0) * 1.3, 0.01), 0.0)
    points = [
        Point(
            reading.title(name), across.at(price), down.at(missed), reading.mark(name),
            reading.rows.get(name, 0), _title(reading, reading.by_name[name]),
        )
        for name, (price, missed) in places.items()
    ]  # fmt: skip
    plot = _plot(reading, points, across, down, limit)
    measure = "Tokens" if reading.counts_tokens else "Price"
    return Drawing(plot, f"{measure} against missed turns", " ".join(_notes(plot, points)))


def _places(reading: Reading) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yields the strategies that changed something, with their finite price and share."""
    for item in reading.ranked:
        price, missed = reading.price(item), item.missed_turns
        if price is None or missed is None or "inactive" in item.marks:
            continue
        if math.isfinite(price.per_run + missed):
            yield item.strategy, (price.per_run * reading.priced_by[0], missed)


def _title(reading: Reading, item: Ranked) -> str:
    """The words of a mark."""
    price = reading.money(reading.price(item))
    return f"{reading.title(item.strategy)}: {price}, {percent(item.missed_turns)} missed"


def _plot(
    reading: Reading, points: Sequence[Point], across: Axis, down: Axis, limit: float | None
) -> Plot:
    """The marks with their names, today's line and the limit."""
    today = next((point.x for point in points if point.mark == "today"), None)
    line = None
    if limit is not None:
        line = Line(down.at(limit), f"above {percent(limit)}: loses too much", "above")
    price = count if reading.counts_tokens else dollars
    costs = [(across.at(cost), price(cost)) for cost in ticks(across.first, across.last, 4)]
    if all(text.endswith(".00") for _, text in costs):
        costs = [(x, text.removesuffix(".00")) for x, text in costs]
    titles = "; ".join(point.title for point in points[:8])
    return Plot(
        f"{sentence_case(reading.price_axis)}, against the share of {MISSED_TURNS}. {titles}.",
        tuple((point.x, point.y, point.mark, point.title) for point in points),
        spaced(costs, FIELDS[1].width),
        reading.price_axis,
        tuple((down.at(share), percent(share)) for share in ticks(0.0, down.first, 4)),
        MISSED_TURNS,
        line,
        today,
        names=tuple(name for field in FIELDS for name in names(points, field, today, line)),
    )


def _notes(plot: Plot, points: Sequence[Point]) -> Iterator[str]:
    yield "Left is cheaper, low is safer."
    if any(name.text.isdigit() for name in plot.names):
        yield "A number is a row of the table."
    limit = plot.line.at if plot.line else 0.0
    below = [point.name for point in points if point.mark == "rejected" and point.y >= limit]
    if below and plot.line:
        verb = "is" if len(below) == 1 else "are"
        yield f"{listed(below, 3)} {verb} rejected for other reasons; the table says which."
