"""Published experiments: what happened when people really ran agents under a rule, next to what a replay says of it.

Each ratio is the run under the rule over the same run without; `solved` is the change of the solve rate in percentage points. They are facts about
one scaffold, model and benchmark, and no forecast for another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..plugins.spec import parse_spec, split_top

Rule = Literal["mask", "events", "summary"]
"""The last observations stay and older ones are masked; the last events (actions and observations) stay; older turns are summarised."""

TRAP = "arXiv 2508.21433, SWE-bench Verified"
NOISE_OF_FAULTS = (0.004, 0.029)
"""The fault rates that are measured where there can be no faults: in 122 runs of SWE-agent whose model never saw what it is blamed for missing."""

WITHIN = 2.0  # an experiment counts as near where its setting is within this factor


@dataclass(frozen=True)
class Experiment:
    """One published experiment: its rule with the setting (observations or events that stay), who ran it, and what happened.

    `cost` and `turns` are ratios to the run without the rule (None: not published).
    """

    rule: Rule
    setting: int
    scaffold: str
    model: str
    tasks: int
    cost: float | None
    turns: float | None
    solved: float
    source: str = TRAP


GEMINI, THINKING, QWEN_480B, QWEN_32B = "Gemini 2.5 Flash", "Gemini 2.5 Flash thinking", "Qwen3-Coder 480B", "Qwen3-32B"

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment("mask", 10, "SWE-agent", GEMINI, 500, 0.435, 0.89, 2.8),
    Experiment("mask", 10, "SWE-agent", THINKING, 500, 0.435, 1.03, -3.8),
    Experiment("mask", 10, "SWE-agent", QWEN_480B, 500, 0.47, 1.04, 1.4),
    Experiment("mask", 10, "SWE-agent", QWEN_32B, 500, 0.50, 1.15, -2.0),
    Experiment("summary", 10, "SWE-agent", GEMINI, 500, 0.55, 1.04, 3.2),
    Experiment("summary", 10, "SWE-agent", THINKING, 500, 0.42, 0.87, -9.1),
    Experiment("summary", 10, "SWE-agent", QWEN_480B, 500, 0.46, 1.20, 0.4),
    Experiment("summary", 10, "SWE-agent", QWEN_32B, 500, 0.43, 0.95, -1.0),
    Experiment("summary", 10, "OpenHands", GEMINI, 500, 0.49, 1.35, 2.6),
    Experiment("events", 10, "OpenHands", GEMINI, 500, 0.52, 2.27, -11.2),
    Experiment("events", 72, "OpenHands", GEMINI, 500, 0.74, 1.10, 1.8),
    Experiment("events", 20, "OpenHands", GEMINI, 50, None, 1.58, -12),
    Experiment("events", 29, "OpenHands", GEMINI, 50, None, 1.60, -8),
    Experiment("events", 43, "OpenHands", GEMINI, 50, None, 1.20, -8),
    Experiment("events", 50, "OpenHands", GEMINI, 50, None, 1.01, -8),
    Experiment("events", 54, "OpenHands", GEMINI, 50, None, 1.06, -2),
    Experiment("events", 58, "OpenHands", GEMINI, 50, None, 0.94, 4),
    Experiment("events", 86, "OpenHands", GEMINI, 50, None, 0.98, 0),
)

RULES: dict[str, tuple[Rule, str, int]] = {
    "mask_observations": ("mask", "keep_last", 10),
    "swe_agent.last_n": ("mask", "n", 5),
    "openhands.mask": ("events", "window", 100),
    "openhands.summarize": ("summary", "", 10),
    "complexity_trap.hybrid": ("summary", "keep_last_m_turns", 10),
}
"""The compactors that an experiment ran: its rule, the parameter of its setting (`""`: none that compares), and that parameter's default."""


def nearest(spec: str) -> Experiment | None:
    """The published experiment nearest to a strategy's slots, the worst outcome of those equally near; None where none is within a factor of 2.

    >>> nearest("compactor=openhands.mask:window=10").turns, nearest("compactor=mask_observations").solved
    (2.27, -3.8)
    >>> nearest("compactor=mask_observations:keep_last=100"), nearest("summarizer=truncate:limit=100")
    (None, None)
    """
    found = [
        (abs(math.log(item.setting / setting)), -item.tasks, item.solved, item)
        for rule, setting in _rules(spec)
        for item in EXPERIMENTS
        if item.rule == rule and setting > 0
    ]
    near = [item for item in found if item[0] <= math.log(WITHIN) + 1e-9]
    return min(near, key=lambda item: item[:3])[3] if near else None


def _rules(spec: str) -> Iterator[tuple[Rule, int]]:
    for part in split_top(spec, "+"):
        _, slot, written = part.partition("compactor=")
        if not slot:
            continue
        parsed = parse_spec(written)
        if parsed.target in RULES:
            rule, parameter, default = RULES[parsed.target]
            value = dict(parsed.params).get(parameter, default)
            if isinstance(value, str) and value.isdigit():
                yield rule, int(value)
            elif isinstance(value, int):
                yield rule, value
