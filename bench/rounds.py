"""Rounds of compaction: how much of what a run had been told survives each time its history is taken apart again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .atoms import atoms_of
from .model import ModelTurn, Prompt, Run, SystemTurn, ToolResult, Trace, UserTurn
from .presence import Shown


@dataclass(frozen=True)
class Round:
    """One round of a thread: the step of its prompt, and of the facts of all results before it how many it holds, out of how many.

    A fact that two results tell counts for each.
    """

    step: int
    kept: int
    total: int

    @property
    def recall(self) -> float:
        """Share of facts held, 0–1."""
        return self.kept / self.total


def round_steps(trace: Trace, run: Run) -> frozenset[int]:
    """The steps of the prompts that are rounds: a summary was written on the way, or the strategy took out or rewrote something of the
    history, be it what an earlier prompt had shown or what had joined since.

    >>> from bench.metrics import example
    >>> round_steps(*example())
    frozenset()
    """
    written = {call.step for call in run.writer_calls}
    shown = {outcome.step: outcome.shown for outcome in run.results}
    compacted = [prompt for prompt in run.prompts if prompt.compacted]
    found = written & {prompt.step for prompt in run.prompts}
    found.update(prompt.step for prompt in compacted if any(splice.removed for splice in prompt.splices))
    if any(prompt.step not in found for prompt in compacted):
        joined = _joined(trace)
        for prompt in compacted:
            added = [key for splice in prompt.splices for key in splice.added]
            steps = {run.messages[key].step for key in added}
            if any(
                shown.get(step) not in added if step in shown else step not in steps for step in joined[prompt.step]
            ):
                found.add(prompt.step)
    return frozenset(found)


def _joined(trace: Trace) -> dict[int, list[int]]:
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


class Survivors:
    """Counts, for one thread, the facts told so far that its prompt no longer holds; each round costs what changed since the last one."""

    def __init__(self, trace: Trace, thread: str) -> None:
        self._results: Iterator[ToolResult] = (result for result in trace.results if result.thread == thread)
        self._next = next(self._results, None)
        self._told: dict[str, int] = {}
        self._lost: set[str] = set()
        self._total = self._gone = 0

    def round(self, prompt: Prompt, shown: Shown) -> Round:
        """The round that a prompt is; `shown` is what it holds."""
        held, told, lost = shown.items(), self._told, self._lost
        for atom in (shown.touched or set()) & told.keys():
            if atom not in held:
                if atom not in lost:
                    lost.add(atom)
                    self._gone += told[atom]
            elif atom in lost:
                lost.remove(atom)
                self._gone -= told[atom]
        shown.touched = set()
        while self._next is not None and self._next.index < prompt.step:
            atoms = atoms_of(self._next.text)
            self._total += len(atoms)
            for atom in atoms:
                told[atom] = times = told.get(atom, 0) + 1
                if atom in lost:
                    self._gone += 1
                elif atom not in held:
                    lost.add(atom)
                    self._gone += times
            self._next = next(self._results, None)
        return Round(prompt.step, self._total - self._gone, self._total)
