"""What the parts cost, beside each other in one run: compare the ratios, the seconds belong to the machine.

`python -m pytest tests/test_benchmarks.py -o addopts= --benchmark-only`; skipped otherwise. `make benchmark` measures the whole.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import bench
from bench.model import Trace
from bench.text.facts import find_facts
from bench.tokens import counting as tokens

ROOT = Path(__file__).parents[1]
ROUNDS = 5
MASK = "mask=compactor=mask_observations"

pytestmark = pytest.mark.benchmark(group="one terminal session")


@pytest.fixture(scope="module")
def floor() -> ModuleType:
    """The script behind `make benchmark`: what it counts and how it forgets is the same here."""
    spec = importlib.util.spec_from_file_location("floor_benchmark", ROOT / "benchmarks" / "floor.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def trace() -> Trace:
    (only,) = bench.load(["traces/terminal/session.json"], ROOT).traces
    return only


@pytest.fixture
def measure(benchmark: Any, floor: ModuleType, trace: Trace) -> Callable[[Callable[[], Any]], Any]:
    """Time some work on the trace, cold every time; gives what it gave."""
    return lambda work: benchmark.pedantic(work, setup=lambda: floor.cold([trace]), rounds=ROUNDS)


def test_count(measure, floor, trace):
    count = tokens.counter("o200k_base")
    texts = floor.distinct_texts([trace])
    assert measure(lambda: sum(map(count.text, texts))) > 10_000


def test_facts(measure, floor, trace):
    texts = floor.distinct_texts([trace])
    assert measure(lambda: sum(len(find_facts(text)) for text in texts)) > 1_000


def test_replay_keep_all(measure, trace):
    assert len(measure(lambda: bench.replay(trace, "keep_all")).prompts) == len(trace.model_turns)


def test_replay_mask(measure, trace):
    kept = sum(prompt.tokens for prompt in bench.replay(trace, "keep_all").prompts)
    assert sum(prompt.tokens for prompt in measure(lambda: bench.replay(trace, MASK)).prompts) < kept


def test_score(measure, trace):
    run = bench.replay(trace, MASK)

    def score() -> dict[str, Any]:
        run.__dict__.clear()  # what an earlier round found
        return bench.score(trace, run)

    samples = measure(score)["needed.recall"]
    kept, total = (sum(getattr(sample, side) for sample in samples) for side in ("numerator", "denominator"))
    assert 0 < kept < total
