"""Where the run goes next: one router a file, each a function of the state that declares its decision point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def total_steps(state: Mapping[str, Any]) -> int:
    """How many steps the plan has: `total_steps` where the state says it, else the length of `execution_plan.steps`; 0 without a plan.

    >>> total_steps({"execution_plan": {"steps": [1, 2]}}), total_steps({"total_steps": 3}), total_steps({})
    (2, 3, 0)
    """
    told = state.get("total_steps")
    if isinstance(told, int):
        return told
    plan = state.get("execution_plan")
    steps = plan.get("steps") if isinstance(plan, Mapping) else None
    return len(steps) if isinstance(steps, list | tuple) else 0


def current_step_index(state: Mapping[str, Any]) -> int:
    """How many steps are done, as the state says; 0 where it does not."""
    index = state.get("current_step_index")
    return index if isinstance(index, int) else 0
