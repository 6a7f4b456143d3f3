"""What a shown text says of itself: totals, what stands in its place; and the texts of a manifest that a choice is made by."""

from __future__ import annotations

import pytest
from bench.text.notices import is_placeholder, says_more, stated_left_out, stated_totals

from bench.text.scripts import scripts_of
from bench.text.texts import Texts


@pytest.mark.parametrize(
    ("texts", "total"),
    [
        (["3 rows", "a\nb"], None),  # three lines in all
        (["3 rows", "a"], 3),
        (["4 rows", "a\nb"], 4),
        (["2 rows\n5 rows\n3 rows"], 5),
        (['{"total": 2, "items": [1, 2]}'], None),
        (['{"total": 3, "items": [1, 2]}'], 3),
        (['{"total": 3, "in": {"deep": [{"a": 1}, {"a": 2}, {"a": 3}]}}'], None),
        ([], None),
    ],
)
def test_a_total_says_more_only_above_what_all_texts_show(texts: list[str], total: int | None) -> None:
    assert says_more(texts) == total


def test_a_count_is_read_with_its_commas_and_no_further_than_18_digits() -> None:
    assert stated_totals("1,234,567 rows") == (1_234_567,)
    assert stated_totals(f"{'9' * 30} rows") == (int("9" * 18),)
    assert stated_left_out("[1,112 lines left out]\n[1112 lines left out]") == (1112,)


@pytest.mark.parametrize(
    ("shown", "placed"),
    [
        ("kept elsewhere", True),
        (" kept elsewhere\n", True),
        ("k" * 200, True),
        ("k" * 201, False),
        ("", False),
        ("rows of", False),  # a part of it
        ("order 4711 is kept", False),  # one of its facts
        ("[]", False),  # data with fewer rows
    ],
)
def test_a_placeholder_is_short_no_part_and_has_no_fact(shown: str, placed: bool) -> None:
    assert is_placeholder(shown, "rows of order 4711 and order 4712", Texts()) is placed


def test_parameters_are_read_at_any_depth() -> None:
    inner = {"type": "object", "properties": {"level": {"description": "of the storey", "enum": [1, 2]}}}
    schema = {"properties": {"walls": {"type": "array", "items": {"enum": ["a"], **inner}}, "odd": 7}}
    (script,) = scripts_of([{"name": "s", "parameters": schema}])
    assert set(script.parameters) == {"walls", "odd", "a", "level", "of the storey", "1", "2"}
    assert scripts_of([{"name": "s", "parameters": [schema]}])[0].parameters == ()
