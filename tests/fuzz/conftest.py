"""The number of mutations of each target: a few in every test run, as many as BENCH_FUZZ says for `make fuzz`, which prints the count."""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Callable, Iterator

import pytest

FEW = 8
TRIED: dict[str, int] = {}


@pytest.fixture
def draws(request: pytest.FixtureRequest) -> Callable[[int], Iterator[random.Random]]:
    """Seeded generators, one a mutation; `share` of the count for a target that is slow."""

    def each(share: int = 1) -> Iterator[random.Random]:
        count = max(1, int(os.environ.get("BENCH_FUZZ", FEW)) // share)
        start = int(os.environ.get("BENCH_FUZZ_SEED", "0"))
        target = request.node.originalname
        for number in range(start, start + count):
            TRIED[target] = TRIED.get(target, 0) + 1
            yield random.Random(zlib.crc32(request.node.name.encode()) * 1_000_003 + number)

    return each


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if "BENCH_FUZZ" in os.environ and TRIED:
        terminalreporter.section("fuzzing")
        for target, count in TRIED.items():
            terminalreporter.write_line(f"{count:9,} {target.removeprefix('test_').replace('_', ' ')}")
        terminalreporter.write_line(f"{sum(TRIED.values()):9,} in all")
