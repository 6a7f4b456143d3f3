"""Explanations: what was lost in words, each sentence true; hostile and huge values get through."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bench.evidence.explanations import explain
from generated import json_values
from hypothesis import given, strategies as st
from work import lines_run

SAME = ["Nothing is missing or changed."]
WALLS = [{"Name": f"Wall_{n}", "Type": "Basic", "Area": n * 1.5} for n in range(36)]


def test_rows_columns_and_an_absent_value() -> None:
    held = {"rows": [{"Name": row["Name"], "Type": row["Type"]} for row in WALLS[:24]], "kegg": {}}
    assert explain({"table": WALLS, "kegg": {"total_significant": 47}}, held) == [
        '12 of 36 rows of `table` gone (Name "Wall_24", "Wall_25", "Wall_26", "Wall_27" and 8 more).',
        "Of `table`, column Area gone; columns Name and Type kept.",
        "`kegg.total_significant` 47 → absent.",
    ]


def test_a_table_inside_a_string_that_moved() -> None:
    ours = {"structured_output": [{"type": "table", "data": json.dumps(WALLS)}]}
    held = {"table": {"row_count": 36, "truncated_rows_json": json.dumps(WALLS[:5])}}
    assert explain(ours, held)[0].startswith('31 of 36 rows of `structured_output[0].data` gone (Name "Wall_5"')


def test_a_cut_text_is_read_as_far_as_it_goes() -> None:
    text = json.dumps(WALLS)
    said = explain(WALLS, text[: text.index('"Wall_3"') + 9])
    assert said[0].startswith('32 of 36 rows of the table gone (Name "Wall_4"')
    assert said[1:] == [
        'Row Name "Wall_3" of the table: `Area` 4.5 → absent.',
        'Row Name "Wall_3" of the table: `Type` "Basic" → absent.',
    ]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (1, True, "`n` 1 → true (whole number → true/false)."),
        (1, 1.0, "`n` 1 → 1.0 (whole number → decimal number)."),
        (1, "1", '`n` 1 → "1" (whole number → text).'),
        (1e-20, 2e-20, "`n` 1e-20 → 2e-20."),
        (None, "", '`n` null → "" (null → text).'),
        (47, 12, "`n` 47 → 12."),
        ("x" * 500, "x" * 200 + "...", "`n` cut from 500 to 203 characters."),
        ([1, 1, 2], [1, 2], "1 of 3 items of `n` gone (1)."),
        ([1], [True], "1 of 1 item of `n` gone (1)."),
    ],
)
def test_a_change_of_type_and_a_small_one_are_told(before: object, after: object, said: str) -> None:
    assert explain({"n": before, "same": 5}, {"n": after, "same": 5}) == [said]


def test_values_that_changed_come_before_types() -> None:
    assert explain({"a": 1, "b": [], "c": 2}, {"a": "1", "b": "-", "c": 3}) == [
        '`b` [] → "-" (empty list → text).',
        "`c` 2 → 3.",
        '`a` 1 → "1" (whole number → text).',
    ]


def test_what_stands_at_another_place_too_has_not_moved_there() -> None:
    assert explain({"a": {"x": 1}, "b": {"x": 1}}, {"b": {"x": 1}}) == ["`a.x` 1 → absent."]


def test_nan_is_itself() -> None:
    assert explain({"n": float("nan")}, {"n": float("nan")}) == SAME
    assert explain([{"id": 1, "p": float("nan")}], [{"id": 1, "p": float("nan")}]) == SAME


def test_a_changed_record_is_found_by_its_key_wherever_it_stands() -> None:
    rows = [{"id": n, "level": "a"} for n in range(9)]
    held = [{"id": 99, "level": "new"}, *reversed(rows[1:]), {"id": 0, "level": "b"}]
    assert explain(rows, held) == ['Row id 0 of the table: `level` "a" → "b".']
    ours, theirs = ([{"n": n, "id": n % 2} for n in several] for several in ((2, 3), (4, 5)))
    assert explain(ours, theirs) == ["Row id 0 of the table: `n` 2 → 4.", "Row id 1 of the table: `n` 3 → 5."]


def test_without_a_key_rows_are_counted() -> None:
    assert explain([{"a": 1}, {"a": 1}, {"a": 2}], [{"a": 1}]) == ["2 of 3 rows of the table gone."]


def test_many_changes_are_capped_and_counted() -> None:
    said = explain(WALLS, [{**row, "Area": 0.25} for row in WALLS])
    assert len(said) == 5
    assert said[-1] == "In all, 36 of 36 rows that the table still has are changed."


def test_data_of_which_words_are_left() -> None:
    value = {"kegg": {"total_significant": 47, "top": ["mitosis"]}}
    assert explain(value, "Enrichment: KEGG: 12 terms") == [
        "No longer data: at least 2 of 2 values gone (kegg.total_significant 47 and kegg.top mitosis)."
    ]
    assert explain(value, "47 mitosis") == ["No longer data: all 2 values occur as words, without what they belong to."]
    assert explain(value, "") == ["Nothing of it is left: 2 values gone."]


def test_text() -> None:
    assert explain("one\ntwo\n471 in /data/x.csv\n", "one\ntwo") == [
        '1 of 3 lines gone, the first: "471 in /data/x.csv".',
        "2 of 2 facts gone (471 and /data/x.csv).",
    ]
    assert explain("one\ntwo\nthree\nfour", json.dumps({"first": ["one", "two"]})) == [
        '2 of 4 lines gone, the first: "three".'
    ]
    assert explain("abc", "") == ["Nothing of it is left: 3 characters gone."]
    assert explain("", "") == SAME


def test_records_that_share_no_key_are_told_key_by_key() -> None:
    said = explain(
        [{"id": 1, "a": 1, "b": 2, "c": 3}, {"id": 2, "a": 1, "b": 2, "c": 3}], [{"id": 1}, {"id": 2, "c": 3}]
    )
    assert "Row id 1 of the table: `c` 3 → absent." in said


def large(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A table and a log, and what is left of them: half of the rows, each changed, and every second character."""
    rows = [{"id": n, "text": "line\n" * 50, "value": n} for n in range(number)]
    log = "\n".join(f"row {n}" for n in range(2 * number))
    return {"rows": rows, "log": log}, {"rows": [{**row, "value": -1} for row in rows[: number // 2]], "log": log[::2]}


def test_work_grows_with_the_size_and_no_faster() -> None:
    explain(*large(10))  # what is imported on first use is no work
    small, four_times = (lines_run(lambda number=number: explain(*large(number))) for number in (200, 800))
    assert small > 1000
    assert four_times < 5 * small


@pytest.mark.benchmark(group="explanations")
def test_a_large_table_and_a_long_string(benchmark: Any) -> None:
    assert benchmark.pedantic(explain, args=large(20_000), rounds=3)


@given(json_values, json_values, st.integers(0, 200))
def test_anything_can_be_explained(value: object, other: object, cut: int) -> None:
    for held in (other, json.dumps(value)[:cut], str(value)[:cut]):
        assert all(isinstance(item, str) and item.endswith(".") for item in explain(value, held))
    assert explain(value, value) == SAME
    assert explain({"k": value}, json.dumps({"k": value})) == SAME
    assert explain(value, other) == explain(value, other)


@given(json_values, st.text(max_size=3))
def test_a_value_that_is_gone_is_never_passed_over(value: object, key: str) -> None:
    assert explain({"kept": 1, f"gone{key}": 4711, "rest": value}, {"kept": 1, "rest": value}) != SAME
