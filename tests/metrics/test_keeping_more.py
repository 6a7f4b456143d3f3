"""Between drop_all and keep_all, who keeps more misses no more."""

from pathlib import Path

import pytest

from bench import load
from bench.evidence.unmet import missed_needs
from bench.run.measuring import Measuring, RunSession
from bench.strategies import parse_strategy

ROOT = Path(__file__).parents[2]


@pytest.mark.slow  # ten replays of each shipped recording
@pytest.mark.parametrize(
    "rule", ["compactor=mask_observations:keep_last", "compactor=sliding_window:keep_last", "summarizer=truncate:limit"]
)
def test_a_strategy_that_keeps_more_never_misses_more(rule: str) -> None:
    specs = ["drop_all", *(f"m={rule}={most}" for most in (1, 2, 4, 8, 20, 80, 400, 3000)), "keep_all"]
    for trace in load([ROOT / "traces"]).traces:
        session = RunSession(trace, Measuring(()))
        found = [missed_needs(session.evidence(parse_strategy(spec))) for spec in specs]
        for counts in ([len({it.step for it in missed}) for missed in found], [*map(len, found)]):
            assert counts == sorted(counts, reverse=True), trace.id
