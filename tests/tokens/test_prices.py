"""Money: unit prices on the day of the recording, tiers by the size of the request, and no price where none is listed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from bench.tokens.prices import UNDATED, UnitPrices, prices_date, provider_of, rates_of, unit_prices, window_tokens


def test_the_price_of_a_call_is_the_sum_of_its_parts():
    prices = UnitPrices("p", "m", rates_of(3, 15, 0.3, 3.75))
    # 1,000 prompt tokens: 200 read from the cache, 300 written to it, 500 plain; 100 tokens of output
    expected = (500 * 3 + 200 * 0.3 + 300 * 3.75 + 100 * 15) / 1e6
    assert prices.cost_usd(1000, 200, 300, 100) == pytest.approx(expected, rel=1e-12)
    assert prices.cost_usd(0, 0, 0, 0) == 0


def test_a_provider_without_cache_prices_charges_the_plain_one():
    prices = UnitPrices("p", "m", rates_of(3, 15, None, None))
    assert prices.cost_usd(1000, 200, 300, 0) == pytest.approx(1000 * 3 / 1e6, rel=1e-12)


@dataclass
class Tier:
    start: int
    price: float


@dataclass
class Tiered:
    base: float
    tiers: list[Tier]


@pytest.mark.parametrize(("prompt_tokens", "a_million"), [(199_999, 3), (200_000, 3), (200_001, 6), (1_000_001, 9)])
def test_a_price_tier_applies_to_the_entire_request(prompt_tokens, a_million):
    prices = UnitPrices("p", "m", rates_of(Tiered(3, [Tier(200_000, 6), Tier(1_000_000, 9)]), 0, None, None))
    assert prices.cost_usd(prompt_tokens, 0, 0, 0) == pytest.approx(prompt_tokens * a_million / 1e6, rel=1e-12)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_reading_from_the_cache_never_costs_more(prompt_tokens, cached, output_tokens):
    prices = unit_prices("gpt-4o")
    cached = min(cached, prompt_tokens)
    plain = prices.cost_usd(prompt_tokens, 0, 0, output_tokens)
    assert 0 <= prices.cost_usd(prompt_tokens, cached, 0, output_tokens) <= plain


def test_listed_prices_are_found_by_model():
    """As published: gpt-4o at 2.50 and 10 dollars a million tokens, cached input at half."""
    prices = unit_prices("gpt-4o")
    assert prices.provider == "openai"
    assert prices.cost_usd(1_000_000, 0, 0, 0) == pytest.approx(2.5)
    assert prices.cost_usd(1_000_000, 1_000_000, 0, 0) == pytest.approx(1.25)
    assert prices.cost_usd(0, 0, 0, 1_000_000) == pytest.approx(10)
    assert unit_prices("openai/gpt-4o") == prices


@pytest.mark.parametrize("model", [None, "", "no-such-model", "nobody/no-such-model"])
def test_a_model_without_listed_prices_has_none(model):
    assert unit_prices(model) is None
    assert window_tokens(model) is None
    assert provider_of(model) is None


@pytest.mark.parametrize("when", [float("nan"), float("inf"), 1e20, -1e20])
def test_a_time_that_is_no_date_counts_as_undated(when):
    assert unit_prices("gpt-4o", when) == unit_prices("gpt-4o", UNDATED.timestamp())


def test_prices_are_those_of_the_day_recorded():
    """o3 cost 10 dollars a million at its start and 2 from June 2025 on."""
    before = unit_prices("o3", datetime(2025, 5, 1, tzinfo=UTC).timestamp())
    after = unit_prices("o3", datetime(2025, 8, 1, tzinfo=UTC).timestamp())
    assert before.cost_usd(1_000_000, 0, 0, 0) == pytest.approx(10)
    assert after.cost_usd(1_000_000, 0, 0, 0) == pytest.approx(2)


def test_windows_and_providers_are_found_by_model():
    assert window_tokens("gpt-4o") == 128_000
    assert provider_of("gpt-4o") == "openai"
    assert provider_of("claude-opus-4-5") == "anthropic"
    assert provider_of("anthropic/claude-opus-4-5") == "anthropic"


def test_the_basis_of_the_prices_is_stated():
    assert prices_date().startswith("genai-prices 0.")
    assert prices_date().endswith("undated traces at 2026-11-01")
