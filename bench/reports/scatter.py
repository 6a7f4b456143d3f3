"""The chart of price against missed turns: a mark per strategy, with its name."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..comparison.wording import change
from ..model.advice import TODAY
from ..text.wording import percent, sentence_case
from .blocks import Drawing
from .charts import Axis, Plot, Point, spaced, stretched
from .naming import FIELDS, ON_PHONES, names
from .reading import Reading

_TICKS = [digit * 10.0**power for power in range(2, -4, -1) for digit in (5, 2, 1)]

MISSED_TURNS = "turns that would have missed something"
"""The name of the measure on the vertical axis."""
_COLOURS = "Green may ship, grey is not certain or no gain, a ring is refused."


def scatter(reading: Reading) -> Drawing | None:
    """The chart; None without a price and a share of missed turns of today's and another one."""
    advice = reading.advice
    shown = [
        (item, price.per_run, item.missed_turns)
        for item in advice.ranked
        if (price := item.price) and item.missed_turns is not None
        if "inactive" not in item.marks and math.isfinite(price.per_run + item.missed_turns)
    ]
    shown.sort(key=lambda one: one[0].strategy != advice.subject)
    today = next((price for item, price, _ in shown if item.strategy == TODAY), None)
    if today is None or len(shown) < 2:
        return None
    xs = [stretched(price / (today or 1.0) - 1) for _, price, _ in shown]
    room = 0.13 * (max(xs) - min(xs)) or 0.1
    across = Axis(min(xs) - room, max(xs) + room)
    results = filter(None, (item.result("needed") for item in advice.ranked))
    limit = next((it.limit for it in results if it.limit is not None), None)
    most = max(missed for *_, missed in shown)
    down = Axis(stretched(max(most * 1.2, (limit or 0.0) * 1.4, 0.01)), 0.0)
    points = tuple(
        Point(
            across.at(x),
            down.at(stretched(missed)),
            reading.mark(item.strategy),
            f"{reading.title(item.strategy)}: {reading.pricing.money(item.price)}, "
            f"{percent(missed)} missed",
            f"{reading.title(item.strategy)}{': ship' * (item.strategy == advice.advised)}",
        )
        for (item, _, missed), x in zip(shown, xs, strict=True)
    )
    plot = _plot(reading, points, across, down, limit)
    measure = "Tokens" if reading.counts_tokens else "Price"
    note = f"{_COLOURS} Small differences are enlarged; where a name has no room, the table has it."
    return Drawing(plot, f"{measure} against missed turns", note)


def _plot(
    reading: Reading, points: tuple[Point, ...], across: Axis, down: Axis, limit: float | None
) -> Plot:
    """The marks with their names, both axes, the limit and today's line."""
    about = "; ".join(point.title for point in points[:8])
    today = next((point.x for point in points if point.mark == "today"), None)
    top = down.at(stretched(limit)) if limit else None
    forbidden = None if top is None else (top, f"above {percent(limit)}: loses too much")
    money = reading.pricing.money(reading.advice.todays_price)
    return Plot(
        f"{sentence_case(reading.price_axis)}, against the share of {MISSED_TURNS}. {about}.",
        marks=points,
        axis=_labels(
            across,
            lambda moved: change(1 + moved) if moved else money,
            lambda text: 100 * (7.5 * len(text) + 12) / ON_PHONES.width,
        ),
        axis_title=f"{reading.price_axis}, change against today",
        scale=_labels(down, percent, lambda _: 100 * 24 / ON_PHONES.height),
        scale_title=MISSED_TURNS,
        limit=top,
        today=today,
        names=tuple(name for field in FIELDS for name in names(points, field, today, forbidden)),
    )


def _labels(
    axis: Axis, words: Callable[[float], str], room: Callable[[str], float]
) -> tuple[tuple[float, str], ...]:
    """The labels of an axis of stretched values that fit: that of 0, then from the outside."""
    values = [0.0, *(sign * tick for tick in _TICKS for sign in (1, -1))]
    places = ((axis.at(stretched(value)), words(value)) for value in values)
    return spaced(((at, text) for at, text in places if 0 <= at <= 100.1), room)
