"""Prices and context windows of models, from the dated tables of genai-prices, offline.

Prices are those of the day a trace was recorded, or of `UNDATED` for a trace without times, so that
the same input costs the same tomorrow.
"""

from __future__ import annotations

import functools
import importlib.metadata
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ..model.base import Value

UNDATED = datetime(2026, 11, 1, tzinfo=UTC)
"""The day whose prices a trace without timestamps is charged."""


class Rates(NamedTuple):
    """Dollars for a million tokens of each use; `hour` is for writes that are kept an hour."""

    new: float
    cached: float
    written: float
    answer: float
    hour: float


class UnitPrices(Value, frozen=True, array_like=True):
    """The prices of one model in US dollars a token. `rates` apply to prompts above a number of
    tokens.

    Cached and written tokens cost the plain input price where the provider lists no other, and
    one-hour writes the five-minute price.
    """

    provider: str
    model: str
    rates: tuple[tuple[int, Rates], ...]

    def cost_usd(
        self, prompt_tokens: int, cached: int, written: int, output_tokens: int, written_1h: int = 0
    ) -> float:
        """Dollars of one call. Of the `prompt_tokens`, `cached` were read from the cache and
        `written` were written to it, of these `written_1h` for an hour."""
        return sum(self.parts(prompt_tokens, cached, written, output_tokens, written_1h)) / 1e6

    def parts(
        self, prompt_tokens: int, cached: int, written: int, output_tokens: int, written_1h: int = 0
    ) -> tuple[float, ...]:
        """Millionths of a dollar of one call: new, cached and written tokens, and its answer."""
        (_, rates), *tiers = self.rates
        for above, more in tiers:
            rates = more if prompt_tokens > above else rates
        new = prompt_tokens - cached - written
        writes = (written - written_1h) * rates.written + written_1h * rates.hour
        return new * rates.new, cached * rates.cached, writes, output_tokens * rates.answer


def rates_of(
    new: Any, answer: Any, cached: Any = None, written: Any = None, hour: Any = None
) -> tuple[tuple[int, Rates], ...]:
    """The rates of a model, each with the prompt size from which it applies. A price is a number, a
    price with tiers, or None where none is listed; 0 is a price.

    >>> rates_of(3, 15, cached=0)
    ((0, Rates(new=3.0, cached=0.0, written=3.0, answer=15.0, hour=3.0)),)
    """
    cached, written = (new if price is None else price for price in (cached, written))
    prices = new, cached, written, answer, written if hour is None else hour
    starts = {tier.start for price in prices for tier in getattr(price, "tiers", ())}

    def rates_at(size: int) -> Rates:
        """The rates at a prompt size."""
        return Rates(*(_price_at(price, size) for price in prices))

    return (0, rates_at(0)), *((start, rates_at(start + 1)) for start in sorted(starts))


def _price_at(price: Any, prompt_tokens: int) -> float:
    """Dollars a million tokens at a prompt size: the tier of that size applies to the whole
    request."""
    tiers = getattr(price, "tiers", None)
    if tiers is None:
        return float(price)
    reached = [tier.price for tier in tiers if prompt_tokens > tier.start]
    return float(reached[-1] if reached else price.base)


@functools.cache
def _find(model: str | None) -> tuple[Any, Any] | None:
    """The provider and the model in genai-prices for a name such as `openai/gpt-4o`; None if
    unknown."""
    if not model:
        return None
    from genai_prices.data_snapshot import get_snapshot

    prefix, _, name = model.rpartition("/")
    _, _, stated = prefix.rpartition("/")
    snapshot = get_snapshot()
    for provider in (stated or None, None):
        try:
            return snapshot.find_provider_model(name, None, provider, None)
        except LookupError:
            continue
    return None


@functools.lru_cache(maxsize=4096)
def unit_prices(model: str | None, recorded_at_s: float | None = None) -> UnitPrices | None:
    """The prices of a model at a time (seconds since the epoch); None if no prices are
    listed."""
    known = _find(model)
    if known is None:
        return None
    provider, info = known
    try:
        when = UNDATED if recorded_at_s is None else datetime.fromtimestamp(recorded_at_s, UTC)
    except (ValueError, OverflowError, OSError):
        when = UNDATED
    prices = info.get_prices(when)
    if prices.input_mtok is None or prices.output_mtok is None:
        return None
    hour = getattr(prices, "cache_write_1h_mtok", None)
    caching = prices.cache_read_mtok, prices.cache_write_mtok, hour
    rates = rates_of(prices.input_mtok, prices.output_mtok, *caching)
    return UnitPrices(provider.id, info.id, rates)


def models() -> tuple[str, ...]:
    """The names of all models with prices."""
    from genai_prices.data_snapshot import get_snapshot

    return tuple({model.id for provider in get_snapshot().providers for model in provider.models})


def window_tokens(model: str | None) -> int | None:
    """The context window of a model in tokens; None if it is not known."""
    _, info = _find(model) or (None, None)
    return int(info.context_window) if info and info.context_window else None


def provider_of(model: str | None) -> str | None:
    """The id of a model's provider, for the rules of its prompt cache; None if it is not known."""
    provider, _ = _find(model) or (None, None)
    return str(provider.id) if provider else None


def prices_date() -> str:
    """The text that identifies all prices: the version of the price tables and the day for undated
    traces."""
    return f"genai-prices {importlib.metadata.version('genai-prices')}, undated traces at {UNDATED.date().isoformat()}"
