"""Where a fact is that a prompt does not hold: behind a handle that the prompt shows and that resolves to it, or lost.

A fact is `retrievable` where the prompt holds a handle as a whole, and resolving it at that time gave a value that holds the fact: a record's
handle, one that a summary or a placeholder shows, the name of what was offloaded. A handle that resolves to nothing, or that no message shows,
retrieves nothing. Anything else is `lost`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..model import Prompt, Run
from .prompt_scan import Standing

if TYPE_CHECKING:
    from .of_trace import TraceEvidence

TIERS = ("retrievable", "lost")
"""Best first; a fact out of context has the first that applies."""


@dataclass(frozen=True)
class Tiered:
    """The facts of one result (or of one use) that are not in context, by tier, in the order of the result."""

    standing: Standing
    retrievable: tuple[str, ...]
    lost: tuple[str, ...]

    def of(self, tier: str) -> tuple[str, ...]:
        """The facts of one tier."""
        return self.retrievable if tier == "retrievable" else self.lost


@dataclass(frozen=True)
class Behind:
    """A handle, and the text that it stands for."""

    handle: str
    text: str


class Handles:
    """What the handles of one run stand for, and which of them its prompts show: found in one walk through the prompts.

    `of_prompts` gives what stands behind the handles that a prompt shows, by its step; `of_results` the same for the first prompt ("shown") and the
    last one ("end") of a result, by its step. Each is a set of places in `behind`.
    """

    def __init__(self, of_trace: TraceEvidence, run: Run) -> None:
        self.behind: list[Behind] = []
        self.of_prompts: dict[int, frozenset[int]] = {}
        self.of_results: dict[str, dict[int, frozenset[int]]] = {"shown": {}, "end": {}}
        self._since: dict[
            str, list[tuple[int, int]]
        ] = {}  # by handle: the step and the place of each value that it had
        self._facts_held = of_trace.facts_held
        for step, handle, text in _resolved(of_trace, run):
            self._since.setdefault(handle, []).append((step, len(self.behind)))
            self.behind.append(Behind(handle, text))
        if self.behind:
            self._walk(of_trace, run)

    def _walk(self, of_trace: TraceEvidence, run: Run) -> None:
        now: dict[str, frozenset[int]] = {}
        for place, subject, shown in of_trace.sightings(run, HandlesOf(self._since)):
            if isinstance(subject, Prompt):
                now[subject.thread] = self._standing_for(shown.items(), subject.step)
                self.of_prompts[subject.step] = now[subject.thread]
            else:
                self.of_results[place][subject.index] = now[subject.thread]

    def _standing_for(self, handles: Iterable[str], step: int) -> frozenset[int]:
        found = set()
        for handle in handles:
            values = self._since[handle]
            last = bisect_right(values, (step, len(self.behind))) - 1
            if last >= 0:
                found.add(values[last][1])
        return frozenset(found)

    @cached_property
    def _holding(self) -> dict[str, frozenset[int]]:
        """By fact the places in `behind` of what holds it."""
        found: dict[str, set[int]] = {}
        for place, item in enumerate(self.behind):
            for fact in self._facts_held(item.text):
                found.setdefault(fact, set()).add(place)
        return {fact: frozenset(places) for fact, places in found.items()}

    def holding(self, fact: str, shown: frozenset[int]) -> frozenset[int]:
        """What holds a fact of all that stands behind the handles shown; empty where nothing does."""
        return self._holding.get(fact, _NONE) & shown if shown else _NONE

    def tiered(self, standing: Standing, place: str) -> Tiered:
        """What is gone of a result at a place, by tier."""
        shown = self.of_results[place].get(standing.result.index, _NONE)
        behind = {fact for fact in standing.gone if self.holding(fact, shown)}
        return Tiered(
            standing,
            tuple(fact for fact in standing.gone if fact in behind),
            tuple(fact for fact in standing.gone if fact not in behind),
        )


_NONE: frozenset[int] = frozenset()


def _resolved(of_trace: TraceEvidence, run: Run) -> list[tuple[int, str, str]]:
    """Every value that a handle of a run had: from which step on, the handle, and the value as text; in order of the steps."""
    found = [
        (outcome.step, outcome.record.handle, of_trace.stored_text(of_trace.results[outcome.step], outcome))
        for outcome in run.results
        if outcome.record.handle
    ]
    return sorted([*found, *((item.step, item.handle, item.text) for item in run.handles)], key=lambda item: item[0])


class HandlesOf:
    """The handles out of given ones that a text shows whole."""

    def __init__(self, handles: Iterable[str]) -> None:
        self._patterns = [
            (handle, re.compile(rf"(?<!\w){re.escape(handle)}(?!\w)")) for handle in dict.fromkeys(handles)
        ]
        self._known: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> tuple[str, ...]:
        found = self._known.get(text)
        if found is None:
            found = tuple(handle for handle, pattern in self._patterns if handle in text and pattern.search(text))
            self._known[text] = found
        return found
