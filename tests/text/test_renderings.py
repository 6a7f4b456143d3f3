"""Renderings of random data in many layouts are proven; the same layouts of other data never are."""

from __future__ import annotations

import csv
import io
import json
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from bench.text.renderings import lines_beside

TEXTS = st.text("abcdeXYZ 0123456789-.,;:/#'\"<>&|äß", min_size=1, max_size=12).filter(
    lambda text: text[0].isalnum() and text[-1].isalnum()
)
SCALARS = st.one_of(TEXTS, st.integers(-999, 9999), st.floats(-99, 99).map(lambda x: round(x, 2) + 0.0), st.booleans())
KEYS = st.lists(st.sampled_from(["status", "price", "first_name", "createdAt", "qty", "note"]), min_size=2, unique=True)


@st.composite
def orders(draw: Any) -> dict[str, Any]:
    keys, count = draw(KEYS), draw(st.integers(2, 5))
    rows = [{"order_id": f"W{number}", **{key: draw(SCALARS) for key in keys}} for number in range(count)]
    return {"user": draw(TEXTS), "orders": rows, "seats": {"window": draw(SCALARS), "aisle": draw(SCALARS)}}


def as_cells(value: dict[str, Any], sign: str) -> str:
    """Pairs, and a table of the orders between signs."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=sign)
    writer.writerow(value["orders"][0])
    writer.writerows([[str(cell) for cell in row.values()] for row in value["orders"]])
    seats = "\n".join(f"seats.{key}: {item}" for key, item in value["seats"].items())
    return f"user: {value['user']}\n{seats}\norders:\n{out.getvalue()}"


def as_xml(value: Any, name: str = "result") -> str:
    if isinstance(value, list):
        return f"<{name}>{''.join(as_xml(item, 'item') for item in value)}</{name}>"
    if isinstance(value, dict):
        texts = "".join(
            f" {key}={quoteattr(str(item))}" for key, item in value.items() if not isinstance(item, dict | list)
        )
        inner = "".join(as_xml(item, key) for key, item in value.items() if isinstance(item, dict | list))
        return f"<{name}{texts}>{inner}</{name}>"
    return f"<{name}>{escape(str(value))}</{name}>"


LAYOUTS = {
    "json": json.dumps,
    "yaml": lambda value: yaml.safe_dump(value, allow_unicode=True, width=999),
    "csv": lambda value: as_cells(value, ","),
    "tsv": lambda value: as_cells(value, "\t"),
    "xml": as_xml,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@given(value=orders(), change=st.sampled_from(["swap", "rename", "drop", "add"]))
@settings(max_examples=25)
def test_a_layout_is_proven_and_other_data_in_it_never(layout: str, value: dict[str, Any], change: str) -> None:
    text = LAYOUTS[layout](value)
    other = json.loads(json.dumps(value))
    first, second, *_ = other["orders"]
    key = [*first][-1]
    if change == "swap" and first[key] != second[key] and str(first[key]) != str(second[key]):
        first[key], second[key] = second[key], first[key]
    elif change == "rename":
        other["orders"] = [
            {f"old_{name}" if name == key else name: item for name, item in row.items()} for row in other["orders"]
        ]
    elif change == "drop":
        del other["orders"][-1]
    else:
        first["refunded"] = "fully"
    assert lines_beside(LAYOUTS[layout](other), value) is None
    assert lines_beside(text, value) == []
