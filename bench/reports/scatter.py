"""The chart of price against missed turns: a mark per strategy, with its name."""

from __future__ import annotations

import math

from ..model.advice import REFUSED, TODAY, Ranked
from .blocks import CODE, Drawing
from .charts import Axis, Plot, Point, spaced, ticks
from .naming import FIELDS, ON_PHONES, names
from .numbers import count, dollars, listed, percent, sentence_case
from .reading import Reading

_NEAR = 0.2  # of the limit: a mark that close to it has a name

MISSED_TURNS = "turns that would have missed something"
"""The name of the measure on the vertical axis."""
_COLOURS = "Green is acceptable, grey not certain or no saving, the square today, a ring refused."


def scatter(reading: Reading) -> Drawing | None:
    """The chart; None for fewer than two strategies with a price and a share of missed turns."""
    places = {
        item.strategy: (price.per_run * reading.pricing.runs, item.missed_turns)
        for item in reading.ranked
        if (price := reading.price(item)) and item.missed_turns is not None
        if "inactive" not in item.marks and math.isfinite(price.per_run + item.missed_turns)
    }
    if len(places) < 2:
        return None
    limit, (prices, shares) = reading.limit("needed"), zip(*places.values(), strict=True)
    room = (max(prices) - min(prices)) * 0.09 or abs(prices[0]) * 0.1 or 1.0
    across = Axis(min(prices) - 1.5 * room, max(prices) + room)
    down = Axis(max(max(shares) * 1.08, (limit or 0.0) * 1.3, 0.01), 0.0)
    points = tuple(
        _point(reading, name, across.at(price), down.at(missed))
        for name, (price, missed) in places.items()
    )
    plot = _plot(reading, points, across, down, limit)
    inactive = sum("inactive" in item.marks for item in reading.ranked)
    rest = f" Not drawn: {count(inactive)} that changed nothing." if inactive else ""
    if unnamed := _unnamed(plot, points):
        rest += f" Without a name: {listed(unnamed, 9)}."
    measure, left = ("Tokens", "fewer") if reading.counts_tokens else ("Price", "cheaper")
    note = f"Further left is {left}, lower is safer. {_COLOURS}{rest}"
    return Drawing(plot, f"{measure} against missed turns", note)


def _unnamed(plot: Plot, points: tuple[Point, ...]) -> list[str]:
    """The strategies whose marks have no name of their own on wide pages."""
    texts = ", ".join(name.text for name in plot.names if name.wide).split(", ")
    shown = {text.partition(":")[0] for text in texts}
    return [f"`{point.name}`" for point in points if point.name not in shown]


def _point(reading: Reading, name: str, x: float, y: float) -> Point:
    """The mark of a strategy."""
    item, title = reading.by_name[name], reading.title(name)
    price = reading.pricing.money(reading.price(item))
    about = f"{title}: {price}, {percent(item.missed_turns)} missed"
    names = TODAY, reading.advice.cheapest_rejected, *CODE.findall(reading.advice.sentence)
    mark, refusal = reading.mark(name), _other_refusal(item)
    share, limit = item.missed_turns or 0.0, reading.limit("needed") or 0.0
    is_named = bool(refusal) or name in names or abs(share - limit) < _NEAR * limit
    return Point(x, y, mark, about, title, "ship" if mark == "advised" else refusal, is_named)


def _other_refusal(item: Ranked) -> str:
    """Why a strategy is refused though its mark lies below the limit; "" for one above it."""
    failed = [rule.rule for rule in item.rules if not rule.passed]
    if "needed" in failed or item.verdict not in REFUSED:
        return ""
    return "old facts" if failed[:1] == ["far"] else item.verdict


def _plot(
    reading: Reading, points: tuple[Point, ...], across: Axis, down: Axis, limit: float | None
) -> Plot:
    """The marks with their names, both axes, the limit and today's line."""
    about = "; ".join(point.title for point in points[:8])
    today = next((point.x for point in points if point.mark == "today"), None)
    forbidden = (down.at(limit), f"above {percent(limit)}: loses too much") if limit else None
    return Plot(
        f"{sentence_case(reading.price_axis)}, against the share of {MISSED_TURNS}. {about}.",
        marks=points,
        axis=_costs(reading, across),
        axis_title=reading.price_axis,
        scale=tuple((down.at(share), percent(share)) for share in ticks(0.0, down.first, 4)),
        scale_title=MISSED_TURNS,
        limit=forbidden[0] if forbidden else None,
        today=today,
        names=tuple(name for field in FIELDS for name in names(points, field, today, forbidden)),
    )


def _costs(reading: Reading, across: Axis) -> tuple[tuple[float, str], ...]:
    """The labels of the price axis that fit in the plot."""
    words = count if reading.counts_tokens else dollars
    costs = [(across.at(cost), words(cost)) for cost in ticks(across.first, across.last, 4)]
    wide = ON_PHONES.width
    fitting = [(x, text) for x, text in costs if x + 450 * len(text) / wide < 107]
    return spaced(fitting, wide)
