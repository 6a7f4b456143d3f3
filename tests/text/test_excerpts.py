"""Texts that show another one cut: what a cut left of a word or number goes, nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from bench.text.excerpts import Excerpt
from bench.text.tables import tables_in

WORDS = "rows W4417 and 812.5 of the walls on level 12 are open"


@pytest.mark.parametrize(
    ("kept", "untruncated"),
    [("1250 wallpapers", "1250 walls"), ("1250 walls [end]", "1250 walls"), ("[all] 1250 walls", "1250 walls")],
)
def test_complete_words_before_a_notice_stay(kept: str, untruncated: str) -> None:
    assert Excerpt(kept, untruncated).without_halves == kept


@given(st.integers(10, len(WORDS) - 10), st.sampled_from(["", " …", "\n[cut]"]))
def test_half_a_word_before_a_notice_is_removed(end: int, notice: str) -> None:
    whole_words = (
        WORDS[:end]
        if not (WORDS[end - 1 : end + 1].replace(".", "").isalnum())
        else WORDS[:end].rpartition(" ")[0] + " "
    )
    assert Excerpt(WORDS[:end] + notice, WORDS).without_halves == whole_words + notice


@given(st.lists(st.sampled_from("abcdefgh"), min_size=40, max_size=400), st.data())
def test_a_cut_is_recognised_with_its_missing_text_and_an_altered_text_is_not(
    rows: list[str], data: st.DataObject
) -> None:
    full = "\n".join(f"row {at}: the wall {name} has {len(rows) - at} doors" for at, name in enumerate(rows))
    start = data.draw(st.integers(40, len(full) - 80))
    end = data.draw(st.integers(start + 20, len(full) - 40))
    words = f"\n[{end - start} characters omitted]\n"
    shown = full[:start] + words + full[end:]
    gaps = Excerpt(shown, full).gaps(lambda gap: gap.words.strip() == words.strip())
    assert [len(gap.missing.strip()) for gap in gaps or ()] == [len(full[start:end].strip())]
    assert Excerpt(shown.replace("wall", "door", 1), full).gaps(lambda gap: gap.words.strip() == words.strip()) is None


def test_an_escaped_bar_does_not_end_a_row() -> None:
    tables, rest = tables_in("| id | mark |\n|---|---|\n| 1 | a\\|\n| 2 | b \\| c |", {"id", "mark"})
    assert (tables, rest) == ([[{"id": "1", "mark": "a|"}, {"id": "2", "mark": "b | c"}]], [])
