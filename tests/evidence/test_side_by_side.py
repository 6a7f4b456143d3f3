"""A result beside what was kept of it: the parts of a text that are shown, and the rows of a table that are left, counted by hand."""

from __future__ import annotations

import json

import pytest
from bench.evidence.losses import Damage
from bench.evidence.side_by_side import beside, excerpt, table_in, whole, worst_results

from bench.evidence import side_by_side

A, B = "a " * 250, " b" * 250  # 500 characters each


def shown(text, lost, needed, limit):
    """The characters of each plain span, those left out in each gap (negative), and facts."""
    found = []
    for one in excerpt(text, lost, needed, limit):
        gap = "".join(filter(str.isdigit, one.text)) if one.kind == "gap" else ""
        found.append(-int(gap) if gap else len(one.text) if one.kind == "plain" else f"{one.kind} {one.text}")
    return found


@pytest.mark.parametrize(
    ("text", "lost", "needed", "limit", "spans"),
    [
        ("", (), (), 9, []),
        (A, (), (), 500, [500]),
        (A, (), (), 499, [499, -1]),
        (f"{A}run_7{B}", ["run_7"], (), 600, [150, -190, 160, "lost run_7", 160, -340]),
        # a quarter at the beginning and 325 around the fact: 108 and 325 are 433
        (f"{A}run_7{B}", ["run_7"], (), 433, [108, -232, 160, "lost run_7", 160, -340]),
        (f"{A}run_7{B}", ["run_7"], (), 432, [108, -897]),
        # what was needed comes before what was lost; both do not fit
        (f"{A}run_7{B}{A}run_8{B}", ["run_7"], ["run_8"], 600, [150, -1195, 160, "needed run_8", 160, -340]),
        # two facts whose surroundings touch
        (
            f"{A}run_7{' c' * 100} run_8{B}",
            ["run_7", "run_8"],
            (),
            900,
            [225, -115, 160, "lost run_7", 201, "lost run_8", 160, -340],
        ),
        (f"run_7 {A}", ["run_7"], (), 400, ["lost run_7", 95, -406]),
        (f"{'c ' * 50}run_7{B}", ["run_7"], (), 400, [100, "lost run_7", 160, -340]),
        (f"xrun_7 run_7 run_77 {A}", ["run_7"], ["run_77"], 999, [7, "lost run_7", 1, "needed run_77", 501]),
    ],
)
def test_the_parts_of_a_text(text, lost, needed, limit, spans):
    assert shown(text, lost, needed, limit) == spans


def test_the_worst_result_is_that_of_which_some_strategy_kept_least(monkeypatch):
    monkeypatch.setattr(side_by_side, "_result_shown", lambda step, *_: step)
    damaged = {step: [Damage("a", (), lost, 0.0) for lost in several] for step, several in ((4, (5, 5)), (7, (1, 9)))}
    assert [worst_results(damaged, {}, most) for most in (1, 2)] == [(7,), (7, 4)]


ROWS = [{"id": 1, "name": "W1"}, {"id": 2, "name": "W2"}, {"id": 3, "name": "-"}]


@pytest.mark.parametrize(
    ("value", "table"),
    [
        (ROWS, ROWS), ({"rows": ROWS[:2], "more": {"deep": [ROWS]}}, ROWS), (json.dumps({"rows": ROWS}), ROWS),
        ([ROWS[0]], None), ([1, 2], None), ([{}, {}], None), ([*ROWS, 7], None), ("text", None), (None, None),
        ([ROWS[:2], ROWS[1:]], ROWS[1:]),  # of two as large, the last
    ],
)  # fmt: skip
def test_the_table_of_a_value(value, table):
    assert table_in(value) == table


def gone(text, rows=ROWS):
    found = beside(rows, text)
    return sorted(found.gone), found.caption


@pytest.mark.parametrize(
    ("text", "cells", "said"),
    [
        (json.dumps(ROWS), [], "Something left in 3 of 3 rows."),
        (json.dumps({"rows": ROWS[1:]}), [(0, 0), (0, 1)], "Something left in 2 of 3 rows."),
        (f"Rows: {json.dumps(ROWS[:1])}", [(1, 0), (1, 1), (2, 0), (2, 1)], "Something left in 1 of 3 rows."),
        ('[{"id": "1"}, {"id": 2}]', [(0, 0), (0, 1), (1, 1), (2, 0), (2, 1)], "Something left in 1 of 3 rows; lost in all: name."),
        ('{"kept": "[{\\"id\\": 3}]"}', [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1)], "Something left in 1 of 3 rows; lost in all: name."),
        ("1 W1\n\n2 W2\n3 -", [], "Something left in 3 of 3 rows."),
        ("W1 and W2", [(0, 0), (1, 0), (2, 0), (2, 1)], "Something left in 2 of 3 rows; lost in all: id."),
        ("nothing", [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)], "Nothing left of 3 rows."),
    ],
)  # fmt: skip
def test_the_cells_that_are_left(text, cells, said):
    assert gone(text) == (cells, said)


def test_each_kept_row_stands_for_one():
    twice = [{"id": 1}, {"id": 1}]
    assert gone('[{"id": 1}]', twice) == ([(1, 0)], "Something left in 1 of 2 rows.")
    assert gone("1", twice) == ([], "Something left in 2 of 2 rows.")


def test_the_beginning_of_a_large_table():
    table = [{f"c{column}": "x" * (58 + row) for column in range(13)} for row in range(25)]
    rows = whole(table)
    assert (len(rows.rows), len(rows.columns)) == (24, 12)
    assert rows.caption == "25 rows, the first 24 shown; 12 columns, the first 12 shown."
    assert [len(row[0]) for row in rows.rows[:5]] == [58, 59, 60, 60, 60]
    assert rows.rows[3][0] == "x" * 59 + "…"
    assert beside(table, "").caption == "Nothing left of the first 24 of 25 rows."
    assert whole(table[:24]).caption == "24 rows; 12 columns, the first 12 shown."
    assert whole([{"a": 1}, {"b": None}]).rows == (("1", ""), ("", "null"))
    assert whole(None) is None
    assert beside(None, "x") is None
