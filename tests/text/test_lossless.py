"""A value written as JSON and CSV tables, read back by a reader that shares no code with the writer."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, strategies as st

from bench.text.lossless import exact_json, write_tables

SCAN = json.JSONDecoder().raw_decode


def read(text: str) -> Any:
    """The value that a text of tables stands for."""
    head, at = SCAN(text)
    tables = []
    while at < len(text):
        heading = re.compile(r"\n@table (\d+): (\d+) rows").match(text, at)
        assert heading is not None
        assert int(heading[1]) == len(tables) + 1
        names, at = cells(text, heading.end())
        columns = [name if isinstance(name, str) else bare for bare, name in names]
        tables.append([])
        for _ in range(int(heading[2])):
            row, at = cells(text, at)
            assert len(row) == len(columns)
            tables[-1].append({column: value for column, (bare, value) in zip(columns, row, strict=True) if bare})
    return with_tables(head, tables)


def cells(text: str, at: int) -> tuple[list[tuple[str, Any]], int]:
    """The cells of the line that begins at a line break, as written and as read, and its end."""
    found = []
    while not found or text[at : at + 1] == ",":
        at += 1
        if text[at : at + 1] in ("[", "{", '"'):
            value, end = SCAN(text, at)
        else:
            end = re.compile(r"[^,\n]*").match(text, at).end()
            value = scalar(text[at:end])
        found.append((text[at:end], value))
        at = end
    return found, at


def scalar(text: str) -> Any:
    """Bare text: the scalar that JSON reads there, else itself."""
    try:
        return json.loads(text) if text == text.strip() else text
    except ValueError:
        return text


def with_tables(value: Any, tables: list[Any]) -> Any:
    """A value with its tables in the place of their references."""
    if isinstance(value, dict) and len(value) == 1 and re.fullmatch("@+table", key := next(iter(value))):
        return tables[value[key] - 1] if key == "@table" else {key[1:]: with_tables(value[key], tables)}
    if isinstance(value, dict):
        return {key: with_tables(item, tables) for key, item in value.items()}
    return [with_tables(item, tables) for item in value] if isinstance(value, list) else value


keys = st.text(max_size=4) | st.sampled_from(["id", "@table", "@@table", "12", "a,b"])
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=6)
    | st.sampled_from(["1", "null", "-3.5e-7", "", " x", "a,b", '"', "[1]", "Infinity"])
)
rows = st.lists(st.dictionaries(st.sampled_from("abc"), scalars, min_size=1), max_size=5)
values = st.recursive(
    scalars | rows, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=10
)


@given(values)
def test_every_value_comes_back_with_its_types_and_the_order_of_its_keys(value: Any) -> None:
    assert repr(read(write_tables(value))) == repr(json.loads(exact_json(value))) == repr(value)


def test_a_table_within_a_table_is_written_alone() -> None:
    inner = [{"name": "north", "area": 12.5}, {"name": "south", "area": 7.25}, {"name": "east", "area": 3.5}]
    rows = [{"id": number, "walls": {"all": [inner, number]}} for number in range(2)]
    head, *tables = write_tables(rows).split("\n@table")
    assert json.loads(head) == [{"id": n, "walls": {"all": [{"@table": n + 1}, n]}} for n in range(2)]
    assert len(tables) == 2
