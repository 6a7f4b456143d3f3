"""One walk through the prompts of a run, for everything that asks what was lost, and the tiers of facts that a prompt does not hold.

A fact is `retrievable` where the prompt holds a handle as a whole, and resolving it at that time gave a value that holds the fact: a record's
handle, one that a summary or a placeholder shows, the name of what was offloaded. A handle that resolves to nothing, or that no message shows,
retrieves nothing. Anything else is `lost`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import filterfalse
from typing import NamedTuple

from ..model import Compaction, Prompt, Run, ToolResult, grouped
from ..text.texts import Remembered
from .dependencies import Dependency
from .of_trace import TraceEvidence
from .presence import PromptHeld
from .recorded_cut import Repeat


class ResultHeld(NamedTuple):
    """One tool result in one prompt: its facts that no message holds, and the texts that show it.

    `whole`: a message shows its untruncated text. Else `texts` are those of the messages that show it, and where none does, `written` are
    the texts that the strategy itself put into that prompt.
    """

    result: ToolResult
    whole: bool
    gone: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


class Judged(NamedTuple):
    """One dependency under a strategy: `present` if the prompt of its turn held the fact at all, `original` if in a message left as it was."""

    dependency: Dependency
    present: bool
    original: bool


@dataclass(frozen=True)
class PromptScan:
    """Everything that the walk found.

    `results` is every result by place: "shown" is the first prompt of its thread after it, "end" the last one. `judged` is every dependency.
    `repeats` is every call that asked again, with the facts it had been told that the prompt did not hold. `compactions` are those of each
    thread that has any.
    """

    results: dict[str, list[ResultHeld]] = field(default_factory=lambda: {"shown": [], "end": []})
    judged: list[Judged] = field(default_factory=list)
    repeats: list[tuple[Repeat, tuple[str, ...]]] = field(default_factory=list)
    compactions: dict[str, list[Compaction]] = field(default_factory=dict)


def scan_prompts(of_trace: TraceEvidence, run: Run) -> PromptScan:
    """Walk through the prompts of a run once."""
    repeats = grouped((repeat.turn, repeat) for repeat in of_trace.repeats)
    compacted = compaction_steps(run, of_trace.joined_before)
    survivors: dict[str, Survivors] = {}
    found = PromptScan()
    for place, subject, held in of_trace.sightings(run, of_trace.facts_held, of_trace.written_by_strategy(run)):
        if isinstance(subject, ToolResult):
            found.results[place].append(_result_held(of_trace, subject, held))
            continue
        dependencies = of_trace.dependencies_by_turn.get(subject.step, ())
        if dependencies:
            found.judged.extend(_judged(of_trace, dependencies, held))
        for repeat in repeats.get(subject.step, ()):
            told = () if held.whole(repeat.earlier) else repeat.told
            there = held.items() if told else ()
            found.repeats.append((repeat, tuple([fact for fact in told if fact not in there])))
        if subject.step in compacted:
            if subject.thread not in survivors:
                survivors[subject.thread] = Survivors(of_trace.told_by_results.get(subject.thread, ()))
            counted = survivors[subject.thread].at(subject, held)
            if counted.total:  # before anything was told there is nothing to lose
                found.compactions.setdefault(subject.thread, []).append(counted)
    for results in found.results.values():
        results.sort(key=lambda item: item.result.index)
    return found


def _judged(of_trace: TraceEvidence, dependencies: Iterable[Dependency], held: PromptHeld) -> Iterator[Judged]:
    """The dependencies of a prompt's turn. A fact of a field is kept by the strategy's own texts only with its meaning."""
    there, original = held.items(), held.original()
    for item in dependencies:
        fact = item.fact
        present = fact in there
        if (
            present
            and fact not in original
            and item.origin == "result"
            and of_trace.meaning.of_field(item.origin_step, fact)
        ):
            steps = {own.text: (item.origin_step, own.step) for own in held.own()}
            present = any(of_trace.meaning.kept(text, fact, told) for text, told in steps.items())
        yield Judged(item, present, fact in original)


def _result_held(of_trace: TraceEvidence, result: ToolResult, held: PromptHeld) -> ResultHeld:
    if held.whole(result):
        return ResultHeld(result, True)
    texts, items = tuple(held.texts_of(result.index)), held.items()
    gone = tuple(filterfalse(items.__contains__, of_trace.texts.facts(result.text)))
    return ResultHeld(result, False, gone, texts, () if texts else tuple(held.texts_of(None)))


def compaction_steps(run: Run, joined: Mapping[int, Sequence[int]]) -> frozenset[int]:
    """The steps of the prompts that are compactions.

    In such a prompt a summary was written on the way, or the strategy took out or rewrote something of the history, be it what an earlier prompt
    had shown or what had `joined` since.
    """
    shown = {outcome.step: outcome.shown for outcome in run.results}
    compacted = [prompt for prompt in run.prompts if prompt.compacted]
    found = {call.step for call in run.writer_calls} & {prompt.step for prompt in run.prompts}
    found.update(prompt.step for prompt in compacted if any(splice.removed for splice in prompt.splices))
    for prompt in compacted:
        if prompt.step not in found:
            added = [key for splice in prompt.splices for key in splice.added]
            steps = {run.messages[key].step for key in added}
            if any(
                shown.get(step) not in added if step in shown else step not in steps for step in joined[prompt.step]
            ):
                found.add(prompt.step)
    return frozenset(found)


class Survivors:
    """Counts, for one thread, the facts told so far that its prompt no longer holds; each compaction costs what changed since the last one."""

    def __init__(self, told: Iterable[tuple[int, dict[str, int]]]) -> None:
        self._results = iter(told)
        self._next = next(self._results, None)
        self._told: dict[str, int] = {}
        self._lost: set[str] = set()
        self._total = self._gone = 0

    def at(self, prompt: Prompt, held: PromptHeld) -> Compaction:
        """The compaction that a prompt is."""
        items, told, lost = held.items(), self._told, self._lost
        touched = set(filter(told.__contains__, held.touched or ()))
        gone = set(filterfalse(items.__contains__, touched))
        back = (touched - gone) & lost
        self._gone += sum(map(told.__getitem__, gone - lost)) - sum(map(told.__getitem__, back))
        lost |= gone
        lost -= back
        held.touched = set()
        while self._next is not None and self._next[0] < prompt.step:
            facts = self._next[1]
            self._total += len(facts)
            told.update(facts)
            gone = set(filterfalse(items.__contains__, facts))  # of the lost ones none is held: they were seen to above
            self._gone += len(gone & lost) + sum(map(facts.__getitem__, gone - lost))
            lost |= gone
            self._next = next(self._results, None)
        return Compaction(prompt.step, self._total - self._gone, self._total)


TIERS = ("retrievable", "lost")  # best first; a fact out of context has the first that applies


class Tiered(NamedTuple):
    """The facts of one result that are not in context, by tier, in the order of the result."""

    held: ResultHeld
    facts: dict[str, tuple[str, ...]]


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
        behind = {fact for fact in held.gone if self.holding(fact, shown)} if shown else _NONE
        lost = tuple(filterfalse(behind.__contains__, held.gone))
        return Tiered(held, {"retrievable": tuple(filter(behind.__contains__, held.gone)), "lost": lost})

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
