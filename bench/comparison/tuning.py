"""Tuning: the best setting by the decision rule, judged on tasks that it was not chosen on."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec

from ..model import CaseList, Columns, Comparison, Economy, Tuning
from .advice import NOISE_FLOOR, RUN_TODAY, Advice, Candidate, Choice
from .decision import OTHER, decide, slots_of
from .intervals import deltas
from .judging import check, needs_baseline
from .published import nearest
from .rows import summarized, tasks

Compared = TypeVar("Compared", bound=Comparison)

FEWEST = 6  # the tasks that each half needs at least: of fewer nothing is sure


@dataclass(frozen=True)
class Tuned:
    """The strategy chosen on one half of the tasks, and its result on the other.

    `chosen` and `judged` are the decisions of the two halves. `candidate` is the advised strategy's on the second (None: nobody qualified).
    `comparison` is that of the second half. `elsewhere` is the advice with or without the provider's cache, where that is another.
    """

    tuning: Tuning
    chosen: Choice
    judged: Choice
    candidate: Candidate | None
    comparison: Comparison
    elsewhere: Advice | None = None

    @property
    def chosen_on(self) -> tuple[str, ...]:
        """The cases of the first half."""
        return self.tuning.chosen_on.case_ids

    @property
    def holds(self) -> bool:
        """True if somebody was chosen, and qualifies on the other half too."""
        return self.candidate is not None and self.candidate.qualifies

    @property
    def sure(self) -> bool:
        """True if the setting surely costs less than what is run today on the other half."""
        return self.candidate is not None and self.candidate.saving is not None and self.candidate.saving.sure

    @property
    def advice(self) -> Advice:
        """The advice of the second half about the setting that was chosen: to use it if it holds and is surely cheaper, else to keep today's."""
        today, subject, advice = self.judged.candidate(RUN_TODAY), self.candidate, self.judged.advice
        if subject is None or not (subject.qualifies or (today is not None and today.qualifies)):
            return advice.about(None, None, None)
        fit = subject.qualifies and (self.sure or today is None or not today.qualifies)
        advised = subject if fit or today is None else today
        other = None if advised == subject or not subject.qualifies else subject
        near = nearest(slots_of(self.comparison, subject.strategy))
        return replace(advice.about(advised, other, near), elsewhere=self.elsewhere)

    @property
    def choice(self) -> Choice:
        """The candidates on the second half, each with its verdict beside this advice."""
        own = {item.strategy: item for item in (self.advice.subject, self.advice.alternative) if item is not None}
        candidates = tuple(own.get(item.strategy, item) for item in self.judged.candidates)
        return replace(self.judged, advice=self.advice, candidates=candidates)


def judged_apart(comparison: Compared, seed: int = 0) -> Compared:
    """Return the comparison on one half of its tasks, with what was chosen on the other in its `tuning`; `seed` draws the halves.

    All runs of a task are in one half. Gates that compare with a baseline are left out: what was accepted for all cases says nothing of half of
    them. With fewer than 12 tasks, of which no half could be sure of anything, the comparison as it is.

    >>> from bench.metrics import example
    >>> from bench.run.verbs import compare
    >>> judged_apart(compare([example().trace], ["cut=summarizer=truncate:limit=80|200"])).tuning is None
    True
    """
    grouped = tasks(comparison.cases)
    if len(grouped) < 2 * FEWEST:
        return comparison
    drawn = {*random.Random(seed).sample(grouped, len(grouped) // 2)}
    halves = ([task for task in grouped if (task in drawn) is chosen] for chosen in (True, False))
    here, there = ([case for task in half for case in task] for half in halves)
    tuning = Tuning(chosen_on=part_of(comparison, here), seed=seed)
    return msgspec.structs.replace(part_of(comparison, there), tuning=tuning)


def tuned_of(comparison: Comparison) -> Tuned | None:
    """The result of tuning that a comparison holds; None for any other comparison."""
    if comparison.tuning is None:
        return None
    found = _tuned(comparison, comparison.tuning, comparison.cache)
    if found.judged.advice.cache is None:
        return found
    other = _tuned(comparison, comparison.tuning, OTHER[comparison.cache]).advice
    same = (other.outcome, other.named) == (found.advice.outcome, found.advice.named)
    return found if same else replace(found, elsewhere=other)


def _tuned(comparison: Comparison, tuning: Tuning, cache: Economy) -> Tuned:
    chosen, judged = (decide(msgspec.structs.replace(half, cache=cache)) for half in (tuning.chosen_on, comparison))
    named = chosen.cheapest
    candidate = None if named is None else judged.candidate(named.strategy)
    if candidate is not None and candidate.saving is not None:  # one claim: none of many is picked here
        alone = candidate.saving.p if (candidate.saving.relative or 0.0) <= -NOISE_FLOOR else 1.0
        candidate = replace(candidate, saving=replace(candidate.saving, corrected=alone))
    return Tuned(tuning, chosen, judged, candidate, comparison)


def part_of(comparison: Compared, cases: Collection[str]) -> Compared:
    """A comparison on some of its cases: rows, sums, differences and gates as if there were no others."""
    rows = Columns(row for row in comparison.rows if row.case in cases)
    kept = CaseList(case for case in comparison.cases if case.id in cases)
    references = dict.fromkeys(delta.reference for delta in comparison.deltas)
    part = msgspec.structs.replace(
        comparison,
        cases=kept,
        rows=rows,
        summary=summarized(rows, comparison.metrics),
        deltas=deltas(comparison.metrics, rows, comparison.everyone, tuple(references), comparison.signature.seed),
        rules=tuple(rule for rule in comparison.rules if not needs_baseline(rule)),
    )
    return msgspec.structs.replace(part, verdicts=check(part))
