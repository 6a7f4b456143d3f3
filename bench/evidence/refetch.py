"""What it would take to repair the faults of a run: for every turn whose prompt lacked what it needed, one more call that fetches it."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .dependencies import Dependency
from .tiers import Behind

if TYPE_CHECKING:
    from .of_run import RunEvidence


@dataclass(frozen=True)
class Refetch:
    """The call that repairs one faulting turn, in tokens: its answer, which asks for what is gone, and the texts that come back, by handle, or by
    step of the result that holds it. `beyond` are the facts that no result of the trace and no handle gives again.
    """

    turn: int
    answer_tokens: int
    fetched: dict[int | str, int]
    beyond: tuple[str, ...]

    @property
    def new_tokens(self) -> int:
        """What the repaired prompt has more than the one before: the answer and what was fetched."""
        return self.answer_tokens + sum(self.fetched.values())


def refetches_of(evidence: RunEvidence) -> dict[int, Refetch]:
    """The repair of every faulting turn of a run, by its step; `{}` for a run without faults.

    A fact is fetched from the smallest value behind a handle that the prompt shows, else from the smallest untruncated result of its thread that
    holds it; what one fetch gives serves every fact of the turn. The call that asks is as long as the median answer of the trace that called a tool.

    >>> from bench.metrics import example
    >>> [(item.turn, item.fetched, item.beyond) for item in refetches_of(example()).values()]
    [(3, {2: 14}, ())]
    """
    missing: dict[int, list[tuple[Dependency, tuple[Behind, ...]]]] = {}
    for wanted, behind in evidence.missed:
        missing.setdefault(wanted.turn, []).append((wanted, behind))
    if not missing:
        return {}
    answer = _asking_tokens(evidence)
    holders = _holders(evidence, {wanted.fact for found in missing.values() for wanted, _ in found})
    return {turn: _repair(evidence, turn, wants, answer, holders) for turn, wants in missing.items()}


def _repair(
    evidence: RunEvidence,
    turn: int,
    wants: list[tuple[Dependency, tuple[Behind, ...]]],
    answer_tokens: int,
    holders: dict[tuple[str, str], list[tuple[int, int]]],
) -> Refetch:
    fetched: dict[int | str, int] = {}
    beyond: list[str] = []
    for _, behind in wants:  # what handles give first: it may give the others too
        if behind and not any(item.handle in fetched for item in behind):
            smallest = min(behind, key=lambda item: (evidence.count.text(item.text), item.handle))
            fetched[smallest.handle] = evidence.count.text(smallest.text)
    for wanted, behind in wants:
        if behind:
            continue
        choices = [choice for choice in holders.get((wanted.thread, wanted.fact), ()) if choice[1] < turn]
        if not choices:
            beyond.append(wanted.fact)
        elif not any(step in fetched for _, step in choices):
            tokens, step = min(choices)
            fetched[step] = tokens
    return Refetch(turn, answer_tokens, fetched, tuple(beyond))


def _asking_tokens(evidence: RunEvidence) -> int:
    answers = evidence.of_trace.answer_tokens(evidence.count)
    asking = [answers.get(turn.index, 0) for turn in evidence.trace.model_turns if turn.tool_calls]
    return round(statistics.median(asking)) if asking else 0


def _holders(evidence: RunEvidence, facts: Iterable[str]) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """By thread and fact the tool results that hold it, each as (tokens untruncated, step)."""
    wanted = frozenset(facts)
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for result in evidence.trace.results:
        held = wanted.intersection(evidence.of_trace.facts_held(result.text))
        if held:
            choice = evidence.count.text(result.text), result.index
            for fact in held:
                found.setdefault((result.thread, fact), []).append(choice)
    return found
