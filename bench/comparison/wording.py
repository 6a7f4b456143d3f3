"""Changes and prices in words."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..model.advice import NOISE, TODAY, Advice, Price
from ..text.wording import MINUS, count, counted, dollars, percent


def change(ratio: float | None) -> str:
    """A ratio to today as a signed percentage; "" where there is none.

    >>> change(0.921), change(1.019), change(1.0), change(0.9999), change(None)
    ('−7.9%', '+1.9%', '0%', '≈0%', '')
    """
    if ratio is None or not math.isfinite(ratio):
        return ""
    text = percent(abs(ratio - 1))
    if ratio == 1 or text == "0%":
        return text
    if text.startswith("<"):
        return "≈0%"
    return f"{'+' if ratio > 1 else MINUS}{text}"


def costs(price: Price) -> str:
    """The change of a price against today in words. Tokens are not called a cost: the provider's
    cache may make fewer of them dearer.

    >>> costs(Price(unit="usd", per_run=1, ratio=0.64)), costs(Price(unit="usd", per_run=1, ratio=1.03))
    ('costs 36% less', 'costs 3% more')
    >>> costs(Price(unit="tokens", per_run=1, ratio=0.64)), costs(Price(unit="tokens", per_run=1, ratio=1))
    ('uses 36% fewer tokens', 'uses as many tokens')
    """
    less, more, same = "costs {} less", "costs {} more", "costs as much"
    if price.unit == "tokens":
        less, more, same = "uses {} fewer tokens", "uses {} more tokens", "uses as many tokens"
    if price.saves:
        return less.format(percent(1 - (price.ratio or 0)))
    is_more = price.ratio and price.ratio > 1 + NOISE
    return more.format(percent((price.ratio or 0) - 1)) if is_more else same


_CHEAP = 0.1
"""The dollars a run below which prices are stated per 1,000 runs."""


class Pricing(NamedTuple):
    """The way in which a comparison states prices: for a number of runs, in a unit ("a run", "per
    1,000 runs", "tokens a run"), with or without the cache ("" if nothing is priced)."""

    runs: int
    unit: str
    economy: str

    def money(self, price: Price | None) -> str:
        """A price without its unit.

        >>> Pricing(1000, "per 1,000 runs", "").money(Price(unit="usd", per_run=0.0042))
        '$4.20'
        """
        if price is None:
            return "not priced"
        if price.unit == "usd":
            return dollars(price.per_run * self.runs)
        return count(round(price.per_run) if math.isfinite(price.per_run) else None)


def pricing_of(advice: Advice) -> Pricing:
    """The way to state the prices of an advice: by today's price, else by the first price."""
    items = sorted(advice.ranked, key=lambda item: item.strategy != TODAY)
    prices = [price for item in items if (price := advice.price(item))]
    first = next((price for price in prices if math.isfinite(price.per_run)), None)
    words = {"cached": "with cache", "uncached": "without cache"}.get(advice.basis, "")
    if first is not None and first.unit == "tokens":
        return Pricing(1, "tokens a run", "")
    if first is not None and first.per_run < _CHEAP:
        return Pricing(1000, "per 1,000 runs", words)
    return Pricing(1, "a run", words)


def sample(advice: Advice, many: int | None = None) -> str:
    """A number of tasks, or of runs if each run is its own task; by default those of the advice."""
    unit = "task" if advice.tasks != advice.runs else "run"
    return counted(advice.tasks if many is None else many, unit)


def means(advice: Advice) -> str:
    """The words for shares over all runs: "means over runs", or over tasks if they are fewer."""
    return f"means over {sample(advice, 2).partition(' ')[2]}"


def bases(advice: Advice) -> str:
    """The bases of the numbers in a table of metrics, as a sentence."""
    return f"Prices and tokens are per run, other counts totals, shares {means(advice)}."
