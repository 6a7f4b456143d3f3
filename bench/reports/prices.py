"""The prices of a comparison in words: per run, or per 1,000 runs where a run costs little."""

from __future__ import annotations

import math

from ..model.advice import Price
from .numbers import count, dollars
from .reading import Reading


def price_text(reading: Reading, price: Price | None) -> str:
    """A price without its unit."""
    if price is None:
        return "not priced"
    per_run = price.per_run * reading.prices_by[0]
    if price.unit == "usd":
        return dollars(per_run)
    return count(round(per_run) if math.isfinite(per_run) else None)


def unit(reading: Reading) -> str:
    """The words after a price: per 1,000 runs, tokens a run."""
    words = reading.prices_by[1]
    return f"tokens {words}" if reading.counts_tokens else words


def axis(reading: Reading) -> str:
    """The words for the prices that decide: price per 1,000 runs, with cache."""
    if reading.counts_tokens:
        return unit(reading)
    return ", ".join(filter(None, [f"price {reading.prices_by[1]}", economy(reading)]))


def economy(reading: Reading) -> str:
    """The words for the economy that decides; "" where that is no price."""
    words = {"cached": "with cache", "uncached": "without cache"}
    return words.get(reading.advice.basis, "")
