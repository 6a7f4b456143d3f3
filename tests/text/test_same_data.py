"""Data in other layouts: what is lossless has the same form, what is altered never has."""

from __future__ import annotations

import copy
import csv
import io
import json
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from bench.text.same_data import by_records, data_of, is_same_data

KEYS = ["order_id", "status", "price", "city", "lastName", "note"]
WORDS = st.sampled_from(["pending", "New York", "W-12", "a/b.c", "it's", "x < y", "3.10", "10:30", "Ünal", "sent"])
SCALARS = st.one_of(st.integers(-999, 999), st.floats(-99, 99).map(lambda x: round(x, 2)), st.booleans(), WORDS)
ROWS = st.lists(st.fixed_dictionaries(dict.fromkeys(KEYS, SCALARS)), min_size=2, max_size=4)


def as_csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, KEYS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


LAYOUTS = {
    "indented JSON": lambda rows: json.dumps(rows, indent=1),
    "columns in JSON": lambda rows: json.dumps({key: [row[key] for row in rows] for key in KEYS}),
    "YAML": lambda rows: yaml.safe_dump(rows, allow_unicode=True, width=10_000),
    "CSV": as_csv,
    "Markdown": lambda rows: "\n".join(
        f"| {' | '.join(map(str, cells))} |"
        for cells in (KEYS, ["---"] * len(KEYS), *([row[key] for key in KEYS] for row in rows))
    ),
}


def is_recognised(text: str, rows: list[dict[str, Any]]) -> bool:
    found = data_of(text)
    return found is not None and is_same_data(by_records(found.value), by_records(rows), in_cells=found.are_tables)


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The slow reference: numbers as numbers, all else as text."""
    return [{k: str(v) if isinstance(v, bool | str) else float(v) for k, v in row.items()} for row in rows]


@pytest.mark.parametrize("layout", LAYOUTS)
@given(rows=ROWS)
def test_every_layout_of_some_rows_is_recognised(layout: str, rows: list[dict[str, Any]]) -> None:
    assert is_recognised(LAYOUTS[layout](rows), rows)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(rows=ROWS, at=st.integers(0, 1), key=st.sampled_from(KEYS), exchanged=st.booleans())
def test_no_altered_value_is_recognised(
    layout: str, rows: list[dict[str, Any]], at: int, key: str, exchanged: bool
) -> None:
    altered = copy.deepcopy(rows)
    altered[at][key], altered[1 - at][key] = (
        (rows[1 - at][key], rows[at][key]) if exchanged else ("lost", rows[1 - at][key])
    )
    assert is_recognised(LAYOUTS[layout](altered), rows) == (plain(altered) == plain(rows))


def test_a_key_that_comes_twice_is_no_data() -> None:
    assert data_of('{"id": 8, "id": 7}') is None


@pytest.mark.parametrize(("full", "shown"), [("3.10", 3.1), ("007", 7), ("NO", False), ("+49 30", "49 30")])
def test_a_text_that_looks_like_a_number_is_not_that_number(full: str, shown: Any) -> None:
    assert not is_same_data({"id": shown}, {"id": full})


def test_keys_that_are_alike_stay_apart() -> None:
    assert not is_same_data({"user_id": 2}, {"userId": 1, "user_id": 2})
