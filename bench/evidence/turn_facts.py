"""The facts in model turns, which are all facts that can be missed."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from ..model import Trace
from ..text.texts import Texts
from .copied import Spans
from .step_texts import parts_by_turn


class Asked(NamedTuple):
    """A fact of a turn: its kind, and True if only code has it."""

    kind: str
    in_code: bool


class TurnFacts:
    """The facts and the copied spans of each model turn of a trace."""

    def __init__(self, trace: Trace, texts: Texts) -> None:
        self._trace, self._texts = trace, texts
        self._parts = parts_by_turn(trace)

    @cached_property
    def by_turn(self) -> dict[int, dict[str, Asked]]:
        """The facts in each turn, by its step. Proper names in code do not count."""
        by_turn: dict[int, dict[str, Asked]] = {}
        for turn, (prose, code) in self._parts.items():
            facts = by_turn.setdefault(turn, {})
            for parts, in_code in ((prose, False), (code, True)):
                for part in parts:
                    for fact, kind in self._texts.facts(part).items():
                        if not (in_code and kind == "proper"):
                            facts.setdefault(fact, Asked(kind, in_code))
        return by_turn

    @cached_property
    def spans(self) -> Spans:
        """The copied spans of each turn."""
        return Spans(self._trace, self._texts, self._parts)

    @cached_property
    def distinct(self) -> frozenset[str]:
        """All of these facts and spans."""
        return frozenset().union(*map(self.of, self.by_turn))

    def of(self, turn: int) -> list[str]:
        """The facts and the spans of a turn, by its step."""
        return [*self.by_turn[turn], *self.spans.of(turn)]
