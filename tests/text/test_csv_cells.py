"""CSV reports: what breaks rows is quoted, what a spreadsheet would run is made harmless, everything else reads back."""

from __future__ import annotations

import csv
import io

import bench
from bench.model import ModelTurn, Source, ToolResult, Trace, UserTurn
from bench.reports import rendered

CASES = ["plain", "a,b", 'say "x"', "a\rb", "a\r\nb", "a\nb", "", "a;b", "\ttab", " blank "]
FORMULAS = ["=cmd|'/C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "\uff1d1", '=HYPERLINK("x")']


def report(*cases: str) -> list[dict[str, str]]:
    steps = (
        UserTurn(index=0, content="go"),
        ModelTurn(index=1, content="look"),
        ToolResult(index=2, call_id="c", function="f", seen="run_7 471"),
        ModelTurn(index=3, content="run_7"),
    )
    traces = [Trace(id=case or "x", source=Source(format="native"), steps=steps) for case in cases]
    text = rendered([bench.compare(traces, ["keep_all"], title=cases[-1])], "csv")
    assert isinstance(text, str)
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_row_is_one_row_its_case_reads_back_and_no_cell_is_a_formula():
    rows = report(*CASES, *FORMULAS)
    assert {None} not in [set(row) for row in rows]
    assert {row["case"].removeprefix("'") for row in rows if row["case"]} == {case or "x" for case in CASES + FORMULAS}
    assert all(len(row) == len(rows[0]) for row in rows)
    for cell in (cell for row in rows for cell in row.values()):
        assert cell.lstrip()[:1] not in ("=", "+", "@", "\uff1d"), cell
        assert cell[:1] != "-" or float(cell), cell


def test_a_number_stays_one():
    numbers = ["-5", "+3.5", "-1e9"]
    assert {row["case"] for row in report(*numbers) if row["case"]} == {*numbers}
