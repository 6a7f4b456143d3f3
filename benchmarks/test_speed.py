"""Times of what people do with the bench, as multiples of counting each distinct text once.

`make benchmark` runs these, in seconds of processor time, so that what else the machine does
counts little. An accepted multiple changes by hand, with the reason in the commit.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence

import pytest
from conftest import ROOT, SHIPPED, Timed, cpu_s

import bench
from bench.evidence.index import index_trace
from bench.model import Trace
from bench.run.measuring import Measuring, measure
from bench.strategies import parse_strategy

pytestmark = pytest.mark.benchmark(timer=cpu_s, group="multiples of the floor")

STRATEGIES = (
    "recorded",
    "keep_all",
    "drop_all",
    "clairvoyant",
    "summary=summarizer=output_summary",
    "console=summarizer=table_console",
    "cut=summarizer=truncate",
    "mask=compactor=mask_observations",
    "stored_cut=store=truncate+evaluator=step_v1+routers=[executor,step_evaluator]",
)


def measured(traces: Sequence[Trace], strategies: Sequence[str]) -> None:
    """Measure every strategy on every recording, nothing kept from before."""
    measuring = Measuring(tuple(map(parse_strategy, strategies)))
    for trace in traces:
        measure(trace, measuring)


def command(*arguments: str) -> None:
    """Run one command of the bench, nothing kept from before."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "bench", *arguments],
            cwd=ROOT, check=True, capture_output=True, env={**os.environ, "XDG_CACHE_HOME": folder},
        )  # fmt: skip


def test_read(times_floor: Timed, pytestconfig: pytest.Config) -> None:
    paths = pytestconfig.getoption("--recordings") or SHIPPED
    times_floor(lambda: bench.load(paths, ROOT), 2)


def test_index(times_floor: Timed, traces: Sequence[Trace]) -> None:
    times_floor(lambda: [index_trace(trace) for trace in traces], 9)


def test_nine_strategies(times_floor: Timed, traces: Sequence[Trace]) -> None:
    times_floor(lambda: measured(traces, STRATEGIES), 50)


def test_references_only(times_floor: Timed, traces: Sequence[Trace]) -> None:
    times_floor(lambda: measured(traces, STRATEGIES[:2]), 15)


def test_help(times_floor: Timed) -> None:
    times_floor(lambda: command("--help"), 2.5)


def test_one_scenario(times_floor: Timed) -> None:
    times_floor(lambda: command("run", "scenarios/do_five_rows_suffice.toml"), 100)
