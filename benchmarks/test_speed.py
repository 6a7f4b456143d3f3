"""Times of what people do with the bench, as multiples of counting each distinct text once.

`make benchmark` runs these, in seconds of processor time, so that what else the machine does
counts little. An accepted multiple is what was measured; it changes by hand, with the reason in
the commit.
"""

from __future__ import annotations

import io
import itertools
import json
import math
import os
import pickle
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import MARGIN, ROOT, SHIPPED, Timed, cpu_s

import bench
from bench.evidence.index import index_trace
from bench.model import ModelTurn, Source, ToolCall, ToolResult, Trace, UserTurn
from bench.run.audits import audited
from bench.run.cache import Cache
from bench.run.measuring import Measuring, RunSession, rare_collection
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
OLD = "7d8578e2"
"""The commit of version 0.2."""
COMPARES = """
import sys, time, bench
paths, (warm, *_) = sys.argv[2:], sys.argv[2:]
bench.compare([warm], sys.argv[1].split())
began = time.process_time()
bench.compare(paths, sys.argv[1].split())
print(time.process_time() - began, bench.__file__)
"""


def measured(traces: Sequence[Trace], strategies: Sequence[str]) -> None:
    """Measure every strategy on every recording, nothing kept from before."""
    measuring = Measuring(tuple(map(parse_strategy, strategies)))
    for trace in traces:
        with rare_collection():
            RunSession(trace, measuring).measured()


def command(*arguments: str) -> None:
    """Run one command of the bench, nothing kept from before."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "bench", *arguments],
            cwd=ROOT, check=True, capture_output=True, env={**os.environ, "XDG_CACHE_HOME": folder},
        )  # fmt: skip


def test_read(times_floor: Timed, pytestconfig: pytest.Config) -> None:
    paths = pytestconfig.getoption("--recordings") or SHIPPED
    times_floor(lambda: bench.load(paths, ROOT), 1.3)


def test_index(times_floor: Timed, traces: Sequence[Trace]) -> None:
    times_floor(lambda: [index_trace(trace) for trace in traces], 4.9)


def test_an_index_is_small(traces: Sequence[Trace]) -> None:
    """Bytes that are kept of a recording, for each character of its results."""
    kept = sum(len(pickle.dumps(index_trace(trace))) for trace in traces)
    texts = sum(len(result.text) for trace in traces for result in trace.results)
    print(f"test_an_index_is_small: {kept / texts:.2f} bytes a character (accepted 0.1)")
    assert kept / texts <= 1.3 * 0.1


@pytest.mark.parametrize(
    ("strategy", "accepted"),
    [
        ("mask=compactor=mask_observations:keep_last={}", 3.2),
        ("cut=summarizer=truncate:limit={}", 5.2),
    ],
)
def test_one_more_strategy(
    times_floor: Timed, traces: Sequence[Trace], tmp_path: Path, strategy: str, accepted: float
) -> None:
    """Another setting in each round, what earlier ones found of the recordings kept: a strategy
    that was edited.
    """
    cache, settings = Cache(tmp_path / "kept.sqlite"), itertools.count(5)

    def again() -> None:
        parsed = parse_strategy(strategy.format(next(settings)))
        for trace in traces:
            with rare_collection():
                RunSession(trace, Measuring((parsed,), cache=cache)).score(parsed)

    again()
    times_floor(again, accepted)


def test_nine_strategies(times_floor: Timed, traces: Sequence[Trace]) -> None:
    times_floor(lambda: measured(traces, STRATEGIES), 30)


def test_references_only(times_floor: Timed, traces: Sequence[Trace]) -> None:
    times_floor(lambda: measured(traces, STRATEGIES[:2]), 8)


def test_a_function_of_a_file(times_floor: Timed, traces: Sequence[Trace], tmp_path: Path) -> None:
    """Its child, which imports it once, a fork of that for each run, and what passes between."""
    (tmp_path / "mine.py").write_text("def f(messages): return [*messages[:2], *messages[-9:]]\n")
    given = {"mine": "compactor=mine.py:f"}
    times_floor(lambda: bench.compare(traces, given, base=tmp_path, details=False), 29)


def test_audit(times_floor: Timed, traces: Sequence[Trace]) -> None:
    times_floor(lambda: [audited(trace) for trace in traces], 10.8)


@pytest.mark.parametrize(("form", "accepted"), [("text", 6.9), ("json", 4.1)])
def test_a_result_of_half_a_megabyte(times_floor: Timed, form: str, accepted: float) -> None:
    """One result of 500 kB under three strategies: time is linear in it, so that 10 MB take twenty
    times as long.
    """
    rows = [
        {"id": f"W-{n}", "length": n / 8, "note": f"wall {n * 7919 % 10007}"} for n in range(9_000)
    ]
    text = (
        json.dumps(rows)
        if form == "json"
        else "\n".join(f"{r['id']} is {r['length']} m, {r['note']}" for r in rows)
    )
    call = ToolCall(id="c", name="list", arguments={})
    trace = Trace(
        id="large",
        source=Source(format="native"),
        steps=(
            UserTurn(index=0, content="How long is W-7?"),
            ModelTurn(index=1, tool_calls=(call,), model="gpt-4o"),
            ToolResult(index=2, call_id="c", function="list", seen=text),
            ModelTurn(index=3, content="W-7 is 0.875 m long."),
        ),
    )
    times_floor(lambda: measured([trace], STRATEGIES[1:8:3]), accepted, rounds=1)


def test_help(times_floor: Timed) -> None:
    times_floor(lambda: command("--help"), 2.4)


def test_one_scenario(times_floor: Timed) -> None:
    times_floor(lambda: command("run", "scenarios/do_five_rows_suffice.toml"), 60, rounds=1)


def test_a_comparison_beside_that_of_0_2(tmp_path: Path) -> None:
    """Processor time of the same comparison by version 0.2, with the same packages, and by this
    one.
    """
    unpacked = subprocess.run(
        ["git", "archive", OLD, "bench"], cwd=ROOT, capture_output=True, check=False
    )
    if unpacked.returncode:
        pytest.skip(f"{OLD} is not in this clone")
    with tarfile.open(fileobj=io.BytesIO(unpacked.stdout)) as files:
        files.extractall(tmp_path / "old", filter="data")
    specs = " ".join(STRATEGIES[3:8])

    def seconds(code: Path) -> float:
        given = [sys.executable, "-c", COMPARES, specs, *(str(ROOT / path) for path in SHIPPED)]
        environment = {**os.environ, "PYTHONPATH": str(code), "BENCH_CACHE": "off"}
        done = subprocess.run(
            given, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        used, _, path = done.stdout.strip().partition(" ")
        assert Path(path).is_relative_to(code), path  # and not of the working folder
        return float(used)

    tries = (seconds(ROOT) / seconds(tmp_path / "old") for _ in range(4))
    ratio = next((ratio for ratio in tries if ratio <= MARGIN * 0.6), math.inf)
    print(f"test_a_comparison_beside_that_of_0_2: {ratio:.2f} of its time (accepted 0.6)")
    assert ratio <= MARGIN * 0.6
