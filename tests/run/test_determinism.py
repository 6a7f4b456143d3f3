"""The same bytes from every process: nothing may depend on the order of a set, which Python changes from one process to the next."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRINT_HASHES = """
import hashlib, sys
from pathlib import Path
import msgspec, bench
from bench.strategies import parse_strategy
encode = msgspec.json.Encoder(enc_hook=repr).encode
for trace in bench.load(["traces/analysis"], Path()).traces[::3]:
    for text in sys.argv[1:]:
        strategy = parse_strategy(text)
        run = bench.replay(trace, strategy)
        said = encode(run) + encode(bench.score(trace, run))
        print(trace.id, strategy.name, hashlib.sha256(said).hexdigest())
"""
STRATEGIES = (
    "floor",
    "clairvoyant",
    "old=summarizer=head_tail+compactor=summarize_old:max_tokens=4000,threshold=0.5+store=truncate+evaluator=step_v1",
    "apart=compactor=separate_commands:max_tokens=4000+store=external+routers=[executor,step_evaluator]",
)


def hashes(seed: int) -> list[str]:
    """One line a trace and strategy, out of a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PRINT_HASHES, *STRATEGIES],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.slow
def test_two_processes_give_the_same_runs_and_scores():
    first, second = hashes(1), hashes(2)
    assert len(first) == 2 * len(STRATEGIES)
    assert [line for line in zip(first, second, strict=True) if line[0] != line[1]] == []
