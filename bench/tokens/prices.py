"""Counts into money and windows: unit prices of a model, from the dated tables of genai-prices, offline.

Prices are those of the day a trace was recorded, or of `UNDATED` for a trace without times, so that
the same input costs the same tomorrow.
"""

from __future__ import annotations

import functools
import importlib.metadata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

UNDATED = datetime(2026, 11, 1, tzinfo=UTC)
"""The day whose prices a trace without timestamps is charged."""


@dataclass(frozen=True)
class UnitPrices:
    """The prices of one model in US dollars a token, at a given size of prompt.

    `cached_read` and `cache_write` fall back to the plain input price where the provider lists
    none, writes for an hour to those for five minutes.
    """

    provider: str
    model: str
    _input: Any
    _output: Any
    _cached_read: Any
    _cache_write: Any
    _cache_write_1h: Any = None

    def cost_usd(self, prompt_tokens: int, cached: int, written: int, output_tokens: int, written_1h: int = 0) -> float:
        """Dollars of one call. Of `prompt_tokens` the cache gave `cached`, and `written` went into it.

        `written_1h` are those of `written` that are kept an hour.
        """
        return sum(self.parts(prompt_tokens, cached, written, output_tokens, written_1h)) / 1e6

    def parts(
        self, prompt_tokens: int, cached: int, written: int, output_tokens: int, written_1h: int = 0
    ) -> tuple[float, ...]:
        """Millionths of a dollar of one call: new, cached and written tokens, and its answer."""
        fresh, read, write, answer, hour = self._flat or self._rates(prompt_tokens)
        plain = prompt_tokens - cached - written
        writes = (written - written_1h) * write + written_1h * hour
        return plain * fresh, cached * read, writes, output_tokens * answer

    def _rates(self, size: int) -> tuple[float, ...]:
        read, write = self._cached_read or self._input, self._cache_write or self._input
        prices = self._input, read, write, self._output, self._cache_write_1h or write
        return tuple(_at(price, size) for price in prices)

    @functools.cached_property
    def _flat(self) -> tuple[float, ...] | None:
        """The rates of a model whose prices are the same at every size of prompt."""
        prices = self._input, self._output, self._cached_read, self._cache_write, self._cache_write_1h
        return None if any(hasattr(price, "tiers") for price in prices) else self._rates(0)


def _at(price: Any, prompt_tokens: int) -> float:
    """Dollars a million tokens at a size of prompt, whose tier holds for all of the request."""
    if price is None:
        return 0.0
    tiers = getattr(price, "tiers", None)
    if tiers is None:
        return float(price)
    reached = [tier.price for tier in tiers if prompt_tokens > tier.start]
    return float(reached[-1] if reached else price.base)


@functools.cache
def _find(model: str) -> tuple[Any, Any] | None:
    from genai_prices.data_snapshot import get_snapshot

    prefix, _, name = model.rpartition("/")
    snapshot = get_snapshot()
    for provider in (prefix.rpartition("/")[2] or None, None):
        try:
            return snapshot.find_provider_model(name, None, provider, None)
        except LookupError:
            continue
    return None


@functools.lru_cache(maxsize=4096)
def unit_prices(model: str | None, recorded_at_s: float | None = None) -> UnitPrices | None:
    """The prices of a model on a day (seconds since the epoch); None for one without listed prices."""
    known = _find(model) if model else None
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
    return UnitPrices(
        provider.id,
        info.id,
        prices.input_mtok,
        prices.output_mtok,
        prices.cache_read_mtok,
        prices.cache_write_mtok,
        getattr(prices, "cache_write_1h_mtok", None),
    )


def models() -> tuple[str, ...]:
    """The names of the models whose prices are known."""
    from genai_prices.data_snapshot import get_snapshot

    return tuple({model.id for provider in get_snapshot().providers for model in provider.models})


def window_tokens(model: str | None) -> int | None:
    """The context window of a model in tokens; None where the model is unknown or lists none."""
    known = _find(model) if model else None
    window = known[1].context_window if known else None
    return int(window) if window else None


def provider_of(model: str | None) -> str | None:
    """The provider's id of a model, for the rules of its prompt cache; None where unknown."""
    known = _find(model) if model else None
    return str(known[0].id) if known else None


def prices_date() -> str:
    """Return what fixes every price: the version of the price tables and the day used for undated traces."""
    return f"genai-prices {importlib.metadata.version('genai-prices')}, undated traces at {UNDATED.date().isoformat()}"
