"""Facts that a prompt does not hold: behind a handle that the prompt shows and that resolves to them, or lost.

A fact is `retrievable` where the prompt holds a handle as a whole, and resolving it at that time gave a value that holds the fact: a record's
handle, one that a summary or a placeholder shows, the name of what was offloaded. A handle that resolves to nothing, or that no message shows,
retrieves nothing. Anything else is `lost`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from ..model import Prompt, Run
from ..text.texts import Remembered
from .dependencies import Dependency
from .of_trace import TraceEvidence
from .prompt_scan import ResultHeld

TIERS = ("retrievable", "lost")
"""Best first; a fact out of context has the first that applies."""


class Tiered(NamedTuple):
    """The facts of one result that are not in context, by tier, in the order of the result."""

    held: ResultHeld
    retrievable: tuple[str, ...]
    lost: tuple[str, ...]

    def of(self, tier: str) -> tuple[str, ...]:
        """The facts of one tier."""
        return self.retrievable if tier == "retrievable" else self.lost


class Behind(NamedTuple):
    """A handle, and the text that it stands for."""

    handle: str
    text: str


Missing = tuple[Dependency, tuple[Behind, ...]]
"""A dependency that its turn's prompt did not hold, and the handles shown there that give it."""


class Handles:
    """The handles of one run: what each stands for, and which of them its prompts show. Found in one walk through the prompts.

    `of_prompts` gives what stands behind the handles that a prompt shows, by its step; `of_results` the same for the first prompt ("shown") and the
    last one ("end") of a result, by its step. Each is a set of places in `behind`.
    """

    def __init__(self, of_trace: TraceEvidence, run: Run) -> None:
        self.behind: list[Behind] = []
        self.of_prompts: dict[int, frozenset[int]] = {}
        self.of_results: dict[str, dict[int, frozenset[int]]] = {"shown": {}, "end": {}}
        self._since: dict[str, list[tuple[int, int]]] = {}  # by handle: the step and the place of each value it had
        self._facts_held = of_trace.facts_held
        for step, handle, text in _resolved(of_trace, run):
            self._since.setdefault(handle, []).append((step, len(self.behind)))
            self.behind.append(Behind(handle, text))
        now: dict[str, frozenset[int]] = {}
        for place, subject, held in of_trace.sightings(run, _shown_of(self._since)) if self.behind else ():
            if isinstance(subject, Prompt):
                now[subject.thread] = self.of_prompts[subject.step] = self._places(held.items(), subject.step)
            else:
                self.of_results[place][subject.index] = now[subject.thread]

    def _places(self, handles: Iterable[str], step: int) -> frozenset[int]:
        """The places in `behind` of what some handles stand for at a step."""
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
        """The places of what holds a fact, of all that stands behind the handles shown; empty where nothing does."""
        return self._holding.get(fact, _NONE) & shown if shown else _NONE

    def tiered(self, held: ResultHeld, place: str) -> Tiered:
        """The facts of a result that are gone at a place, by tier."""
        shown = self.of_results[place].get(held.result.index, _NONE)
        behind = {fact for fact in held.gone if self.holding(fact, shown)}
        lost = tuple(fact for fact in held.gone if fact not in behind)
        return Tiered(held, tuple(fact for fact in held.gone if fact in behind), lost)

    def missing(self, wanted: Dependency) -> Missing:
        """A dependency that its turn's prompt did not hold, with what gives it."""
        places = self.holding(wanted.fact, self.of_prompts.get(wanted.turn, _NONE))
        return wanted, tuple(self.behind[place] for place in sorted(places))


_NONE: frozenset[int] = frozenset()


def _resolved(of_trace: TraceEvidence, run: Run) -> list[tuple[int, str, str]]:
    """Every value that a handle of a run had: from which step on, the handle, and the value as text; in order of the steps."""
    found = [
        (outcome.step, outcome.record.handle, of_trace.stored_text(of_trace.results[outcome.step], outcome))
        for outcome in run.results
        if outcome.record.handle
    ]
    return sorted([*found, *((item.step, item.handle, item.text) for item in run.handles)], key=lambda item: item[0])


def _shown_of(handles: Iterable[str]) -> Remembered[list[str]]:
    """The handles out of given ones that a text shows whole."""
    patterns = {handle: re.compile(rf"(?<!\w){re.escape(handle)}(?!\w)") for handle in handles}
    return Remembered(lambda text: [item for item, found in patterns.items() if item in text and found.search(text)])
