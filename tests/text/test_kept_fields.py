"""Fields that a text keeps beside their keys: cut data, and values that are no identities."""

from __future__ import annotations

import json

import pytest

from bench.text.field_table import FieldTable
from bench.text.kept_fields import KeptFields
from bench.text.text_records import TextReading

ORDER = {"id": "W9", "rows": [{"sku": f"A-{n}", "n": min(n, 2)} for n in (1, 2, 3)], "sent": ["T-3", "T-4"]}
METHODS = {"payment_methods": {"paypal_5914760": {"source": "paypal", "id": "paypal_5914760"}}}
TERMS = [{"term": "GO_2", "p_value": 1.25e-7, "n": 3}, {"term": "GO_1", "p_value": 3.5e-9, "n": 5}]


@pytest.mark.parametrize(
    ("value", "cut_behind", "fact", "keeps"),
    [
        (METHODS, '"id": "paypal_59', "paypal_5914760", True),  # the key of its record
        (METHODS, '"payment_methods": {"paypal_59', "paypal_5914760", False),
        ({"p_values": [3.5e-9, 1.25e-7], "terms": TERMS}, "1.25e-07]", "1.25e-7", True),  # names no record
    ],
)
def test_truncated_data_keep_the_fields_before_the_cut(value: object, cut_behind: str, fact: str, keeps: bool) -> None:
    text = json.dumps(value)
    text = text[: text.index(cut_behind) + len(cut_behind)]
    table = FieldTable(value)
    assert KeptFields(table).keeps(TextReading(text, table.names), fact) is keeps


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("id: W9\nsku: A-1, n: 1\nsku: A-2, n: 2\nsent: T-3, T-4", ["W9", "A-1", "1", "A-2", "2", "T-3", "T-4"]),
        ("id: W9\n[2 rows left out]\nn: 2", ["W9"]),  # of which row?
        ("id: W9\nsku: A-1, n: 2", ["W9", "A-1"]),
        ('<end>": 1}, "b": {"sku": "A-2", "n": 2}]}</end>', ["A-2", "2"]),
        ('x": 1, "n": 1}, "35": {"sku": "A-2", "n": 2}}', ["A-2", "2"]),
    ],
)
def test_fields_are_kept_in_the_record_that_a_reader_takes_them_for(text: str, kept: list[str]) -> None:
    table = FieldTable(ORDER)
    numbers = KeptFields(table).kept_in(TextReading(text, table.names))
    assert [table.fields[number].text for number in sorted(numbers)] == kept
