"""Rounds of compaction: how much of what a run had been told survives each time its history is taken apart again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .atoms import atoms_of
from .model import Prompt, Run, ToolResult, Trace
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
        """Share of facts held, 0–1; 1 where there are none."""
        return self.kept / self.total if self.total else 1.0


def round_steps(run: Run) -> frozenset[int]:
    """The steps of the prompts that are rounds: compacted, and something that an earlier prompt had shown was taken out or rewritten, or a
    summary was written on the way.

    >>> from bench.metrics import example
    >>> round_steps(example()[1])
    frozenset()
    """
    written = {call.step for call in run.writer_calls}
    return frozenset(
        prompt.step
        for prompt in run.prompts
        if prompt.step in written or (prompt.compacted and any(splice.removed for splice in prompt.splices))
    )


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
        held = shown.items()
        for atom in (shown.touched or set()) & self._told.keys():
            self._judge(atom, atom in held)
        shown.touched = set()
        while self._next is not None and self._next.index < prompt.step:
            for atom in atoms_of(self._next.text):
                self._judge(atom, True)
                self._told[atom] = self._told.get(atom, 0) + 1
                self._total += 1
                self._judge(atom, atom in held)
            self._next = next(self._results, None)
        return Round(prompt.step, self._total - self._gone, self._total)

    def _judge(self, atom: str, held: bool) -> None:
        """Make an atom one that is held, or one that is lost."""
        times = self._told.get(atom, 0)
        if held and atom in self._lost:
            self._lost.remove(atom)
            self._gone -= times
        elif not held and atom not in self._lost and times:
            self._lost.add(atom)
            self._gone += times
