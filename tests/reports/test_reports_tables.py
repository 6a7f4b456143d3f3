"""CSV and Parquet: what a spreadsheet opens holds values, not empty cells."""

from __future__ import annotations

import csv
import io

import msgspec
import pytest
from compared import comparison

import bench
from bench.comparison.rows import NOTHING
from bench.model import Comparison
from bench.reports import rendered, sections
from bench.reports.rows import scores

SHIPPED = {
    "building_model": ["cut=summarizer=truncate:limit=500", "last=compactor=sliding_window"],
    "terminal_beginnings": ["stored=store=by_function", "mask=compactor=mask_observations"],
}


@pytest.mark.slow
@pytest.mark.parametrize("folder", SHIPPED)
def test_no_column_is_empty_in_half_of_all_rows(folder: str) -> None:
    compared = bench.compare(f"traces/{folder}", SHIPPED[folder])
    lines = list(csv.DictReader(io.StringIO(rendered([compared], "csv"), newline="")))
    assert lines
    for column in lines[0]:
        assert sum(line[column] == "" for line in lines) < len(lines) / 2, column


def test_what_there_was_nothing_of_has_no_rows_and_what_failed_has() -> None:
    compared = comparison()
    metric, other = list(compared.metrics)[:2]
    reasons = {metric: NOTHING, other: "raised"}
    rows = tuple(
        msgspec.structs.replace(row, value=None, reason=reasons[row.metric]) if row.metric in reasons else row
        for row in compared.rows
    )
    found = _metrics(msgspec.structs.replace(compared, rows=rows))
    assert metric not in found
    assert other in found


def test_a_comparison_without_rows_has_the_columns_alone() -> None:
    compared = msgspec.structs.replace(comparison(), rows=())
    assert rendered([compared], "csv") == "scenario,strategy,metric,case,value,low,high,unit,n,status\n"


def _metrics(compared: Comparison) -> set[str]:
    return {row[2] for row in scores(sections([compared]))}
