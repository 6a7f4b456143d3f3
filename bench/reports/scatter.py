"""Price against missed turns: a mark for each strategy, with its name or the number of its row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from .blocks import Drawing
from .charts import Axis, Line, Plot, spaced, ticks
from .naming import FIELDS, Point, names
from .numbers import count, dollars, listed, percent, sentence_case
from .prices import axis, price_text
from .reading import REFUSED, Reading
from .spread import swept

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
            reading.title(name),
            across.at(price),
            down.at(missed),
            reading.mark(name),
            reading.rows.get(name, 0),
            _title(reading, name),
        )
        for name, (price, missed) in places.items()
    ]
    plot = _plot(reading, points, across, down, limit)
    measure = "Tokens" if reading.counts_tokens else "Price"
    return Drawing(plot, f"{measure} against missed turns", " ".join(_notes(reading, limit)))


def _places(reading: Reading) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yields the strategies that changed something, with their finite price and share."""
    for item in reading.ranked:
        price, missed = reading.price(item), item.missed_turns
        if price is None or missed is None or "inactive" in item.marks:
            continue
        if math.isfinite(price.per_run + missed):
            yield item.strategy, (price.per_run * reading.prices_by[0], missed)


def _title(reading: Reading, name: str) -> str:
    """The words of a mark."""
    item = reading.by_name[name]
    price = price_text(reading, reading.price(item))
    return f"{reading.title(name)}: {price}, {percent(item.missed_turns)} missed"


def _plot(
    reading: Reading, points: Sequence[Point], across: Axis, down: Axis, limit: float | None
) -> Plot:
    """The marks with their names, today's line, the limit, and a line for each sweep."""
    today = next((point.x for point in points if point.mark == "today"), None)
    words = None if limit is None else (down.at(limit), f"above {percent(limit)}: loses too much")
    by_name = {point.name: (point.x, point.y) for point in points}
    near = 0.0 if limit is None else down.at(limit)
    shares = [(down.at(value), percent(value)) for value in ticks(0.0, down.first, 4)]
    return Plot(
        f"{sentence_case(axis(reading))}, against the share of {MISSED_TURNS}. "
        f"{'; '.join(point.title for point in points[:8])}.",
        tuple((point.x, point.y, point.mark, point.title) for point in points),
        spaced([*_prices(reading, across)], FIELDS[1].width),
        axis(reading),
        tuple((y, text) for y, text in shares if limit is None or abs(y - near) > 4),
        MISSED_TURNS,
        None if limit is None else Line(near, percent(limit), "above"),
        today,
        tuple(_swept_lines(reading, by_name)),
        names=tuple(name for field in FIELDS for name in names(points, field, today, words)),
    )


def _swept_lines(
    reading: Reading, places: Mapping[str, tuple[float, float]]
) -> Iterator[tuple[tuple[float, float], ...]]:
    """Yields the places of the settings of each sweep, in order."""
    for _, by_value in swept(reading):
        line = tuple(places[name] for name in by_value.values() if name in places)
        if len(line) > 1:
            yield line


def _prices(reading: Reading, across: Axis) -> Iterator[tuple[float, str]]:
    """Yields the labels of the prices below the chart."""
    values = ticks(across.first, across.last, 4)
    step = values[1] - values[0] if len(values) > 1 else 0.0
    for value in values:
        yield across.at(value), _price(value, step, dollar=not reading.counts_tokens)


def _price(value: float, step: float, *, dollar: bool) -> str:
    """A price on an axis, with as many digits as its steps need."""
    if dollar and 0 < step < 1:
        decimals = len(f"{step:.9f}".rstrip("0").partition(".")[2])
        return f"${value:,.{max(2, decimals)}f}"
    if dollar:
        return dollars(value).removesuffix(".00")
    if abs(value) >= 1e6 and step >= 1e5:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if abs(value) >= 1e4 else count(value)


def _notes(reading: Reading, limit: float | None) -> Iterator[str]:
    rows = " A number is a row of the table." if reading.rows else ""
    yield f"Left is cheaper, low is safer.{rows}"
    below = [
        item.strategy
        for item in reading.ranked
        if item.verdict in REFUSED and limit is not None and (item.missed_turns or 0.0) <= limit
    ]
    if below:
        verb = "is" if len(below) == 1 else "are"
        yield f"{listed(below, 3)} {verb} rejected for other reasons; the table says which."
    if sweeps := swept(reading):
        yield f"A line joins the settings of {listed([setting for setting, _ in sweeps])}."
