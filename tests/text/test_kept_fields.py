"""Fields that a text keeps beside their keys: cut data, and values that are no identities."""

from __future__ import annotations

import json

import pytest

from bench.text.fields import FieldTable
from bench.text.kept_fields import KeptFields
from bench.text.text_records import TextReading

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
