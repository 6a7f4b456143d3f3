"""The prompts of a case as they are kept, read again and put into words: all that a page and its panels see of them."""

from __future__ import annotations

import bz2
import json
from typing import Any

from ..model import CallShown
from .wording import cut, listed


def unpacked(data: bytes) -> dict[str, Any]:
    """The prompts as they were before they were compressed."""
    found: dict[str, Any] = json.loads(bz2.decompress(data))
    return found


def happened(call: CallShown) -> str:
    """Describe in words what happened at a model call; `""` for nothing.

    >>> happened(CallShown(number=1, step=3, tokens=9, compacted=True, missed=("471",)))
    'compacted; missed 471'
    """
    said = []
    if call.invalid:
        said.append(f"invalid: {call.invalid}")
    if call.task_missing:
        said.append("the task is gone")
    if call.system_missing:
        said.append("the system prompt is gone")
    said += [f"rule gone: {rule}" for rule in call.rules_missing[:1]]
    if call.compacted:
        said.append("compacted")
    if call.evicted:
        said.append(f"evicted: results of {_some([f'step {step}' for step in call.evicted])}")
    if call.missed:
        said.append(f"missed {_some(list(call.missed))}")
    return "; ".join(said)


def _some(names: list[str]) -> str:
    shown = [cut(name, 40) for name in names[:4]]
    return listed([*shown, f"{len(names) - 4} more"] if len(names) > 4 else shown)
