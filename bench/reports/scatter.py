"""Price against missed turns: a mark for each strategy, with its name or the number of its row.

A line joins the settings of a sweep.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from ..model.advice import Ranked
from .blocks import Drawing
from .charts import Axis, Line, Plot, spaced, ticks
from .naming import FIELDS, Point, names
from .numbers import count, dollars, percent, sentence_case
from .reading import Reading

MISSED_TURNS = "turns that would have missed something"
"""The name of the measure on the vertical axis."""
_SETTING = re.compile(r"(\w+)=(-?\d+(?:\.\d+)?)(?=$|[^\w.])")


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
    setting, strategies = swept(reading)
    joined = [places[name] for name in strategies.values() if name in places]
    curve = tuple((across.at(price), down.at(missed)) for price, missed in joined)
    plot = _plot(reading, points, across, down, limit, curve)
    measure = "Tokens" if reading.counts_tokens else "Price"
    return Drawing(plot, f"{measure} against missed turns", " ".join(_notes(plot, setting)))


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
    reading: Reading,
    points: Sequence[Point],
    across: Axis,
    down: Axis,
    limit: float | None,
    curve: tuple[tuple[float, float], ...],
) -> Plot:
    """The marks with their names, today's line, the limit, and the line of a sweep."""
    today = next((point.x for point in points if point.mark == "today"), None)
    line = None
    if limit is not None:
        line = Line(down.at(limit), f"above {percent(limit)}: loses too much")
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
        curve,
        names=tuple(name for field in FIELDS for name in names(points, field, today, line)),
    )


def _notes(plot: Plot, setting: str) -> Iterator[str]:
    yield "Left is cheaper, low is safer."
    if len(plot.curve) > 2:
        yield f"The line joins the values of {setting}."
    if any(name.text.isdigit() for name in plot.names):
        yield "A number is a row of the table."


# ---------------------------------------------------------------- sweeps


def swept(reading: Reading) -> tuple[str, Mapping[float, str]]:
    """The setting in which alone most strategies differ, three or more, with these by value."""
    groups: dict[tuple[str, str], dict[float, str]] = {}
    for strategy in reading.compared.strategies:
        spec = reading.spec(strategy)
        for match in _SETTING.finditer(spec):
            rest = f"{spec[: match.start(2)]}*{spec[match.end(2) :]}"
            groups.setdefault((match[1], rest), {})[float(match[2])] = strategy
    large = [
        (f"{name} of {_owner(rest)}", dict(sorted(values.items())))
        for (name, rest), values in groups.items()
        if len(values) > 2
    ]
    return max(large, key=lambda item: len(item[1]), default=("", {}))


def _owner(rest: str) -> str:
    """The plug-in that a setting belongs to: the last name before the star.

    >>> _owner("store=csv+compactor=mask_observations:keep_last=*")
    'mask_observations'
    """
    names = re.findall(r"=?([\w.]+)(?=:)", rest.split("*")[0])
    return names[-1] if names else rest.split("=")[0]
