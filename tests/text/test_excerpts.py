"""Texts that show another one cut: what a cut left of a word or number goes, nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from bench.text.excerpts import without_halves
from bench.text.tables import find_tables

WORDS = "rows W4417 and 812.5 of the walls on level 12 are open"


@pytest.mark.parametrize(
    ("kept", "untruncated"),
    [("1250 wallpapers", "1250 walls"), ("1250 walls [end]", "1250 walls"), ("[all] 1250 walls", "1250 walls")],
)
def test_what_is_no_half_stays(kept: str, untruncated: str) -> None:
    assert without_halves(kept, untruncated) == kept


@given(st.integers(10, len(WORDS) - 10), st.sampled_from(["", " …", "\n[cut]"]))
def test_half_a_word_before_a_notice_is_removed(end: int, notice: str) -> None:
    whole_words = (
        WORDS[:end]
        if not (WORDS[end - 1 : end + 1].replace(".", "").isalnum())
        else WORDS[:end].rpartition(" ")[0] + " "
    )
    assert without_halves(WORDS[:end] + notice, WORDS) == whole_words + notice


def test_an_escaped_bar_ends_no_row() -> None:
    rows, rest = find_tables("| id | mark |\n|---|---|\n| 1 | a\\|\n| 2 | b \\| c |", {"id", "mark"})
    assert (rows, rest) == ([{"id": 1, "mark": "a|"}, {"id": 2, "mark": "b | c"}], "")
