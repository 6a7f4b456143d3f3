"""The repair of the faults of a run: for every turn whose prompt lacked what it needed, one more call that fetches it."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import NamedTuple

from ..tokens.counting import TokenCounter
from .of_trace import TraceEvidence
from .tiers import Missing


class Refetch(NamedTuple):
    """The call that repairs one faulting turn, in tokens: its answer, which asks for what is gone, and the texts that come back, by handle, or by
    step of the result that holds it. `beyond` are the facts that no result of the trace and no handle gives again.
    """

    turn: int
    answer_tokens: int
    fetched: dict[int | str, int]
    beyond: tuple[str, ...]

    @property
    def new_tokens(self) -> int:
        """Tokens that the repaired prompt has more than the one before: the answer and what was fetched."""
        return self.answer_tokens + sum(self.fetched.values())


def refetches_of(of_trace: TraceEvidence, missed: Iterable[Missing], count: TokenCounter) -> dict[int, Refetch]:
    """The repair of every faulting turn of a run, by its step; `{}` for a run without faults.

    A fact is fetched from the smallest value behind a handle that the prompt shows, else from the smallest untruncated result of its thread that
    holds it; what one fetch gives serves every fact of the turn. The call that asks is as long as the median answer of the trace that called a tool.

    >>> from bench.metrics import example
    >>> [(item.turn, item.fetched, item.beyond) for item in example().refetches.values()]
    [(3, {2: 14}, ())]
    """
    by_turn: dict[int, list[Missing]] = {}
    for item in missed:
        by_turn.setdefault(item[0].turn, []).append(item)
    if not by_turn:
        return {}
    answers = of_trace.answer_tokens(count)
    asking = [answers.get(turn.index, 0) for turn in of_trace.trace.model_turns if turn.tool_calls]
    answer = round(statistics.median(asking)) if asking else 0
    holders = _holders(of_trace, count, {wanted.fact for wants in by_turn.values() for wanted, _ in wants})
    return {turn: _repair(turn, wants, answer, holders, count) for turn, wants in by_turn.items()}


def _repair(
    turn: int,
    wants: list[Missing],
    answer_tokens: int,
    holders: dict[tuple[str, str], list[tuple[int, int]]],
    count: TokenCounter,
) -> Refetch:
    fetched: dict[int | str, int] = {}
    beyond: list[str] = []
    for _, behind in wants:  # what handles give first: it may give the others too
        if behind and not any(item.handle in fetched for item in behind):
            tokens, handle = min((count.text(item.text), item.handle) for item in behind)
            fetched[handle] = tokens
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


def _holders(
    of_trace: TraceEvidence, count: TokenCounter, wanted: set[str]
) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """By thread and fact the tool results that hold it, each as (tokens untruncated, step)."""
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for result in of_trace.trace.results:
        held = wanted.intersection(of_trace.facts_held(result.text))
        if held:
            choice = count.text(result.text), result.index
            for fact in held:
                found.setdefault((result.thread, fact), []).append(choice)
    return found
