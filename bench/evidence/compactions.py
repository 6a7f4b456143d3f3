"""Compactions: how much of what a run had been told survives each time its history is taken apart again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..model import ModelTurn, Prompt, Run, SystemTurn, ToolResult, Trace, UserTurn
from ..text.texts import Texts
from .presence import Shown


@dataclass(frozen=True)
class Compaction:
    """One compaction of a thread: the step of its prompt, and of the facts of all results before it how many it holds, out of how many.

    A fact that two results tell counts for each.
    """

    step: int
    kept: int
    total: int

    @property
    def recall(self) -> float:
        """Share of facts held, 0–1."""
        return self.kept / self.total


def compaction_steps(run: Run, joined: Mapping[int, Sequence[int]]) -> frozenset[int]:
    """The steps of the prompts that are compactions: a summary was written on the way, or the strategy took out or rewrote something of the
    history, be it what an earlier prompt had shown or what had joined since.

    """
    written = {call.step for call in run.writer_calls}
    shown = {outcome.step: outcome.shown for outcome in run.results}
    compacted = [prompt for prompt in run.prompts if prompt.compacted]
    found = written & {prompt.step for prompt in run.prompts}
    found.update(prompt.step for prompt in compacted if any(splice.removed for splice in prompt.splices))
    if any(prompt.step not in found for prompt in compacted):
        for prompt in compacted:
            added = [key for splice in prompt.splices for key in splice.added]
            steps = {run.messages[key].step for key in added}
            if any(
                shown.get(step) not in added if step in shown else step not in steps for step in joined[prompt.step]
            ):
                found.add(prompt.step)
    return frozenset(found)


def joined_before(trace: Trace) -> dict[int, list[int]]:
    """For each model turn the steps that joined its thread's history since the turn before it, that turn included."""
    found: dict[int, list[int]] = {}
    waiting: dict[str, list[int]] = {}
    for step in trace.steps:
        of_thread = waiting.setdefault(step.thread, [])
        if isinstance(step, ModelTurn):
            found[step.index] = of_thread.copy()
            of_thread.clear()
        if isinstance(step, SystemTurn | UserTurn | ModelTurn | ToolResult):
            of_thread.append(step.index)
    return found


def told_by_results(trace: Trace, thread: str, texts: Texts) -> list[tuple[int, dict[str, int]]]:
    """The step of each result of a thread with its facts, each with how many results up to it told it."""
    times: Counter[str] = Counter()
    found = []
    for result in trace.results:
        if result.thread == thread:
            facts = texts.facts(result.text)
            times.update(facts.keys())
            found.append((result.index, {fact: times[fact] for fact in facts}))
    return found


class Survivors:
    """Counts, for one thread, the facts told so far that its prompt no longer holds; each compaction costs what changed since the last one."""

    def __init__(self, told: Iterable[tuple[int, dict[str, int]]]) -> None:
        self._results = iter(told)
        self._next = next(self._results, None)
        self._told: dict[str, int] = {}
        self._lost: set[str] = set()
        self._total = self._gone = 0

    def at(self, prompt: Prompt, shown: Shown) -> Compaction:
        """The compaction that a prompt is; `shown` is what it holds."""
        held, told, lost = shown.items(), self._told, self._lost
        for fact in (shown.touched or set()) & told.keys():
            if fact not in held:
                if fact not in lost:
                    lost.add(fact)
                    self._gone += told[fact]
            elif fact in lost:
                lost.remove(fact)
                self._gone -= told[fact]
        shown.touched = set()
        while self._next is not None and self._next[0] < prompt.step:
            facts = self._next[1]
            self._total += len(facts)
            told.update(facts)
            for fact in [
                fact for fact in facts if fact not in held
            ]:  # of the lost ones none is held: they were seen to above
                if fact in lost:
                    self._gone += 1
                else:
                    lost.add(fact)
                    self._gone += facts[fact]
            self._next = next(self._results, None)
        return Compaction(prompt.step, self._total - self._gone, self._total)
