"""The floor that every time is a multiple of, and the recordings that are timed."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import pytest

import bench
from bench.model import ModelTurn, SystemTurn, ToolResult, Trace, UserTurn, compact_json
from bench.tokens.counting import TokenCounter

ROOT = Path(__file__).parents[1]
MARGIN, _AGAIN = 1.3, 5
SHIPPED = ("traces/terminal", "traces/analysis", "traces/building_model")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Recordings of one's own in place of the shipped ones."""
    parser.addoption("--recordings", nargs="+", help="[FORMAT:]PATH of the recordings to time")


def cpu_s() -> float:
    """Seconds of processor time of this process and of its finished children."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)  # os.times() has ticks of 10 ms


def distinct_texts(traces: Sequence[Trace]) -> list[str]:
    """Every distinct text that a prompt could hold: turns, results whole and as seen, arguments."""
    texts: dict[str, None] = {}
    for step in (step for trace in traces for step in trace.steps):
        if isinstance(step, SystemTurn | UserTurn | ModelTurn):
            texts[step.content] = None
        if isinstance(step, ModelTurn):
            texts |= {compact_json(c.arguments): None for c in step.tool_calls if not c.in_text}
        if isinstance(step, ToolResult):
            texts |= {step.text: None, step.recorded_text: None}
    return list(texts)


@pytest.fixture(scope="session")
def traces(pytestconfig: pytest.Config) -> Sequence[Trace]:
    """The recordings that are timed."""
    paths = pytestconfig.getoption("--recordings")
    loaded = bench.load(paths, Path()) if paths else bench.load(SHIPPED, ROOT)
    return loaded.traces


@pytest.fixture
def floor_s(traces: Sequence[Trace]) -> Callable[[], float]:
    """Seconds that tiktoken takes to count each distinct text once; the least of five times.

    Measured beside every task, so that what else the machine does weighs on both.
    """
    encode = TokenCounter()._encode
    texts = distinct_texts(traces)

    def once() -> float:
        start = time.process_time()
        for text in texts:
            encode(text)
        return time.process_time() - start

    once()
    return lambda: min(once() for _ in range(5))


class Timed(Protocol):
    """Times some work, the least of so many rounds, and refuses more than 1.3 times its accepted
    multiple of the floor.

    What is refused is timed up to five times more: a machine with other guests is slow by chance, a
    slower bench every time.
    """

    def __call__(self, work: Callable[[], object], accepted: float, rounds: int = 2) -> None: ...


@pytest.fixture
def times_floor(benchmark, floor_s: Callable[[], float], request: pytest.FixtureRequest) -> Timed:
    """What times the tasks."""

    def timed(work: Callable[[], object], accepted: float, rounds: int = 2) -> None:
        benchmark.pedantic(work, rounds=rounds, warmup_rounds=1)
        multiple = benchmark.stats.stats.min / floor_s()
        for _ in range(_AGAIN):
            if multiple > MARGIN * accepted:
                began = cpu_s()
                work()
                multiple = min(multiple, (cpu_s() - began) / floor_s())
        benchmark.extra_info["times_floor"] = round(multiple, 1)
        print(f"{request.node.name}: {multiple:.1f} x floor (accepted {accepted:g})")
        if not request.config.getoption("--recordings"):
            assert multiple <= MARGIN * accepted

    return timed
