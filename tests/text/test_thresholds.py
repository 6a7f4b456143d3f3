"""The numbers on which verdicts and pages turn, written out: one that moves, moves what was accepted and what is shown, never by accident."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from bench.tokens.fitting import Constant

DECIDE = {
    # what is called a difference, a way of counting, a compaction, a habit, a span, a kept task
    "comparison.intervals": {"FEWEST": 6, "EXACT_UP_TO": 12, "DRAWN": 2_000, "ONE_IN": 20, "ROUNDING": 1e-12},
    "comparison.advice": {"NOISE_FLOOR": 0.001},
    "comparison.decision": {"ROUNDING": 1e-9},
    "metrics.facts": {"COLLAPSED": 0.5},
    "metrics.routing_loops": {"REPEATS": 3},
    "metrics.selection": {"RECALL_AT": 3},
    "tokens.calibration": {"FEWEST_TURNS": 5, "MARGIN": 0.001, "_HIDDEN": 0.25, "_HIDDEN_TOKENS": 32,
                             "_MESSAGE": Constant(3, 0, 40), "_FACTOR": Constant(1, 0.5, 2.5), "_MOST_PROMPT_TOKENS": 200_000},
    "evidence.copied": {"SPAN_WORDS": 3, "SPAN_CONTENT": 2},
    "evidence.dependencies": {
        "HABIT_SHARE": 0.25, "HABIT_TURNS": 4, "DISTANCES": {"near": (0, 1), "mid": (2, 5), "far": (6, None)}
    },
    "evidence.oracle": {"SLACK": 1e-9},
    "evidence.instructions": {"KEPT": 0.8, "RULE_KEPT": 0.5, "_WORD_CHARS": 4},
    "evidence.meaning": {"_LINE_CHARS": 400, "_STEM_CHARS": 5, "_FOREIGN": 0.15},
}  # fmt: skip
SHOW = {
    # how much of it a page, a log or an annotation holds
    "metrics": {"LISTED": 20},
    "metrics.probes": {"SHOWN_CHARS": 200},
    "metrics.cost": {"_NAMED": 5},
    "metrics.structure": {"_LISTED_CHARS": 200},
    "comparison.judging": {"LISTED": 10},
    "comparison.accepting": {"MOST_CASES": 10},
    "comparison.gates.regression": {"NEW_NAMED": 3},
    "evidence.losses": {"MOST": 10, "FACTS": 20, "_FACT_CHARS": 120},
    "evidence.recorded_cut": {"NAMED": 4},
    "evidence.recording": {"MOST": 20},
    "evidence.shown": {"CURVE_CALLS": 240, "COMPACTIONS": 20, "NOTES": 12, "JUDGEMENTS": 12, "TURNS": 48, "ROUTE_COUNTS": 200,
                       "WHOLE_PATH": 12, "_MISSED": 6, "_EVICTED": 8, "_TEXT_CHARS": 400},
    "evidence.validity": {"PLACES": 40},
}  # fmt: skip
WORK = {
    # how much work is spared or given up; answers do not turn on it but for texts of this size
    "comparison.intervals": {"AT_ONCE": 2_000_000},
    "evidence.copied": {"_FAR": 1000, "_SPARE": 200_000_000},
    "text.texts": {"_PARAGRAPHS_CHARS": 1000},
}


@pytest.mark.parametrize(
    ("module", "numbers"), [(module, numbers) for of in (DECIDE, SHOW, WORK) for module, numbers in of.items()]
)
def test_the_numbers_are_those_that_were_decided(module: str, numbers: dict[str, Any]) -> None:
    found = import_module(f"bench.{module}")
    assert {name: getattr(found, name) for name in numbers} == numbers
