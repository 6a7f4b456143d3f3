"""Results of Revit tools without a model: snippets that the recorder cut, and tables in CSV files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from reread import checked

from bench.traces import load


def test_recorded_results(shared_traces: Path, tmp_path: Path) -> None:
    recorded = json.loads((shared_traces / "revitcortex/scripts/bulk2-readonly-results.json").read_text())
    (trace,) = load(["revitcortex"], shared_traces).traces
    checked(trace, tmp_path)
    assert [(result.function, result.text) for result in trace.results] == [
        (item["tool"], item["snippet"]) for item in recorded
    ]
    whole = [len(item["snippet"]) < 300 for item in recorded]
    assert [not result.truncated_at_source for result in trace.results] == whole
    assert [result.data is not None for result in trace.results] == whole
    assert sum(result.duration_s or 0 for result in trace.results) == pytest.approx(
        sum(item["ms"] for item in recorded) / 1000
    )


def test_recorded_tables(shared_traces: Path, tmp_path: Path) -> None:
    traces = load(["revit-mcp-toolkit/**/*.csv"], shared_traces).traces
    paths = sorted((shared_traces / "revit-mcp-toolkit").rglob("*.csv"))
    assert len(traces) == len(paths) == 2
    for trace, path in zip(traces, paths, strict=True):
        checked(trace, tmp_path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [{name: str(value) for name, value in row.items()} for row in trace.results[0].data] == rows
