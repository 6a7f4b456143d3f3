"""The facts in model turns, which are all facts that can be missed."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from ..model import Trace
from ..text.texts import Texts
from .copied import copied_spans
from .step_texts import parts_by_turn


class TurnFact(NamedTuple):
    """A fact in a turn: its kind, and True if only code of the turn has it."""

    kind: str
    in_code: bool


class TurnFacts:
    """The facts and the copied spans of the model turns of a trace, by step."""

    def __init__(self, trace: Trace, texts: Texts) -> None:
        self._trace, self._texts = trace, texts
        self._parts = parts_by_turn(trace)

    @cached_property
    def facts(self) -> dict[int, dict[str, TurnFact]]:
        """The facts in each turn. Proper names in code do not count."""
        facts_by_turn: dict[int, dict[str, TurnFact]] = {}
        for turn, (prose, code) in self._parts.items():
            facts = facts_by_turn.setdefault(turn, {})
            for parts, in_code in ((prose, False), (code, True)):
                for part in parts:
                    for fact, kind in self._texts.facts(part).items():
                        if not (in_code and kind == "proper"):
                            facts.setdefault(fact, TurnFact(kind, in_code))
        return facts_by_turn

    @cached_property
    def spans(self) -> dict[int, tuple[str, ...]]:
        """The copied spans of each turn."""
        return copied_spans(self._trace, self._texts, self._parts)

    @cached_property
    def file_names(self) -> dict[int, dict[str, str]]:
        """The name of the file at the end of each path in each turn."""
        return {
            turn: {
                fact: name for fact, (kind, _) in facts.items() if (name := _file_name(fact, kind))
            }
            for turn, facts in self.facts.items()
        }

    @cached_property
    def distinct(self) -> frozenset[str]:
        """All facts and spans."""
        return frozenset().union(*map(self.of, self.facts))

    def of(self, turn: int) -> list[str]:
        """The facts and the spans of a turn, and the names at the ends of its paths."""
        return [*self.facts[turn], *self.spans[turn], *self.file_names[turn].values()]


def _file_name(fact: str, kind: str) -> str:
    """The name at the end of a path to a file; "" for a folder, and for any other fact.

    >>> _file_name("src/http/client.py", "path"), _file_name("src/http", "path")
    ('client.py', '')
    """
    folder, _, name = fact.rpartition("/")
    return name if kind == "path" and folder and "." in name[1:] else ""
