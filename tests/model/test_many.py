"""Many cases: rows are held as numbers, cases that are not opened as bytes, and both come out as they went in."""

from __future__ import annotations

import tracemalloc

import msgspec

from bench.model import Case, CaseList, Columns, Row, RunShown
from bench.model.case import RecordingShown

ROW = Row(strategy="s", metric="m", case="a", value=0.5, unit="fraction", n=2.0)
ROWS = (
    ROW,
    msgspec.structs.replace(ROW, case="c", low=0.25, high=0.75, partly=1, marks=("some",)),
    msgspec.structs.replace(ROW, metric="o", case="b", value=None, n=0.0, reason="no price"),
    msgspec.structs.replace(ROW, metric="o", case="c", value=float("inf")),
)


def test_rows_come_out_as_they_went_in_whatever_is_missing_between_them() -> None:
    rows = Columns(reversed(ROWS))
    assert sorted(rows, key=lambda row: (row.metric, row.case)) == [*ROWS]
    assert (len(rows), ROWS[2] in rows, rows == Columns([ROWS[3], ROWS[1], ROWS[0], ROWS[2]])) == (4, True, True)
    for strategy, metric, case in (("s", "m", "b"), ("s", "o", "a"), ("s", "m", "z"), ("t", "m", "a"), ("s", "n", "a")):
        assert rows.get(strategy, metric, case) is None
        assert msgspec.structs.replace(ROW, strategy=strategy, metric=metric, case=case) not in rows
    assert rows != Columns(ROWS[:3])


def test_a_row_takes_few_bytes() -> None:
    names = [f"case {number}" for number in range(2_000)]
    tracemalloc.start()
    rows = Columns(msgspec.structs.replace(ROW, metric=str(at), case=name, value=at / 7)
                   for name in names for at in range(20))  # fmt: skip
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(rows) == 40_000
    assert taken / len(rows) < 24


def test_a_case_that_is_abridged_is_the_same_whatever_it_holds() -> None:
    runs = {"s": RunShown(own_words=(("half of \ud83d", 1),), seconds=0.1)}
    cases = [
        Case(id=name, recording=RecordingShown(sha256=name), runs=of, abridged=abridged)
        for name, of, abridged in (("b", {}, False), ("c", runs, True), ("a", {"s": RunShown(handles=2)}, True))
    ]
    held = CaseList(cases)
    assert ([*held], held[1], held[1:], len(held)) == (cases, cases[1], cases[1:], 3)
    assert ([*held.by_name], held.by_name["a"], "d" in held.by_name) == (["b", "c", "a"], cases[2], False)
