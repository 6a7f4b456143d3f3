"""The rules of the providers' prompt caches, by the documentation that each rule names."""

from __future__ import annotations

import pytest

from bench.tokens.caching import CacheRule, cache_rule
from bench.tokens.prices import provider_of

MINUTE_S = 60.0


@pytest.mark.parametrize(
    ("model", "prefix", "read"),
    [
        ("gpt-4o", 1023, 0), ("gpt-4o", 1024, 1024), ("gpt-4o", 1151, 1024), ("gpt-4o", 1152, 1152),
        ("gpt-5.2", 2000, 1920), ("gpt-5.5", 2000, 1536), ("gpt-5.6", 2001, 2001), ("o3", 1300, 1280),
        ("gpt-4-0613", 90_000, 0), ("gpt-3.5-turbo", 90_000, 0), ("gpt-4.1", 1152, 1152),
        ("claude-opus-4-5", 4095, 0), ("claude-opus-4-5", 4096, 4096), ("claude-opus-4-6", 4095, 0),
        ("claude-opus-4-7", 2047, 0), ("claude-opus-4-7", 2049, 2049), ("claude-sonnet-4-6", 2047, 0),
        ("claude-sonnet-4-5", 1023, 0), ("claude-sonnet-4-5", 1025, 1025), ("claude-haiku-4-5", 4095, 0),
        ("claude-3-5-haiku-latest", 2047, 0), ("claude-opus-4-1", 1024, 1024),
        ("gemini-2.5-pro", 2047, 0), ("gemini-2.5-pro", 2049, 2049), ("gemini-3.1-pro-preview", 4095, 0),
        ("grok-4", 129, 128), ("deepseek-chat", 63, 0), ("deepseek-chat", 130, 128),
    ],
)  # fmt: skip
def test_the_read_part_of_a_prefix_follows_minimum_and_block(model: str, prefix: int, read: int) -> None:
    rule = cache_rule(provider_of(model), model)
    assert rule is not None
    assert rule.read(prefix) == read
    assert rule.source.startswith("https://")


def test_rules_state_write_charges_opt_in_and_cached_answers() -> None:
    def rule(provider: str, model: str) -> CacheRule:
        found = cache_rule(provider, model)
        assert found is not None
        return found

    assert rule("anthropic", "claude-sonnet-4-5").writes
    assert rule("aws", "anthropic.claude-sonnet-4-5").writes
    assert rule("aws", "anthropic.claude-opus-4-7").minimum == 4096
    assert rule("google", "claude-sonnet-4-5@20250929").writes
    assert not rule("openai", "gpt-5.5").writes
    assert rule("openai", "gpt-5.6").writes
    assert [rule("openai", name).answers for name in ("gpt-4o", "gpt-5", "gpt-5.4", "gpt-5.5")] == [
        False,
        True,
        True,
        False,
    ]
    assert rule("azure", "gpt-35-turbo-16k").read(90_000) == 0


@pytest.mark.parametrize("provider", [None, "cohere", "openrouter", "aws", "google"])
def test_an_unknown_provider_has_no_cache_rule(provider: str | None) -> None:
    assert cache_rule(provider, "command-r") is None
    assert (cache_rule(provider, "gemini-2.5-pro") is None) == (provider != "google")


@pytest.mark.parametrize(
    ("model", "minutes", "kept"),
    [
        ("claude-sonnet-4-5", 5, True), ("claude-sonnet-4-5", 5.1, False), ("gpt-4o", 10, True), ("gpt-4o", 11, False),
        ("gpt-5.5", 600, True), ("gpt-5.6", 29, True), ("gpt-5.6", 31, False), ("gemini-2.5-pro", 9999, True),
    ],
)  # fmt: skip
def test_a_cached_prefix_expires(model: str, minutes: float, kept: bool) -> None:
    rule = cache_rule(provider_of(model), model)
    assert rule is not None
    assert (rule.read(5000, minutes * MINUTE_S) > 0) is kept
    assert rule.read(5000, None) > 0  # a trace without times
