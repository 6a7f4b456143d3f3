"""The chart of price against missed turns: a mark per strategy, with its name or row number.

A line joins the settings of a sweep.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..model.advice import TODAY
from .blocks import Drawing
from .charts import Axis, Plot, spaced, ticks
from .naming import FIELDS, ON_PHONES, Point, names
from .numbers import count, dollars, percent, sentence_case
from .reading import Reading

MISSED_TURNS = "turns that would have missed something"
"""The name of the measure on the vertical axis."""
_SETTING = re.compile(r"(\w+)=(-?\d+(?:\.\d+)?)(?=$|[^\w.])")


def scatter(reading: Reading) -> Drawing | None:
    """The chart; None for fewer than two strategies with a price and a share of missed turns."""
    places = {
        item.strategy: (price.per_run * reading.price_basis.runs, item.missed_turns)
        for item in reading.ranked
        if (price := reading.price(item)) and item.missed_turns is not None
        if "inactive" not in item.marks and math.isfinite(price.per_run + item.missed_turns)
    }
    if len(places) < 2:
        return None
    limit = reading.limit("needed")
    prices, shares = zip(*places.values(), strict=True)
    room = (max(prices) - min(prices)) * 0.09 or abs(prices[0]) * 0.1 or 1.0
    across = Axis(min(prices) - room, max(prices) + room)
    down = Axis(max(max(shares) * 1.08, (limit or 0.0) * 1.3, 0.01), 0.0)
    at = {name: (across.at(price), down.at(missed)) for name, (price, missed) in places.items()}
    setting, strategies = swept(reading)
    plot = Plot(
        "",
        marks=tuple((*at[name], reading.mark(name), _title(reading, name)) for name in at),
        axis=_costs(reading, across),
        axis_title=reading.price_axis,
        scale=tuple((down.at(share), percent(share)) for share in ticks(0.0, down.first, 4)),
        scale_title=MISSED_TURNS,
        limit=down.at(limit) if limit else None,
        today=at[TODAY][0] if TODAY in at else None,
        curve=tuple(at[name] for name in strategies if name in at),
    )
    plot = _with_names(reading, plot, list(at))
    measure = "Tokens" if reading.counts_tokens else "Price"
    return Drawing(
        plot, f"{measure} against missed turns", " ".join(_notes(reading, plot, setting))
    )


def _title(reading: Reading, name: str) -> str:
    """The text of a strategy's mark: its name, price and missed turns."""
    item = reading.by_name[name]
    price = reading.money(reading.price(item))
    return f"{reading.title(name)}: {price}, {percent(item.missed_turns)} missed"


def _costs(reading: Reading, across: Axis) -> tuple[tuple[float, str], ...]:
    """The labels of the price axis; without cents if all are whole dollars."""
    words = count if reading.counts_tokens else dollars
    costs = [(across.at(cost), words(cost)) for cost in ticks(across.first, across.last, 4)]
    if all(text.endswith(".00") for _, text in costs):
        costs = [(x, text.removesuffix(".00")) for x, text in costs]
    return spaced(costs, ON_PHONES.width)


def _with_names(reading: Reading, plot: Plot, strategies: Sequence[str]) -> Plot:
    """The plot with names beside its marks and its limit, and with its description."""
    points = [
        Point(reading.title(name), x, y, mark, reading.row_numbers.get(name, 0))
        for name, (x, y, mark, _) in zip(strategies, plot.marks, strict=True)
    ]
    titles = "; ".join(title for *_, title in plot.marks[:8])
    share = percent(reading.limit("needed"))
    limit = None if plot.limit is None else (plot.limit, f"above {share}: loses too much")
    return replace(
        plot,
        alt=f"{sentence_case(plot.axis_title)}, against the share of {MISSED_TURNS}. {titles}.",
        names=tuple(name for field in FIELDS for name in names(points, field, plot.today, limit)),
    )


def _notes(reading: Reading, plot: Plot, setting: str) -> Iterator[str]:
    """Yield sentences that explain the chart."""
    yield "Further left is cheaper, lower is safer."
    if len(plot.curve) > 2:
        yield f"The line joins the values of {setting}."
    if reading.row_numbers:
        yield "Numbers are rows of the table."


# ---------------------------------------------------------------- sweeps


def swept(reading: Reading) -> tuple[str, list[str]]:
    """The setting of the largest sweep, and its strategies in the order of their values.

    A sweep is three or more strategies that differ in nothing but the value of one setting.
    """
    groups: dict[tuple[str, str], dict[float, str]] = {}
    for strategy in reading.compared.strategies:
        spec = reading.spec(strategy)
        for match in _SETTING.finditer(spec):
            rest = f"{spec[: match.start(2)]}*{spec[match.end(2) :]}"
            groups.setdefault((match[1], rest), {})[float(match[2])] = strategy
    sweep = max(groups, key=lambda group: len(groups[group]), default=("", ""))
    strategies = [strategy for _, strategy in sorted(groups.get(sweep, {}).items())]
    setting, _ = sweep
    return setting, strategies if len(strategies) > 2 else []
