"""Layouts read back: every value comes back beside its key, whatever layout it is written in; and any text is read."""

from __future__ import annotations

import json
import time

import pytest
from data.adversarial.harmless import LAYOUTS
from hypothesis import given, settings, strategies as st

from bench.run.measuring import rare_collection
from bench.text.field_table import FieldTable
from bench.text.kept_fields import KeptFields
from bench.text.layouts import values_of
from bench.text.legends import written_out
from bench.text.result_lines import ResultLines
from bench.text.text_records import TextReading

WORDS = st.from_regex(r"[A-Z][a-z]{3,8}", fullmatch=True)
ROWS = st.lists(
    st.fixed_dictionaries(
        {"code": st.integers(1000, 9999).map("W{}".format), "city": WORDS, "seats": st.integers(10, 9999)}
    ).map(lambda row: {key: row[key] for key in ("code", "city", "seats")}),
    min_size=2,
    max_size=5,
    unique_by=lambda row: row["code"],
)
FULL = (
    "pretty",
    "python_repr",
    "csv",
    "tsv",
    "markdown",
    "toon",
    "json_lines",
    "columnar_json",
    "header_and_rows",
    "yaml",
)
PAIRS = (
    "yaml_list_of_pairs",
    "key_lines",
    "equals_pairs",
    "dotted_paths",
    "short_keys",
    "strings_by_reference",
    "rows_reversed",
)


def pairs_in(value: object) -> set[tuple[str, str]]:
    """The slow reference: the last key and the text of every scalar, walked plainly."""
    if isinstance(value, dict):
        own = {(key, str(item)) for key, item in value.items() if not isinstance(item, dict | list)}
        return own.union(*map(pairs_in, value.values()))
    return set().union(*map(pairs_in, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("layout", [*FULL, *PAIRS])
@settings(max_examples=25, deadline=None)
@given(ROWS)
def test_a_layout_keeps_every_field(layout: str, rows: list[dict[str, object]]) -> None:
    value = {"rows": rows}
    full = json.dumps(value)
    table, text = FieldTable(value), written_out(LAYOUTS[layout](full), full)
    reading = TextReading(text, table.names)
    assert KeptFields(table).kept_in(reading) == frozenset(range(len(table.fields)))
    assert pairs_in(value) <= {pair for record in reading.records for pair in record.pairs}


def test_a_sentence_states_a_value_of_the_record_that_it_names() -> None:
    table = FieldTable([{"id": "W1", "mark": "L2a"}, {"id": "W2", "mark": "K9b"}])
    for text, kept in (
        ("W1 has mark L2a", True),
        ("W2 has mark L2a", False),
        ("mark L2a (W1)", True),
        ("mark L2a", True),
    ):
        assert (1 in KeptFields(table).kept_in(TextReading(text, table.names))) is kept, text


@given(ROWS, st.data())
def test_truncated_json_keeps_the_values_before_the_cut(rows: list[dict[str, object]], data: st.DataObject) -> None:
    inner = json.dumps(rows, indent=2)
    cut = inner[: data.draw(st.integers(0, len(inner)))]
    table = FieldTable({"type": "table", "data": inner})
    reading = TextReading(json.dumps({"type": "table", "data": cut}), table.names)
    whole_lines, kept = cut.count("\n"), KeptFields(table).kept_in(reading)
    for at, item in enumerate([*table.fields][1:]):
        line = 2 + 5 * (at // 3) + at % 3  # a bracket, then five lines a row: a brace, three fields, a brace
        if line != whole_lines:  # the line that is cut may keep its field or not
            assert (at + 1 in kept) is (line < whole_lines), item


def test_an_empty_value_is_not_a_field() -> None:
    assert [item.key for item in FieldTable([{"id": "W1", "mark": "", "note": None}]).fields] == ["id", "note"]


@given(st.text(max_size=300), st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_without_an_error(text: str, original: str) -> None:
    values_of(text, ["id"])
    ResultLines(original).altered(text)
    FieldTable(text)


@pytest.mark.parametrize(
    "odd",
    [
        '{"a": 1e9999999}',
        "a: 1e9999999",
        "\ud83d",
        '{"a": "\\ud83d"}',
        "[" * 5000,
        "<a>" * 5000,
        "a.b" * 5000 + ": 1",
        "- " * 5000,
    ],
)
def test_unusual_texts_are_read_without_an_error(odd: str) -> None:
    table = FieldTable({"a": odd, "b": "1e9999999"})
    reading = TextReading(odd, table.names)
    assert KeptFields(table).kept_in(reading) <= frozenset(range(len(table.fields)))


@pytest.mark.parametrize("line", ["key: value", "- a: 1, b: 2", "<a><b>1</b></a>", "a.b.0 = 1", "| a | b |", "x" * 50])
def test_reading_takes_time_in_proportion_to_the_text(line: str) -> None:
    def seconds(lines: int) -> float:
        text, taken = "\n".join([line] * lines), []
        for _ in range(3):  # the least is the one that nothing else disturbed
            start = time.process_time()
            with rare_collection():
                values_of(text, ["a", "b", "key"])
            taken.append(time.process_time() - start)
        return min(taken)

    assert seconds(8000) < 16 * max(seconds(1000), 0.005)


UNKNOWN = {
    "s_expressions": lambda row: "(" + " ".join(f'({key} "{value}")' for key, value in row.items()) + ")",
    "attributes": lambda row: "<row " + " ".join(f'{key}="{value}"' for key, value in row.items()) + "/>",
    "json5": lambda row: "{" + ", ".join(f"{key}: '{value}'" for key, value in row.items()) + "},",
}


@pytest.mark.parametrize("layout", UNKNOWN)
@settings(max_examples=25, deadline=None)
@given(ROWS)
def test_a_field_beside_its_key_is_kept_in_an_unknown_layout(layout, rows):
    table = FieldTable(rows)
    text = "\n".join(map(UNKNOWN[layout], rows))
    assert len(KeptFields(table).kept_in(TextReading(text, table.names))) == len(table.fields)
    renamed = [{"old_city": row["city"], "sold_seats": row["seats"], "code": "?"} for row in rows]
    assert not KeptFields(table).kept_in(TextReading("\n".join(map(UNKNOWN[layout], renamed)), table.names))
