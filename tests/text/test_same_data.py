"""Data in other layouts: what is lossless is proved, what is altered never is."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from bench.text.same_data import DataProofs

KEYS = ["order_id", "status", "price", "city", "lastName", "items", "seats", "note"]
WORDS = st.sampled_from(["pending", "New York", "W-12", "a/b.c", "it's", "x < y", "7", "10:30", "Ünal", "no"])
SCALARS = st.one_of(st.integers(-999, 999), st.floats(-99, 99).map(lambda x: round(x, 2)), st.booleans(), WORDS)
ROWS = st.dictionaries(st.sampled_from(KEYS), SCALARS, min_size=2, max_size=5)
VALUES = st.dictionaries(
    st.sampled_from(KEYS), st.one_of(SCALARS, ROWS, st.lists(ROWS, min_size=1, max_size=3)), min_size=2, max_size=4
)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        inner = f"{path}.{key}" if isinstance(value, dict) else f"{path}[{key}]"
        if isinstance(item, dict | list):
            yield from leaves(item, inner)
        else:
            yield inner.lstrip("."), item


def xml(value: Any, name: str) -> str:
    if isinstance(value, list):
        return "".join(xml(item, name) for item in value)
    inner = "".join(xml(item, key) for key, item in value.items()) if isinstance(value, dict) else plain(value)
    return f"<{name}>{inner}</{name}>"


def plain(value: Any) -> str:
    return value.replace("<", "&lt;") if isinstance(value, str) else json.dumps(value)


LAYOUTS = {
    "indented JSON": lambda value: json.dumps(value, indent=1),
    "Python": repr,
    "YAML": lambda value: yaml.safe_dump(value, allow_unicode=True, width=10_000),
    "paths": lambda value: "\n".join(f"{path} = {plain(item)}" for path, item in leaves(value)).replace("&lt;", "<"),
    "XML": lambda value: xml(value, "result"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@given(value=VALUES)
def test_every_layout_of_a_value_is_recognised(layout: str, value: dict[str, Any]) -> None:
    assert DataProofs(value).proof(LAYOUTS[layout](value)) == []


@pytest.mark.parametrize("layout", LAYOUTS)
@given(value=VALUES, draw=st.data())
def test_no_altered_value_is_recognised(layout: str, value: dict[str, Any], draw: st.DataObject) -> None:
    altered = copy.deepcopy(value)
    record = draw.draw(st.sampled_from([altered, *(item for item in altered.values() if isinstance(item, dict))]))
    key = draw.draw(st.sampled_from(sorted(record)))
    match draw.draw(st.sampled_from(["renamed", "left out", "other value", "added"])):
        case "renamed":
            record[f"former_{key}"] = record.pop(key)
        case "left out":
            del record[key]
        case "other value":
            record[key] = "another one"
        case "added":
            record["kept"] = True
    proof = DataProofs(value).proof(LAYOUTS[layout](altered)) if record else None
    assert proof is None or proof


@given(row=ROWS)
def test_exchanged_values_of_two_records_are_not_recognised(row: dict[str, Any]) -> None:
    rows = [row, {key: "pending" if row[key] != "pending" else "sent" for key in row}]
    key = sorted(row)[0]
    exchanged = [{**rows[0], key: rows[1][key]}, {**rows[1], key: rows[0][key]}]
    assert DataProofs(rows).proof(LAYOUTS["paths"](rows)) == []
    assert DataProofs(rows).proof(LAYOUTS["paths"](exchanged)) is None


@pytest.mark.parametrize(
    "text", ["id: 5", "id: -5%", "id: 5 kg", "id: ~-5", "id: -5...", "id: not -5", "id: -5.5", "id: >-5"]
)
def test_signs_and_units_belong_to_a_number(text: str) -> None:
    assert DataProofs({"id": -5}).proof("id: -5") == []
    proof = DataProofs({"id": -5}).proof(text)
    assert proof is None or proof


@pytest.mark.parametrize(
    "text", ['{"id": 7, "ok": true, "was_checked": true}', "checked: yes\nid: 7\nok: yes", "id 7 ok yes\nseen=1"]
)
def test_added_data_are_not_accepted_as_words_around_a_value(text: str) -> None:
    assert DataProofs({"id": 7, "ok": True}).proof(text) is None


@given(value=VALUES, draw=st.data())
def test_a_line_between_values_is_returned_as_text_before_them(value: dict[str, Any], draw: st.DataObject) -> None:
    lines = LAYOUTS["YAML"](value).rstrip().split("\n")
    starts = [at for at, line in enumerate(lines) if line[:1] not in (" ", "-")]
    lines.insert(draw.draw(st.sampled_from(starts)), "~ words that nobody wrote ~")
    assert DataProofs(value).proof("\n".join(lines)) == ["~ words that nobody wrote ~"]


GAPS = [{"a": 1}, {"b": 5, "c": 6}]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"names": ["Ann", "Bob"]}, "<name>Ann</name>\n<name>Bob</name>"),
        ({"p": [{"n": 1, "genes": []}, {"n": 2, "genes": ["b"]}], "x": None}, "x: null\np:\n- genes: []\n  n: 1\n- genes:\n  - b\n  n: 2"),
        ({"items": [{"id": "7", "tip top": 1}]}, '$.items[0].id = "7"\n$.items[0]["tip top"] = 1'),
        (GAPS, "a,b,c\n1,(absent),n/a\nnull,5,6"),
        (GAPS, "|a|b|c|\n|---|---|---|\n|1|-|-|\n|-|5|6|"),
    ],
)  # fmt: skip
def test_layouts_that_people_write_are_recognised(value: Any, text: str) -> None:
    assert DataProofs(value).proof(text) == []


@pytest.mark.parametrize("row", ["n/a,1,n/a", "n/a,n/a,n/a"])
def test_words_for_nothing_stand_only_in_missing_cells(row: str) -> None:
    assert DataProofs(GAPS).proof(f"a,b,c\n{row}\nn/a,5,6") is None


@pytest.mark.parametrize(
    "text",
    [
        '<was_checked/>\n{"id": 7, "ok": true}',
        "<was_checked/><id>7</id><ok>true</ok>",
        "id: 7 # was checked\nok: true",
        "ok:\nid: 7\nok: true",
    ],
)
def test_words_of_a_layout_make_no_claims(text: str) -> None:
    assert DataProofs({"id": 7, "ok": True}).proof(text) is None
