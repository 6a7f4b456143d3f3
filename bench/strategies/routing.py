"""The parts of a state that routers read, and the answer of one that selects scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..model import UserTurn
from ..text.scripts import NONE, Script


def request_of(state: Mapping[str, Any]) -> str:
    """The request to choose a script for: the user turn's text; `""` for any other step."""
    step = state.get("step")
    return step.content if isinstance(step, UserTurn) else ""


def selection(ranked: Sequence[Script]) -> tuple[str, dict[str, Any]]:
    """A selection router's answer: the first script's name or `none`, and all names as detail."""
    names = [script.name for script in ranked]
    return (names[0] if names else NONE), {"ranked": names}


def total_steps(state: Mapping[str, Any]) -> int:
    """The number of steps: `total_steps` of the state, else of `execution_plan.steps`, else 0."""
    number = state.get("total_steps")
    if isinstance(number, int):
        return number
    plan = state.get("execution_plan")
    steps = plan.get("steps") if isinstance(plan, Mapping) else None
    return len(steps) if isinstance(steps, list | tuple) else 0


def current_step_index(state: Mapping[str, Any]) -> int:
    """The number of finished steps in the state; 0 if it is not recorded."""
    index = state.get("current_step_index")
    return index if isinstance(index, int) else 0


def is_critical(state: Mapping[str, Any]) -> bool:
    """True if the last evaluation of a state is a critical failure."""
    evaluation = state.get("last_step_evaluation")
    return isinstance(evaluation, Mapping) and bool(evaluation.get("critical_failure"))
