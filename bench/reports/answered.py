"""A comparison with the decision on it, made once for all that is written of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from ..comparison.advice import RUN_TODAY, Advice, Candidate, Choice
from ..comparison.decision import decide
from ..comparison.tuning import Tuned, tuned_of
from ..model import Case, Comparison, RunShown
from ..plugins.registry import entries


class Answered(Comparison, frozen=True, kw_only=True, dict=True):
    """A Comparison that knows the answer: renderers and panels ask it, and decide nothing themselves."""

    @classmethod
    def of(cls, comparison: Comparison) -> Answered:
        """The comparison itself where it is one already."""
        if isinstance(comparison, Answered):
            return comparison
        return cls(**{name: getattr(comparison, name) for name in comparison.__struct_fields__})

    @cached_property
    def tuned(self) -> Tuned | None:
        """The result of tuning; None where nothing was chosen beforehand."""
        return tuned_of(self)

    @cached_property
    def choice(self) -> Choice:
        """Every candidate with its verdict."""
        return decide(self) if self.tuned is None else self.tuned.choice

    @cached_property
    def advice(self) -> Advice:
        """The strategy to run, with its price, saving, worst case and certainty."""
        return self.choice.advice if self.tuned is None else self.tuned.advice

    @property
    def today(self) -> Candidate | None:
        """The candidate that runs today; None where it was not compared."""
        return self.choice.candidate(RUN_TODAY)

    @cached_property
    def contenders(self) -> tuple[str, ...]:
        """The strategies that a report is about: the declared ones that are no references; all declared ones where there is no other."""
        known = entries("reference")
        return tuple(name for name in self.strategies if name not in known) or self.strategies

    @property
    def brackets(self) -> tuple[str, ...]:
        """The strategies that say what is possible: references, whether declared or added."""
        return tuple(name for name in self.everyone if name not in self.contenders)

    def runs(self, names: Sequence[str]) -> Iterator[tuple[str, Case, RunShown]]:
        """Every run of some strategies, strategy by strategy."""
        return ((name, case, case.runs[name]) for name in names for case in self.cases if name in case.runs)
