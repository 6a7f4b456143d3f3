"""Structure lost: tables in text read back, rows, columns and values told apart, labels; strategies that try to fool leaf recall."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from bench.evidence.of_run import RunEvidence
from bench.text.found_leaves import match_read
from generated import SHORTENING, traces
from handmade import opened, result, run_of, trace
from hypothesis import given, strategies as st
from measured import measured, value
from reference import structure

from bench.metrics import example, metric_of
from bench.model import ModelTurn, Run, ToolCall, Trace
from bench.text.leaves import flatten
from bench.text.tables import find_tables, read_cell

ROWS = [
    {"id": 1, "Name": "Base Offset", "Length": 1.5, "Ok": True},
    {"id": 22, "Name": "W, long", "Length": -2.25, "Ok": False},
    {"id": 333, "Name": "x", "Length": 1e-20, "Ok": True},
]
NAMES = {name: (name,) for name in ROWS[0]}
CSV = 'id,Name,Length,Ok\n1,Base Offset,1.5,true\n22,"W, long",-2.25,false\n333,x,1e-20,true'
MARKDOWN = """| id | Name | Length | Ok |
|---:|:-----|-------:|:---|
| 1 | Base Offset | 1.5 | True |
| 22 | W, long | -2.25 | False |
| 333 | x | 1e-20 | True |"""
PANDAS = """    id         Name        Length     Ok
0    1  Base Offset  1.500000e+00   True
1   22      W, long -2.250000e+00  False
2  333            x  1.000000e-20   True"""
NO_INDEX = """ id        Name    Length    Ok
  1 Base Offset      1.50  True
 22     W, long     -2.25 False
333           x     1e-20  True"""
TOON = "walls[3]{id,Name,Length,Ok}:\n  1,Base Offset,1.5,true\n  22,\"W, long\",-2.25,false\n  333,x,1e-20,true"  # fmt: skip


def shown_as(recording: Trace, text: str) -> Run:
    """The run of keep_all with another text in the place of its only result."""
    run = run_of(recording, "keep_all")
    messages = {
        key: msgspec.structs.replace(message, text=text) if message.kind == "result" else message
        for key, message in run.messages.items()
    }
    return msgspec.structs.replace(run, messages=messages)


def of_result(data: Any, text: str, *names: str) -> list[tuple[float | None, float]]:
    recording = opened([result(data=data, index=2)])
    run = shown_as(recording, text)
    return [value(f"loss.{name}.end", recording, run) for name in names]


# ---------------------------------------------------------------- tables in text


TABS = CSV.replace(",", "\t").replace("W\t", "W,")


@pytest.mark.parametrize("text", [CSV, MARKDOWN, PANDAS, NO_INDEX, TOON, TABS, CSV.replace("\n", "\r\n")])
def test_every_kind_of_table_gives_its_rows_back(text: str) -> None:
    rows, rest = find_tables(text, NAMES)
    assert rows == ROWS
    assert [[type(value) for value in row.values()] for row in rows] == [[int, str, float, bool]] * 3
    assert rest.strip() == ""


@pytest.mark.parametrize("text", [CSV, MARKDOWN, PANDAS, TOON])
def test_text_around_a_table_stays_text(text: str) -> None:
    rows, rest = find_tables(f"The walls:\n\n{text}\n\n3 rows in all", NAMES)
    assert rows == ROWS
    assert rest.split() == ["The", "walls:", "3", "rows", "in", "all"]


def test_a_table_cut_short_is_read_as_far_as_it_goes() -> None:
    assert find_tables(CSV[: CSV.index(",-2.25")], NAMES)[0] == [ROWS[0], {"id": 22, "Name": "W, long"}]
    assert find_tables("\n".join(PANDAS.splitlines()[:3]), NAMES)[0] == ROWS[:2]
    assert find_tables("id,Name\n1\n2,b", NAMES) == ([], "id,Name\n1\n2,b")
    assert find_tables("id,Name,Length\n1,a,1\n2,b\n3,c,2", NAMES)[1] == "2,b\n3,c,2", "only the last row may be short"
    dots = PANDAS.splitlines()
    dots[2] = "..  ...          ...           ...    ..."
    assert find_tables("\n".join(dots), NAMES)[0] == [ROWS[0], ROWS[2]]


def test_a_wide_table_that_pandas_wraps_is_one() -> None:
    wrapped = "   id         Name  \\\n0   1  Base Offset   \n1  22      W, long   \n\n   Length     Ok  \n0    1.50   True  \n1   -2.25  False  "
    assert find_tables(wrapped, NAMES)[0] == ROWS[:2]


def test_a_table_has_at_most_200_columns() -> None:
    for columns in (200, 201):
        names = {f"c{at}": (f"c{at}",) for at in range(columns)}
        assert len(find_tables(f"{','.join(names)}\n{','.join(['1'] * columns)}", names)[0]) == (columns == 200)


def test_an_index_with_a_name() -> None:
    assert find_tables(
        "        Length     Ok\nName                 \nWall_1    1.50   True\nWall_2   -2.25  False", NAMES
    )[0] == [
        {"Name": "Wall_1", "Length": 1.5, "Ok": True},
        {"Name": "Wall_2", "Length": -2.25, "Ok": False},
    ]


def test_nested_keys_may_be_joined_by_dots() -> None:
    rows = [{"id": 1, "size": {"x": 2}}, {"id": 2, "size": {"x": 3}}]
    found, _ = match_read(flatten(rows), ["id,size.x\n1,2\n2,3"])
    assert (found.kept, found.total) == (4, 4)


@pytest.mark.parametrize(
    "text", ["", "alpha, beta\nfoo, bar", "a | b", "id", "id,Name", "the id of x\nis y", "other,columns\n1,2"]
)
def test_what_is_no_table(text: str) -> None:
    assert find_tables(text, NAMES) == ([], text)


def test_cells_are_type_strict() -> None:
    cells = ["1", "1.0", "true", '"1"', "", "NaN", "null", "1e-20", "2e-20", "01", "1,000"]
    values = [(type(value), repr(value)) for value in map(read_cell, cells)]
    assert len(set(values)) == len(cells)
    for one, other in (("1", 1.0), ("1.0", 1), ("true", 1), ('"1"', 1), ("1", "1"), ("1e-20", 2e-20)):
        found, _ = match_read(flatten([{"a": other, "b": "k"}]), [f"a,b\n{one},k"])
        assert found.kept == 1, (one, other)


# ---------------------------------------------------------------- by hand


ALL_PARTS = ("rows_kept", "columns_kept", "schema_kept")
IDS = [{"id": row["id"], "Ok": row["Ok"]} for row in ROWS]


@pytest.mark.parametrize(
    ("data", "text", "kept"),
    [
        (ROWS, json.dumps(ROWS), [(1.0, 3), (1.0, 4), (1.0, 4)]),
        (ROWS, json.dumps(ROWS[:1]), [(1 / 3, 3), (1.0, 4), (1.0, 4)]),  # one row of three; all columns of it
        (ROWS, json.dumps(IDS), [(1.0, 3), (0.5, 4), (0.5, 4)]),  # two columns of four, in every row
        (ROWS, "Base Offset is 1.5 long", [(0.0, 3), (0.0, 4), (0.0, 4)]),  # prose about rows is no rows
        ([{"a": 1}] * 4, '[{"a": 1}, {"a": 1}]', [(0.5, 4), (1.0, 1), (1.0, 1)]),
        ([{"a": 1}] * 2, json.dumps([{"a": 1}] * 9), [(1.0, 2), (1.0, 1), (1.0, 1)]),
        ({"go": {"total": 1, "terms": []}}, '{"total": 2}', [(None, 0), (None, 0), (0.5, 2)]),  # unwrapped
        ({"total": 1}, '{"result": {"total": 2}}', [(None, 0), (None, 0), (1.0, 1)]),  # wrapped
        ([1, 2], "[1, 2]", [(None, 0), (None, 0), (None, 0)]),
    ],
)
def test_rows_and_columns_are_told_apart(data: Any, text: str, kept: list[tuple[float | None, float]]) -> None:
    assert of_result(data, text, *ALL_PARTS) == kept


NUMBERS = {"go": {"total": 471, "significant": 36.5}, "kegg": {"total": 512, "significant": 7.25}}


@pytest.mark.parametrize(
    ("data", "text", "kept"),
    [
        *((ROWS, text, (1.0, 12)) for text in (CSV, MARKDOWN, TOON)),
        # pandas writes 1e-20 in full here, so nothing is lost either
        ({"n": 3, "walls": ROWS}, PANDAS, (12 / 13, 13)),
        ({"n": 3, "walls": ROWS}, f"{PANDAS}\n\nn: 3", (1.0, 13)),
        ({"n": 471, "walls": ROWS}, f"{CSV}\n\n471", (12 / 13, 13)),
        ({"count": 471, "walls": ROWS}, f"{CSV}\n\ncount 471", (1.0, 13)),
        (NUMBERS, "471 36.5 512 7.25", (0.0, 4)),  # every number without its label is seen through
        (NUMBERS, "total: 471, significant: 36.5\ntotal: 512, significant: 7.25", (1.0, 4)),
        (NUMBERS, "total: 36.5\nsignificant: 471", (0.0, 4)),  # swapped
    ],
)
def test_leaves_are_read_from_tables_and_beside_their_label(data: Any, text: str, kept: tuple[float, float]) -> None:
    assert of_result(data, text, "leaf_recall") == [kept]


# ---------------------------------------------------------------- limits and the slow reference

STRATEGIES = (*SHORTENING, "csv=summarizer=csv_table")
PARTS = ("rows_kept", "columns_kept", "schema_kept")


@given(trace=traces(extras=True), strategy=st.sampled_from(STRATEGIES))
def test_as_the_slow_reference(trace: Trace, strategy: str) -> None:
    run = run_of(trace, strategy)
    for place in ("shown", "end"):
        expected = structure.parts(trace, run, place)
        for part in PARTS:
            samples = measured(f"loss.{part}.{place}", trace, run)
            ours = {sample.step: (sample.numerator, sample.denominator) for sample in samples}
            assert ours == expected[part], part


plain_rows = st.fixed_dictionaries(
    {"id": st.integers(), "Name": st.text("abc xyz", min_size=1).map(str.strip).filter(bool), "Ok": st.booleans()}
)


@given(rows=st.lists(plain_rows, min_size=1, max_size=6))
def test_a_table_written_by_pandas_comes_back(rows: list[dict[str, Any]]) -> None:
    import pandas

    names = {name: (name,) for name in ("id", "Name", "Ok")}
    frame = pandas.DataFrame(rows)
    assert find_tables(frame.to_csv(index=False).strip(), names)[0] == rows


@pytest.mark.parametrize("kept", ["rows: 471, file: a/b.csv", "the rows: 471, and file a/b.csv"])
def test_what_a_stored_text_only_names_beside_its_key_is_an_upper_bound(kept: str) -> None:
    """As for prompts: nobody can be sure that a value beside its key in prose is that value. Both leaves are seen, none is read back."""
    evidence = example()
    (outcome,) = evidence.run.results
    run = msgspec.structs.replace(evidence.run, results=(msgspec.structs.replace(outcome, stored=kept),))
    (sample,) = metric_of("loss.leaf_recall.stored").samples(RunEvidence(evidence.of_trace, run))
    assert (sample.numerator, sample.denominator) == (2.0, 2.0)
    assert (sample.upper_bound, sample.low, sample.high) == (True, 0.0, 2.0)
    for whole in (evidence.trace.results[0].data, {"rows": 471, "file": "a/b.csv"}, '{"rows": 471, "file": "a/b.csv"}'):
        run = msgspec.structs.replace(evidence.run, results=(msgspec.structs.replace(outcome, stored=whole),))
        (sample,) = metric_of("loss.leaf_recall.stored").samples(RunEvidence(evidence.of_trace, run))
        assert (sample.numerator, sample.upper_bound, sample.low) == (2.0, False, 2.0)


@pytest.mark.parametrize("kept", [{"note": "rows: 471, file: a/b.csv"}, [{"note": "rows: 471, file: a/b.csv"}]])
def test_a_raw_value_in_the_store_is_judged_leaf_by_leaf_and_not_as_text(kept: Any) -> None:
    """A sentence inside a stored mapping or list is one leaf, and none of the result's; as text it would seem to hold both."""
    evidence = example()
    (outcome,) = evidence.run.results
    run = msgspec.structs.replace(evidence.run, results=(msgspec.structs.replace(outcome, stored=kept),))
    (sample,) = metric_of("loss.leaf_recall.stored").samples(RunEvidence(evidence.of_trace, run))
    assert (sample.numerator, sample.denominator, sample.upper_bound) == (0.0, 2.0, False)


@pytest.mark.parametrize(("chars", "ends"), [(194, "x"), (195, "…"), (300, "…")])
def test_a_lost_value_is_told_by_its_first_200_characters(chars: int, ends: str) -> None:
    recording = opened([result(data={"note": "x" * chars, "rows": 471}, index=2)])
    (sample,) = measured("loss.leaf_recall.end", recording, shown_as(recording, "rows: 471"))
    (told,) = sample.detail.facts
    assert told == f"note: {'x' * min(chars, 193)}{ends}"
    assert len(told) == min(chars + 6, 200)


def test_samples_of_threads_that_take_turns_stand_in_the_order_of_their_results() -> None:
    """The thread whose result came first has its last prompt last."""
    steps = []
    for index, name in ((0, "main"), (2, "critic")):
        call = ToolCall(id=name, name="count")
        steps += [ModelTurn(index=index, thread=name, tool_calls=(call,)),
                  result(None, index=index + 1, thread=name, call_id=name, data={"rows": 471 + index})]  # fmt: skip
    steps += [ModelTurn(index=4, thread="critic", content="473"), ModelTurn(index=5, thread="main", content="471")]
    recording = trace(*steps)
    run = run_of(recording, "cut=summarizer=truncate:limit=5")
    for name in ("loss.fact_recall", "loss.leaf_recall", "loss.schema_kept"):
        for place in ("shown", "end"):
            assert [sample.step for sample in measured(f"{name}.{place}", recording, run)] == [1, 3], (name, place)
