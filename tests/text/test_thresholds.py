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
    "comparison.decision": {"MAX_INVENTED": 0.02, "ROUNDING": 1e-9},
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
    "metrics.needed": {"NOISE_FLOOR": (0.004, 0.029)},
    "comparison.published": {"NOISE_OF_FAULTS": (0.004, 0.029), "WITHIN": 2.0},
    "comparison.sure": {"ALPHA": 0.025, "LARGEST_RATIO": 1000.0},
    "comparison.tuning": {"FEWEST": 6},
    "evidence.changed": {"_ALIKE": 0.6, "_BRIEF_CHARS": 2_000, "_TOLD_CHARS": 12, "_DENIALS": 3},
    "evidence.of_trace": {"_EARLY": 1.5},
    "evidence.orders": {"_CHARS": 200, "_STRANGE": 3, "_PARTS": 3},
    "evidence.recorded_cut": {"SHARE": 0.95, "FEWEST_LINES": 5, "_SHORTEST": 8, "_SAME": 20},
    "evidence.spending": {"OUTSIDE": -1},
    "text.cut": {"SOUGHT_CHARS": 64, "SURE_CHARS": 8},
    "text.explained": {"_SCALES": (100, 1_000, 1_000_000, 1_000_000_000, 1_000_000_000_000, 1_024, 1_048_576, 1_073_741_824)},
    "text.notices": {"_ENDS_CHARS": 4_000, "_PLACEHOLDER_CHARS": 200, "_AROUND": 12},
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
    "evidence.losses": {"MOST_CAUSES": 30, "MAX_CHANGES": 10, "MAX_RESULTS": 4, "_VALUE_CHARS": 120, "_DIFF_CHARS": 20_000,
                        "MOST": 10, "FACTS": 20, "_FACT_CHARS": 120},
    "evidence.recorded_cut": {"NAMED": 4},
    "evidence.recording": {"MOST": 20},
    "evidence.shown": {"_RULES": 3, "_RULE_CHARS": 160, "CURVE_CALLS": 240, "COMPACTIONS": 20, "NOTES": 12, "JUDGEMENTS": 12, "TURNS": 48,
                       "ROUTE_COUNTS": 200,
                       "WHOLE_PATH": 12, "_MISSED": 6, "_EVICTED": 8, "_TEXT_CHARS": 400},
    "evidence.validity": {"PLACES": 40},
    "metrics.prompts": {"RULES_NAMED": 3},
    "evidence.audit": {"DEAREST": 10},
    "evidence.case": {"MOST_CALLS": 120, "MESSAGE_CHARS": 6_000, "MOST_CHARS": 300_000, "LEAST_CHARS": 60, "MAX_BYTES": 500_000},
    "evidence.explanations": {"MAX_NAMED": 4, "MAX_RECORDS": 40, "VALUE_CHARS": 60},
    "evidence.own_words": {"SENTENCES": 12, "ALTERED": 12, "_CHARS": 200, "_QUOTED_CHARS": 60},
    "evidence.side_by_side": {"MAX_STRATEGIES": 6, "MAX_NAMED": 12, "MAX_SENTENCES": 6, "UNTRUNCATED_CHARS": 6_000, "KEPT_CHARS": 2_500,
                              "MAX_ROWS": 24, "MAX_COLUMNS": 12, "MAX_CELL": 60, "AROUND": 160},
    "run.verbs": {"OPENED": 200},
}  # fmt: skip
WORK = {
    # how much work is spared or given up; answers do not turn on it but for texts of this size
    "comparison.intervals": {"AT_ONCE": 500_000},
    "evidence.copied": {"_FAR": 1000, "_SPARE": 200_000_000},
    "text.texts": {"_PARAGRAPHS_CHARS": 1000},
    "evidence.changed": {
        "_LOOKED_AT": 5_000,
        "_DISTINCT": 3_000,
        "_LINE_WORDS": 300,
        "_LINE_PLACES": 200,
        "_NEAREST": 3,
    },
    "evidence.dependencies": {"_PARTS": 24},
    "evidence.instructions": {"_MOST_RULES": 100, "_RULE_CHARS": 300},
    "evidence.meaning": {"_FIELD_CHARS": 160, "_FIELD_WORDS": 6},
    "evidence.own_words": {"_BYTES": 4, "_LATEST": 50, "_SENTENCES_CHARS": 200_000},
    "evidence.recorded_cut": {"_PLACES": 12},
    "evidence.side_by_side": {"MAX_EXPLAINED_CHARS": 400_000, "MAX_COMPARED": 400, "MOST_SOUGHT": 200},
    "text.decode": {"_MAX_DEPTH": 100},
    "text.explained": {"_MOST_CHARS": 4_000},
    "text.fact_kinds": {"_MEASURED_CHARS": 200_000},
    "text.facts": {"_SIGNIFICANT_CHARS": 40, "_TOKEN_CHARS": 300},
    "text.layouts": {"_MOST_CHARS": 200_000},
    "text.leaves": {"CANDIDATES": 16, "_LEVELS": 8},
    "text.tables": {"_MAX_COLUMNS": 200, "_TIMES_IN_VAIN": 8, "_CHARS_IN_VAIN": 1_000_000},
    "run.case": {"COLLECTED": (20_000, 10, 10)},
    "run.cluster": {"AHEAD": 2, "_LOOKS_S": 0.05, "_ALONE_S": 60.0},
    "run.engines": {"TRIES": 2},
}


@pytest.mark.parametrize(
    ("module", "numbers"), [(module, numbers) for of in (DECIDE, SHOW, WORK) for module, numbers in of.items()]
)
def test_the_numbers_are_those_that_were_decided(module: str, numbers: dict[str, Any]) -> None:
    found = import_module(f"bench.{module}")
    assert {name: getattr(found, name) for name in numbers} == numbers
