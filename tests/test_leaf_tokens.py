"""Leaves looked for as whole tokens, where a text cannot be parsed."""

from __future__ import annotations

from bench.text.leaf_tokens import TokensOf, match_tokens
from bench.text.leaves import flatten, tokens_of


def test_tokens_count_whole_and_at_most_as_often_as_they_occur() -> None:
    value = {"n": 125, "again": 125, "name": "Basic Wall", "ok": True, "none": None, "p": 1e-9, "e": []}
    tokens = TokensOf(token for _, typed in flatten(value) for token in tokens_of(typed))

    def held(text: str) -> int:
        found = list(tokens(text))
        return match_tokens(flatten(value), found.count).kept

    assert held("125") == 1
    assert held("125 and 125 and 125") == 2
    assert held("1250, 0.125, 125.5, x125") == 0
    assert held("a Basic Wall, True, None, 1e-9, []") == 5
    assert held("a Basic Walls, true, null, 1e-09") == 3
    assert held("") == 0


def test_a_long_text_counts_a_token_at_least_as_often_as_a_short_one() -> None:
    tokens = TokensOf(["level 2", "125"])
    text = "level 2, 125. "
    assert list(tokens(text)).count("level 2") == 1
    long = text * 2000
    assert list(tokens(long)).count("level 2") == 2000
    assert list(tokens(long)).count("125") == 2000
