"""The published experiments against the figures as the paper's tables have them, typed a second time and in another form."""

from __future__ import annotations

from bench.comparison.published import EXPERIMENTS, RULES

SWE_AGENT = """
Gemini 2.5 Flash           mask 43.5% of cost  89% of turns  +2.8   summary 55% of cost 104% of turns  +3.2
Gemini 2.5 Flash thinking  mask 43.5% of cost 103% of turns  -3.8   summary 42% of cost  87% of turns  -9.1
Qwen3-Coder 480B           mask 47%   of cost 104% of turns  +1.4   summary 46% of cost 120% of turns  +0.4
Qwen3-32B                  mask 50%   of cost 115% of turns  -2.0   summary 43% of cost  95% of turns  -1.0
"""
OPENHANDS = {10: (52, 227, -11.2), 72: (74, 110, 1.8)}
OF_FIFTY_TASKS = {20: (158, -12), 29: (160, -8), 43: (120, -8), 50: (101, -8), 54: (106, -2), 58: (94, 4), 86: (98, 0)}


def percent(ratio: float | None) -> float | None:
    return None if ratio is None else round(100 * ratio, 6)


def test_every_experiment_has_the_published_figures() -> None:
    expected = set()
    for line in SWE_AGENT.strip().splitlines():
        model, _, figures = line.partition("  ")
        cells = figures.replace("of cost", "").replace("of turns", "").replace("%", "").split()
        for rule, cost, turns, solved in (cells[:4], cells[4:]):
            expected.add((rule, 10, "SWE-agent", model, 500, float(cost), float(turns), float(solved)))
    openhands = "OpenHands", "Gemini 2.5 Flash"
    expected.add(("summary", 10, *openhands, 500, 49.0, 135.0, 2.6))
    expected |= {("events", window, *openhands, 500, *figures) for window, figures in OPENHANDS.items()}
    expected |= {("events", window, *openhands, 50, None, *figures) for window, figures in OF_FIFTY_TASKS.items()}
    found = {
        (one.rule, one.setting, one.scaffold, one.model, one.tasks, percent(one.cost), percent(one.turns), one.solved)
        for one in EXPERIMENTS
    }
    assert found == expected
    assert len(EXPERIMENTS) == len(expected)


def test_a_rule_stands_for_the_setting_that_its_policy_has_by_default() -> None:
    assert {name: (rule, setting) for name, (rule, _, setting) in RULES.items()} == {
        "mask_observations": ("mask", 10),
        "swe_agent.last_n": ("mask", 5),
        "openhands.mask": ("events", 100),
        "openhands.summarize": ("summary", 10),
        "complexity_trap.hybrid": ("summary", 10),
    }
