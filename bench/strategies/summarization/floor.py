"""Compactor `floor`."""

from __future__ import annotations

from collections.abc import Callable

from ...facts.atoms import anchor, holds, occurs, words_of
from ...facts.decode import decoded
from ...facts.selection_curve import Atom, Bundle, Recall, given_up
from ...facts.uses import uses
from ...model import Message
from ...registry import register
from .. import Edits, Window
from . import summary_message


@register("compactor", "floor", needs_future=True)
class Floor:
    """The system turns and one message with the needed atoms, each from its result on until its last use.

    Reads the future of the trace. The fewest tokens at full recall among strategies that select verbatim: an atom that another one or a
    system turn already holds is left out, and of the separators the cheapest is taken. Nothing needed: the system turns alone.

    `recall` is the share of first uses to reach: below 1 the atoms are given up that cost most (their tokens times the prompts they are in),
    with all of their uses, and so is what is only reused.

    Source: strategies.md §6

    >>> from bench.model import ModelTurn, Source, ToolResult, Trace
    >>> got = ToolResult(index=0, call_id="a", function="f", seen="total 471 of 36.5 in all")
    >>> trace = Trace(id="t", source=Source(format="native"), steps=(got, ModelTurn(index=1, content="36.5 makes 471.")))
    >>> told = [Message(role="tool", text=got.text, kind="result", step=0)]
    >>> [message.text for message in Floor().compact(Window(1, "main", told, told, 9, 100, len, trace=trace)).messages]
    ['471 36.5']
    """

    def __init__(self, *, recall: Recall = 1.0) -> None:
        self.recall = recall
        self._born: dict[int, list[str]] | None = None  # atoms by the result they come from
        self._dies: dict[str, int] = {}  # the last turn that needs an atom
        self._alive: dict[str, None] = {}
        self._system: list[Message] = []
        self._by_system: dict[str, bool] = {}  # whether a system turn holds an atom
        self._shown: tuple[tuple[str, ...], Message | None] = ((), None)

    def compact(self, window: Window) -> Edits:
        """The system turns, and what is alive at this turn."""
        if self._born is None:
            self._born = self._foresee(window)
        for message in window.added:
            if message.kind == "system":
                self._system.append(message)
                self._by_system.clear()
            elif message.kind == "result" and message.step is not None:
                plain = decoded(message.text)
                atoms = sorted(self._born.get(message.step, ()), key=lambda atom: (plain.find(atom), atom))
                self._alive.update(dict.fromkeys(atoms))
        self._alive = {atom: None for atom in self._alive if self._dies[atom] >= window.step}
        needed = tuple(atom for atom in self._alive if not self._in_system(atom))
        if needed != self._shown[0]:
            self._shown = needed, summary_message(densest(needed, window.count)) if needed else None
        made = self._shown[1]
        return Edits(messages=[*self._system, *([] if made is None else [made])])

    def _in_system(self, atom: str) -> bool:
        if atom not in self._by_system:
            self._by_system[atom] = any(holds(item.text, atom) for item in self._system)
        return self._by_system[atom]

    def _foresee(self, window: Window) -> dict[int, list[str]]:
        born: dict[int, list[str]] = {}
        gone = self._given_up(window)
        for use in uses(window.trace) if window.trace is not None else ():
            if use.thread == window.thread and not use.recorded_only and (use.thread, use.atom) not in gone:
                if use.atom not in self._dies:
                    born.setdefault(use.source, []).append(use.atom)
                self._dies[use.atom] = use.turn  # uses come in order: the last one stays
        return born

    def _given_up(self, window: Window) -> frozenset[Atom]:
        if window.trace is None or self.recall >= 1:
            return frozenset()
        count = window.count
        return given_up(
            window.trace,
            self.recall,
            lambda needs: [Bundle((need,), count(f" {need.atom}") * need.prompts) for need in needs],
        )


def densest(atoms: tuple[str, ...], count: Callable[[str], int]) -> str:
    """One text that holds every atom, in few tokens.

    >>> densest(("src/a.py", "/x/src/a.py:12", "471"), len)
    '/x/src/a.py:12 471'
    """
    by_word: dict[str, list[str]] = {}
    for atom in atoms:
        for word in words_of(atom):
            by_word.setdefault(word, []).append(atom)
    kept = [
        atom
        for atom in atoms
        if not any(len(other) > len(atom) and occurs(other, atom) for other in by_word.get(anchor(atom), ()))
    ]
    texts = [_joined(kept, atoms, separator) for separator in (" ", "\n")]
    return min(texts, key=count)


def _joined(kept: list[str], atoms: tuple[str, ...], separator: str) -> str:
    text = separator.join(kept)
    if decoded(text) != text:  # it would be read as JSON
        text = f">{text}"
    missing = [atom for atom in atoms if not occurs(text, atom)]
    return separator.join([text, *missing]) if missing else text
