"""Sessions as trees of entries: the path to an entry, and the steps that remain there."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TypeVar

from ...model import AnyStep, ModelTurn, ToolResult

Id = TypeVar("Id")


def way_to(entry: Id | None, parents: dict[Id, Id | None]) -> Iterator[Id]:
    """An entry and its ancestors, as far as they are known.

    >>> list(way_to("c", {"a": None, "b": "a", "c": "a"}))
    ['c', 'a']
    """
    passed: set[Id] = set()
    while entry is not None and entry in parents and entry not in passed:
        yield entry
        passed.add(entry)
        entry = parents[entry]


def paired(steps: list[AnyStep], kept: Set[int], lost: Set[int] = frozenset()) -> tuple[int, ...]:
    """The indices of the steps in a prompt that keeps `kept` and lost `lost`: a turn stays with all
    results of its calls, or goes with them."""
    turns: dict[int, set[int]] = {}  # with the results of each
    turn_of: dict[str, int] = {}
    for step in steps:
        if isinstance(step, ModelTurn):
            turns[step.index] = set()
            turn_of |= {call.id: step.index for call in step.tool_calls}
        elif isinstance(step, ToolResult) and step.call_id in turn_of:
            turns[turn_of[step.call_id]].add(step.index)
    standing = set(kept - lost)
    for turn, results in turns.items():
        if turn in standing and not results & lost:
            standing |= results
        else:
            standing -= {turn, *results}
    return tuple(sorted(standing))
